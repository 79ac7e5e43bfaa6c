"""What a server asks and says while a call of ours is under way: it reaches whoever made the call.

Over HTTP, and where a server asks by an answer of its own (`input_required`), it is certain which
call it belongs to. Over a program's streams the older protocol does not say: then it belongs to the
only call under way, and with several it is refused rather than put to the wrong person.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

import mcp_types as types
from mcp.client import ClientRequestContext

from lineshaft.errors import ToolError
from lineshaft.mcp._text import clean, clean_schema
from lineshaft.values import Context

_MOST_QUESTIONS = 10
_MOST_NOTICES = 1_000
_LONGEST = 2_000
_LARGEST_SCHEMA = 20_000

_NO_VALUES: Mapping[str, object] = {"type": "object", "properties": {}}

Answer = types.ElicitResult | types.ErrorData


@dataclass(eq=False)
class Open:
    """A call under way."""

    context: Context
    questions: int = 0
    notices: int = 0

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Pass on how far the server is; what is too much of it is dropped."""
        if self._takes():
            self.context.progress(progress, total, clean(message or "", _LONGEST))

    def log(self, text: str) -> None:
        """Pass on a line; what is too much of it is dropped."""
        if self._takes():
            self.context.log(clean(text, _LONGEST))

    async def answer(self, params: types.ElicitRequestParams) -> Answer:
        """Put a server's question to the person behind the call."""
        self.questions += 1
        if self.questions > _MOST_QUESTIONS:
            return _refused(f"one call may ask {_MOST_QUESTIONS} questions")
        if isinstance(params, types.ElicitRequestURLParams):
            return await self._visit(params)
        if len(params.model_dump_json()) > _LARGEST_SCHEMA:
            return _refused("the question is too long")
        try:
            value = await self.context.elicit(
                clean(params.message, _LONGEST),
                cast("Mapping[str, object]", clean_schema(params.requested_schema)),
            )
        except ToolError:
            return types.ElicitResult(action="decline")
        if not isinstance(value, Mapping):
            return types.ElicitResult(action="cancel")
        content = cast("dict[str, str | int | float | bool | list[str] | None]", dict(value))  # pyright: ignore[reportUnknownArgumentType]  whoever answers may be anybody
        return types.ElicitResult(action="accept", content=content)

    async def _visit(self, params: types.ElicitRequestURLParams) -> Answer:
        address = clean(params.url, _LONGEST)
        if urlsplit(address).scheme not in ("http", "https"):
            return _refused("only http and https addresses are shown")
        text = f"{clean(params.message, _LONGEST)}\nOpen {address} and answer when it is done."
        try:
            await self.context.elicit(text, _NO_VALUES)
        except ToolError:
            return types.ElicitResult(action="decline")
        return types.ElicitResult(action="accept")

    def _takes(self) -> bool:
        self.notices += 1
        return self.notices <= _MOST_NOTICES


asked_under: ContextVar[str] = ContextVar("asked_under", default="")
"""The key under which a server asks, where it asks by an answer of its own: whoever passes the
question on may ask under the same."""

_current: ContextVar[Open | None] = ContextVar("call_under_way", default=None)


class Asks:
    """The calls under way on one connection."""

    def __init__(self) -> None:
        self._open: set[Open] = set()

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._open)

    @contextmanager
    def under_way(self, context: Context) -> Generator[Open]:
        """Count a call as under way as long as the block lasts."""
        call = Open(context)
        self._open.add(call)
        token = _current.set(call)
        try:
            yield call
        finally:
            _current.reset(token)
            self._open.discard(call)

    async def elicit(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> Answer:
        """Answer a question that came as a request of the server's own."""
        del context
        call = self._belongs_to()
        if call is None:
            return _refused("it cannot be told which call the question belongs to")
        return await call.answer(params)

    async def log(self, params: types.LoggingMessageNotificationParams) -> None:
        """Pass on a line that the server wrote; without a call it belongs to, it is dropped."""
        if call := self._belongs_to():
            call.log(f"{params.level}: {params.data}" if params.data else params.level)

    def _belongs_to(self) -> Open | None:
        call = _current.get()
        if call in self._open:
            return call
        return next(iter(self._open)) if len(self._open) == 1 else None


def _refused(reason: str) -> types.ErrorData:
    return types.ErrorData(code=types.INVALID_REQUEST, message=reason)
