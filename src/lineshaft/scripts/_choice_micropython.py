"""What MicroPython lacks for a script, found by reading it: nothing of it has run yet."""

from collections.abc import Iterable

from lineshaft import engines
from lineshaft.scripts._hints import hint_for
from lineshaft.scripts._prepare import Prepared
from lineshaft.values import Program, RunError


def lack(prepared: Prepared, inputs: Iterable[str] = ()) -> RunError | None:
    """Return why the engine `micropython` cannot take a script, and what to write instead.

    Args:
        prepared: The script, read.
        inputs: Names of the values that it is given.

    Returns:
        None where nothing is known against it, also for text that is not Python.
    """
    if prepared.resolver is None:
        return None
    known = prepared.resolver.known
    program = Program(
        source=prepared.program_source,
        name=prepared.name,
        inputs=dict.fromkeys(inputs),
        tools=frozenset(known.flat),
        namespaces={space: frozenset(names) for space, names in known.spaces.items()},
    )
    raised = engines.micropython_lacks(program)  # loaded now, not with the room
    if raised is None:
        return None
    return RunError(
        code="E_UNSUPPORTED",
        message=raised.message,
        line=raised.line,
        hint=hint_for(raised, source=prepared.original, specs=()),
    )
