"""The wire of a server at an address: streamable HTTP.

Above: `client/connection.py`. Below: httpx2. What goes wrong with one request is the answer to that
request: the SDK would end the whole connection for it.
"""

import json
from codecs import BOM_UTF8
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from typing import Any, cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import anyio
import httpx2
import mcp_types as types
from mcp.client.streamable_http import streamable_http_client

from lineshaft.mcp._spec import ServerSpec
from lineshaft.mcp.client.surrogates import HalvesFilter
from lineshaft.mcp.client.wire import (
    BROKE_OFF,
    FORGOTTEN,
    FORGOTTEN_MARK,
    LOST_MARK,
    TOO_LARGE,
    Pace,
    Wire,
)
from lineshaft.values import beginning

_SECONDS = 30.0
_STREAMS_A_SECOND = 20
_SESSION = "mcp-session-id"

_FIRST = frozenset({"server/discover", "initialize"})
"""The requests that a connection begins with."""

_OLD = (
    ": the address may be another, or it speaks the old HTTP+SSE transport, which is not spoken "
    "here; most such servers speak streamable HTTP too, often at /mcp"
)
_CODES = {404: types.METHOD_NOT_FOUND}
"""The code of an error in the place of an answer that is none, by its status."""

_LONGEST = 500
"""Characters of what a server says beside the protocol."""

_GIVEN_UP = "the request was given up"

_asking: ContextVar[str] = ContextVar("request_that_is_asked", default="")
"""The id of the request that is sent in this task, as text."""

_UNKNOWN_SESSION = -32001
"""The code of the TypeScript SDK, which many servers send."""


@asynccontextmanager
async def http(
    spec: ServerSpec, auth: httpx2.Auth | None, wire: Wire
) -> AsyncGenerator[tuple[Any, Any]]:
    """Speak with a server as long as the block lasts.

    Args:
        spec: Its address and headers.
        auth: Adds a token, and gets one where the server asks.
        wire: Ends what is awaited of a request that is given up.
    """
    # Compressed answers could become larger than any bound on what was received.
    headers = {"accept-encoding": "identity", **spec.headers}
    client = _Client(
        headers=headers,
        auth=auth,
        timeout=httpx2.Timeout(_SECONDS, read=None),  # each call has its own time
        transport=_Bounded(
            spec.message_bytes, wire, asks_for_tokens=auth is not None, proxy=_proxy_for(spec.url)
        ),
    )
    async with (
        client,
        streamable_http_client(
            spec.url, http_client=client, max_sse_event_size=spec.message_bytes
        ) as streams,
    ):
        yield streams


class _Client(httpx2.AsyncClient):
    """Answers requests also where no access to the server is to be had any longer.

    Where there never was any, the connection ends with the reason, and a person is asked once.
    """

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:  # noqa: ANN401  as httpx2 has them
        asked = _asked_in(request)
        try:
            response = await super().send(request, **options)
            if "jsonrpc" not in asked or response.status_code not in (401, 403):
                return response
            answer = await _refused(response, asked)
        except Exception as error:  # the SDK raises many, and so does who is asked
            if self.auth is None or asked.get("id") is None or asked.get("method") in _FIRST:
                raise
            answer = _failed(_words(error))
        answer.request = request
        return answer


class _Bounded(httpx2.AsyncHTTPTransport):
    """Answers requests also where the server does not, and ends answers that are too long.

    In the older protocol a request that was given up stays open until the server answers it, and
    some never do: once all connections were taken so, nothing could be said to the server any more.
    """

    def __init__(
        self, most_bytes: int, wire: Wire, *, asks_for_tokens: bool, proxy: str | None
    ) -> None:
        super().__init__(proxy=proxy)
        self._most_bytes = most_bytes
        self._wire = wire
        self._streams = Pace(_STREAMS_A_SECOND)
        self._told = frozenset((429,)) if asks_for_tokens else frozenset((401, 403, 429))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":  # the SDK opens an ended stream again as soon as it is told to
            await self._streams.keep()
        asking = _asking_of(request)
        if not asking:
            return await self._answered(request, asking)
        if asking not in self._wire.waiting:
            return _failed(_GIVEN_UP)
        with anyio.CancelScope() as scope:
            self._wire.ends[asking] = scope.cancel
            return await self._answered(request, asking)
        return _failed(_GIVEN_UP)

    async def _answered(self, request: httpx2.Request, asking: str) -> httpx2.Response:
        try:
            response = await super().handle_async_request(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol) as error:
            return _failed(f"it cannot be reached: {_words(error)}")
        except httpx2.TransportError as error:
            return _failed(f"the connection broke off: {_words(error)}", LOST_MARK)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            text = "it sent a compressed answer, which was not asked for"
            return _failed(text, LOST_MARK)
        kind = response.headers.get("content-type", "").lower()
        status = response.status_code
        if status in self._told or (status >= 500 and not kind.startswith("application/json")):
            await response.aclose()
            text = f"it answered {status} {response.reason_phrase}".strip()
            return _failed(text, "" if status < 500 else LOST_MARK)
        events = kind.startswith("text/event-stream")
        inner = response.stream
        assert isinstance(inner, httpx2.AsyncByteStream)  # noqa: S101  what an async transport gives
        response.stream = counted = _Counted(inner, None if events else self._most_bytes)
        if asking:
            self._wire.ends[asking] = counted.end
        if _SESSION in request.headers and await _forgets(request, response):
            await response.aclose()
            return _failed(FORGOTTEN, FORGOTTEN_MARK)
        asked = _asked_in(request) if status >= 400 and status not in (401, 403) else {}
        return await _refused(response, asked) if "jsonrpc" in asked else response


async def _refused(response: httpx2.Response, asked: dict[str, object]) -> httpx2.Response:
    """Return the answer to a request that is refused; our own where it is no error of the protocol.

    Args:
        response: As it came.
        asked: What the request asked.
    """
    said, status = "", response.status_code
    if response.headers.get("content-type", "").lower().startswith("application/json"):
        with suppress(httpx2.StreamError, ValueError):
            said = (await response.aread()).decode(errors="replace").strip()
            types.JSONRPCError.model_validate_json(said)
            return response
    await response.aclose()
    text = f"it answered {status} {response.reason_phrase}".strip()
    if asked.get("method") == "initialize" and status in (404, 405):
        text += _OLD
    elif said:
        text += f": {beginning(said, _LONGEST)}"
    mark = "" if status < 500 else LOST_MARK
    return _failed(text, mark, code=_CODES.get(status, types.INVALID_REQUEST))


async def _forgets(request: httpx2.Request, response: httpx2.Response) -> bool:
    """Return whether a server says that it does not know the session of a request.

    By the protocol it answers 404, often with an error of its own as the body; many answer 400. An
    error that names the request is the answer to it, unless it says by its code that the session is
    unknown: the request may have been acted on.
    """
    status = response.status_code
    kind = response.headers.get("content-type", "").lower()
    if request.method != "POST" or status not in (400, 404):
        return False
    if kind.startswith("application/json"):
        with suppress(httpx2.StreamError, ValueError):
            answer = types.JSONRPCError.model_validate_json(await response.aread())
            error, says_so = answer.error, "session" in answer.error.message.lower()
            if answer.id is not None and answer.id == _asked_in(request).get("id"):
                return says_so and error.code == _UNKNOWN_SESSION
            return error.code != types.METHOD_NOT_FOUND if status == 404 else says_so
    return status == 404


def _asking_of(request: httpx2.Request) -> str:
    """Return the id of the request of the protocol whose answer is awaited; empty: there is none.

    What is sent meanwhile belongs to none: an answer to what the server asks, a notification, and
    the renewal of a token, which is never cut off.
    """
    if "last-event-id" in request.headers:  # a stream that goes on with an answer
        return _asking.get()
    asked = _asked_in(request)
    if "jsonrpc" not in asked:
        return ""
    _asking.set(str(asked["id"]) if "method" in asked and "id" in asked else "")
    return _asking.get()


def _asked_in(request: httpx2.Request) -> dict[str, object]:
    """Return what a request asks by the protocol; empty where there is nothing to be read."""
    with suppress(httpx2.StreamError, ValueError):
        message: object = json.loads(request.content)
        return cast("dict[str, object]", message) if isinstance(message, dict) else {}
    return {}


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, most_bytes: int | None) -> None:
        self._inner = inner
        self._most_bytes = most_bytes
        self._scope = anyio.CancelScope()

    def end(self) -> None:
        """Read no more of it."""
        self._scope.cancel()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total, halves = 0, HalvesFilter()
        try:
            pieces = aiter(self._inner)
            while (data := await self._next(pieces)) is not None:
                data = data if total else data.removeprefix(BOM_UTF8)
                total += len(data)
                if self._most_bytes is not None and total > self._most_bytes:
                    text = f"{TOO_LARGE}: it sent a message of more than {self._most_bytes:,} bytes"
                    raise httpx2.StreamError(text)
                yield halves.feed(data)
            yield halves.end()
        except httpx2.SSEError:
            raise
        except httpx2.TransportError as error:
            raise httpx2.StreamError(f"{BROKE_OFF}: {error}") from error

    async def _next(self, pieces: AsyncIterator[bytes]) -> bytes | None:
        if not self._scope.cancel_called:
            self._scope = anyio.CancelScope()
        with self._scope:
            return await anext(pieces, None)
        if self._most_bytes is None:
            raise httpx2.SSEError(_GIVEN_UP)  # the SDK opens no other stream then
        raise httpx2.StreamError(_GIVEN_UP)

    async def aclose(self) -> None:
        await self._inner.aclose()


def _failed(text: str, mark: str = "", *, code: int = types.INVALID_REQUEST) -> httpx2.Response:
    """Return an answer in place of the server's.

    Args:
        text: What happened.
        mark: Data by which the error is known as ours: `LOST_MARK` where it is not known whether
            the server acted on the request.
        code: Of the error, where the server did not act on it.
    """
    code = types.CONNECTION_CLOSED if mark == LOST_MARK else code
    error = {"code": code, "message": text, **({"data": mark} if mark else {})}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error})
    headers = {"content-type": "application/json"}
    return httpx2.Response(502, headers=headers, content=body.encode())


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__


def _proxy_for(url: str) -> str | None:
    """Return the proxy that the person's variables name for an address."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in ("localhost", "127.0.0.1", "::1") or proxy_bypass(host):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")
