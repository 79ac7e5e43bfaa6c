"""The subject of policy: a call, and what the gate knows of it. Pure: it is told all it knows.

`Gate.subject` makes it. Conditions of rules read it; a further fact for them is a field here.
"""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from functools import cached_property
from typing import cast

from lineshaft.policy._numbers import number_in, takes_numbers
from lineshaft.tools import with_defaults
from lineshaft.values import Call, Origin, Struct, ToolSpec, shell_words


class Subject(Struct, frozen=True, dict=True):
    """A call as policy sees it; what costs something is worked out once, and only if asked."""

    spec: ToolSpec | None
    """The tool; None where there is none of that name."""

    call: Call
    """With canonical arguments: paths in them as in `paths`."""

    paths: tuple[str, ...] = ()
    """Every workspace path that the arguments name, resolved: `docs/a.md`, `@pkg/x`, `.`."""

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Return the way in of the call, and those of the container calls around it."""
        scope = self.call.scope
        return (self.call.origin, *scope.origins) if scope else (self.call.origin,)

    @cached_property
    def command_lines(self) -> tuple[str, ...]:
        """Return the command line quoted as for a shell, then two plainer readings of it."""
        command = self.call.arguments.get("command")
        if not isinstance(command, str):
            return ()
        words = _words(command, self.call.arguments.get("args"))
        program = words[0].replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
        return (shlex.join(words), " ".join(words), " ".join([program, *words[1:]]))

    def argument(self, name: str) -> list[str]:
        """Return the plain values in an argument as text; its default where it is left out.

        A name with dots is read in every way that finds something: what `a.b` names is the
        argument `a.b` and the key `b` inside `a`, where both are there.
        """
        return [_text(value) for value in _leaves(self._arguments, name.split("."))]

    def numbers(self, name: str) -> list[Decimal]:
        """Return those values in an argument that are finite numbers.

        A text that is one counts where the tool's schema takes numbers, too.
        """
        found: list[Decimal] = []
        for value in _leaves(self._arguments, name.split(".")):
            number = None if isinstance(value, bool) else number_in(_text(value))
            if number is not None and not (isinstance(value, str) and self._takes_text(name)):
                found.append(number)
        return found

    def _takes_text(self, name: str) -> bool:
        """Return whether texts in an argument are certainly no numbers to the tool."""
        first = name.partition(".")[0]
        return not any(takes_numbers(self._schemas.get(each)) for each in (name, first))

    @cached_property
    def _schemas(self) -> Mapping[str, object]:
        return _items(self.spec and self.spec.input_schema.get("properties"))

    @cached_property
    def _arguments(self) -> Mapping[str, object]:
        """Return the arguments, and the defaults of what is left out of them."""
        given = self.call.arguments
        return given if self.spec is None else with_defaults(given, self.spec.input_schema)


def _items(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _words(command: str, args: object) -> list[str]:
    """Return the program and its arguments, as `run_command` understands them."""
    if isinstance(args, list):
        return [command, *map(str, cast("list[object]", args))]
    try:
        return shell_words(command) or [command]
    except ValueError:
        return command.split() or [command]


def _ways(path: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each key that the beginning of a path may be, and the rest: keys may have dots."""
    for end in range(1, len(path) + 1):
        yield ".".join(path[:end]), path[end:]


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _leaves(value: object, keys: Iterable[str]) -> Iterator[object]:
    """Yield what is no container; an empty one is an empty text.

    Lists are looked through on the way of the keys.

    A stack and no recursion: nesting is the caller's and may be deep.
    """
    stack: list[tuple[object, tuple[str, ...]]] = [(value, tuple(keys))]
    while stack:
        item, path = stack.pop()
        if isinstance(item, Mapping):
            mapping = cast("Mapping[str, object]", item)
            ways = _ways(path) if path else ((name, path) for name in mapping)
            found = [(mapping[name], rest) for name, rest in ways if name in mapping]
        elif isinstance(item, list | tuple):
            found = [(part, path) for part in cast("list[object]", item)]
        else:
            if not path:
                yield item
            continue
        stack += reversed(found)
        if not found and not path:
            yield ""
