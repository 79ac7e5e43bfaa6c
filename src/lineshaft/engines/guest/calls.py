"""The calls of one run: made, under way, completed, in the turns that the host gives."""

import itertools
from asyncio import Future
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import cast

from .codec import dumps, loads
from .tool_error import ToolError, failed_call
from .values import NotPlain, encoded
from .wire import Wire

PART = 3_000_000
"""Characters of a piece of a long message: in UTF-8, and escaped once more, below a crossing."""

_LONG = 4_000_000
"""Characters from which on requests go in pieces."""

_MOST = 64_000_000
"""Bytes of the requests of a turn at most, in all their pieces."""

_FOR_EVER = -1.0


class Calls:
    """The calls that a script has made of its host.

    Args:
        wire: The host.
        flush: Hands over the output so far.
    """

    def __init__(self, wire: Wire, flush: Callable[[], None]) -> None:
        self._wire = wire
        self._flush = flush
        self._numbers = itertools.count(1)
        self._unsent: list[str] = []
        self._size = 0
        self._names: dict[str, str] = {}
        self._open: dict[int, tuple[Future[object], str]] = {}

    @property
    def under_way(self) -> bool:
        """Whether a completion can come."""
        return bool(self._open)

    @property
    def awaited(self) -> "Iterable[Future[object]]":
        """The futures of the calls under way."""
        return (future for future, _ in self._open.values())

    @property
    def unsent(self) -> bool:
        """Whether there is a message for the host."""
        return bool(self._unsent)

    def make(
        self,
        tool: str,
        positional: Sequence[object],
        arguments: Mapping[str, object],
        future: "Future[object]",
    ) -> int:
        """Make a call and return its number.

        Args:
            tool: Its name.
            positional: Arguments without a name.
            arguments: Arguments by name.
            future: Gets the value, or the `ToolError`.

        Raises:
            ToolError: An argument cannot be given to a tool.
        """
        try:
            given = ",".join([_argument(v, f"argument {n}") for n, v in enumerate(positional, 1)])
            named = ",".join(
                [f"{dumps(k, exact=True)}:{_argument(v, k)}" for k, v in arguments.items()]
            )
        except NotPlain as error:
            raise ToolError(f"{tool}: {error.kind}", code="E_INVALID_ARGS", tool=tool) from None
        except (ValueError, TypeError, RecursionError) as error:
            raise ToolError(f"{tool}: {error}", code="E_INVALID_ARGS", tool=tool) from None
        size = len(given) + len(named)
        if size > _MOST // 4 and len(given.encode()) + len(named.encode()) > _MOST - 1000:
            message = f"{tool}: its arguments have more than {_MOST:,} bytes of JSON"
            raise ToolError(message, code="E_TOO_LARGE", tool=tool)
        if self._unsent and self._size + size > _MOST // 4:
            self.turn(0.0)
        number = next(self._numbers)
        self._size += size
        self._unsent.append(
            f'{{"call":{number},"tool":{self._name(tool)},'
            f'"positional":[{given}],"arguments":{{{named}}}}}'
        )
        self._open[number] = future, tool
        return number

    def _name(self, tool: str) -> str:
        name = self._names.get(tool)
        if name is None:
            name = self._names[tool] = dumps(tool)
        return name

    def give_up(self, number: int) -> None:
        """Withdraw a call for which no task waits any more, if it is under way."""
        if self._open.pop(number, None) is not None:
            self._unsent.append(f'{{"cancel":{number}}}')

    def sleep(self, seconds: float) -> None:
        """Let time pass for the whole script."""
        self._unsent.append('{"sleep":true}')
        self.turn(seconds)

    def turn(self, seconds: float = _FOR_EVER) -> None:
        """Send unsent requests; wait for a completion, at most for so many seconds."""
        self._flush()
        requests = f"[{','.join(self._unsent)}]" if self._unsent else "[]"
        self._unsent.clear()
        self._size = 0
        if len(requests) > _LONG:
            requests = self._send_pieces(seconds, requests)
        self._take(self._wire.turn(seconds, requests))

    def _send_pieces(self, seconds: float, requests: str) -> str:
        """Send all but the last piece of a long message, and return that."""
        del seconds
        last = (len(requests) - 1) // PART * PART
        for start in range(0, last, PART):
            piece = dumps(requests[start : start + PART])
            self._wire.turn(0.0, f'[{{"part":{piece},"more":true}}]')
        return f'[{{"part":{dumps(requests[last:])},"more":false}}]'

    def _take(self, answer: str) -> None:
        if answer == "[]":
            return
        [item] = cast("list[dict[str, object]]", loads(answer))
        if "part" in item:
            [item] = self._rest(item)
        entry = self._open.pop(cast("int", item["id"]), None)
        if entry is None:
            return
        future, tool = entry
        if future.done():
            return
        error = cast("dict[str, str] | None", item.get("error"))
        if error is None:
            future.set_result(item.get("value"))
        else:
            hint = error.get("hint", "")
            future.set_exception(
                failed_call(error["message"], code=error["code"], tool=tool, hint=hint)
            )

    def _rest(self, item: dict[str, object]) -> list[dict[str, object]]:
        pieces = [cast("str", item["part"])]
        while item["more"]:
            [item] = cast("list[dict[str, object]]", loads(self._wire.turn(0.0, '[{"rest":true}]')))
            pieces.append(cast("str", item["part"]))
        return cast("list[dict[str, object]]", loads("".join(pieces)))


def _argument(value: object, name: str) -> str:
    """Return an argument as JSON; a path, and paths in a list, as their text."""
    try:
        return encoded(value)
    except NotPlain as error:
        given = _paths_as_text(value)
        if given is None:
            raise NotPlain(error.sentence(name)) from None
    return _argument(given, name)


def _paths_as_text(value: object) -> object:
    """Return a path, or a list with paths, as text; None where there is no path."""
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, list | tuple):
        items = cast("Iterable[object]", value)
        if any(isinstance(item, PurePath) for item in items):
            return [str(item) if isinstance(item, PurePath) else item for item in items]
    return None
