"""The scheduler of checks: their order at the language server, and recovery from its failures.

Above: `TyChecker`, in any thread and any event loop. Below: one server at a time. A thread of its
    own decides everything; only its inbox is shared.
"""

import contextlib
import threading
import time
from collections import OrderedDict, deque
from concurrent.futures import Future, InvalidStateError
from pathlib import Path
from queue import Empty, SimpleQueue

from msgspec import field

from lineshaft.checker._module import CheckedModule
from lineshaft.checker._projects import ProjectFolders, sweep
from lineshaft.checker._server import Message, Server
from lineshaft.values import Diagnostic, PythonTarget, Struct, Stubs

CheckFuture = Future[tuple[Diagnostic, ...]]

_KEPT = 4
"""Projects that the server knows at one time; each has a standard library of its own, 10 MB."""

_START_SECONDS = 10.0
"""Seconds for the first check of a server beside its own time."""

_TRIES = 3
"""How often the server may end during a check; those of others may have ended it."""

_CANCELLED = frozenset({-32800, -32801, -32802})
"""Codes of the language server protocol: the state changed, ask again.

The begin and the end of each check change the state for all others under way. So nothing but the
deadline of a check bounds how often it is asked for.
"""


class ScriptCheck(Struct, eq=False):
    """A script to check, and the target of its answer."""

    module: CheckedModule
    stubs: Stubs
    target: PythonTarget
    seconds: float
    answer: CheckFuture = field(default_factory=Future[tuple[Diagnostic, ...]])
    tries: int = 0
    deadline: float = 0.0

    def settle(self, found: tuple[Diagnostic, ...]) -> None:
        """Give the answer, unless it was given or is not wanted any more."""
        with contextlib.suppress(InvalidStateError):
            self.answer.set_result(found)

    def fail(self, message: str) -> None:
        """Answer that it could not be checked."""
        self.settle(failed(message))


def failed(message: str) -> tuple[Diagnostic, ...]:
    """Return the one finding of a check that could not be made."""
    return (Diagnostic(code="checker-failed", message=message, line=1, column=1),)


class _Project(Struct):
    """A folder with stubs; one check at a time, since each changes the folder."""

    folder: Path
    waiting: deque[ScriptCheck] = field(default_factory=deque[ScriptCheck])
    running: ScriptCheck | None = None
    request: int = 0
    """Number of the running check's request."""

    server: Server | None = None
    """The server that knows the folder."""

    @property
    def uri(self) -> str:
        return self.folder.as_uri()

    @property
    def document(self) -> str:
        """Of the script; no name that a script can import."""
        return f"{self.uri}/the-script.py"


_Key = tuple[PythonTarget, str, tuple[tuple[str, str], ...]]


class Scheduler:
    """Makes checks with one language server, which is started for the first one and kept warm."""

    def __init__(self) -> None:
        self._inbox = SimpleQueue[ScriptCheck | tuple[Server, Message | None] | None]()
        self._projects: OrderedDict[_Key, _Project] = OrderedDict()
        self._folders: ProjectFolders | None = None
        self._server: Server | None = None
        self._is_warm = False
        self._requests = 0
        self._lock = threading.RLock()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="lineshaft-checker", daemon=True)
        self._thread.start()

    def ask(self, check: ScriptCheck) -> None:
        """Have a check made, from any thread; never waits."""
        with self._lock:
            if not self._closed:
                self._inbox.put(check)
                return
        check.fail("the type checker is closed")

    def close(self, *, wait: bool = True) -> None:
        """End the server, answer what is open with a failure, remove all files; from any thread.

        Args:
            wait: Whether to wait until that is done.
        """
        with self._lock:
            self._closed = True
        self._inbox.put(None)
        if wait and threading.current_thread() is not self._thread:
            self._thread.join()

    def abandon(self) -> None:
        """Release the parts of its parent's scheduler, in a forked child."""
        if self._server is not None:
            self._server.abandon()
        if self._folders is not None:
            self._folders.abandon()

    def _work(self) -> None:
        while True:
            try:
                if not self._handle_next():
                    break
            except Exception as error:  # noqa: BLE001  no script is to wait for a thread that ended
                self._fail_all(f"the type checker failed: {type(error).__name__}: {error}")
        self._fail_all("the type checker is closed")
        if self._folders is not None:
            self._folders.close()

    def _handle_next(self) -> bool:
        try:
            event = self._inbox.get(timeout=self._patience())
        except Empty:
            self._end_hung()
            return True
        if event is None:
            return False
        if isinstance(event, ScriptCheck):
            try:
                self._add(event)
            except Exception as error:
                event.fail(f"the type checker failed: {type(error).__name__}: {error}")
                raise
        else:
            self._hear(*event)
        self._dispatch()
        return True

    def _fail_all(self, message: str) -> None:
        """End the server, and answer all open checks."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for project in self._projects.values():
            open_ = [project.running, *project.waiting]
            project.running = None
            project.waiting.clear()
            for check in open_:
                if check is not None:
                    check.fail(message)

    def _running(self) -> list[_Project]:
        return [project for project in self._projects.values() if project.running]

    def _patience(self) -> float | None:
        """Return the seconds to the next deadline."""
        ends = [project.running.deadline for project in self._running() if project.running]
        return max(0.0, min(ends) - time.monotonic()) if ends else None

    def _add(self, check: ScriptCheck) -> None:
        if self._folders is not None and self._folders.are_gone:
            self._fail_all("the type checker's files were removed from the temporary folder")
            self._projects.clear()
            self._folders.close()
            self._folders = None
        key = check.target, check.stubs.main, tuple(sorted(check.stubs.modules.items()))
        project = self._projects.get(key)
        try:
            if project is None:
                project = self._projects[key] = self._new_project(check)
        except OSError as error:
            check.fail(f"the type checker's files cannot be written: {error.strerror}")
            return
        self._projects.move_to_end(key)
        project.waiting.append(check)

    def _new_project(self, check: ScriptCheck) -> _Project:
        if self._folders is None:
            sweep()
            self._folders = ProjectFolders()
        idle = [key for key, each in self._projects.items() if not (each.running or each.waiting)]
        for key in idle[: max(0, len(self._projects) + 1 - _KEPT)]:
            project = self._projects.pop(key)
            if project.server is not None and project.server is self._server:
                self._tell_folders(project.server, removed=project)
            self._folders.remove(project.folder)
        return _Project(self._folders.add(check.stubs, check.target))

    def _dispatch(self) -> None:
        """Begin the next check of each project that is free.

        One during which a server ended is made while no other is: whichever of them ended it
        then ends no other.
        """
        suspects = [
            each for each in self._projects.values() if each.waiting and each.waiting[0].tries
        ]
        for project in suspects[:1] or list(self._projects.values()):
            while project.waiting and not self._must_wait(project):
                check = project.waiting.popleft()
                if check.answer.cancelled():
                    continue
                try:
                    self._begin(project, check)
                except (OSError, ImportError) as error:
                    check.fail(_not_started(error))
                except Exception as error:
                    check.fail(f"the type checker failed: {type(error).__name__}: {error}")
                    raise

    def _must_wait(self, project: _Project) -> bool:
        running = [each.running for each in self._running() if each.running]
        if project.waiting[0].tries:
            return bool(running)
        return project.running is not None or any(check.tries for check in running)

    def _begin(self, project: _Project, check: ScriptCheck) -> None:
        server = self._server or self._start(project)
        if project.server is not server:
            self._tell_folders(server, added=project)
            project.server = server
        check.deadline = time.monotonic() + check.seconds
        if not self._is_warm:
            check.deadline += _START_SECONDS
        project.running = check
        document = {"uri": project.document, "languageId": "python", "version": 1}
        text = {**document, "text": check.module.text}
        server.send({"method": "textDocument/didOpen", "params": {"textDocument": text}})
        self._request(project, server)

    def _request(self, project: _Project, server: Server) -> None:
        self._requests += 1
        project.request = self._requests
        params = {"textDocument": {"uri": project.document}}
        server.send({"id": project.request, "method": "textDocument/diagnostic", "params": params})

    def _start(self, project: _Project) -> Server:
        assert self._folders is not None  # noqa: S101  a project stands in it
        server = Server(self._folders.top, lambda server, said: self._inbox.put((server, said)))
        self._server, self._is_warm = server, False
        params: dict[str, object] = {
            "processId": None,
            "rootUri": None,
            "workspaceFolders": [{"uri": project.uri, "name": project.folder.name}],
            "capabilities": {
                "general": {"positionEncodings": ["utf-32"]},
                "textDocument": {"diagnostic": {"dynamicRegistration": False}},
                "workspace": {"configuration": True, "workspaceFolders": True},
            },
        }
        server.send({"id": 0, "method": "initialize", "params": params})
        server.send({"method": "initialized", "params": {}})
        project.server = server
        return server

    def _tell_folders(
        self, server: Server, *, added: _Project | None = None, removed: _Project | None = None
    ) -> None:
        event = {
            name: [] if project is None else [{"uri": project.uri, "name": project.folder.name}]
            for name, project in (("added", added), ("removed", removed))
        }
        method = "workspace/didChangeWorkspaceFolders"
        server.send({"method": method, "params": {"event": event}})

    def _hear(self, server: Server, said: Message | None) -> None:
        if server is not self._server:
            return  # one that was given up
        if said is None:
            self._give_up(server)
        elif "method" in said:
            if "id" in said:
                server.send({"id": said["id"], "result": _configuration(said)})
        else:
            self._is_warm = True
            for project in self._running():
                if project.request == said.get("id"):
                    self._finish(project, server, said)

    def _finish(self, project: _Project, server: Server, said: Message) -> None:
        check = project.running
        if check is None:
            return
        match said:
            case {"error": {"code": int(code)}} if code in _CANCELLED:
                self._request(project, server)
                return
            case {"result": dict()}:
                check.settle(check.module.diagnostics(said["result"].get("items")))
            case {"error": {"message": str(message)}}:
                check.fail(f"the type checker failed: {message.partition(chr(10))[0]}")
            case _:
                check.fail("the type checker failed: its answer is empty")
        project.running = None
        document = {"uri": project.document}
        server.send({"method": "textDocument/didClose", "params": {"textDocument": document}})

    def _end_hung(self) -> None:
        """Answer the checks that took too long, and go on with another server."""
        now = time.monotonic()
        late: list[ScriptCheck] = []
        for project in self._running():
            check = project.running
            if check is not None and check.deadline <= now:
                late.append(check)
                project.running = None
            elif check is not None:
                check.tries -= 1  # it is not to blame for the end of the server
        if self._server is not None and late:
            self._give_up(self._server)
        for check in late:
            check.fail(f"the type check took longer than {check.seconds:g} s")
        self._dispatch()

    def _give_up(self, server: Server) -> None:
        """End a server; its open checks go to the next one."""
        self._server = None
        server.close()
        for project in self._running():
            check, project.running = project.running, None
            if check is None:
                continue
            check.tries += 1
            if check.tries < _TRIES:
                project.waiting.appendleft(check)
            else:
                check.fail("the type checker ended in the middle of this script")


def _configuration(said: Message) -> object:
    """Return the answer to a server's request: no settings, for as many as it asks for."""
    is_asking = said["method"] == "workspace/configuration"
    return [dict[str, object]() for _ in said["params"]["items"]] if is_asking else None


def _not_started(error: Exception) -> str:
    if isinstance(error, (ImportError, FileNotFoundError)):
        return "the type checker is not installed: install the package `ty`"
    return f"the type checker cannot be started: {type(error).__name__}"
