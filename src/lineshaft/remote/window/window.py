"""A window over a folder of this machine, as the workspace asks it: by requests to its host.

Above: `workspace.Folder`, which calls it in threads. Below: HTTP to `lineshaft editor`. A window
that was loaded again has another conversation: it is looked for once more.
"""

import json
import os
import threading
import time
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar, cast

import httpx2
from anyio import to_thread

from lineshaft.errors import (
    FileMissing,
    LineshaftError,
    OutsideWorkspace,
    StaleFile,
    TooLarge,
    WindowRefused,
    WorkspaceError,
)
from lineshaft.remote.host import HostAddress
from lineshaft.remote.protocol import (
    Action,
    ActionEvent,
    ApproveAction,
    ApproveObservation,
    BuffersAction,
    BuffersObservation,
    ErrorObservation,
    FileEdit,
    GetErrorsAction,
    GetErrorsObservation,
    Json,
    LandAction,
    LandObservation,
    Observation,
    PrepareAction,
    PrepareObservation,
    ReviewAction,
    ReviewedChange,
    ReviewObservation,
    WaitingCall,
    action_frame,
    read_observation,
)
from lineshaft.remote.window.requests import actions_of, body_of, client_options
from lineshaft.values import Answer, Pending, beginning, visible
from lineshaft.workspace import EditorEdit, EditorReview, SavedFile, Unsaved

_FRESH_SECONDS = 0.1
"""For so long a look at what is not saved holds, and for as long as it took where that is longer:
a search reads thousands of files, and a busy window takes its time to answer."""

_LOOK_SECONDS = 30.0
_LAND_SECONDS = 300.0
_ERRORS_SECONDS = 60.0
_BACK_SECONDS = 10.0
"""For so long a window is waited for that has lost its link: a busy machine is no lost one."""

_LOOK_AGAIN_SECONDS = 0.1
_UNUSED = -1
"""The last event's id of a conversation that has had none: no window was ever asked in it."""

_MOST_ASKED = 4_000_000
"""Characters of all calls that one question is about, in a message of 32 MB."""

_MOST_DIFF = 100_000
_MOST_OF_CHANGE = 1_000_000
"""Bytes of both sides of a change that a person is shown."""

_MOST_REVIEWED = 16_000_000
"""Bytes of all changes of one review, in a message of 32 MB."""

_MOST_REASON = 500
"""Characters of a reason that a person types."""

_NOT_DONE = (404, 503)
"""The host's answers where the window is another one by now: nothing was done."""

T = TypeVar("T", bound=Observation)


_KINDS: Mapping[str, type[WorkspaceError]] = {
    kind.code: kind for kind in (FileMissing, OutsideWorkspace, StaleFile, TooLarge, WindowRefused)
}


class EditorWindow:
    """The window that shows a folder.

    Args:
        root: The folder, its real path.
        hosts: Finds the hosts of windows that show it.
    """

    def __init__(self, root: Path, hosts: Callable[[], Sequence[HostAddress]]) -> None:
        self._root, self._hosts = str(root), hosts
        self._lock = threading.Lock()
        self._known: tuple[HostAddress, str] | None = None
        """The host that had the window last, and its conversation."""

        self._holds_until = 0.0
        self._seen: dict[str, tuple[str, Unsaved]] = {}
        """Version and content of what is not saved, by path in the workspace."""

        self._left: Mapping[str, str] = {}
        """Versions by path that the person has left unsaved when a process started."""

    def unsaved(self) -> Mapping[str, Unsaved]:
        """Return what is not saved, by the path on this machine; as it was a moment ago."""
        with self._lock:
            if time.monotonic() >= self._holds_until:
                self._look()
            return {self._real(path): content for path, (_, content) in self._seen.items()}

    def look_again(self) -> None:
        """Forget what was seen a moment ago."""
        with self._lock:
            self._holds_until = 0.0

    def _look(self) -> None:
        known = {
            path: version
            for path, (version, content) in self._seen.items()
            if content.data is not None
        }
        asked, began = BuffersAction(known=known), time.monotonic()
        found = self._perform(asked, BuffersObservation, _LOOK_SECONDS)
        seen: dict[str, tuple[str, Unsaved]] = {}
        for buffer in found.buffers:
            if buffer.state == "known" and buffer.path in self._seen:
                seen[buffer.path] = self._seen[buffer.path]
            else:
                data = _bytes(buffer.data) if buffer.data is not None else None
                seen[buffer.path] = (buffer.version, Unsaved(data))
        self._seen, now = seen, time.monotonic()
        self._holds_until = now + max(_FRESH_SECONDS, now - began)

    async def prepare(self, paths: Sequence[str], process: str = "") -> bool:
        """Ask the person about unsaved text that is in the way, and wait for the answer.

        What they leave unsaved for a process is not asked about again before they change it.

        Args:
            paths: Files that a landing changes.
            process: The process that is about to start, in words; empty: none is.

        Returns:
            Whether they want to look at the changes before they land.

        Raises:
            WindowRefused: A person said no; the message names the files.
            WorkspaceError: There is no window to ask.
        """
        asked = PrepareAction(paths=paths, process=visible(process), known=self._left)
        try:
            done = await self._waited_for(asked, PrepareObservation)
        finally:
            self.look_again()
        if process:
            self._left = done.left
        return done.review

    async def review(self, changes: Sequence[EditorReview]) -> Mapping[str, str]:
        """Ask the person to review changes before they land, and wait for the answer.

        Returns:
            Reasons by path of the changes that do not land.

        Raises:
            WorkspaceError: There is no window to ask.
        """
        room = _MOST_REVIEWED
        shown: list[ReviewedChange] = []
        for change in changes:
            sizes = [len(data) for data in (change.before, change.after) if data is not None]
            note, whole = change.note, sum(sizes) <= min(room, _MOST_OF_CHANGE)
            if not whole:
                note = f"too large to show: {sum(sizes):,} bytes"
            room -= sum(sizes) if whole else 0
            shown.append(
                ReviewedChange(
                    path=change.path,
                    kind=change.kind,
                    moved_from=change.moved_from or "",
                    before=_base64(change.before) if whole else None,
                    after=_base64(change.after) if whole else None,
                    note=note,
                )
            )
        done = await self._waited_for(ReviewAction(changes=shown), ReviewObservation)
        asked = {change.path for change in changes}
        return {path: _reason(why) for path, why in done.dropped.items() if path in asked}

    def edit(self, edits: Sequence[EditorEdit]) -> Mapping[str, SavedFile]:
        """Change files, and save them.

        Raises:
            StaleFile: A file has another content, or cannot be edited; the others are as they
                were, or are named.
            WindowRefused: A person said no.
        """
        asked = [
            FileEdit(path=edit.path, before=edit.before, data=b64encode(edit.after).decode())
            for edit in edits
        ]
        with self._lock:
            self._holds_until = 0.0
            done = self._perform(LandAction(edits=asked), LandObservation, _LAND_SECONDS)
            self._holds_until = 0.0
        found = {file.path: file for file in done.files}
        saved: dict[str, SavedFile] = {}
        for edit in edits:
            if (file := found.get(edit.path)) is None:
                raise WorkspaceError(f"the window says nothing of {edit.path!r}")
            data = edit.after if file.data is None else _bytes(file.data)
            saved[edit.real] = SavedFile(data=data, by_editor=file.by_editor)
        return saved

    def proof(self, file: Path) -> str | None:
        """Return the hash of a file of this machine, as the window reads it; None: it cannot."""
        with self._lock:
            asked = BuffersAction(nonce=str(file))
            return self._perform(asked, BuffersObservation, _LOOK_SECONDS).nonce

    def errors(self, paths: Sequence[str] | None) -> GetErrorsObservation:
        """Return the diagnostics of files; None: of all that the window knows of."""
        with self._lock:
            asked = GetErrorsAction(paths=paths)
            return self._perform(asked, GetErrorsObservation, _ERRORS_SECONDS)

    async def approve(self, pending: Sequence[Pending]) -> Mapping[str, Answer]:
        """Ask the person at the window which calls may be made, and wait for the answers.

        Returns:
            The answers by the call's id; none where the window is gone.
        """
        most = _MOST_ASKED // (2 * max(1, len(pending)))
        calls = [_waiting(call, most) for call in pending]
        frame = dict(action_frame(ActionEvent(id="0", action=ApproveAction(calls=calls))))
        try:
            host, conversation = await to_thread.run_sync(self.place)
            async with httpx2.AsyncClient(**client_options(host)) as client:
                answer = await client.post(actions_of(conversation), json=frame)
                observation = read_observation(body_of(answer)).observation
        except (httpx2.HTTPError, LineshaftError):
            return {}
        if not isinstance(observation, ApproveObservation):
            return {}
        return {
            each.id: Answer(each.allow, scope=each.scope, reason=_reason(each.reason))
            for each in observation.answers
        }

    def _real(self, path: str) -> str:
        return os.path.join(self._root, *path.split("/"))  # noqa: PTH118  as the workspace does

    def _perform(self, action: Action, kind: type[T], seconds: float) -> T:
        frame = dict(action_frame(ActionEvent(id="0", action=action, timeout=seconds)))
        return _observed(self._asked(frame), frame, kind)

    async def _waited_for(self, action: Action, kind: type[T]) -> T:
        """Ask a person something; the asker may give up, and then the question goes."""
        frame = dict(action_frame(ActionEvent(id="0", action=action)))
        host, conversation = await to_thread.run_sync(self.place, abandon_on_cancel=True)
        try:
            async with httpx2.AsyncClient(**client_options(host)) as client:
                said = body_of(await client.post(actions_of(conversation), json=frame))
        except httpx2.HTTPError as error:
            raise WorkspaceError(
                f"the connection to the window was lost while it asked: {error}"
            ) from error
        return _observed(said, frame, kind)

    def _asked(self, frame: Json) -> Json:
        """Send the window a request; a window that has been replaced is looked for once.

        The host that had it last is asked only while it runs: its port could be another program's.
        """
        if self._known is not None and self._known[0] in self._hosts():
            try:
                answer = _post(self._known, frame)
            except httpx2.ConnectError:
                answer = None
            if answer is not None and answer.status_code not in _NOT_DONE:
                return body_of(answer)
        self._known = None
        place = self.place()
        try:
            answered = body_of(_post(place, frame))
        except httpx2.ConnectError as error:
            raise WorkspaceError(f"the host of the window does not answer: {error}") from error
        self._known = place
        return answered

    def place(self) -> tuple[HostAddress, str]:
        """Return the host whose window is connected, and its conversation.

        A window that was there and has lost its link is waited for, for some seconds.

        Raises:
            WorkspaceError: None is, or several are; a hint says what to do about these.
        """
        over = time.monotonic() + _BACK_SECONDS
        while True:
            found, lost = self._joined()
            if found or not lost or time.monotonic() >= over:
                break
            time.sleep(_LOOK_AGAIN_SECONDS)
        if not found:
            raise WorkspaceError("its window is not connected")
        if len(found) > 1:
            pids = ", ".join(str(host.pid) for host, _ in found)
            raise WorkspaceError(
                f"several windows of VS Code show {self._root!r} (of hosts {pids})",
                hint="close all but one, or choose `Lineshaft: Stop` in the others",
            )
        return found[0]

    def _joined(self) -> tuple[list[tuple[HostAddress, str]], bool]:
        """Return the windows that are connected, and whether one has lost its link."""
        found: list[tuple[HostAddress, str]] = []
        lost = False
        for host in self._hosts():
            with _client(host) as client:
                try:
                    listed = body_of(client.get("/api/conversations", timeout=_LOOK_SECONDS))
                except (httpx2.HTTPError, WorkspaceError):
                    continue
            told = _conversations(listed)
            found += [(host, str(each["conversation_id"])) for each in told if each.get("window")]
            lost = lost or any(each.get("latest_event_id") != _UNUSED for each in told)
        return found, lost


def _observed(said: Json, asked: Json, kind: type[T]) -> T:
    """Return the observation of an answer to an action."""
    try:
        observation = read_observation(said).observation
    except LineshaftError as error:
        raise WorkspaceError(f"the window's answer cannot be read: {error.message}") from error
    if isinstance(observation, ErrorObservation):
        raise _told(observation)
    if not isinstance(observation, kind):
        action, told = asked["action"], said.get("observation")
        raise WorkspaceError(f"the window answered the action {action!r} with {told!r}")
    return observation


def _post(place: tuple[HostAddress, str], frame: Json) -> httpx2.Response:
    host, conversation = place
    try:
        with _client(host) as client:
            return client.post(actions_of(conversation), json=frame)
    except httpx2.ConnectError:
        raise
    except httpx2.HTTPError as error:
        raise WorkspaceError(
            f"the connection to the window was lost, what it did is not known: {error}"
        ) from error


def _client(host: HostAddress) -> httpx2.Client:
    return httpx2.Client(**client_options(host))


def _waiting(call: Pending, most: int) -> WaitingCall:
    lines = (f"{_json(name)}: {_json(value)}" for name, value in call.arguments.items())
    return WaitingCall(
        id=call.id,
        tool=call.tool,
        text=_marked("\n".join(map(visible, lines)), most),
        reason=visible(call.reason or call.rule),
        diff=_marked(call.diff, min(most, _MOST_DIFF)),
        holds_for=visible(call.holds_for),
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _marked(text: str, most: int) -> str:
    """Return the beginning of a text; a line below says how much is left out."""
    shown = beginning(text, most)
    left = len(text) - len(shown)
    return f"{shown}\n… {left:,} more characters are left out" if left else text


def _conversations(listed: Json) -> list[Json]:
    results = listed.get("results")
    if not isinstance(results, list):
        return []
    return [cast("Json", each) for each in cast("list[object]", results) if isinstance(each, dict)]


def _told(observation: ErrorObservation) -> WorkspaceError:
    return _KINDS.get(observation.error_id, WorkspaceError)(observation.content)


def _reason(typed: str) -> str:
    """Return what a person typed as a text of one line, of a bounded length."""
    return visible(beginning(" ".join(typed.split()), _MOST_REASON))


def _base64(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode()


def _bytes(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except NotBase64 as error:
        raise WorkspaceError("the window sent a content that is no Base64") from error
