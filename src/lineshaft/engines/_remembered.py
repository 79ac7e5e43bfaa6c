"""What an engine makes of a program's text, kept for when the same script is run again."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

from lineshaft.values import Program

_KEPT = 32
_LONG = 20_000
"""Characters; longer scripts are not kept."""

T = TypeVar("T")


def remembered(make: Callable[[Program], T]) -> Callable[[Program], T]:
    """Return a function that makes the same of a program, once for the same text and names.

    Args:
        make: Looks at the source, the names of tools, namespaces and inputs, and nothing else.
    """

    @lru_cache(maxsize=_KEPT)
    def kept(
        source: str,
        tools: frozenset[str],
        spaces: frozenset[tuple[str, frozenset[str]]],
        inputs: frozenset[str],
    ) -> T:
        names = dict.fromkeys(inputs)  # their values do not matter
        return make(Program(source=source, tools=tools, namespaces=dict(spaces), inputs=names))

    @wraps(make)
    def known(program: Program) -> T:
        if len(program.source) > _LONG:
            return make(program)
        spaces = frozenset(program.namespaces.items())
        return kept(program.source, program.tools, spaces, frozenset(program.inputs))

    return known
