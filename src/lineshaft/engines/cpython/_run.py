"""Run of one script in one process, as the event loop sees it: frames in the order they were sent.

Above: `_engine.py`. Below: the worker's descriptors, in callbacks of the event loop. There is no
thread and no task for a run, only one task for each call.
"""

import asyncio
import codecs
import json
import math
import os
import secrets
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import groupby
from operator import itemgetter

from lineshaft.engines.cpython._wire import (
    ANSWER,
    DIVERGED,
    MODULE,
    ORDER,
    PACKAGE,
    PAST,
    READINGS,
    RESULT,
    SETTINGS,
    STDERR,
    STDOUT,
    TURN,
    Broken,
    TooLong,
    frame,
    pack_answer,
    pack_past,
    text_of,
    unpack_turn,
)
from lineshaft.engines.cpython._worker import Worker
from lineshaft.engines.host.modules import NONE, found_source
from lineshaft.engines.host.output import OutputMeter
from lineshaft.engines.host.protocol import RunEnded, broken
from lineshaft.engines.host.server import SHORTEST, TurnServer
from lineshaft.errors import ToolError
from lineshaft.values import (
    Crashed,
    Dispatch,
    Diverged,
    Exceeded,
    Limits,
    Outcome,
    Output,
    Program,
    Stream,
    Waiting,
)

_CHUNK = 65_536
_PIPE = 1 << 20
"""The most bytes that a pipe can hold."""

_MB = 1_000_000
_LAST_SECONDS = 1.0
"""For news of how a process ended that closed its wire."""

_KILLED = -9
"""Status of a process that was ended by SIGKILL."""

_READINGS_BYTES = 8_000_000
_NANOSECONDS = 1_000_000_000
_THREADS = 128
_LOOK_SECONDS = 0.25
_BEHIND = "the script ends or goes on, where its record has further readings of clocks"


class CPythonRun:
    """A script in a process.

    Args:
        worker: The process.
        program: The script.
        dispatch: Makes its calls.
        limits: Its limits.
        output: Takes its output.
        waiting: Asked while it can only wait.
    """

    def __init__(
        self,
        worker: Worker,
        program: Program,
        dispatch: Dispatch,
        *,
        limits: Limits,
        output: Output,
        waiting: Waiting,
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self.worker = worker
        self.touched = False
        """Part of it was seen outside: it cannot begin again."""

        self.was_killed = False
        """Its process was ended from outside."""

        self._program = program
        self._limits = limits
        self._output = output
        self._meter = OutputMeter(limits)
        self._server = TurnServer(
            dispatch,
            waiting,
            replay=program.replay,
            limits=limits,
            clock=program.clock,
            answer=self._answer,
            end=self.end,
            failed=self.fail,
            live=self._go_live,
        )
        self._pipes: dict[int, _OutputDescriptor] = {
            worker.stdout: _OutputDescriptor("stdout"),
            worker.stderr: _OutputDescriptor("stderr"),
        }
        self._clock = program.clock or time.monotonic
        self._wire = worker.wire.fileno()
        self._unsent = bytearray()
        self._behind = False
        self._live = False
        self._turns = len(program.replay.turns) if program.replay is not None else 0
        self._readings = len(program.replay.readings) if program.replay is not None else 0
        self._finding: asyncio.Task[None] | None = None
        self._left = limits.seconds
        self._looked = 0.0
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._outcome: asyncio.Future[Outcome] = self.loop.create_future()

    def begin(self, order: str, address_space: int) -> None:
        """Start the script.

        Args:
            order: To the guest.
            address_space: Bytes that the process has before its script does anything.
        """
        replay = self._program.replay
        room = self._limits.memory_mb * _MB
        settings = {
            "seed": replay.seed if replay is not None else secrets.token_hex(32),
            "keeps": replay is not None,
            "now": self._now(),
            "memory_bytes": address_space + room,
            "request_bytes": room,
        }
        past = b"" if replay is None else replay.readings
        self._send(
            frame(SETTINGS, json.dumps(settings).encode())
            + frame(PAST, pack_past(past))
            + frame(ORDER, order.encode())
        )
        self.loop.add_reader(self._wire, self._hear)
        for fd in self._pipes:
            self.loop.add_reader(fd, self._drain, fd, _CHUNK)
        if self.worker.pidfd is not None:
            self.loop.add_reader(self.worker.pidfd, self._learn)
        self._looked = self._clock()
        self._set("seconds", self._left, self._look)
        self._set("threads", _LOOK_SECONDS, self._count_threads)

    async def outcome(self) -> Outcome:
        """Return how the script ended, once it has."""
        return await self._outcome

    def end(self, outcome: Outcome) -> None:
        """Set the outcome; the first one counts."""
        if not self._outcome.done():
            self._outcome.set_result(outcome)

    def fail(self, error: BaseException) -> None:
        """Be done with an error that is none of the script's."""
        if not self._outcome.done():
            self._outcome.set_exception(error)

    def stop(self) -> None:
        """Stop reading."""
        self._outcome.cancel()
        for timer in self._timers.values():
            timer.cancel()
        for fd in (self._wire, self.worker.pidfd, *self._pipes):
            if fd is not None:
                self.loop.remove_reader(fd)
        self.loop.remove_writer(self._wire)
        if self._finding is not None:
            self._finding.cancel()

    async def aclose(self) -> None:
        """Cancel all calls, and wait until they have ended."""
        await self._server.aclose()

    def _hear(self) -> None:
        """Take a message of the process."""
        data = self._read()
        if data is None:
            return
        if not data:
            self.loop.remove_reader(self._wire)
            self._set("last", _LAST_SECONDS, self._vanished)
            return
        self._hear_out(data)

    def _hear_out(self, data: bytes) -> None:
        try:
            for kind, messages in groupby(self.worker.receiver.receive(data), itemgetter(0)):
                said = (message for _, message in messages)
                for each in [b"".join(said)] if kind in (STDOUT, STDERR) else said:
                    if self._outcome.done():
                        return
                    self._take(kind, each)
        except Broken as error:
            self.end(broken(str(error)).outcome)
        except RunEnded as ended:
            self.end(ended.outcome)

    def _read(self) -> bytes | None:
        try:
            return os.read(self._wire, _CHUNK)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def _take(self, kind: int, said: bytes) -> None:
        if kind == TURN:
            seconds, self._behind, requests = unpack_turn(said)
            self._count()
            self.touched = self.touched or requests != "[]"
            self._drain_all()
            if requests != "[]":
                self._record_past()
            self._server.turn(seconds, requests)
        elif kind in (STDOUT, STDERR):
            self._drain_all()
            self._print("stdout" if kind == STDOUT else "stderr", text_of(said))
        elif kind == READINGS:
            self._keep(said)
        elif kind == PACKAGE:
            self._find(text_of(said))
        elif kind == DIVERGED:
            self.end(Diverged(message=text_of(said)))
        elif kind == RESULT:
            self._finish(said)
        else:
            raise Broken("a message out of place")

    def _record_past(self) -> None:
        """Report the ends of the turns before this one, and their readings."""
        replay = self._program.replay
        if replay is None or replay.passed is None or replay.torn:
            return
        turns, readings = replay.turns[self._turns :], replay.readings[self._readings :]
        if turns or readings:
            self._turns, self._readings = len(replay.turns), len(replay.readings)
            replay.passed(turns, readings)

    def _keep(self, said: bytes) -> None:
        replay = self._program.replay
        if replay is None or not said:
            raise Broken("readings that are not asked for")
        room = _READINGS_BYTES - len(replay.readings)
        fresh = said[1:]
        replay.torn = replay.torn or bool(said[0]) or len(fresh) > room
        if not replay.torn:
            replay.readings += fresh

    def _go_live(self) -> None:
        if self._behind:
            raise RunEnded(Diverged(message=_BEHIND))
        self._live = True

    def _answer(self, text: str) -> None:
        live, self._live = self._live, False
        try:
            self._send(frame(ANSWER, pack_answer(self._now(), live=live, text=text)))
        except TooLong as error:
            self.end(Crashed(message=f"an answer cannot be sent to the script: {error}"))
        self._looked = self._clock()

    def _now(self) -> int:
        clock = self._program.clock
        return time.monotonic_ns() if clock is None else int(clock() * _NANOSECONDS)

    def _find(self, request: str) -> None:
        """Answer a request for a module of the workspace."""
        if self._finding is not None and not self._finding.done():
            raise Broken("two requests at once")
        try:
            asked: object = json.loads(request)
        except (ValueError, RecursionError):
            raise Broken("a request for a module that is not JSON") from None
        match asked:
            case {"workspace": str() as name} if self._program.workspace_module is not None:
                self._finding = self.loop.create_task(self._find_module(name))
            case _:
                self._send(frame(MODULE, json.dumps({**NONE}).encode()))

    async def _find_module(self, name: str) -> None:
        source = self._program.workspace_module
        try:
            found = found_source(None if source is None else await source(name))
        except ToolError as error:
            found = {**NONE, "error": f"{error.message} ({error.code})"}
        except Exception as error:  # noqa: BLE001  any exception ends the run
            self.fail(error)
            return
        self._send(frame(MODULE, json.dumps({**found}).encode()))

    def _send(self, data: bytes) -> None:
        if self._outcome.done():
            return
        if not self._unsent:
            with suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
                data = data[os.write(self._wire, data) :]
            if not data:
                return
            self.loop.add_writer(self._wire, self._send_more)
        self._unsent += data

    def _send_more(self) -> None:
        try:
            del self._unsent[: os.write(self._wire, self._unsent[:_PIPE])]
        except BlockingIOError:
            return
        except OSError:
            self._unsent.clear()
        if not self._unsent:
            self.loop.remove_writer(self._wire)

    def _drain_all(self) -> None:
        for fd in self._pipes:
            self._drain(fd, _PIPE)

    def _drain(self, fd: int, most: int) -> None:
        """Take output that was printed past Python."""
        pipe = self._pipes[fd]
        while most > 0 and not pipe.ended and not self._outcome.done():
            try:
                data = os.read(fd, _CHUNK)
            except BlockingIOError:
                return
            if not data:
                pipe.ended = True
                self.loop.remove_reader(fd)
                return
            try:
                self._print(pipe.stream, pipe.decoder.decode(data))
            except RunEnded as ended:
                self.end(ended.outcome)
            most -= len(data)

    def _print(self, stream: Stream, text: str) -> None:
        if text:
            self.touched = True
            counted = self._meter.count(stream, text)
            try:
                self._output(counted, text)
            except Exception as error:  # noqa: BLE001  it is raised where the run is awaited
                self.fail(error)

    def _finish(self, said: bytes) -> None:
        if not said:
            raise Broken("an empty result")
        self._drain_all()
        for pipe in self._pipes.values():
            self._print(pipe.stream, pipe.decoder.decode(b"", final=True))
        outcome = self._server.finish(text_of(said[1:]))
        if said[:1] != b"\0" and not isinstance(outcome, Diverged):
            outcome = Diverged(message=_BEHIND)
        self.end(outcome)

    def _learn(self) -> None:
        """Take the rest of the process's output."""
        if self.worker.pidfd is not None:
            self.loop.remove_reader(self.worker.pidfd)
        data = self._read()
        while data and not self._outcome.done():
            self._hear_out(data)
            data = self._read()
        self._drain_all()
        status = self.worker.status()
        self.was_killed = not self._outcome.done() and status in (None, _KILLED)
        self.end(Crashed(message=f"the script's process {_how(status)} and left no result"))

    def _vanished(self) -> None:
        self.end(Crashed(message="the script's process closed its connection"))

    def _count(self) -> None:
        """Subtract the time since the last check from the script's time."""
        now = self._clock()
        self._left -= now - self._looked
        self._looked = now

    def _look(self) -> None:
        """Check whether the script has computed or slept for too long."""
        if not self._server.idle:
            self._count()
        if self._left > 0:
            self._set("seconds", max(self._left, SHORTEST), self._look)
        else:
            message = f"the script ran for more than {self._limits.seconds:g} s"
            self.end(Exceeded(limit="seconds", message=message))

    def _count_threads(self) -> None:
        if self.worker.threads() > _THREADS:
            message = f"the script's process started more than {_THREADS} threads"
            self.end(Crashed(message=message))
        self._set("threads", _LOOK_SECONDS, self._count_threads)

    def _set(self, name: str, seconds: float, act: Callable[[], None]) -> None:
        if math.isfinite(seconds):
            self._timers[name] = self.loop.call_later(seconds, act)


class _OutputDescriptor:
    """One stream of the process."""

    def __init__(self, stream: Stream) -> None:
        self.stream: Stream = stream
        self.ended = False
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")


def _how(status: int | None) -> str:
    if status is None:
        return "ended"
    if status >= 0:
        return f"ended with exit code {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"
