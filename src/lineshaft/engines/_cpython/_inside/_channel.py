"""The script's end of the wire: makes calls, and tells when nothing can go on without them.

Calls come from tasks of any event loop and from plain code of any thread, so answers are matched
by id. Where nothing else in the process could run meanwhile, a call waits for its answer without
a turn of the event loop, which costs half as much.
"""

import _thread
import asyncio
import itertools
import os
import select
import signal
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from queue import SimpleQueue
from typing import NoReturn

from lineshaft.engines._cpython._inside._interpreter import other_threads, running_loop
from lineshaft.engines._cpython._inside._line import line
from lineshaft.engines._cpython._inside._parked import is_parked
from lineshaft.engines._cpython._inside._tool_error import ToolError
from lineshaft.engines._cpython._inside._values import sentence_of
from lineshaft.engines._cpython._wire import (
    TO_HOST,
    Answered,
    Broken,
    Execute,
    Receiver,
    TooLarge,
    frame,
    from_host,
)
from lineshaft.engines._plain import NotPlain, plain
from lineshaft.engines._reel import MOST

_CHUNK = 65_536
_LOOK_MS = 20
_PRINTED = frame({"type": "output"}, TO_HOST)
_Take = Callable[[Answered], None]


class Channel:
    """One run's connection to its host.

    Args:
        fd: A stream socket, in blocking mode.
        flush: Writes out what was printed; returns whether there was anything.
    """

    def __init__(self, fd: int, flush: Callable[[], bool]) -> None:
        self.fd = fd
        """Where answers come from."""

        self.one_by_one = False
        """Whether answers reach the script's own thread one at a time, as `take_one` says."""

        self._flush = flush
        self._receiver: Receiver = from_host()
        self._poll = select.poll()
        self._poll.register(fd, select.POLLIN)
        self._writing = threading.Lock()
        self._reading = threading.Lock()
        self._count = itertools.count(1)
        self._waiters: dict[str, _Take] = {}
        self._loops: weakref.WeakSet[asyncio.AbstractEventLoop] = weakref.WeakSet()
        self._reader: int | None = None
        self._told = False
        self._cut = False
        self._strayed = False
        self._heard: deque[Answered] = deque()
        self._readings: list[float] = []
        self._room = MOST
        os.register_at_fork(after_in_child=self.cut)

    def cut(self) -> None:
        """Make no more calls: this process is a copy."""
        self._cut = True
        line.leave()

    @property
    def is_cut(self) -> bool:
        """Whether this process is a copy of the one that the run started."""
        return self._cut

    def say(self, message: Mapping[str, object]) -> None:
        """Send one message, after what was printed before it.

        Raises:
            TooLarge: It does not fit into a frame.
            TypeError: It is not JSON.
            ValueError: It is not JSON.
        """
        self._write(frame(message, TO_HOST))

    @property
    def has_reader(self) -> bool:
        """Whether a thread hands over answers."""
        return self._reader is not None

    def has_news(self) -> bool:
        """Return whether the host has said something."""
        return bool(self._poll.poll(0))

    def order(self) -> Execute:
        """Wait for the script."""
        while True:
            for event in self._receiver.receive(self._read()):
                if isinstance(event, Execute):
                    return event

    async def ask(self, tool: str, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """Make a call from a coroutine and return its value.

        Raises:
            ToolError: It failed.
        """
        call, data = self._announce(tool, args, kwargs)
        loop = asyncio.get_running_loop()
        if self._alone(loop):
            return _outcome(self._block(call, data), tool)
        future: asyncio.Future[Answered] = loop.create_future()
        self._expect(call, partial(_settle, loop, future))
        self._watch(loop)
        self._write(data)
        try:
            return _outcome(await future, tool)
        finally:
            if self._waiters.pop(call, None) and not self._cut:
                self.say({"type": "tool_call_cancel", "id": call})

    def ask_now(self, tool: str, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """Make a call from plain code, in any thread, and return its value.

        Raises:
            ToolError: It failed.
        """
        call, data = self._announce(tool, args, kwargs)
        if not other_threads():
            return _outcome(self._block(call, data), tool)
        answers = SimpleQueue[Answered]()
        self._expect(call, answers.put)
        self._start_reader()
        self._write(data)
        return _outcome(self._take(answers), tool)

    def blocked(self) -> None:
        """Tell that nothing can go on, if that is so; some loop or thread is about to wait."""
        if self._told or not self._waiters or self._cut:
            return
        if other_threads() and not is_parked({self._reader, threading.get_ident()}):
            self._start_reader()  # which looks again: a thread may be about to wait
            return
        self._told = True
        self._write(self._waiting())

    def _waiting(self) -> bytes:
        return frame({"type": "waiting", "ids": list(self._waiters)}, TO_HOST)

    def _announce(
        self, tool: str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> tuple[str, bytes]:
        if self._cut:
            raise RuntimeError(f"{tool}: a forked process cannot make calls")
        call = str(next(self._count))
        self._strayed = self._strayed or not line.is_here
        try:
            message: dict[str, object] = {
                "type": "tool_call",
                "id": call,
                "tool": tool,
                "positional": [_argument(v, f"argument {n}") for n, v in enumerate(args, 1)],
                "arguments": {name: _argument(value, name) for name, value in kwargs.items()},
            }
            if self._strayed:
                message["replayable"] = False
            return call, frame(message, TO_HOST)
        except _NotAnArgument as error:
            raise ToolError(f"{tool}: {error}", code="E_INVALID_ARGS", tool=tool) from None
        except TooLarge as error:
            raise ToolError(f"{tool}: {error}", code="E_TOO_LARGE", tool=tool) from None
        except (ValueError, TypeError, RecursionError) as error:
            raise ToolError(f"{tool}: {error}", code="E_INVALID_ARGS", tool=tool) from None

    def _expect(self, call: str, take: _Take) -> None:
        self._waiters[call] = take
        self._told = False

    def _alone(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Return whether nothing but one more call could be under way in this process."""
        selector = getattr(loop, "_selector", None)
        if self._waiters or selector is None or other_threads():
            return False
        if getattr(loop, "_ready", True) or getattr(loop, "_scheduled", True):
            return False
        return len(selector.get_map()) == 1 + (loop in self._loops)  # its own, and this channel

    def _block(self, call: str, data: bytes) -> Answered:
        """Send a call and wait for its answer; nothing else reads meanwhile."""
        answers: list[Answered] = []
        self._expect(call, answers.append)
        self._write(data + self._waiting())
        while True:
            to_no_avail = bool(self._heard)
            while self._heard and not (answers and self.one_by_one):
                self._hand_over()
            if answers:
                return answers[0]
            if to_no_avail:
                self._write(self._waiting())
            self._hear(self._read())

    def _take(self, answers: "SimpleQueue[Answered]") -> Answered:
        self.blocked()
        return answers.get()

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        if loop not in self._loops:
            self._loops.add(loop)
            loop.add_reader(self.fd, self._pump)

    def _start_reader(self) -> None:
        with self._reading:
            if self._reader is None:
                self._reader = _thread.start_new_thread(self._read_forever, ())

    def _read_forever(self) -> None:
        while True:
            if self._heard or self._poll.poll(_LOOK_MS):
                self._pump()
            else:
                self.blocked()

    def _pump(self) -> None:
        """Read what is there; somebody else may have been quicker."""
        with self._reading:
            if select.select([self.fd], [], [], 0)[0]:
                self._hear(self._read())
            while self._heard:
                self._hand_over()

    def take_one(self) -> bool:
        """Hand over the next answer, if somebody waits for one; return whether that was so."""
        if self._reader is not None:
            self._pump()
            return False
        if not self._heard and self._poll.poll(0):
            self._hear(self._read())
        while self._heard:
            wanted = self._heard[0].id in self._waiters
            self._hand_over()
            if wanted:
                return True
        return False

    def _read(self) -> bytes:
        data = os.read(self.fd, _CHUNK)
        return data or _vanish()

    def _hear(self, data: bytes) -> None:
        for event in self._receiver.receive(data):
            if isinstance(event, Broken):
                _vanish()
            if isinstance(event, Answered):
                self._heard.append(event)

    def _hand_over(self) -> None:
        event = self._heard.popleft()
        self._told = False
        take = self._waiters.pop(event.id, None)
        if take is not None:
            take(event)

    def note(self, reading: float) -> None:
        """Tell, before the next thing that is told, what a clock said."""
        self._room -= 1
        if self._room >= -1:
            self._readings.append(reading)

    def _noted(self) -> bytes:
        readings, self._readings = self._readings, []
        torn = self._room < 0
        message = {"type": "clock", "readings": readings[:-1] if torn else readings, "torn": torn}
        return frame(message, TO_HOST)

    def _write(self, data: bytes) -> None:
        if self._flush():
            data = _PRINTED + data
        with self._writing:
            if self._readings:
                data = self._noted() + data
            while data:
                try:
                    data = data[os.write(self.fd, data) :]
                except OSError:
                    _vanish()


class _NotAnArgument(Exception):
    """A value that cannot be given to a tool."""


def _argument(value: object, name: str) -> object:
    try:
        return plain(value)
    except NotPlain as error:
        raise _NotAnArgument(sentence_of(error, name)) from None


def _settle(
    loop: asyncio.AbstractEventLoop, future: "asyncio.Future[Answered]", answer: Answered
) -> None:
    if running_loop() is loop:  # the same thread
        _set(future, answer)
    elif not loop.is_closed():
        loop.call_soon_threadsafe(_set, future, answer)


def _set(future: "asyncio.Future[Answered]", answer: Answered) -> None:
    if not future.done():
        future.set_result(answer)


def _outcome(answer: Answered, tool: str) -> object:
    error = answer.error
    if error is None:
        return answer.value
    raise ToolError(error["message"], code=error["code"], tool=tool, hint=error.get("hint", ""))


def _vanish() -> NoReturn:
    """End this process and its group: there is no host any more."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
