"""Link to the host: the three functions of a guest, over the socket of its process."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn, cast

from lineshaft.engines.cpython._wire import (
    ANSWER,
    DIVERGED,
    FROM_HOST,
    HELLO,
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
    VERSION,
    Receiver,
    TooLong,
    frame,
    pack_turn,
    unpack_answer,
    unpack_past,
)
from lineshaft.engines.cpython.inside._clocks import ProcessClocks
from lineshaft.engines.cpython.inside._system import exit_now
from lineshaft.engines.cpython.inside._system import system as os

_CHUNK = 1 << 16
_PIECE = 1 << 20
_TOO_LONG = {
    "how": "raised",
    "kind": "TypeError",
    "message": "the script's value is too large to be sent",
    "line": None,
    "traceback": "",
    "code": "E_TOO_LARGE",
    "tool": None,
}


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The facts about a run that its process gets beside the guest's order."""

    seed: str
    memory_bytes: int
    """Address space that the process may have in all."""

    request_bytes: int
    """Memory that may be requested at once."""


class HostLink:
    """The wire of one process.

    Args:
        fd: The socket.
        clocks: Takes the host's messages about time.
    """

    def __init__(self, fd: int, clocks: ProcessClocks) -> None:
        self._fd = fd
        self._clocks = clocks
        self._receiver = Receiver(FROM_HOST)
        self._heard: list[tuple[int, bytes]] = []

    def greet(self) -> None:
        """Say that there is a process, and that it waits for its script."""
        self._write(frame(HELLO, bytes([VERSION])))

    def order(self) -> tuple[RunSettings, str]:
        """Return the host's facts about the run, and the guest's order."""
        about = cast("Mapping[str, object]", json.loads(self._next(SETTINGS)))
        past = unpack_past(self._next(PAST))
        self._clocks.begin(
            past if about["keeps"] else None,
            now=cast("int", about["now"]),
            diverged=self._diverged,
        )
        order = self._next(ORDER).decode()
        settings = RunSettings(
            seed=cast("str", about["seed"]),
            memory_bytes=cast("int", about["memory_bytes"]),
            request_bytes=cast("int", about["request_bytes"]),
        )
        return settings, order

    def turn(self, seconds: float, requests: str) -> str:
        """Wait for an answer of the host; see the guest's `wire`."""
        said = pack_turn(seconds, behind=self._clocks.behind, requests=requests)
        self._write(self._noted() + frame(TURN, said))
        now, live, answer = unpack_answer(self._next(ANSWER))
        self._clocks.follow(now, live=live)
        return answer

    def write(self, name: str, text: str) -> None:
        """Have some text printed."""
        kind = STDOUT if name == "stdout" else STDERR
        data = text.encode("utf-8", "backslashreplace")
        for start in range(0, len(data), _PIECE):
            self._write(frame(kind, data[start : start + _PIECE]))

    def package(self, request: str) -> str:
        """Ask for a module of the workspace."""
        self._write(self._noted() + frame(PACKAGE, request.encode("utf-8", "replace")))
        return self._next(MODULE).decode()

    def finish(self, result: str) -> None:
        """Say how the script ended."""
        try:
            data = frame(RESULT, bytes([self._clocks.behind]) + result.encode("utf-8", "replace"))
        except TooLong:
            data = frame(RESULT, bytes([self._clocks.behind]) + json.dumps(_TOO_LONG).encode())
        self._write(self._noted() + data)

    def _noted(self) -> bytes:
        """Return the readings of clocks since the last time, as a frame."""
        taken, torn = self._clocks.taken()
        return frame(READINGS, bytes([torn]) + taken) if taken or torn else b""

    def _diverged(self, why: str) -> NoReturn:
        self._write(frame(DIVERGED, why.encode()))
        exit_now(1)

    def _next(self, wanted: int) -> bytes:
        while not self._heard:
            data = os.read(self._fd, _CHUNK)
            if not data:
                exit_now(1)  # there is no host any more
            self._heard += self._receiver.receive(data)
        kind, said = self._heard.pop(0)
        if kind != wanted:
            exit_now(1)
        return said

    def _write(self, data: bytes) -> None:
        while data:
            try:
                data = data[os.write(self._fd, data) :]
            except OSError:
                exit_now(1)
