"""One request of a client, as the SDK gives it: how its person is asked, what it is told."""

import warnings
from collections.abc import Mapping
from typing import Any, cast

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from lineshaft.mcp._front_client import Asks, Filled, Form, Note

Context = ServerRequestContext[Any, Any]

_TRACE = ("traceparent", "tracestate", "baggage")
_LONGEST_TRACE = 8_192


class Request:
    """A request for a call.

    Args:
        context: What the SDK knows of it.
        params: Its parameters.
    """

    def __init__(self, context: Context, params: types.CallToolRequestParams) -> None:
        self._context = context
        self._params = params

    @property
    def asks(self) -> Asks:
        """How the person behind it can be asked."""
        capabilities = self._context.session.client_capabilities
        held = capabilities.elicitation if capabilities is not None else None
        # One that names no mode at all means forms: the older way to say it.
        if held is None or (held.form is None and held.url is not None):
            return "never"
        if self._context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return "later"
        return "at once" if self._context.session.can_send_request else "never"

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
    def filled(self) -> Mapping[str, Filled]:
        """The forms that it comes back with."""
        given = self._params.input_responses or {}
        return {
            key: _filled(said)
            for key, said in given.items()
            if isinstance(said, types.ElicitResult)
        }

    async def ask(self, form: Form) -> Filled:
        """Ask the person at once."""
        schema = cast("dict[str, Any]", form.schema)
        try:
            said = await self._context.session.elicit_form(
                form.message, schema, related_request_id=self._context.request_id
            )
        except (MCPError, ValueError):
            return Filled("cancel")  # the client cannot, or is gone, or sent no answer
        return _filled(said)

    async def tell(self, note: Note) -> None:
        """Pass on what happens."""
        session = self._context.session
        if not note.log:
            await session.report_progress(note.done or 0.0, note.total, note.text or None)
            return
        with warnings.catch_warnings():
            # Clients of both kinds still show it, and nothing has taken its place.
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            await session.send_log_message(  # pyright: ignore[reportDeprecated]  as above
                "info", note.text, "lineshaft", related_request_id=self._context.request_id
            )


def input_request(form: Form) -> types.ElicitRequest:
    """Return a form as the newest protocol asks it."""
    schema = cast("dict[str, Any]", form.schema)
    params = types.ElicitRequestFormParams(message=form.message, requested_schema=schema)
    return types.ElicitRequest(params=params)


def _filled(said: types.ElicitResult) -> Filled:
    return Filled(said.action, cast("Mapping[str, object]", said.content or {}))
