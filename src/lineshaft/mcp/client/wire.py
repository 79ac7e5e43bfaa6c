"""Messages between a server and the SDK, checked before the SDK sees them.

The SDK takes a whole list or none of it, and as many messages as come. Here an entry that is none
is taken out of its list, and a server that floods is read more slowly.
"""

import contextvars
import re
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from secrets import token_hex
from types import TracebackType
from typing import Any, Self, cast

import anyio
import mcp_types as types
from mcp.client import Transport
from mcp.shared.message import SessionMessage
from mcp_types import methods
from mcp_types.version import LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from lineshaft.mcp._text import clean
from lineshaft.mcp.client.listing import MOST_TOOLS, TOO_MANY_TOOLS
from lineshaft.processes import Piped
from lineshaft.values import SecretFinder, beginning, ending

TOO_LARGE = "too large"
"""How the message of an error begins that stands for a message which was too long."""

BROKE_OFF = "its answer broke off"
"""How an error begins that stands for the rest of an answer over HTTP."""

FORGOTTEN = "the server knows this session no more"
"""The message of an error that stands for a server over HTTP which has lost our session."""

FORGOTTEN_MARK = token_hex(16)
"""The data of that error: no server can send such an error itself."""

LOST_MARK = token_hex(16)
"""The data of an error that stands for the answer of a server over HTTP which was lost."""

_LAST_WORDS = 800
_MARGIN = re.compile(r"^[ |]{0,40}\| |\r$")
"""What stands in front of the errors inside a group of them."""

_ERROR = re.compile(
    r"(?:[A-Za-z_][\w.]{0,200}(?:Error|Exception|Interrupt|Exit|NotFound)|Error|error|fatal|panic)"
    r"(?: \[\w+\])?(?::|$)"
)
"""A line that says which error ended a program: of Python, Node, or another."""

_OF_OLDER_SDK = re.compile(
    r"(?:No module named|cannot import name '\w{1,100}' from) '(?:mcp\.|mcp' )|mcp v1|mcp<2"
)
_OLDER_SDK = (
    "it was written for version 1 of the Python SDK of MCP: install `mcp<2` where it runs, "
    "as in `uvx --with 'mcp<2' NAME`"
)

_MOST_A_SECOND = 1_000
_LONGEST = 200
_NAMELESS = "(no name)"
_PROBE = "server/discover"
_LISTS: Mapping[str, str] = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
"""Lists that are looked at, and the member with their entries."""

_CACHED = frozenset({"resources/read", *_LISTS})
"""What is answered with how long it holds, in the newest protocol."""

_LOOKED_AT = frozenset({_PROBE, "initialize", *_CACHED})
_MOST_CONTENTS = 10_000
_CONTENTS = ("content", "contents", "messages")
_NOT_OFFERED = frozenset({"Sampling not supported", "List roots not supported"})
"""What the SDK says of what was not declared, by another code than the protocol has for it."""

_REST = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}

Incoming = SessionMessage | Exception


class Wire:
    """The state of one connection below the protocol."""

    def __init__(self) -> None:
        self.gone = anyio.Event()
        """Set once the far side has ended."""

        self.forgotten = False
        """Whether it has ended since the server knows our session no more, and is there."""

        self.silent = ""
        """Why we ended it, where it answered no more."""

        self.process: Piped | None = None
        """The server, where it is a program that we started."""

        self.stray = ""
        """The beginning of the first line that is no message, as long as there was no message."""

        self.version = LATEST_MODERN_VERSION
        """The revision that is spoken, as far as it is known."""

        self.asked: dict[str, str] = {}
        """The method of requests whose answers are looked at, by their id as text."""

        self.ends: dict[str, Callable[[], None]] = {}
        """Ends the wait for an answer over HTTP, by the id of the request as text."""

        self.waiting: set[str] = set()
        """The ids of requests that have no answer yet, as text: some servers answer so."""

        self.seen: set[str] = set()
        """Names of all tools that were listed, those included that were left out."""

        self.left_out: dict[str, str] = {}
        """Why tools were taken out of the list, by what they called themselves."""

    @property
    def is_probe_open(self) -> bool:
        """Whether the first question of the newest protocol has no answer yet."""
        return _PROBE in self.asked.values()

    def end(self, secrets: SecretFinder) -> str:
        """Return how the program ended and what it said last; empty where there is none.

        Args:
            secrets: What is not cut in two.
        """
        if self.process is None or self.silent:
            return self.silent
        code, said = self.process.exit_code, last_words(self.process.stderr, secrets)
        strange = f"{self.process.replaced} bytes of it are not UTF-8" if "\ufffd" in said else ""
        stray = clean(self.stray, _LONGEST, secrets=secrets)
        stray = f"it wrote what is no message of MCP: {stray}" if stray else ""
        return "; ".join(each for each in (code_told(code), said, strange, stray) if each)


def code_told(code: int | None) -> str:
    """Return how a program ended; empty while it runs."""
    return "" if code is None else f"it exited with code {code}"


def last_words(said: str, secrets: SecretFinder) -> str:
    """Return what a program said of its end: the error, where that can be told, or the last words.

    Args:
        said: The end of its other output.
        secrets: What is not cut in two.
    """
    lines = [_MARGIN.sub("", line) for line in said.splitlines()]
    errors = [line for line in lines if _ERROR.match(line)]
    if not errors:
        last = ending(said.strip(), _LAST_WORDS, lines=True, secrets=secrets)
        return f"it last said: {last}" if last else ""
    error = beginning(errors[-1], _LAST_WORDS, secrets=secrets)
    return f"{error} ({_OLDER_SDK})" if _OF_OLDER_SDK.search(error) else error


@asynccontextmanager
async def watched(
    transport: AbstractAsyncContextManager[Any], wire: Wire
) -> AsyncGenerator[tuple["_Incoming", "_Outgoing"]]:
    """Look at all that passes through a transport."""
    async with transport as (read, write):
        yield _Incoming(read, wire), _Outgoing(write, wire)


def as_transport(context: AbstractAsyncContextManager[Any]) -> Transport:
    """Return a transport as the SDK calls it."""
    return cast("Transport", context)


class Pace:
    """Keeps a server that floods from taking all the time: what it sends is read more slowly.

    Args:
        most: How much passes within a second.
    """

    def __init__(self, most: int = _MOST_A_SECOND) -> None:
        self._most = most
        self._window = 0.0
        self._count = 0

    async def keep(self) -> None:
        """Wait, where the server has sent too much that nobody asked for within a second."""
        now = time.monotonic()
        if now - self._window >= 1:
            self._window, self._count = now, 0
        self._count += 1
        if self._count > self._most:
            await anyio.sleep(self._window + 1 - now)


class _Incoming:
    """The messages that come in, watched."""

    def __init__(self, inner: Any, wire: Wire) -> None:  # noqa: ANN401  the SDK's streams share no class
        self._inner = inner
        self._wire = wire
        self._pace = Pace()

    @property
    def last_context(self) -> contextvars.Context | None:
        """In which context the last message was sent, so that a call is known again."""
        found: contextvars.Context | None = getattr(self._inner, "last_context", None)
        return found

    async def receive(self) -> Incoming:
        item: Incoming = await self._inner.receive()
        if isinstance(item, SessionMessage):
            message = item.message
            if is_for_nobody := self._is_for_nobody(message):
                await self._pace.keep()
            if isinstance(message, types.JSONRPCError):
                if not is_for_nobody:  # a question that was given up has no answer
                    self._wire.asked.pop(str(message.id), "")
            elif isinstance(message, types.JSONRPCResponse):
                method = self._wire.asked.pop(str(message.id), "")
                if method == "tools/list":
                    _cut(message.result, self._wire)
                if method == "initialize":
                    self._wire.version = str(message.result.get("protocolVersion"))
                elif fault := self._fault(method, message.result):
                    error = types.ErrorData(code=types.INTERNAL_ERROR, message=fault)
                    refused = types.JSONRPCError(jsonrpc="2.0", id=message.id, error=error)
                    return SessionMessage(refused, item.metadata)
                elif method in _LISTS:
                    _sift(method, message.result, self._wire)
                elif "structuredContent" in message.result:  # some leave the other one out
                    message.result.setdefault("content", [])
        return item

    def _fault(self, method: str, result: dict[str, Any]) -> str:
        """Return why a result is not read; empty where it is, with what is left out of it."""
        if method != _PROBE and self._wire.version in MODERN_PROTOCOL_VERSIONS:
            kind = result.setdefault("resultType", "complete")
            if not isinstance(kind, str) or kind not in types.CORE_RESULT_TYPES:
                words = repr(kind)[:_LONGEST]
                return f"its result is of a type that is not known here: {words}; it was dropped"
            if method in _CACHED and kind == "complete":
                _set_hints(result)
        return _too_many(method, result)

    def _is_for_nobody(self, message: types.JSONRPCMessage) -> bool:
        """Return whether a message was not asked for; an answer is for somebody but once."""
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            answered = str(message.id)
            if answered in self._wire.waiting:
                self._wire.waiting.remove(answered)
                self._wire.ends.pop(answered, None)
                return False
        return True

    async def aclose(self) -> None:
        await self._inner.aclose()

    def close(self) -> None:
        self._inner.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Incoming:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()


class _Outgoing:
    """The messages that go out, watched."""

    def __init__(self, inner: Any, wire: Wire) -> None:  # noqa: ANN401  as above
        self._inner = inner
        self._wire = wire

    async def send(self, item: SessionMessage) -> None:
        message = item.message
        if isinstance(message, types.JSONRPCRequest):
            self._wire.waiting.add(str(message.id))
            if message.method in _LOOKED_AT:
                self._wire.asked[str(message.id)] = message.method
            if message.method == "initialize":
                _say_no_more(message.params or {})
                for asked, method in self._wire.asked.items():
                    if method == _PROBE:  # over HTTP, this request would wait for its answer
                        self._give_up(asked)
        elif isinstance(message, types.JSONRPCNotification):
            self._give_up(str((message.params or {}).get("requestId")))
        elif isinstance(message, types.JSONRPCError) and message.error.message in _NOT_OFFERED:
            message.error.code = types.METHOD_NOT_FOUND
        await self._inner.send(item)

    def _give_up(self, request: str) -> None:
        """End the wait for an answer, where there is one."""
        self._wire.waiting.discard(request)
        if (end := self._wire.ends.pop(request, None)) is not None:
            end()

    async def aclose(self) -> None:
        await self._inner.aclose()

    def close(self) -> None:
        self._inner.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()


def _say_no_more(params: dict[str, Any]) -> None:
    """Remove a capability from the handshake that is not given: notices of changed roots."""
    capabilities = cast("dict[str, dict[str, object]]", params.get("capabilities", {}))
    capabilities.get("roots", {}).pop("listChanged", None)


def _too_many(method: str, result: Mapping[str, object]) -> str:
    """Return why a result is not read; empty where it is.

    The SDK looks at each of its contents or entries, and nothing else goes on meanwhile.
    """
    member = _LISTS.get(method)
    for each in _CONTENTS if member is None else (member,):
        parts = result.get(each)
        count = len(cast("list[object]", parts)) if isinstance(parts, list) else 0
        if count > _MOST_CONTENTS:
            most = f"more than {_MOST_CONTENTS:,}, so they were dropped"
            if member is not None:
                return f"a page of its list has {count:,} entries: {most}"
            return f"its result has {count:,} contents: {most}; the call was made"
    return ""


def _set_hints(result: dict[str, Any]) -> None:
    """Set how long a result holds, where that was left out or is no such hint: not at all."""
    holds = result.get("ttlMs")
    if not isinstance(holds, int) or holds < 0:
        result["ttlMs"] = _REST["ttlMs"]
    if result.get("cacheScope") not in ("private", "public"):
        result["cacheScope"] = _REST["cacheScope"]


def _cut(result: dict[str, Any], wire: Wire) -> None:
    """Take out of a page of tools what is more than is ever offered, unlooked at."""
    listed = result.get("tools")
    if isinstance(listed, list):
        rest = cast("list[object]", listed)[MOST_TOOLS + 1 :]
        for each in rest[:_MOST_CONTENTS]:
            wire.left_out[_name_of(each)[:_LONGEST] or _NAMELESS] = TOO_MANY_TOOLS
        result["tools"] = listed[: MOST_TOOLS + 1]


def _sift(method: str, result: dict[str, Any], wire: Wire) -> None:
    """Take out of a page what is no entry of its list."""
    member = _LISTS[method]
    listed = result.get(member)
    if not isinstance(listed, list):
        return
    rest = _REST if wire.version in MODERN_PROTOCOL_VERSIONS else {}
    kept: list[object] = []
    for each in cast("list[object]", listed):
        name = _name_of(each)
        try:
            methods.validate_server_result(method, wire.version, {**rest, member: [each]})
        except ValidationError as error:
            if member != "tools":
                continue
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"][2:])
            wire.left_out[name[:_LONGEST] or _NAMELESS] = f"{where}: {first['msg']}"[:_LONGEST]
        else:
            if member == "tools":
                wire.seen.add(name)
            kept.append(each)
    result[member] = kept


def _name_of(entry: object) -> str:
    """Return what an entry of a list calls itself; empty where it does not."""
    if not isinstance(entry, Mapping):
        return ""
    return str(cast("Mapping[str, object]", entry).get("name", ""))
