"""The host's side of one interpreter: answers what it asks, in the thread that runs it.

The interpreter asks by name; what it says is never trusted further than a script would be.

| question | says | answer |
|---|---|---|
| `start` | | the script's text, its tools, modules, inputs |
| `wait` | numbers to wait for; what begins: number and seconds, or number, tool, arguments by
position and by name | for each that settled: number, went well, value (or code and message) |
| `module` | name | size of the compiled module of `guest`, or nothing |
| `fill NAME` | that many bytes | the module, written over them |
| `loads`, `dumps` | JSON text, value | value, JSON text |
| `more` | | the rest of an answer that was too long |
| `return`, `raise`, `syntax`, `odd`, `lost`, `memory` | how the script ended | |
"""

import codecs
import json
import re
import time
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import cast

from lineshaft.engines._desk import Job, Signal, Stopped, TooMuchOutput
from lineshaft.engines._micropython._artifact import STACK_LIMIT, STACK_LIMIT_AT
from lineshaft.engines._micropython._blame import Blame
from lineshaft.engines._micropython._lower import Lowered
from lineshaft.engines._micropython._machine import RESULT_BYTES
from lineshaft.engines._micropython._watch import Clock
from lineshaft.engines._micropython._wire import decode, encode_text, readable
from lineshaft.values import (
    Call,
    Crashed,
    Exceeded,
    Failure,
    Outcome,
    Raised,
    Returned,
    Stream,
    Value,
)

_STACK_BASE, _STACK_A_CALL = 1_500, 384
_PIECE = RESULT_BYTES - 16
_AT_ONCE = 4096
_LONGEST = 1e9
_MOST_WEIGHT = 100_000_000
"""Bytes that what an interpreter says may take here."""

_HELD_SECONDS = 0.05
_STREAMS: dict[int, Stream] = {1: "stdout", 2: "stderr"}
_MODULE = re.compile(r"[a-z_0-9]+")
_DEEP = "nested too deeply"


class _End(Exception):
    """The script's outcome is known: nothing more of it may run."""


class Bridge:
    """Serves one interpreter; its methods raise nothing.

    Args:
        job: The run.
        lowered: Its script in the interpreter's terms.
        clock: Of the time in which it computes.
        end: Ends the interpreter at its next jump or call.
    """

    def __init__(self, job: Job, lowered: Lowered, clock: Clock, end: Callable[[], None]) -> None:
        self._job = job
        self._lowered = lowered
        self._clock = clock
        self._end = end
        self._blame = Blame(job.program, lowered)
        self._calls: dict[int, Call] = {}
        self._sleeps: dict[int, float] = {}
        self._begun: set[int] = set()
        self._count = 0
        self._last = 0
        self._rest = b""
        self._over = False
        self._printed: dict[Stream, list[str]] = {"stdout": [], "stderr": []}
        self._held = 0
        self._told_at = 0.0
        self._decoders = {stream: _decoder() for stream in _STREAMS.values()}
        self._answers: dict[bytes, Callable[[bytes], bytes]] = {
            b"start": self._start,
            b"wait": self._wait,
            b"module": self._module,
            b"loads": self._loads,
            b"dumps": self._dumps,
            b"return": self._returned,
            b"raise": self._raised,
            b"syntax": self._syntax,
            b"odd": self._odd,
            b"lost": self._lost,
            b"memory": self._memory,
        }
        self.outcome: Outcome | None = None
        """What came of the script, once it is known."""

        self.stopped = False
        """The run was cancelled."""

        self.last_words = ""
        """The end of what was printed to standard error."""

        self.failed: BaseException | None = None
        """A fault on this side."""

    def ask(self, what: bytes, text: bytes) -> bytes:
        """Answer a question of the interpreter."""
        self._clock.pause()
        try:
            if self._over:
                return b"."
            if what == b"more":
                return self._piece(self._rest)
            if _weight(text) > _MOST_WEIGHT:
                return self._finish(out_of_memory(self._job.limits.memory_mb))
            return self._piece(self._answers[what](text))
        except (Stopped, TooMuchOutput, _End) as ending:
            self.stopped = isinstance(ending, Stopped)
        except (ValueError, TypeError, LookupError, RecursionError, OverflowError) as error:
            # Only who speaks to the host in our place says what cannot be read.
            kind = type(error).__name__
            self.outcome = Crashed(message=f"the script broke the engine's protocol: {kind}")
        except Exception as error:  # noqa: BLE001  whoever awaits the run gets it
            self.failed = error
        finally:
            self._clock.start()
        self._over = True
        self._end()
        return b"."

    def write(self, handle: int, data: bytes) -> None:
        """Take printed text."""
        stream = _STREAMS[handle]
        text = self._decoders[stream].decode(data)
        if stream == "stderr":
            self.last_words = (self.last_words + text)[-400:]
        if self._over:
            return
        self._printed[stream].append(text)
        self._held += len(text)
        if self._held < _AT_ONCE and time.monotonic() - self._told_at < _HELD_SECONDS:
            return
        self._clock.pause()
        try:
            self.flush()
        except (Stopped, TooMuchOutput) as ending:
            self.stopped = isinstance(ending, Stopped)
            self._over = True
            self._end()
        finally:
            self._clock.start()

    def flush(self) -> None:
        """Pass on what was printed.

        Raises:
            TooMuchOutput: It is more than the script may print.
            Stopped: The loop that would take it is gone.
        """
        if not self._held:
            return
        self._told_at = time.monotonic()
        self._held = 0
        for stream, texts in self._printed.items():
            if texts:
                text = "".join(texts)
                texts.clear()
                self._job.desk.say(stream, text)

    def _piece(self, answer: bytes) -> bytes:
        if len(answer) <= _PIECE:
            self._rest = b""
            return b"." + answer
        cut = _PIECE
        while answer[cut] & 0xC0 == 0x80:  # inside a character
            cut -= 1
        self._rest = answer[cut:]
        return b"+" + answer[:cut]

    def _finish(self, outcome: Outcome) -> bytes:
        self.outcome = outcome
        self.flush()
        raise _End

    def _start(self, text: bytes) -> bytes:
        program = self._job.program
        return encode_text(
            {
                "stack_at": STACK_LIMIT_AT,
                "stack": min(STACK_LIMIT, _STACK_BASE + _STACK_A_CALL * self._job.limits.recursion),
                "text": self._lowered.text,
                "helpers": self._lowered.helpers,
                "names": list(self._lowered.names),
                "tools": sorted(program.tools),
                "spaces": {space: sorted(of) for space, of in program.namespaces.items()},
                "inputs": dict(program.inputs),
            }
        )

    def _begin(self, key: int, tool: object, positional: object, named: object) -> None:
        self._count += 1
        names = iter(cast("list[object]", named))
        self._calls[key] = Call(
            tool=self._known(str(tool)),
            arguments={str(name): value for name, value in zip(names, names, strict=True)},
            positional=tuple(cast("list[object]", positional)),
            origin="script",
            id=str(self._count),
        )

    def _known(self, tool: str) -> str:
        namespace, _, name = tool.rpartition(".")
        of = self._job.program.namespaces.get(namespace, frozenset[str]())
        if tool in self._job.program.tools or name in of:
            return tool
        raise _End

    def _note(self, new: list[object]) -> None:
        """Take a call or a sleep that the script begins."""
        key, *what = new
        if not isinstance(key, int) or key <= self._last:
            raise _End
        self._last = key
        if len(what) == 1:
            seconds = float(cast("float", what[0]))
            self._sleeps[key] = seconds if seconds < _LONGEST else _LONGEST
        else:
            self._begin(key, *what)

    def _wait(self, text: bytes) -> bytes:
        self.flush()
        asked, news = cast("list[list[object]]", decode(text))
        for new in news:
            self._note(cast("list[object]", new))
        keys = sorted(key for key in cast("list[int]", asked) if self._is_due(key))
        if not keys:
            raise _End
        box = self._job.box
        box.sweep()
        self._serve(keys)
        while not any(key in box.results for key in keys):
            if box.receive() is Signal.SUSPEND:
                return self._finish(self._no_pause(keys))
        box.sweep()
        ready = [key for key in keys if key in box.results]
        return encode_text([self._settled(key) for key in ready])

    def _is_due(self, key: object) -> bool:
        return key in self._calls or key in self._sleeps

    def _serve(self, keys: list[int]) -> None:
        new = [key for key in keys if key not in self._begun]
        self._begun.update(new)
        desk = self._job.desk
        desk.post(
            desk.serve,
            {key: self._calls[key] for key in new if key in self._calls},
            {key: self._sleeps[key] for key in new if key in self._sleeps},
            keys,
        )

    def _settled(self, key: int) -> list[object]:
        done = self._job.box.results.pop(key)
        self._sleeps.pop(key, None)
        self._calls.pop(key, None)
        self._begun.discard(key)
        if isinstance(done, Failure):
            return [key, False, done.code, done.message]
        return [key, True, done.value if isinstance(done, Value) else None]

    def _no_pause(self, keys: list[int]) -> Raised:
        tool = next((self._calls[key].tool for key in keys if key in self._calls), None)
        message = "the micropython engine cannot pause a run: answer while it waits, or use monty"
        return self._blame.at("ToolError", message, [], code="E_NO_PAUSE", tool=tool)

    def _module(self, text: bytes) -> bytes:
        code = guest_module(readable(text))
        return str(len(code)).encode() if code else b""

    def _loads(self, text: bytes) -> bytes:
        try:
            return encode_text([True, json.loads(readable(text), parse_constant=_refused)])
        except RecursionError:
            return encode_text([False, _DEEP])
        except ValueError as error:
            return encode_text([False, str(error)])

    def _dumps(self, text: bytes) -> bytes:
        value, ascii_only, indent, separators, ordered = cast("list[object]", decode(text))
        pair = cast("tuple[str, str] | None", tuple(separators) if separators else None)  # pyright: ignore[reportArgumentType]  checked by json
        return json.dumps(
            value,
            ensure_ascii=bool(ascii_only),
            indent=cast("int | None", indent),
            separators=pair,
            sort_keys=bool(ordered),
        ).encode()

    def _returned(self, text: bytes) -> bytes:
        try:
            return self._finish(Returned(value=decode(text)))
        except RecursionError:
            return self._finish(_not_json("", _DEEP))
        except ValueError as error:
            return self._finish(_not_json("", f"something that cannot be read, {error}"))

    def _raised(self, text: bytes) -> bytes:
        return self._finish(self._blame.raised(_facts(text)))

    def _syntax(self, text: bytes) -> bytes:
        raised = self._blame.raised(_facts(text))
        return self._finish(self._blame.unsupported(raised.message, raised.line))

    def _odd(self, text: bytes) -> bytes:
        path, kind = cast("tuple[str, str]", json.loads(readable(text)))
        return self._finish(_not_json(path, kind))

    def _lost(self, text: bytes) -> bytes:
        line = int(text)
        message = "a call is made here and never awaited, so it did not run: write `await`"
        places = [(line, "<module>")] if line else []
        return self._finish(self._blame.at("NotAwaited", message, places, code="E_NOT_AWAITED"))

    def _memory(self, text: bytes) -> bytes:
        return self._finish(out_of_memory(self._job.limits.memory_mb))


def out_of_memory(megabytes: int) -> Exceeded:
    """Return that a script used too much memory."""
    message = f"the script used more memory than it has here, out of {megabytes} MB"
    return Exceeded(limit="memory_mb", message=message)


def _weight(text: bytes) -> int:
    """Return about how many bytes JSON text takes once it is read."""
    return len(text) + 60 * text.count(b",") + 250 * (text.count(b"{") + text.count(b"["))


def _not_json(path: str, kind: str) -> Raised:
    message = f"the script's value{path} is not JSON: it is {kind}"
    return Raised(kind="TypeError", message=message, code="E_NOT_JSON")


def _facts(text: bytes) -> object:
    return json.loads(readable(text))


def _refused(constant: str) -> object:
    raise ValueError(f"{constant} is not JSON")


def _decoder() -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder("utf-8")("replace")


@cache
def guest_module(name: str) -> bytes:
    """Return a compiled module of `guest`; empty where there is none."""
    if not _MODULE.fullmatch(name):
        return b""
    file = files("lineshaft.engines._micropython") / "guest" / f"{name}.mpy"
    return file.read_bytes() if file.is_file() else b""


@cache
def start_text() -> str:
    """Return what every interpreter runs first: it loads `boot`, which does the rest."""
    text = (files("lineshaft.engines._micropython") / "guest" / "start.upy").read_text("utf-8")
    return text.replace("SIZE", str(len(guest_module("boot"))))
