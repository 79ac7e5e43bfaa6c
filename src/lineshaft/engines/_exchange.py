"""Calls and their results, between the small engine's terms and ours."""

from collections.abc import Callable
from functools import cache, lru_cache

from pydantic_monty import ExternalModule, ExternalSettledResult, FunctionSnapshot

from lineshaft.engines._plain import NotPlain, plain_argument
from lineshaft.engines._state import Told
from lineshaft.values import Call, Done, Program, Value

LINE = "_ls_line"
"""Where `_ls_later` adds the line of the script to a call."""


def tool_called(name: str, program: Program) -> str | None:
    """Return the script name of the tool that a call of `name` means, if it means one."""
    bare = name.removeprefix("<tool ").removesuffix(">").removeprefix("tools.")
    if bare in program.tools:
        return bare
    namespace, _, function = bare.rpartition(".")
    return bare if function in program.namespaces.get(namespace, ()) else None


def call_of(snapshot: FunctionSnapshot, tool: str, number: int) -> Call:
    """Return the call that a script makes.

    Raises:
        NotPlain: An argument is not JSON-like.
    """
    positional: list[object] = []
    for place, value in enumerate(snapshot.args):
        try:
            positional.append(plain_argument(value))
        except NotPlain as error:
            raise NotPlain(error.sentence(f"{tool}: argument {place + 1}")) from None
    arguments: dict[str, object] = {}
    for name, value in snapshot.kwargs.items():
        if name == LINE:
            continue
        try:
            arguments[name] = plain_argument(value)
        except NotPlain as error:
            raise NotPlain(error.sentence(f"{tool}: {name}")) from None
    return Call(
        tool=tool,
        arguments=arguments,
        positional=tuple(positional),
        origin="script",
        id=str(number),
    )


def answer_of(done: Done, tool: str, told: dict[str, Told]) -> ExternalSettledResult:
    """Return a result in the engine's terms.

    An error crosses as one text, its message. What else belongs to it is kept in `told` by that
    text; where two errors share a message, blanks at the end tell them apart.
    """
    if isinstance(done, Value):
        return {"return_value": done.value}
    text = done.message.encode("utf-8", "replace").decode()
    facts = (done.code, tool, text)
    while told.setdefault(text, facts) != facts:
        text += " "
    return {"exc_type": "_csv.Error", "message": text}


def modules_of(program: Program) -> dict[str, Callable[[], ExternalModule]]:
    """Return what a script may import beside the standard library."""

    def module(names: frozenset[str]) -> Callable[[], ExternalModule]:
        return lambda: _module(names)

    return {
        name: module(names)
        for name, names in {"tools": program.tools, **program.namespaces}.items()
    }


@cache
def stand_in(name: str) -> Callable[[], None]:
    """Return what a tool is to a script that takes it without calling it.

    It is never called: the engine announces the call instead. Its name is how such a value is
    known when it comes back.
    """

    def tool() -> None: ...

    tool.__name__ = f"<tool {name}>"
    return tool


@lru_cache(maxsize=64)
def _module(names: frozenset[str]) -> ExternalModule:
    return ExternalModule({name: stand_in(name) for name in sorted(names)})
