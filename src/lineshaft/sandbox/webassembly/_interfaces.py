"""The functions that a guest may call: this table is the whole authority of a script.

A call of any other function traps. Each function finds its host by its thread: a guest calls in the
thread that runs it. So one table serves all instances of a process, and nothing in it leads to a
store.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from lineshaft.sandbox.webassembly._cores import CORES, Share
from lineshaft.sandbox.webassembly._errors import GuestTooLarge

if TYPE_CHECKING:
    from lineshaft.sandbox.webassembly._bindings import Values

LONGEST_TEXT = (16 << 20) + (64 << 10)
"""The longest text that crosses in one call, in bytes: 16 MB, and their envelope."""

MOST_RANDOM = 65_536
"""The most random bytes in one call; Python itself asks for 256."""

_LAST_WORDS = 4_096
_WASI = "0.2.9"

OUTPUT_STREAM = 1
POLLABLE = 2
DESCRIPTOR = 3
IO_ERROR = 4
TERMINAL_INPUT = 5
TERMINAL_OUTPUT = 6

RESOURCES: tuple[tuple[str, str, int], ...] = (
    (f"wasi:io/streams@{_WASI}", "output-stream", OUTPUT_STREAM),
    (f"wasi:io/poll@{_WASI}", "pollable", POLLABLE),
    (f"wasi:io/error@{_WASI}", "error", IO_ERROR),
    (f"wasi:filesystem/types@{_WASI}", "descriptor", DESCRIPTOR),
    (f"wasi:cli/terminal-input@{_WASI}", "terminal-input", TERMINAL_INPUT),
    (f"wasi:cli/terminal-output@{_WASI}", "terminal-output", TERMINAL_OUTPUT),
)
"""The kinds of resource that functions of the table name; a guest gets only one stream."""

ENVIRONMENT = (("HOME", "/"), ("TZ", "UTC"))
"""The whole environment that a guest sees."""


class Host(Protocol):
    """The host of a guest; called in the guest's thread only.

    An exception of a method ends the guest, and is the cause of its `GuestStopped`.
    """

    def turn(self, seconds: float, requests: str) -> str:
        """Take requests, wait for a completion or until the seconds have passed."""
        ...

    def write(self, name: str, text: str) -> None:
        """Take output."""
        ...

    def package(self, request: str) -> str:
        """Answer the guest's question about a package."""
        ...

    def monotonic(self) -> int:
        """Return a clock that never goes back, in nanoseconds."""
        ...

    def wall(self) -> int:
        """Return the time, in nanoseconds since 1970."""
        ...

    def random(self, count: int) -> bytes:
        """Return so many random bytes."""
        ...


class Crossing:
    """One call into a guest, as the host's functions see it.

    Args:
        host: The host that answers.
        share: What it has of the machine's cores; None: it computes without asking for one.
    """

    __slots__ = ("_words", "ended", "failure", "host", "must_end", "share")

    def __init__(self, host: Host, share: Share | None = None) -> None:
        self.host = host
        self.share = share
        self.failure: BaseException | None = None
        """The first exception of a function of the host."""
        self.must_end = False
        """Set from any thread: the guest ends at the next change of the epoch."""
        self.ended = False
        """It was ended so."""
        self._words = b""

    def heard(self, data: bytes) -> None:
        """Keep the end of the interpreter's standard error."""
        self._words = (self._words + data)[-_LAST_WORDS:]

    @property
    def last_words(self) -> str:
        """The interpreter's own messages, such as a fatal error."""
        return self._words.decode(errors="replace")


class _Current(threading.local):
    crossing: Crossing | None = None


_CURRENT = _Current()


def enter(crossing: Crossing | None) -> None:
    """Say which call into a guest this thread makes; None after it."""
    _CURRENT.crossing = crossing


def _here() -> Crossing:
    crossing = _CURRENT.crossing
    if crossing is None:
        raise RuntimeError("a guest called in a thread that runs none")
    if crossing.must_end:
        crossing.ended = True
        raise _Ended
    return crossing


class _Ended(Exception):
    """A guest that is to end called once more."""


def refused(error: BaseException) -> None:
    """Keep the exception of a function of the host, for the guest's caller."""
    crossing = _CURRENT.crossing
    if crossing is not None and crossing.failure is None and not isinstance(error, _Ended):
        crossing.failure = error


def must_end() -> bool:
    """Return whether the guest of this thread has to end; asked while it computes.

    The thread waits here for its turn where more guests compute than the machine has cores. An
    instance that is still being made has no call; the epoch changes for another one.
    """
    crossing = _CURRENT.crossing
    if crossing is None:
        return False
    if crossing.share is not None:
        CORES.pass_on(crossing.share)
    if not crossing.must_end:
        return False
    crossing.ended = True
    return True


def _waiting() -> Host:
    """Return the host of this thread, for a function that may wait: the core is another guest's."""
    crossing = _here()
    if crossing.share is not None and crossing.share.has_core:
        CORES.wait(crossing.share)
    return crossing.host


def _turn(values: "Values") -> None:
    host = _waiting()
    answer = host.turn(values.number(0), values.text(1, LONGEST_TEXT))
    values.give_text(answer, LONGEST_TEXT)


def _write(values: "Values") -> None:
    _waiting().write(values.text(0, 64), values.text(1, LONGEST_TEXT))


def _package(values: "Values") -> None:
    values.give_text(_waiting().package(values.text(0, LONGEST_TEXT)), LONGEST_TEXT)


def _monotonic(values: "Values") -> None:
    values.give_natural(_here().host.monotonic())


def _resolution(values: "Values") -> None:
    values.give_natural(1_000)


def _wall(values: "Values") -> None:
    values.give_moment(_here().host.wall())


def _random(values: "Values") -> None:
    count = values.natural(0)
    if count > MOST_RANDOM:
        raise GuestTooLarge(f"{count:,} random bytes in one call, the bound is {MOST_RANDOM:,}")
    data = _here().host.random(count)
    if len(data) != count:
        raise ValueError(f"{len(data)} random bytes instead of {count}")
    values.give_data(data)


def _environment(values: "Values") -> None:
    values.give_pairs(ENVIRONMENT)


def _nothing(values: "Values") -> None:
    values.give_pairs(())


def _none(values: "Values") -> None:
    values.give_none()


def _stderr(values: "Values") -> None:
    values.give_resource(OUTPUT_STREAM)


def _room(values: "Values") -> None:
    values.let_go(0)
    values.give_done(_LAST_WORDS)


def _words(values: "Values") -> None:
    values.let_go(0)
    _here().heard(values.data(1, _LAST_WORDS))
    values.give_done()


def _flushed(values: "Values") -> None:
    values.let_go(0)
    values.give_done()


_CLI = f"wasi:cli/{{}}@{_WASI}"

FUNCTIONS: dict[tuple[str, str], "Callable[[Values], None]"] = {
    ("", "turn"): _turn,
    ("", "write"): _write,
    ("", "package"): _package,
    (f"wasi:clocks/monotonic-clock@{_WASI}", "now"): _monotonic,
    (f"wasi:clocks/monotonic-clock@{_WASI}", "resolution"): _resolution,
    (f"wasi:clocks/wall-clock@{_WASI}", "now"): _wall,
    (f"wasi:random/random@{_WASI}", "get-random-bytes"): _random,
    (_CLI.format("environment"), "get-environment"): _environment,
    (_CLI.format("environment"), "get-arguments"): _nothing,
    (f"wasi:filesystem/preopens@{_WASI}", "get-directories"): _nothing,
    (_CLI.format("terminal-stdin"), "get-terminal-stdin"): _none,
    (_CLI.format("terminal-stdout"), "get-terminal-stdout"): _none,
    (_CLI.format("terminal-stderr"), "get-terminal-stderr"): _none,
    (_CLI.format("stderr"), "get-stderr"): _stderr,
    (f"wasi:io/streams@{_WASI}", "[method]output-stream.check-write"): _room,
    (f"wasi:io/streams@{_WASI}", "[method]output-stream.write"): _words,
    (f"wasi:io/streams@{_WASI}", "[method]output-stream.blocking-write-and-flush"): _words,
    (f"wasi:io/streams@{_WASI}", "[method]output-stream.blocking-flush"): _flushed,
}
"""Interface (empty for the world's own) and name of each function that answers."""

GUEST_IMPORTS: tuple[str, ...] = tuple(
    sorted(f"{interface}#{name}" if interface else name for interface, name in FUNCTIONS)
)
"""The same as texts, such as `wasi:random/random@0.2.9#get-random-bytes`."""
