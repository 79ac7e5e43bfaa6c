"""A model behind an address that speaks OpenAI's chat completions."""

import json
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import cache

import anyio
import httpx2
from msgspec.structs import replace

from lineshaft.errors import ConfigError, ModelError, ModelRefused, ModelUnavailable
from lineshaft.models._messages import ModelReply
from lineshaft.models._model import ModelRequest, OnText
from lineshaft.models._price import ModelPrice
from lineshaft.models._server_errors import AGAIN, LONGEST_WAIT, words_of
from lineshaft.models._slots import RequestSlots
from lineshaft.models.openai.completion import Completion, NoCompletion, error_in
from lineshaft.models.openai.order import order_of

_MOST_BYTES = 20_000_000
"""Of one answer."""

_MOST_OF_ERROR = 64_000

_HINTS: Mapping[int, str] = {
    401: "look at the API key",
    403: "look at the API key and what it may do",
    404: "look at the name of the model and the base URL",
}


class OpenAICompatible:
    """A model of a provider or a local server, asked by HTTP.

    A request is sent once. No redirect is followed and no proxy of the environment is used: the key
    goes to the address alone.

    Args:
        model: The model's name there.
        base_url: The address before `/chat/completions`: `https://api.openai.com/v1`. A query such
            as `?api-version=2024-10-21` goes behind it.
        api_key: Sent as a bearer token; None: none is sent.
        headers: Sent with each request.
        price: What a million tokens cost; None: not known.
        concurrency: Requests at a time; others wait, which is not part of their seconds.
        name: As `Model.name`.

    Raises:
        ConfigError: The address is none, a number is out of range, or the key or a header has a
            character that a header cannot have.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str,
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        price: ModelPrice | None = None,
        concurrency: int = 8,
        name: str = "",
    ) -> None:
        url = _url(base_url)
        self._model = model
        self._url = url
        for key, value in (headers or {}).items():
            _check(value, f"the header {key!r}")
        if api_key:
            _check(api_key, "the API key")
        self._headers = {"accept": "application/json, text/event-stream", **(headers or {})}
        self._headers |= {"content-type": "application/json", "accept-encoding": "identity"}
        self._secrets = tuple(value for value in (headers or {}).values() if value)
        if api_key:
            self._headers["authorization"] = f"Bearer {api_key}"
            self._secrets = (api_key, *self._secrets)
        self._price = price
        self._slots = RequestSlots(concurrency)
        self._name = name or f"{url.host}:{model}"

    @property
    def name(self) -> str:
        """As `Model.name`."""
        return self._name

    @property
    def priced(self) -> bool:
        """As `Model.priced`."""
        return self._price is not None

    async def complete(self, request: ModelRequest, *, on_text: OnText | None = None) -> ModelReply:
        """As `Model.complete`."""
        order = order_of(request, model=self._model, stream=on_text is not None)
        body = json.dumps(order, ensure_ascii=False).encode("utf-8", "replace")
        answer = Completion(asked=len(body), as_schema=request.as_schema)
        async with self._slots.one():
            try:
                with anyio.fail_after(request.seconds):
                    await self._ask(body, answer, on_text)
            except TimeoutError:
                raise ModelUnavailable(
                    f"{self._name} did not answer within {request.seconds:g} s"
                ) from None
            except NoCompletion as error:
                raise ModelUnavailable(
                    f"{self._name} answered what is no chat completion: {self._clean(str(error))}"
                ) from None
            except httpx2.HTTPError as error:
                why = self._clean(f"{type(error).__name__} {error}".strip())
                raise ModelUnavailable(f"{self._name} cannot be reached: {why}") from None
        reply = answer.reply()
        price = self._price
        return reply if price is None else replace(reply, usage=price.charged(reply.usage))

    async def _ask(self, body: bytes, answer: Completion, on_text: OnText | None) -> None:
        request = httpx2.Request(
            "POST",
            self._url,
            headers=self._headers,
            content=body,
            extensions={"timeout": {}},
        )
        async with httpx2.AsyncHTTPTransport(verify=_trusted(), trust_env=False) as transport:
            response = await transport.handle_async_request(request)
            try:
                await self._read(response, answer, on_text)
            finally:
                await response.aclose()

    async def _read(
        self, response: httpx2.Response, answer: Completion, on_text: OnText | None
    ) -> None:
        if not response.is_success:
            raise self._error(response, await _told(response))
        kind = response.headers.get("content-type", "")
        if on_text is not None and kind.startswith("text/event-stream"):
            async for data in _events(response):
                answer.piece(_json(data), on_text)
            if not answer.is_whole:
                raise NoCompletion("it ended in the middle")
            return
        answer.take(_json(await _whole(response)))
        if on_text is not None and (text := answer.reply().text):
            on_text(text)

    def _error(self, response: httpx2.Response, body: bytes) -> ModelError:
        status = response.status_code
        said = self._clean(error_in(body.decode("utf-8", "replace")))
        text = f"{self._name} answered {status}" + (f": {said}" if said else "")
        if status in AGAIN or status >= 500:
            return ModelUnavailable(text, retry_after=_retry_after(response.headers))
        if 300 <= status < 400:
            hint = "set the base URL to where it answers; no redirect is followed with a key"
            return ModelRefused(text, hint=hint)
        return ModelRefused(text, hint=_HINTS.get(status, ""))

    def _clean(self, text: str) -> str:
        return words_of(text, self._secrets)


def _url(base_url: str) -> httpx2.URL:
    try:
        base, sign, query = base_url.partition("?")
        url = httpx2.URL(f"{base.rstrip('/')}/chat/completions{sign}{query}")
    except httpx2.InvalidURL as error:
        raise ConfigError(f"the base URL {base_url!r} is no address: {error}") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigError(
            f"the base URL {base_url!r} is no address",
            hint="write it as https://api.openai.com/v1",
        )
    if url.userinfo:
        raise ConfigError("the base URL has a user or password in front of its host")
    return url


def _check(value: str, what: str) -> None:
    """Refuse a line break above all: a client quotes such a value in its error, the key with it."""
    if not value.isascii() or not value.isprintable() or value != value.strip():
        raise ConfigError(
            f"{what} has a character that no header can have, or space around it",
            hint="a key that was read from a file often ends with a line break: strip it",
        )


@cache
def _trusted() -> ssl.SSLContext:
    return ssl.create_default_context()


async def _raw(response: httpx2.Response) -> AsyncIterator[bytes]:
    """Yield bytes as they came: what is packed may unpack to more than there is memory."""
    packed = response.headers.get("content-encoding", "identity")
    if packed.strip().lower() not in ("", "identity"):
        raise NoCompletion("it is packed, which was not asked for")
    async for data in response.aiter_raw():
        yield data


async def _whole(response: httpx2.Response) -> bytes:
    found = bytearray()
    async for data in _raw(response):
        found += data
        if len(found) > _MOST_BYTES:
            raise NoCompletion(f"it is longer than {_MOST_BYTES:,} bytes")
    return bytes(found)


async def _told(response: httpx2.Response) -> bytes:
    """Return what an error says, as far as it can be read: its status says what it is."""
    found = bytearray()
    with suppress(NoCompletion):
        async for data in _raw(response):
            found += data
            if len(found) > _MOST_OF_ERROR:
                break
    return bytes(found[:_MOST_OF_ERROR])


async def _events(response: httpx2.Response) -> AsyncIterator[bytes]:
    """Yield the data of server-sent events, one a line, until the last."""
    total, rest = 0, bytearray()
    async for data in _raw(response):
        total += len(data)
        if total > _MOST_BYTES:
            raise NoCompletion(f"it is longer than {_MOST_BYTES:,} bytes")
        rest += data
        if b"\n" not in data:  # a long line in many pieces is looked through once
            continue
        *lines, rest = rest.split(b"\n")
        for line in map(bytes, lines):
            field, _, value = line.strip().partition(b":")
            if field != b"data":  # a comment that keeps the connection, or a field of no use here
                continue
            if value.strip() == b"[DONE]":
                return
            yield value.strip()


def _json(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise NoCompletion("it is no JSON") from None


def _retry_after(headers: httpx2.Headers) -> float | None:
    """Return the seconds of `retry-after`: a number, or a date (RFC 9110, 10.2.3)."""
    said = headers.get("retry-after", "")
    try:
        seconds = float(said)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(said).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return min(max(seconds, 0.0), LONGEST_WAIT) if seconds == seconds else None
