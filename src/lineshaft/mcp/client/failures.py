"""From what goes wrong with a server to what is said of it."""

import json
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol, TypeVar, cast

import anyio
import mcp_types as types
from mcp import MCPError
from pydantic import ValidationError

from lineshaft.errors import LineshaftError, ToolError
from lineshaft.mcp._text import clean
from lineshaft.mcp.client.results import too_large
from lineshaft.mcp.client.wire import (
    BROKE_OFF,
    FORGOTTEN,
    FORGOTTEN_MARK,
    LOST_MARK,
    TOO_LARGE,
    Wire,
)
from lineshaft.trace import Redactor
from lineshaft.values import SecretFinder

_LONGEST = 2_000
_LOOK_SECONDS = 1.0
_CLOSED = "Connection closed"
"""What the SDK says of calls on a connection that has ended as a whole."""

_ABANDONED = ("SSE stream ended", "SSE stream failed")
"""How the SDK begins what it says of a call over HTTP whose answer broke off."""

_BROKEN = f"Failed to parse JSON response: {BROKE_OFF}"

_NO_MESSAGE = re.compile(r"Failed to parse (JSON response|SSE message): \d+ validation error")
"""How the SDK begins what it says of an answer over HTTP that is no message."""

_TOO_LARGE = (TOO_LARGE, "Server-sent event exceeded")


T = TypeVar("T")


class Linked(Protocol):
    """The part of a connection that the repetition of a request needs."""

    wire: Wire


Link = TypeVar("Link", bound=Linked)


class SessionForgotten(Exception):
    """The server has lost the session that a request belongs to; it did nothing."""


async def known_again(
    linked: Callable[[], Awaitable[Link]], ask: Callable[[Link], Awaitable[T]]
) -> T:
    """Return an answer; where the server has lost our session, it is asked again in another one.

    Args:
        linked: Gives the connection.
        ask: Asks over it.

    Raises:
        ToolError: There is no connection, or no answer.
    """
    with suppress(SessionForgotten):
        return await ask(await linked())
    try:
        return await ask(await linked())
    except SessionForgotten:
        text = f"{FORGOTTEN}; nothing was done, so call again"
        raise ToolError("E_TOOL_FAILED", text) from None


def is_forgotten(error: BaseException, wire: Wire) -> bool:
    """Return whether a server has lost our session; the connection has ended then.

    Args:
        error: What the SDK raised.
        wire: What is known of the connection.
    """
    first = first_of(error)
    found = isinstance(first, MCPError) and first.error.data == FORGOTTEN_MARK
    if found:
        wire.forgotten = True
        wire.gone.set()
    return found


def first_of(error: BaseException) -> BaseException:
    """Return the error that a group of them began with."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


def told(error: BaseException, secrets: SecretFinder) -> str:
    """Return an error as one says it of a server.

    Args:
        error: What was raised.
        secrets: What is not cut in two where that is long.
    """
    if isinstance(error, LineshaftError):
        return error.message
    if isinstance(error, ValidationError):
        text = f"it answered what MCP does not allow: {_fault(error)}"
        return clean(text, _LONGEST, secrets=secrets)
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    if isinstance(error, OSError):
        return error.strerror or str(error) or type(error).__name__
    if isinstance(error, MCPError) and not error.message.strip():
        return f"it answered with the error {error.code} and did not say why"
    if _NO_MESSAGE.match(str(error)):
        return "it answered with what is no JSON-RPC message of MCP"
    # Authorisation servers may repeat what they were sent, and the SDK repeats what they say.
    text = Redactor().text(str(error) or type(error).__name__)
    return clean(text, _LONGEST, secrets=secrets)


def _fault(error: ValidationError) -> str:
    """Return the first fault; of what may be of several kinds, one of the kind that it says."""
    faults = error.errors(include_url=False, include_input=False)
    kinds = {fault["loc"] for fault in faults if fault["type"] == "literal_error"}
    fitting = (each for each in faults if (*each["loc"][:-1], "type") not in kinds)
    first = next(fitting, None)
    where = faults[0]["loc"][:-2] if first is None else first["loc"]
    why = "it is of no kind that MCP has" if first is None else first["msg"]
    return f"{'.'.join(str(part) for part in where)}: {why}"


async def during_a_call(
    error: Exception, *, server: str, wire: Wire, most_bytes: int, secrets: SecretFinder
) -> ToolError | SessionForgotten:
    """Return the error of a call that a server did not answer as it should.

    Args:
        error: What the SDK raised.
        server: Its name.
        wire: What is known of the connection.
        most_bytes: The longest message.
        secrets: What is not cut in two where it says much.
    """
    first = first_of(error)
    text = told(first, secrets)
    by_http = wire.process is None  # where the SDK answers in the place of a server
    if text.startswith(_TOO_LARGE) or (by_http and any(mark in text for mark in _TOO_LARGE)):
        return too_large(most_bytes)
    if isinstance(first, MCPError) and _is_lost(first.error, by_http=by_http):
        if first.error.message == _CLOSED:
            wire.gone.set()
        with anyio.move_on_after(_LOOK_SECONDS if wire.process else 0):
            await wire.gone.wait()
        end = wire.end(secrets) or text
        return ToolError(
            "E_TOOL_FAILED",
            f"the MCP server {server!r} was lost while the call was under way ({end}); "
            "what it was to do may have happened",
            hint="look whether it did before you call again; the server is started anew",
        )
    if is_forgotten(first, wire):
        return SessionForgotten()
    if isinstance(first, MCPError) and first.code == types.URL_ELICITATION_REQUIRED:
        text = f"{text} {_addresses(first)}".strip()
    return ToolError("E_TOOL_FAILED", text)


def is_marked(error: types.ErrorData) -> bool:
    """Return whether an error is ours, of an answer that was lost; its data is for nobody else."""
    return error.data == LOST_MARK


def _is_lost(error: types.ErrorData, *, by_http: bool) -> bool:
    """Return whether a call was lost; servers send the code for other errors of theirs, too."""
    if by_http and error.message.startswith(_BROKEN):
        return True
    if error.code != types.CONNECTION_CLOSED:
        return False
    abandoned = by_http and error.message.startswith(_ABANDONED)
    return abandoned or is_marked(error) or error.message == _CLOSED


def refusal_of(error: BaseException) -> types.ErrorData | None:
    """Return the error of a server that needs what its client does not offer, as it said that."""
    first = first_of(error)
    if not isinstance(first, MCPError) or first.code != types.MISSING_REQUIRED_CLIENT_CAPABILITY:
        return None
    try:
        needs = types.MissingRequiredClientCapabilityErrorData.model_validate(first.error.data)
    except ValidationError:
        return None
    data = needs.model_dump(by_alias=True, mode="json", exclude_none=True)
    if len(json.dumps(data)) > _LONGEST:
        return None
    return types.ErrorData(code=first.code, message=clean(first.error.message, _LONGEST), data=data)


def _addresses(error: MCPError) -> str:
    try:
        data = types.ElicitationRequiredErrorData.model_validate(error.error.data)
    except ValidationError:
        return ""
    asked = (f"{each.message} ({each.url})" for each in data.elicitations)
    return clean(f"A person has to open: {'; '.join(asked)}", _LONGEST)
