"""Running a tool: its arguments bound and checked, its body run, its result checked.

Above is the gate alone: a call that comes here is decided already.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import cast

import anyio
from anyio.lowlevel import RunVar
from msgspec.structs import replace

from lineshaft.errors import ToolError
from lineshaft.tools import (
    Mismatch,
    NotPlain,
    Problem,
    Tool,
    plain,
    script_name,
    signature,
    tell,
)
from lineshaft.values import Context, ToolSpec, looks_secret

_MOST_THREADS = 400
_LARGE = 1_000
"""Items in one list of a result, above which a thread looks through it."""

_threads: RunVar[anyio.CapacityLimiter] = RunVar("threads")


def bind(
    tool: Tool, arguments: Mapping[str, object], positional: Sequence[object] = ()
) -> dict[str, object]:
    """Return the arguments of a call, checked and plain; defaults are not added.

    Args:
        tool: The tool.
        arguments: By name.
        positional: By position.

    Raises:
        ToolError: `E_INVALID_ARGS`; its hint is the tool's signature.
    """
    given: dict[str, object] = {**arguments}
    try:
        if positional or tool.spec.keywords:
            given = by_name(tool.spec, given, positional)
        bound = cast("dict[str, object]", plain(given))
        tool.contract.accept(bound)
    except NotPlain as error:
        raise _invalid(tool, Mismatch.of(error, "is")) from None
    except Mismatch as error:
        raise _invalid(tool, error) from None
    return bound


def by_name(
    spec: ToolSpec, arguments: Mapping[str, object], positional: Sequence[object]
) -> dict[str, object]:
    """Return all arguments of a call by the names of the tool's schema.

    Args:
        spec: The tool.
        arguments: By name, or by the keyword that a script has for a name.
        positional: By position.

    Raises:
        Mismatch: There are too many by position, or one is given twice.
    """
    given, names = {**arguments}, spec.positional
    if len(positional) > len(names):
        takes = ", ".join(f"`{name}`" for name in names) or "nothing"
        what = f"takes {takes} by position, got {len(positional)}"
        raise Mismatch([Problem((), f"{what}: write name=value")])
    for name, value in zip(names, positional, strict=False):
        if name in given:
            raise Mismatch([Problem((name,), "is given by position and by name")])
        given[name] = value
    named: dict[str, object] = {}
    for name, value in given.items():
        own = spec.keywords.get(name, name)
        if own != name and own in given:
            raise Mismatch([Problem((own,), f"is given by the keyword {name} too")])
        named[own] = value
    return named


async def invoke(
    tool: Tool, arguments: Mapping[str, object], context: Context | None = None
) -> object:
    """Run a tool's body and return its result, checked and plain.

    Args:
        tool: The tool.
        arguments: As `bind` returned them; paths may have been resolved since.
        context: For the parameters that take it; None where there are none.

    Raises:
        ToolError: `E_INVALID_ARGS`, `E_INVALID_RESULT`, or what the body raised.
        Exception: What the body raised, untouched.
    """
    contract = tool.contract
    try:
        values = contract.accept({**arguments})
    except Mismatch as error:
        raise _invalid(tool, error) from None
    for name in contract.context:
        values = {**values, name: context}
    function = tool.function
    if tool.is_async:
        result = await cast("Awaitable[object]", function(**values))
    else:
        result = await _threaded(function, values)
    try:
        if tool.is_built_in and _is_large(result):
            return await _threaded(contract.deliver, {"result": result})
        return contract.deliver(result)
    except Mismatch as error:
        told = tell(error.problems, "it")
        message = f"{script_name(tool.name)}() returned a result that does not fit: {told}"
        raise ToolError("E_INVALID_RESULT", message, tool=tool.name, hint=error.hint) from error


def _is_large(result: object) -> bool:
    """Return whether the event loop would wait long for a look through a result of the kit."""
    parts = cast("dict[str, object]", result).values() if isinstance(result, dict) else ()
    return any(
        isinstance(part, list) and len(cast("list[object]", part)) > _LARGE for part in parts
    )


async def _threaded(function: Callable[..., object], values: Mapping[str, object]) -> object:
    result = await anyio.to_thread.run_sync(
        partial(_in_thread, function, values), abandon_on_cancel=True, limiter=_limiter()
    )
    return await cast("Awaitable[object]", result) if inspect.isawaitable(result) else result


def _in_thread(function: Callable[..., object], values: Mapping[str, object]) -> object:
    try:
        return function(**values)
    except KeyboardInterrupt as error:  # nobody's Ctrl-C, which comes to the main thread alone
        raise RuntimeError("it raised KeyboardInterrupt") from error


def _limiter() -> anyio.CapacityLimiter:
    """Return the bound on threads of this event loop: many runs may wait in sync tools."""
    try:
        return _threads.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(_MOST_THREADS)
        _threads.set(limiter)
        return limiter


def _invalid(tool: Tool, error: Mismatch) -> ToolError:
    problems = [_without_secret(problem, tool.spec) for problem in error.problems]
    message = f"{script_name(tool.name)}(): {tell(problems, 'the call')}"
    if error.hint:
        message = f"{message} ({error.hint})"
    return ToolError("E_INVALID_ARGS", message, tool=tool.name, hint=signature(tool.spec))


def _without_secret(problem: Problem, spec: ToolSpec) -> Problem:
    """Return a problem without the value of an argument that is a secret by schema or name."""
    names = [step for step in problem.path if isinstance(step, str)]
    if any(name in spec.secrets or looks_secret(name) for name in names):
        return replace(problem, text=problem.text.partition(", not ")[0])
    return problem
