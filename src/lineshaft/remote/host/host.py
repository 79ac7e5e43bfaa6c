"""Conversations over Socket.IO, and the HTTP endpoints beside it.

Above: its server. Below: python-socketio. Who comes in has passed the door (token, Host,
Origin); nothing here is reached without.
"""

import asyncio
import json
import logging
import secrets
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import cast
from urllib.parse import parse_qs

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from lineshaft.errors import (
    ConnectFailed,
    LineshaftError,
    LocalProtocolError,
    RemoteProtocolError,
    TooLarge,
    WindowRefused,
)
from lineshaft.remote.host.agents import AgentRuns, StartAgent
from lineshaft.remote.host.answers import (
    CLIENT_GONE,
    WAIT_SECONDS,
    error_answer,
    json_answer,
    until_gone,
)
from lineshaft.remote.host.conversation import HearProgress, HostConversation, Window
from lineshaft.remote.host.lines import ActionLines
from lineshaft.remote.host.runs import RunRequests
from lineshaft.remote.host.sockets import refusal, sockets
from lineshaft.remote.protocol import (
    DEEPEST,
    GRACE_SECONDS,
    LINES,
    PROTOCOL,
    ActionEnd,
    ActionEvent,
    ErrorObservation,
    Json,
    ObservationEvent,
    PersonStop,
    key_of,
    observation_frame,
    offer_frame,
    read_action,
    read_person,
)
from lineshaft.remote.runs import KeptRuns
from lineshaft.values import too_deep

MESSAGE_BYTES = 32 * 1024 * 1024
"""No message may be longer, either way."""

PING_SECONDS = 5
PING_TIMEOUT_SECONDS = 20
MOST_CONVERSATIONS = 100

_LOOKS = 1_000
_log = logging.getLogger("lineshaft.remote")


class EditorHost:
    """Editors' windows on one side, who delegates actions on the other.

    Args:
        version: Of Lineshaft, told to windows.
        grace: Seconds for a lost link to come back.
        open_runs: Gives what reads the runs of the folder; None: runs are not told.
        start_agent: Runs an agent for the person at a window; None: no messages are taken.
    """

    def __init__(
        self,
        *,
        version: str,
        grace: float = GRACE_SECONDS,
        open_runs: Callable[[], KeptRuns] | None = None,
        start_agent: StartAgent | None = None,
    ) -> None:
        self._version = version
        self._runs = None if open_runs is None else RunRequests(open_runs)
        self._start_agent = start_agent
        self._agents: dict[str, AgentRuns] = {}
        self._grace = grace
        self._conversations: dict[str, HostConversation] = {}
        self._of_connection: dict[str, HostConversation] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._sockets, self._socket_app = sockets(
            {
                "connect": self._connect,
                "disconnect": self._disconnect,
                "oh_event": self._event,
                "oh_status": self._status,
                "oh_tools": self._tools,
                "oh_progress": self._progress,
                "oh_user_action": self._person,
            },
            max_http_buffer_size=MESSAGE_BYTES,
            ping_interval=PING_SECONDS,
            ping_timeout=PING_TIMEOUT_SECONDS,
        )

    def app(self) -> ASGIApp:
        """Return the ASGI application; a door stands before it."""
        routes = [
            Route("/api/conversations", self._create, methods=["POST"]),
            Route("/api/conversations", self._list, methods=["GET"]),
            Route("/api/conversations/{id}", self._describe, methods=["GET"]),
            Route("/api/conversations/{id}/actions", self._act, methods=["POST"]),
            Route("/api/conversations/{id}/events", self._show, methods=["POST"]),
            Route("/api/conversations/{id}/tools", self._offered, methods=["GET"]),
            Mount("/socket.io", self._socket_app),
        ]
        return Starlette(routes=[*routes, *(self._runs.routes() if self._runs else ())])

    def create(self) -> HostConversation:
        """Begin a conversation.

        Raises:
            LocalProtocolError: There are too many that are in use.
        """
        if len(self._conversations) >= MOST_CONVERSATIONS:
            idle = next((c.id for c in self._conversations.values() if not self._in_use(c)), None)
            if idle is None:
                raise LocalProtocolError(
                    f"there are {MOST_CONVERSATIONS} channels, all of them in use"
                )
            del self._conversations[idle]
            self._agents.pop(idle, None)
        new = secrets.token_hex(16)
        lost = partial(self._end_agent, new)
        made = HostConversation(new, self._emit, grace=self._grace, lost=lost)
        self._conversations[made.id] = made
        return made

    def _end_agent(self, conversation_id: str) -> None:
        """End the agent of a window that stays away."""
        agents = self._agents.get(conversation_id)
        if agents is not None:
            agents.stop()

    def _in_use(self, conversation: HostConversation) -> bool:
        agents = self._agents.get(conversation.id)
        return conversation.in_use or (agents is not None and agents.works)

    def conversation(self, conversation_id: str) -> HostConversation | None:
        """Return a conversation; None: there is none with this id."""
        return self._conversations.get(conversation_id)

    def close(self) -> None:
        """End all that is pending: the host ends."""
        for each in self._conversations.values():
            each.close()

    async def aclose(self) -> None:
        """End all that is pending and every run of an agent, and wait until that has ended."""
        self.close()
        for each in self._agents.values():
            await each.aclose()
        if self._runs is not None:
            await self._runs.aclose()

    async def _emit(self, connection: str, event: str, frame: Json) -> None:
        size = len(json.dumps(frame, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        if size > MESSAGE_BYTES:
            raise TooLarge(
                f"the message of {size:,} bytes is larger than {MESSAGE_BYTES:,}",
                hint="write the file in parts",
            )
        await self._sockets.emit(event, frame, to=connection)

    # What windows send.

    async def _connect(self, connection: str, environ: Mapping[str, object], auth: object) -> None:
        query = parse_qs(str(environ.get("QUERY_STRING", "")))
        said: Json = cast("Json", auth) if isinstance(auth, Mapping) else {}
        wanted = _text(said.get("conversation_id")) or _last(query, "conversation_id")
        conversation = self._conversations.get(wanted)
        if conversation is None:
            raise refusal("no_conversation", f"there is no channel {wanted!r}")
        if (protocol := said.get("protocol", PROTOCOL)) != PROTOCOL:
            update = "the extension" if _is_older(protocol) else "Lineshaft"
            raise refusal(
                "protocol",
                f"the editor speaks protocol {protocol!r}, Lineshaft {self._version} speaks"
                f" {PROTOCOL}: update {update}",
            )
        about = {name: _text(said.get(name)) for name in ("editor", "version")}
        window = Window(
            id=_text(said.get("window")) or connection, connection=connection, about=about
        )
        try:
            before = conversation.admit(window)
        except RemoteProtocolError as error:
            raise refusal("taken", error.message) from error
        self._of_connection[connection] = conversation
        if before is not None:
            self._of_connection.pop(before.connection, None)
            self._soon(self._sockets.disconnect(before.connection))
        latest = said.get("latest_event_id", _last(query, "latest_event_id"))
        self._soon(self._welcome(conversation, window, latest))

    def _soon(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _welcome(
        self, conversation: HostConversation, window: Window, latest: object
    ) -> None:
        """Send what a window missed, once its client has been told that it is connected."""
        for _ in range(_LOOKS):
            if not self._sockets.manager.is_pre_connected(window.connection, "/"):
                await conversation.welcome(window, latest)
                return
            await anyio.sleep(0.01)

    async def _disconnect(self, connection: str, *_: object) -> None:
        conversation = self._of_connection.pop(connection, None)
        if conversation is not None:
            conversation.leave(connection)

    async def _event(self, connection: str, frame: object = None) -> Json:
        """Take an answer, and acknowledge it: what is dropped is not to be sent again either."""
        conversation = self._of_connection.get(connection)
        if conversation is None:
            return {"ok": False, "reason": "replaced"}
        dropped = conversation.receive(frame)
        if dropped is None:
            return {"ok": True}
        if dropped.reason != "duplicate":
            _log.warning("%s", dropped.text)
        return {"ok": False, "reason": dropped.reason}

    async def _status(self, connection: str, said: object = None) -> None:
        conversation = self._of_connection.get(connection)
        if conversation is not None and isinstance(said, Mapping):
            table = cast("Json", said)
            conversation.waits(table.get("cause"), table.get("status") == "waiting")

    async def _tools(self, connection: str, said: object = None) -> Json:
        """Take the tools that a window offers, and say which of them cannot be used."""
        conversation = self._of_connection.get(connection)
        window = None if conversation is None else conversation.window
        if conversation is None or window is None or window.connection != connection:
            return {"ok": False, "reason": "replaced"}
        try:
            return conversation.announce(window, said)
        except RemoteProtocolError as error:
            _log.warning("%s", error.message)
            return {"ok": False, "reason": error.message}

    async def _person(self, connection: str, said: object = None) -> Json:
        """Take what the person at a window says, and answer whether that is done."""
        conversation = self._of_connection.get(connection)
        window = None if conversation is None else conversation.window
        if conversation is None or window is None or window.connection != connection:
            return {"ok": False, "reason": "replaced"}
        if self._start_agent is None:
            return {"ok": False, "reason": "this host starts no agents"}
        try:
            heard = read_person(said)
        except RemoteProtocolError as error:
            hint = f": {error.hint}" if error.hint else ""
            return {"ok": False, "reason": f"{error.message}{hint}"}
        runs = self._agents.get(conversation.id)
        if runs is None:
            runs = self._agents[conversation.id] = AgentRuns(self._start_agent, conversation.show)
        return runs.stop() if isinstance(heard, PersonStop) else runs.begin(heard)

    async def _progress(self, connection: str, said: object = None) -> None:
        conversation = self._of_connection.get(connection)
        if conversation is not None and isinstance(said, Mapping):
            table = cast("Json", said)
            conversation.progressed(table.get("cause"), table)

    # What others ask over HTTP.

    async def _create(self, request: Request) -> Response:
        del request
        try:
            made = self.create()
        except LocalProtocolError as error:
            return error_answer(429, error)
        return json_answer({"status": "ok", **self._told(made)})

    async def _list(self, request: Request) -> Response:
        del request
        return json_answer({"results": [self._told(c) for c in self._conversations.values()]})

    async def _describe(self, request: Request) -> Response:
        found = self.conversation(request.path_params["id"])
        return _missing(request) if found is None else json_answer(self._told(found))

    async def _act(self, request: Request) -> Response:
        """Do an action; the answer is the observation's frame, with `status`.

        A client that goes cancels it. One that takes lines is told how far it is meanwhile.
        """
        found = self.conversation(request.path_params["id"])
        if found is None:
            return _missing(request)
        try:
            event = _asked(await _body(request))
            if LINES in request.headers.get("accept", ""):
                return ActionLines(partial(_done, found, event), _refused)
            end = await until_gone(
                request, partial(found.perform, event.action, seconds=event.timeout)
            )
        except LineshaftError as error:
            return _refused(error)
        return Response(status_code=CLIENT_GONE) if end is None else json_answer(_told_end(end))

    async def _offered(self, request: Request) -> Response:
        """Tell the window's tools; with `after`, once they are others or after some seconds."""
        found = self.conversation(request.path_params["id"])
        if found is None:
            return _missing(request)
        after = request.query_params.get("after", "")
        if after.isascii() and after.isdecimal():
            waiting = partial(found.other_offer, int(after[:20]))
            with anyio.move_on_after(WAIT_SECONDS):
                await until_gone(request, waiting)
        return json_answer({**offer_frame(found.offer), "number": found.offer_number})

    async def _show(self, request: Request) -> Response:
        found = self.conversation(request.path_params["id"])
        if found is None:
            return _missing(request)
        try:
            shown = await found.show(await _body(request))
        except TooLarge as error:
            return error_answer(413, error)
        except LineshaftError as error:
            return error_answer(400, error)
        return json_answer({"id": shown})

    def _told(self, conversation: HostConversation) -> Json:
        window = conversation.window
        return {
            "conversation_id": conversation.id,
            "conversation_status": "RUNNING" if window else "STOPPED",
            "latest_event_id": conversation.latest_event_id,
            "pending": list(conversation.pending),
            "window": None if window is None else {"id": window.id, **window.about},
            "protocol": PROTOCOL,
            "version": self._version,
        }


async def _done(found: HostConversation, event: ActionEvent, hear: HearProgress) -> Json:
    done = await found.perform(event.action, seconds=event.timeout, progress=hear)
    return _told_end(done)


def _told_end(end: ActionEnd) -> Json:
    try:
        said = observation_frame(ObservationEvent(cause=end.id, observation=end.observation))
    except RecursionError:
        deep = RemoteProtocolError("the action was done, but its answer is nested too deep")
        told = ErrorObservation(content=deep.message, error_id=deep.code)
        said = observation_frame(ObservationEvent(cause=end.id, observation=told))
        return {**said, "status": "unknown"}
    return {**said, "status": end.status}


def _refused(error: LineshaftError) -> Response:
    match error:
        case ConnectFailed():
            return error_answer(503, error)
        case TooLarge():
            return error_answer(413, error)
        case _:
            return error_answer(400, error)


def _asked(frame: Json) -> ActionEvent:
    """Return the action of a request, whose id is still to be given."""
    if "id" in frame and key_of(frame["id"]) is None:
        raise RemoteProtocolError(f"an action has no usable id: {frame['id']!r}")
    event = read_action({**frame, "id": 0})
    if not event.confirmed:
        raise WindowRefused("no person has confirmed the action: nothing was done")
    return event


async def _body(request: Request) -> Json:
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > MESSAGE_BYTES:
            raise TooLarge(f"the request is larger than {MESSAGE_BYTES:,} bytes")
    try:
        said: object = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise RemoteProtocolError(f"the request is not JSON: {error}") from error
    if too_deep(said, DEEPEST):
        raise RemoteProtocolError("the request is nested too deep")
    if not isinstance(said, Mapping):
        raise RemoteProtocolError("the request is no JSON object")
    return cast("Json", said)


def _missing(request: Request) -> Response:
    wanted = request.path_params["id"]
    return error_answer(404, ConnectFailed(f"there is no channel {wanted!r}"))


def _text(given: object) -> str:
    return given[:200] if isinstance(given, str) else ""


def _last(query: Mapping[str, list[str]], name: str) -> str:
    return query.get(name, [""])[-1]


def _is_older(protocol: object) -> bool:
    return isinstance(protocol, int) and protocol < PROTOCOL
