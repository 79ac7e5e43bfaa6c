"""Questions and messages of a server during a call: they reach the call's caller.

A server asks for a form, an answer of a model, or roots; it gets those that the caller offers.
Over HTTP, and where a server asks by an answer of its own (`input_required`), it is certain which
call it belongs to. Over a program's streams the older protocol does not say: then it belongs to the
only call under way, and with several it is refused rather than put to the wrong person.
"""

import json
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast
from urllib.parse import urlsplit

import mcp_types as types
from mcp.client import ClientRequestContext

from lineshaft.errors import Declined, ToolError
from lineshaft.mcp._sampling import (
    SamplingAnswer,
    listed_roots,
    sampling_answer,
    sampling_request,
)
from lineshaft.mcp._text import clean, clean_schema
from lineshaft.values import Ask, Askable, Context, Struct

_MOST_QUESTIONS = 10
_MOST_NOTICES = 1_000
_LONGEST = 2_000
_UNCUT = 20_000
"""What the gate cuts once secrets are taken out; so much of it is looked at."""
_LARGEST_SCHEMA = 20_000

_NO_VALUES: Mapping[str, object] = {"type": "object", "properties": {}}

Reply = types.ElicitResult | SamplingAnswer | types.ListRootsResult

_KINDS: Mapping[str, Askable] = {
    "elicitation/create": "elicit",
    "sampling/createMessage": "sample",
    "roots/list": "roots",
}


class OpenCall(Struct, eq=False):
    """A call under way."""

    context: Context
    questions: int = 0
    notices: int = 0

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Pass on how far the server is; what is too much of it is dropped."""
        if self._takes():
            self.context.progress(progress, total, clean(message or "", _UNCUT))

    def log(self, params: types.LoggingMessageNotificationParams) -> None:
        """Pass on a line; what is too much of it is dropped."""
        if self._takes():
            data: object = params.data
            said = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
            text = f"{params.level}: {said}" if data else params.level
            self.context.notify("log", {"text": clean(text, _UNCUT), "level": params.level})

    async def answer(self, request: types.InputRequest) -> Reply | types.ErrorData:
        """Answer what a server asks by a request of its own."""
        if (kind := _KINDS[request.method]) != "elicit" and kind not in self.context.offers:
            return _refused(_not_offered(request), types.METHOD_NOT_FOUND)
        try:
            return (await self.answers({"": request}))[""]
        except ToolError as error:
            known = {"E_DENIED": _REFUSED[kind], "E_INVALID_ARGS": types.INVALID_PARAMS}
            return _refused(error.message, known.get(error.code, types.INTERNAL_ERROR))

    async def answers(self, requests: Mapping[str, types.InputRequest]) -> dict[str, Reply]:
        """Answer all that a server asks at once, by its keys.

        Raises:
            ToolError: It gets no answer to something.
        """
        self.questions += len(requests)
        if self.questions > _MOST_QUESTIONS:
            raise ToolError("E_DENIED", f"one call may ask {_MOST_QUESTIONS} questions")
        asks = [_ask(key, request) for key, request in requests.items()]
        offers = self.context.offers
        said = dict(await self._said([ask for ask in asks if ask.kind in offers]))
        return {
            key: _reply(each, said.get(key, ToolError("E_DENIED", _not_offered(each))))
            for key, each in requests.items()
        }

    async def _said(self, asks: Sequence[Ask]) -> Sequence[tuple[str, object]]:
        answers = await self.context.ask(asks) if asks else ()
        return [(ask.key, answer) for ask, answer in zip(asks, answers, strict=True)]

    def _takes(self) -> bool:
        self.notices += 1
        return self.notices <= _MOST_NOTICES


refusals: ContextVar[list[types.ErrorData] | None] = ContextVar("refusals", default=None)
"""Takes a server's refusal, where the caller is to see it unchanged; None: it is not."""

failed_results: ContextVar[list[types.CallToolResult] | None] = ContextVar(
    "failed_results", default=None
)
"""Takes what a server answered where its tool failed, with all that a text cannot hold; None: that
is not wanted."""

_REFUSED: Mapping[Askable, int] = {
    "elicit": types.INVALID_REQUEST,
    "sample": -1,
    "roots": types.INTERNAL_ERROR,
}
"""The codes that the protocol has for a question which gets no answer."""

_current: ContextVar[OpenCall | None] = ContextVar("call_under_way", default=None)


class OpenCalls:
    """The calls under way on one connection."""

    def __init__(self) -> None:
        self._open: set[OpenCall] = set()

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._open)

    @contextmanager
    def under_way(self, context: Context) -> Generator[OpenCall]:
        """Count a call as under way as long as the block lasts."""
        call = OpenCall(context)
        self._open.add(call)
        token = _current.set(call)
        try:
            yield call
        finally:
            _current.reset(token)
            self._open.discard(call)

    async def elicit(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        """Answer a question that came as a request of the server's own."""
        del context
        return cast(
            "types.ElicitResult | types.ErrorData",
            await self._answer(types.ElicitRequest(params=params)),
        )

    async def sample(
        self, context: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> SamplingAnswer | types.ErrorData:
        """Answer what came for a model as a request of the server's own."""
        del context
        return cast(
            "SamplingAnswer | types.ErrorData",
            await self._answer(types.CreateMessageRequest(params=params)),
        )

    async def roots(self, context: ClientRequestContext) -> types.ListRootsResult | types.ErrorData:
        """Answer a request of the server's own for roots."""
        del context
        return cast(
            "types.ListRootsResult | types.ErrorData", await self._answer(types.ListRootsRequest())
        )

    async def _answer(self, request: types.InputRequest) -> Reply | types.ErrorData:
        call = self._belongs_to()
        if call is None:
            return _refused("it cannot be told which call the question belongs to")
        return await call.answer(request)

    async def log(self, params: types.LoggingMessageNotificationParams) -> None:
        """Pass on a line that the server wrote; without a call it belongs to, it is dropped."""
        if call := self._belongs_to():
            call.log(params)

    def _belongs_to(self) -> OpenCall | None:
        call = _current.get()
        if call in self._open:
            return call
        return next(iter(self._open)) if len(self._open) == 1 else None


def declared(offers: Collection[Askable]) -> dict[str, Any]:
    """Return what a server is told that may be asked for, as the protocol says it."""
    said: Mapping[Askable, tuple[str, dict[str, Any]]] = {
        "elicit": ("elicitation", {"form": {}, "url": {}}),
        "sample": ("sampling", {}),
        "roots": ("roots", {}),
    }
    return dict(said[kind] for kind in said if kind in offers)


def _ask(key: str, request: types.InputRequest) -> Ask:
    """Return what a server asks for, fit to be put to anybody.

    Raises:
        ToolError: It is not.
    """
    match request:
        case types.CreateMessageRequest(params=params):
            given = params.model_dump(by_alias=True, mode="json", exclude_none=True)
            return Ask(kind="sample", request=sampling_request(given), key=key)
        case types.ListRootsRequest():
            return Ask(kind="roots", key=key)
        case types.ElicitRequest(params=params):
            return _form(key, params)


def _form(key: str, params: types.ElicitRequestParams) -> Ask:
    if isinstance(params, types.ElicitRequestURLParams):
        address = clean(params.url, _LONGEST)
        if urlsplit(address).scheme not in ("http", "https"):
            raise ToolError("E_DENIED", "only http and https addresses are shown")
        text = f"{clean(params.message, _UNCUT)}\nOpen {address} and answer when it is done."
        return Ask(kind="elicit", message=text, schema=_NO_VALUES, key=key)
    if len(params.model_dump_json()) > _LARGEST_SCHEMA:
        raise ToolError("E_DENIED", "the question is too long")
    schema = cast("Mapping[str, object]", clean_schema(params.requested_schema))
    return Ask(kind="elicit", message=clean(params.message, _UNCUT), schema=schema, key=key)


def _reply(request: types.InputRequest, said: object) -> Reply:
    """Return an answer as the protocol says it.

    Raises:
        ToolError: There is none.
    """
    if isinstance(said, Declined):
        return types.ElicitResult(action="decline")
    if isinstance(said, ToolError):
        raise said
    if isinstance(request, types.ElicitRequest):
        if not isinstance(said, Mapping):
            return types.ElicitResult(action="cancel")
        if isinstance(request.params, types.ElicitRequestURLParams):
            return types.ElicitResult(action="accept")
        content = cast("dict[str, str | int | float | bool | list[str] | None]", dict(said))  # pyright: ignore[reportUnknownArgumentType]  the answer may be anything
        return types.ElicitResult(action="accept", content=content)
    is_sampling = isinstance(request, types.CreateMessageRequest)
    return sampling_answer(said) if is_sampling else listed_roots(said)


def _not_offered(request: types.InputRequest) -> str:
    if isinstance(request, types.ElicitRequest):
        return "no person can be asked"
    return f"{request.method!r} is not offered by the caller"


def _refused(reason: str, code: int = types.INVALID_REQUEST) -> types.ErrorData:
    return types.ErrorData(code=code, message=reason)
