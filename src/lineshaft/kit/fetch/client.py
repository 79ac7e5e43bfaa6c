"""One request of the web, bounded: where it connects, how often it is sent on, how much it takes.

No proxy, credentials or certificates of the environment take part, and no cookies are kept.
"""

import ssl
import zlib
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import cache, partial
from typing import TypeVar
from urllib.parse import urljoin

import httpx2

from lineshaft.errors import ToolError
from lineshaft.kit.fetch.network import Resolve, places, system_resolve
from lineshaft.tools import origin, parts_of, web_address
from lineshaft.values import Struct, visible

T = TypeVar("T")

_MOST_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CONNECT_SECONDS = 10.0
_READ_SECONDS = 20.0
_COMPRESSED = {
    "gzip": zlib.MAX_WBITS | 16,
    "x-gzip": zlib.MAX_WBITS | 16,
    "deflate": zlib.MAX_WBITS,
}
_HEADERS = {
    "accept": "text/html, application/json, text/*, */*;q=0.5",
    "accept-encoding": "gzip",
    "user-agent": "lineshaft",
}


class Fetching(Struct, frozen=True, kw_only=True):
    """How addresses are reached."""

    allowed: Collection[str] = frozenset()
    """`host:port` of places that need not be on the public network."""

    resolve: Resolve = system_resolve
    certificates: ssl.SSLContext | None = None
    """What a server's certificate is checked against; None: the well-known authorities."""


class Fetched(Struct, frozen=True, kw_only=True):
    """The answer of a web server."""

    __unshown__ = frozenset({"body"})

    address: str
    """Where it came from in the end."""

    status: int
    content_type: str
    body: bytes
    """Decompressed."""


async def fetched(
    address: str, most_bytes: int, how: Fetching, *, permits: Callable[[str], bool]
) -> Fetched:
    """Get an address, and where it leads on the same server.

    Args:
        address: As `web_address` returned it.
        most_bytes: Of the body, decompressed.
        how: How addresses are reached.
        permits: Says of an address that a redirect leads to whether it may be followed.

    Raises:
        ToolError: It is not reached, not allowed, too large, or leads to another server or to what
            is not permitted.
    """
    for _ in range(_MOST_REDIRECTS + 1):
        answer = await _answer(address, how, partial(_taken, address, most_bytes))
        if isinstance(answer, Fetched):
            return answer
        target = _next(address, answer)
        if not permits(target):
            raise ToolError(
                "E_DENIED",
                f"{address} leads to {target}, which policy did not let this call get",
                hint="Call fetch_url with that address: policy decides about it by itself.",
            )
        address = target
    raise _too_often(address)


async def status_of(address: str, how: Fetching) -> int:
    """Return the status that a server answers for an address, or for where it leads there.

    The body is not taken.

    Args:
        address: As `web_address` returned it.
        how: How addresses are reached.

    Raises:
        ToolError: It is not reached, not allowed, or leads to another server.
    """
    for _ in range(_MOST_REDIRECTS + 1):
        answer = await _answer(address, how, _status)
        if isinstance(answer, int):
            return answer
        address = _next(address, answer)
    raise _too_often(address)


def _too_often(address: str) -> ToolError:
    text = f"{address} was sent on {_MOST_REDIRECTS} times, and would be once more"
    return ToolError("E_TOOL_FAILED", text)


def _next(address: str, location: str) -> str:
    """Return where a redirect leads; another server is another question."""
    try:
        target = web_address(urljoin(address, location))
    except ValueError as error:
        text = f"{address} leads to {_shown(location)}, which is not fetched: {error}"
        raise ToolError("E_TOOL_FAILED", text) from None
    if origin(target) != origin(address):
        raise ToolError(
            "E_TOOL_FAILED",
            f"{address} leads to another server: {target}",
            hint="Call fetch_url with that address: each server is decided by itself.",
        )
    return target


async def _answer(
    address: str, how: Fetching, take: Callable[[httpx2.Response], Awaitable[T]]
) -> T:
    """Return what is taken of the answer."""
    _, host, port = parts_of(address)
    found = await places(host, port, allowed=how.allowed, resolve=how.resolve)
    verify = how.certificates or _authorities()
    async with httpx2.AsyncHTTPTransport(verify=verify, trust_env=False) as transport:
        try:
            response = await _reached(transport, address, found)
            try:
                return await take(response)
            finally:
                await response.aclose()
        except httpx2.TimeoutException as error:
            text = f"{address} did not answer in time"
            raise ToolError("E_TOOL_TIMEOUT", text) from error
        except httpx2.TransportError as error:
            text = f"{address} cannot be fetched: {error or type(error).__name__}"
            raise ToolError("E_TOOL_FAILED", visible(text)) from error


async def _reached(
    transport: httpx2.AsyncHTTPTransport, address: str, found: Sequence[str]
) -> httpx2.Response:
    """Return the answer of the first address that takes a connection."""
    for place in found[:-1]:
        try:
            return await transport.handle_async_request(_request(address, place))
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            continue
    return await transport.handle_async_request(_request(address, found[-1]))


def _request(address: str, place: str) -> httpx2.Request:
    """Return a request that goes to a checked address and names the host that was asked for."""
    scheme, host, port = parts_of(address)
    beyond = address.partition("://")[2]
    named = beyond[: _length_of_place(beyond)]
    target = httpx2.URL(scheme=scheme, host=place, port=port).copy_with(
        raw_path=beyond[len(named) :].encode("ascii")
    )
    time = {"connect": _CONNECT_SECONDS, "read": _READ_SECONDS, "write": _READ_SECONDS}
    return httpx2.Request(
        "GET",
        target,
        headers={"host": named, **_HEADERS},
        extensions={"sni_hostname": host, "timeout": {**time, "pool": _CONNECT_SECONDS}},
    )


def _length_of_place(text: str) -> int:
    return min(at for sign in "/?" if (at := text.find(sign)) >= 0)


def _location(response: httpx2.Response) -> str | None:
    """Return where a redirect leads; None where it is none."""
    return response.headers.get("location") if response.status_code in _REDIRECTS else None


async def _status(response: httpx2.Response) -> int | str:
    """Return the status, or where it leads."""
    location = _location(response)
    return response.status_code if location is None else location


async def _taken(address: str, most_bytes: int, response: httpx2.Response) -> Fetched | str:
    """Return the answer, or where it leads."""
    location = _location(response)
    if location is not None:
        return location
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    stream = response.aiter_raw()
    body = bytearray()
    taken = 0
    unpack = _BodyDecompressor(coding, address)
    async for data in stream:
        taken += len(data)
        body += unpack.more(data, most_bytes + 1 - len(body))
        if max(len(body), taken) > most_bytes:
            raise ToolError(
                "E_TOO_LARGE",
                f"{address} has more than {most_bytes:,} bytes",
                hint="Ask for more with `max_bytes`, at most 10,000,000.",
            )
    unpack.finish()
    return Fetched(
        address=address,
        status=response.status_code,
        content_type=response.headers.get("content-type", ""),
        body=bytes(body),
    )


class _BodyDecompressor:
    """Decompresses a body, never more of it than there is room for.

    Args:
        coding: What the server says it is.
        address: For messages.

    Raises:
        ToolError: It is compressed in a way that was not asked for.
    """

    def __init__(self, coding: str, address: str) -> None:
        if coding not in ("", "identity", *_COMPRESSED):
            raise _broken(address, f"it is compressed by {_shown(coding)}, which was not asked for")
        self._address = address
        self._bits = _COMPRESSED.get(coding)
        self._inner = None if self._bits is None else zlib.decompressobj(self._bits)
        self._begun = False

    def more(self, data: bytes, room: int) -> bytes:
        """Return the next part; where the room does not do, as much as fills it."""
        self._begun = self._begun or bool(data)
        found = bytearray()
        while data and self._inner is not None and self._bits is not None:
            if self._inner.eof:  # gzip may go on with another member
                self._inner = zlib.decompressobj(self._bits)
            try:
                found += self._inner.decompress(data, max(1, room - len(found)))
            except zlib.error as error:
                raise _broken(self._address, f"it is not compressed as it says: {error}") from error
            if len(found) >= room:
                return bytes(found)
            data = self._inner.unused_data
        return data if self._inner is None else bytes(found)

    def finish(self) -> None:
        """Refuse a body that breaks off; one without a byte is empty, whatever is said of it."""
        if self._begun and self._inner is not None and not self._inner.eof:
            raise _broken(self._address, "it breaks off")


def _broken(address: str, why: str) -> ToolError:
    return ToolError("E_TOOL_FAILED", f"the body of {address} cannot be read: {why}")


def _shown(text: str) -> str:
    return repr(visible(text[:200]))


@cache
def _authorities() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)
