"""One request of a client, as the SDK gives it: how its person is asked, what it is told."""

import warnings
from collections.abc import Mapping
from typing import Any, cast, get_args

import mcp_types as types
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from lineshaft.errors import ToolError
from lineshaft.mcp._sampling import as_json
from lineshaft.mcp._text import clean
from lineshaft.mcp.front.client import (
    AskedWhen,
    ClientAnswer,
    ClientQuestion,
    FilledForm,
    Form,
    Level,
    Note,
    Question,
    Said,
)
from lineshaft.values import Askable

RequestContext = ServerRequestContext[Any, Any]

LEAST = "lineshaft.level"
"""Where the state of a connection has the least level that an older client wants to hear of."""

_TRACE = ("traceparent", "tracestate", "baggage")
_LONGEST_TRACE = 8_192
_LONGEST_ERROR = 500


class Request:
    """A request for a call.

    Args:
        context: The SDK's context of the request.
        params: Its parameters.
    """

    def __init__(self, context: RequestContext, params: types.RequestParams) -> None:
        self._context = context
        comes_back = isinstance(params, types.InputResponseRequestParams)
        self._params = params if comes_back else types.InputResponseRequestParams()

    @property
    def context(self) -> RequestContext:
        """The SDK's context of the request."""
        return self._context

    @property
    def reach(self) -> AskedWhen:
        """How the client can be asked for what it offers."""
        if self._context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return "later"
        return "at once" if self._context.session.can_send_request else "never"

    @property
    def offers(self) -> frozenset[Askable]:
        """The capabilities that the client declared when it connected, or with this request."""
        capabilities = self._context.session.client_capabilities
        if capabilities is None or self.reach == "never":
            return frozenset()
        held = capabilities.elicitation
        declared: Mapping[Askable, bool] = {
            # One that names no mode at all means forms: the older way to say it.
            "elicit": held is not None and (held.form is not None or held.url is None),
            "sample": capabilities.sampling is not None,
            "roots": capabilities.roots is not None,
        }
        return frozenset(kind for kind, is_so in declared.items() if is_so)

    @property
    def asks(self) -> AskedWhen:
        """How the person behind it can be asked."""
        return self.reach if "elicit" in self.offers else "never"

    @property
    def trace(self) -> Mapping[str, str]:
        """The trace that it belongs to."""
        meta = cast("Mapping[str, object]", self._context.meta or {})
        found = {key: meta.get(key) for key in _TRACE}
        return {
            key: value
            for key, value in found.items()
            if isinstance(value, str) and len(value) <= _LONGEST_TRACE
        }

    @property
    def state(self) -> str:
        """What the client was given to come back with; it is opened, and known to be ours."""
        return self._params.request_state or ""

    @property
    def said(self) -> Mapping[str, Said]:
        """The answers that it comes back with."""
        given = self._params.input_responses or {}
        return {key: _said(each) for key, each in given.items()}

    async def ask(self, question: Question) -> Said:
        """Ask at once.

        Raises:
            ToolError: `E_DENIED`: the client would not answer.
        """
        request = input_request(question)
        metadata = ServerMessageMetadata(related_request_id=self._context.request_id)
        try:
            return _said(
                await self._context.session.send_request(
                    request, _RESULTS[question.kind], metadata=metadata
                )
            )
        except (MCPError, ValueError) as error:
            if isinstance(question, Form):
                return FilledForm("cancel")  # the client cannot, or is gone, or sent no answer
            text = f"the client would not answer: {clean(str(error), _LONGEST_ERROR)}"
            raise ToolError("E_DENIED", text) from None

    async def tell(self, note: Note) -> None:
        """Pass on what happens."""
        session = self._context.session
        if not note.log:
            await session.report_progress(note.done or 0.0, note.total, note.text or None)
            return
        weights = get_args(Level)
        least = connection_of(self._context).state.get(LEAST, weights[0])
        if weights.index(note.level) < weights.index(least):
            return
        with warnings.catch_warnings():
            # Clients of both kinds still show it, and nothing has taken its place.
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            await session.send_log_message(  # pyright: ignore[reportDeprecated]  as above
                note.level, note.text, "lineshaft", related_request_id=self._context.request_id
            )


def connection_of(context: RequestContext) -> Connection:
    """Return the connection of a client, which tells when it ends."""
    return context.session._connection  # pyright: ignore[reportPrivateUsage]  # noqa: SLF001  the SDK has no public name for it


def input_request(question: Question) -> types.InputRequest:
    """Return a question as the protocol asks it."""
    match question:
        case Form(message=message, schema=schema):
            asked = cast("dict[str, Any]", schema)
            form = types.ElicitRequestFormParams(message=message, requested_schema=asked)
            return types.ElicitRequest(params=form)
        case ClientQuestion(kind="sample", params=params):
            wanted = types.CreateMessageRequestParams.model_validate(params, by_name=False)
            return types.CreateMessageRequest(params=wanted)
        case ClientQuestion():
            return types.ListRootsRequest(params=types.RequestParams())


_RESULTS: Mapping[Askable, type[types.InputResponse]] = {
    "elicit": types.ElicitResult,
    "sample": types.CreateMessageResultWithTools,
    "roots": types.ListRootsResult,
}


def _said(answer: types.InputResponse) -> Said:
    if isinstance(answer, types.ElicitResult):
        return FilledForm(answer.action, cast("Mapping[str, object]", answer.content or {}))
    return ClientAnswer(as_json(answer))
