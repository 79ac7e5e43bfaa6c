"""One run, as the host sees it: what comes from the child, in the order in which it was sent.

Above: `_engine.py`. Below: the seat's descriptors, in callbacks of the event loop. There is no
thread and no task for a run, only one task for each call.
"""

import asyncio
import codecs
import os
import signal
from contextlib import suppress

from lineshaft.engines._cpython._calls import Calls
from lineshaft.engines._cpython._clock import Stopwatch
from lineshaft.engines._cpython._seat import Seat
from lineshaft.engines._cpython._wire import (
    Asked,
    Blocked,
    Broken,
    Finished,
    Printed,
    Refused,
    Took,
    Withdrawn,
)
from lineshaft.engines._reel import MOST
from lineshaft.values import (
    Crashed,
    Dispatch,
    Exceeded,
    Limits,
    Outcome,
    Output,
    Raised,
    Returned,
    Stream,
    Suspended,
    Tape,
    Waiting,
)

_CHUNK = 65_536
_PIPE = 1 << 20
"""What a pipe can hold at most."""

_FACTOR = 200
"""Printed text may be this many times as long as what is kept of it."""

_LAST_SECONDS = 1.0
"""For news of how a child ended that closed its wire."""


class Run:
    """A script in a seat.

    Args:
        seat: The child.
        dispatch: Makes its calls.
        limits: What it may use.
        output: Takes what it prints.
        waiting: Is told when it can only wait.
        tape: Takes what it reads of clocks.
    """

    def __init__(
        self,
        seat: Seat,
        dispatch: Dispatch,
        *,
        limits: Limits,
        output: Output,
        waiting: Waiting,
        tape: Tape | None = None,
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self.seat = seat
        self._limits = limits
        self._output = output
        self._tape = tape
        self._streams = {
            seat.stdout: _Pipe("stdout", limits.stdout_bytes * _FACTOR),
            seat.stderr: _Pipe("stderr", limits.stderr_bytes * _FACTOR),
        }
        self._calls = Calls(
            dispatch, waiting, answer=self._answer, failed=self.fail, suspend=self._suspend
        )
        self._clock = Stopwatch(limits.seconds, self._too_long)
        self._wire = seat.wire.fileno()
        self._unsent = bytearray()
        self._untaken = 0
        self._held = False
        self._last: asyncio.TimerHandle | None = None
        self._outcome: asyncio.Future[Outcome] = self.loop.create_future()

    def begin(self, order: bytes) -> None:
        """Have the script run.

        Args:
            order: The frame with the script.
        """
        self._send(order)
        self.loop.add_reader(self._wire, self._hear)
        for fd in self._streams:
            self.loop.add_reader(fd, self._drain, fd, _CHUNK)
        self.loop.add_reader(self.seat.news, self._learn)

    async def outcome(self) -> Outcome:
        """Return how the script ended, once it has."""
        return await self._outcome

    def end(self, outcome: Outcome) -> None:
        """Be done; what was said first counts."""
        if not self._outcome.done():
            self._outcome.set_result(outcome)

    def fail(self, error: BaseException) -> None:
        """Be done with an error that is nobody's who runs a script."""
        if not self._outcome.done():
            self._outcome.set_exception(error)

    def stop(self) -> "list[asyncio.Task[None]]":
        """Hear nothing more; cancel all calls, and return those that have not ended yet."""
        self._outcome.cancel()
        self._clock.stop()
        if self._last is not None:
            self._last.cancel()
        for fd in (self._wire, self.seat.news, *self._streams):
            self.loop.remove_reader(fd)
        self.loop.remove_writer(self._wire)
        return self._calls.stop()

    def _hear(self) -> None:
        """Take what the child says."""
        data = self._read()
        if data is None:
            return
        if not data:
            self.loop.remove_reader(self._wire)
            self._last = self.loop.call_later(_LAST_SECONDS, self._vanished)
            return
        self._hear_out(data)

    def _hear_out(self, data: bytes) -> None:
        self._untaken += len(data)
        for event in self.seat.receiver.receive(data):
            if self._outcome.done():
                return
            size, self._untaken = self._untaken, 0
            self._take(event, size)

    def _read(self) -> bytes | None:
        try:
            return os.read(self._wire, _CHUNK)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def _take(self, event: object, size: int) -> None:
        match event:
            case Asked() if self._calls.may_be(event.id):
                self._calls.start(event, size)
                self._hold()
            case Blocked():
                self._block(event.ids)
            case Printed(text=""):
                self._drain_all()
            case Printed():
                self._print(self._streams[self._pipe_of(event.stream)], event.text.encode())
            case Took():
                self._note(event)
            case Withdrawn():
                self._calls.withdraw(event.id)
            case Refused() if self._calls.may_be(event.id):
                self._calls.refuse(event.id, event.why)
            case Finished():
                self._finish(event)
            case Broken():
                self._break(event.why)
            case _:
                self._break("an id that was used before, or a message out of place")

    def _note(self, took: Took) -> None:
        if self._tape is not None:
            room = MOST - len(self._tape.clock)
            self._tape.clock += took.readings[:room]
            self._tape.torn = self._tape.torn or took.torn or len(took.readings) > room

    def _break(self, why: str) -> None:
        self.end(Crashed(message=f"the script's process did not keep the protocol: {why}"))

    def _block(self, ids: tuple[str, ...]) -> None:
        if self._calls.under_way(ids):
            self._clock.pause()
            self.loop.call_soon(self._calls.blocked, ids)  # after the first step of each call

    def _answer(self, data: bytes) -> None:
        self._clock.go_on()
        self._send(data)
        if self._held and not self._calls.many:
            self._held = False
            self.loop.add_reader(self._wire, self._hear)

    def _hold(self) -> None:
        """Take nothing more while too much is under way."""
        if self._calls.many and not self._held:
            self._held = True
            self.loop.remove_reader(self._wire)

    def _send(self, data: bytes) -> None:
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

    def _pipe_of(self, stream: Stream) -> int:
        return self.seat.stdout if stream == "stdout" else self.seat.stderr

    def _drain_all(self) -> None:
        for fd in self._streams:
            self._drain(fd, _PIPE)

    def _drain(self, fd: int, most: int) -> None:
        """Take what was printed."""
        while most > 0 and not self._outcome.done():
            try:
                data = os.read(fd, _CHUNK)
            except BlockingIOError:
                return
            if not data:
                self.loop.remove_reader(fd)
                return
            self._print(self._streams[fd], data)
            most -= len(data)

    def _print(self, pipe: "_Pipe", data: bytes) -> None:
        pipe.room -= len(data)
        if pipe.room < 0:
            message = f"the script printed too much to {pipe.stream}"
            limit = "stdout_bytes" if pipe.stream == "stdout" else "stderr_bytes"
            self.end(Exceeded(limit=limit, message=message))
            return
        text = pipe.decoder.decode(data)
        if text:
            self._output(pipe.stream, text)

    def _finish(self, finished: Finished) -> None:
        for fd, pipe in self._streams.items():
            self._drain(fd, _PIPE)
            text = pipe.decoder.decode(b"", final=True)
            if text:
                self._output(pipe.stream, text)
        self.end(_outcome(finished))

    def _learn(self) -> None:
        """Take what the parent tells of the child."""
        self.seat.read_news()
        status = self.seat.status
        if status is None and not self.seat.orphaned:
            return
        self.loop.remove_reader(self.seat.news)
        data = self._read()
        while data and not self._outcome.done():
            self._hear_out(data)
            data = self._read()
        self._drain_all()
        if status is None:
            self.end(Crashed(message="the process that the script's process came from was ended"))
        elif -status == signal.SIGXCPU:
            self._too_long()
        else:
            self.end(Crashed(message=f"the script's process {_how(status)} and left no result"))

    def _vanished(self) -> None:
        self.end(Crashed(message="the script's process closed its connection"))

    def _too_long(self) -> None:
        message = f"the script ran for more than {self._limits.seconds:g} s"
        self.end(Exceeded(limit="seconds", message=message))

    def _suspend(self) -> None:
        self.end(Suspended(state=None))


class _Pipe:
    """One stream of the script, and how much more may come from it."""

    def __init__(self, stream: Stream, room: int) -> None:
        self.stream: Stream = stream
        self.room = room
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")


def _how(status: int) -> str:
    if status >= 0:
        return f"ended with exit code {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


def _outcome(finished: Finished) -> Outcome:
    if finished.how == "returned":
        return Returned(value=finished.value)
    if finished.how == "exceeded":
        limit = "memory_mb" if finished.limit == "memory_mb" else "recursion"
        return Exceeded(limit=limit, message=finished.message, line=finished.line)
    return Raised(
        kind=finished.kind,
        message=finished.message,
        line=finished.line,
        traceback=finished.traceback,
        code=finished.code,
        tool=finished.tool,
    )
