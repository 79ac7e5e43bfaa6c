"""An agent as a program of its own, `lineshaft agent run`, whose events are heard as they come.

Above: `lineshaft editor`. A process of its own ends whatever the agent does when it is told to, and
an agent that blocks its process blocks no window.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar, cast

import anyio
from anyio.abc import Process
from anyio.streams.text import TextReceiveStream

from lineshaft.errors import ConnectFailed
from lineshaft.remote.host import AgentOutcome, Hear
from lineshaft.remote.protocol import PersonMessage
from lineshaft.values import DecodeError, Event, decode

_SETTLES_SECONDS = 10.0
"""From being told to end until it is killed: a run settles in less."""

_REST_SECONDS = 2.0
"""From a program's end, for what it said to be read."""

_MOST_SAID = 4_000
_LINE_CHARACTERS = 64_000_000

Json = Mapping[str, object]
T = TypeVar("T")


async def run_agent(root: Path, message: PersonMessage, hear: Hear) -> AgentOutcome:
    """Run an agent over the window that shows a folder, for the person at that window.

    Args:
        root: The folder.
        message: Names the agent, and says what it is to do.
        hear: Is told the events of the run as they come.

    Raises:
        ConnectFailed: The program cannot be started.
    """
    words = ["agent", "run", message.agent, "--message", "-", "--events", "--json"]
    words += ["--origin", "editor", "--workspace", f"vscode:{root}"]
    # Not from the working folder: it could hold a file with the name of one of our modules.
    apart = "-I" if sys.flags.isolated else "-P"
    command = [sys.executable, apart, "-m", "lineshaft", *words]
    try:
        process = await _started(command)
    except OSError as error:
        raise ConnectFailed(f"the agent's program did not start: {error.strerror}") from error
    program = _AgentProgram(process, hear)
    try:
        await program.listen(message.content)
    finally:
        with anyio.CancelScope(shield=True):
            await _ended(process)
    return program.end()


class _AgentProgram:
    """A program that runs, and what it has said.

    Args:
        process: It.
        hear: Is told its events.
    """

    def __init__(self, process: Process, hear: Hear) -> None:
        self._process, self._hear = process, hear
        self._errors = ""
        self._last: Json = {}

    async def listen(self, text: str) -> None:
        """Give it the message, and hear it until it has ended and said all.

        A process that it leaves behind may hold its pipes; that is not waited for.
        """
        heard = anyio.Event()

        async def hear() -> None:
            async with anyio.create_task_group() as both:
                both.start_soon(self._hear_errors)
                both.start_soon(self._hear_lines)
            heard.set()

        async with anyio.create_task_group() as group:
            group.start_soon(self._write, text)
            group.start_soon(hear)
            await self._process.wait()
            with anyio.move_on_after(_REST_SECONDS):
                await heard.wait()
            group.cancel_scope.cancel()

    async def _write(self, text: str) -> None:
        async with _piped(self._process.stdin) as stdin:
            try:
                await stdin.send(text.encode("utf-8", "replace"))
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return  # it has ended, and says why

    async def _hear_errors(self) -> None:
        async for text in TextReceiveStream(_piped(self._process.stderr), errors="replace"):
            self._errors = (self._errors + text)[-_MOST_SAID:]

    async def _hear_lines(self) -> None:
        rest = ""
        async for text in TextReceiveStream(_piped(self._process.stdout), errors="replace"):
            *lines, rest = (rest + text).split("\n")
            for line in lines:
                await self._take(line)
            if len(rest) > _LINE_CHARACTERS:
                raise ConnectFailed("the agent's program said a line that is too long")

    async def _take(self, line: str) -> None:
        try:
            said: object = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(said, dict):
            return
        table = cast("Json", said)
        if "kind" not in table:
            self._last = table
            return
        try:
            event = decode(Event, table)
        except DecodeError:
            return
        await self._hear(event)

    def end(self) -> AgentOutcome:
        """Return how the agent ended, by its last line and its exit code."""
        error = self._last.get("error")
        if isinstance(error, dict):
            told = cast("Json", error)
            text = str(told.get("message", ""))
            if hint := told.get("hint"):
                text = f"{text}; {hint}"
            if self._last.get("pending"):
                return AgentOutcome(state="paused", code=str(told.get("code", "")), text=text)
            return AgentOutcome(state="error", code=str(told.get("code", "")), text=text)
        if self._process.returncode == 0 and self._last:
            return AgentOutcome(state="finished", text=_value_text(self._last.get("value")))
        said = self._errors.strip() or f"the agent's program ended with {self._process.returncode}"
        return AgentOutcome(state="error", text=said)


async def _started(command: Sequence[str]) -> Process:
    """Start a program, also where that is cancelled: what runs can be ended with all it started."""
    started: list[Process] = []
    with anyio.CancelScope(shield=True):
        process = await anyio.open_process(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=sys.platform != "win32",
        )
        started.append(process)
    return started[0]


def _piped(stream: T | None) -> T:
    """Return a stream of a program all of whose streams are pipes."""
    if stream is None:
        raise ConnectFailed("the agent's program has no pipe")
    return stream


def _value_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


async def _ended(process: Process) -> None:
    """End a program and what it started: told to, so that its run settles, then killed."""
    if process.returncode is None:
        try:
            process.terminate()
            with anyio.move_on_after(_SETTLES_SECONDS):
                await process.wait()
            if process.returncode is None:
                process.kill()
        except ProcessLookupError:
            pass
        await process.wait()
    if sys.platform != "win32":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # it led a group of its own
    await process.aclose()
