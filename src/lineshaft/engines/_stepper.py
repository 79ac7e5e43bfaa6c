"""One run of the small engine: a thread that goes through a script from call to call."""

import math
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar, cast

from pydantic_monty import (
    ExternalResult,
    ExternalSettledResult,
    FunctionSnapshot,
    FutureSnapshot,
    MontyComplete,
    MontyError,
    MontyRuntimeError,
    MontySession,
    NameLookupSnapshot,
    SyncSnapshot,
)

from lineshaft.engines._desk import Job, Signal, Stopped, TooMuchOutput
from lineshaft.engines._exchange import LINE, answer_of, call_of, stand_in, tool_called
from lineshaft.engines._lower import Lowered
from lineshaft.engines._order import AsBefore, AsItComes, Order
from lineshaft.engines._plain import NotPlain, is_odd, plain, scrubbed, texts
from lineshaft.engines._reports import Reporter
from lineshaft.engines._seat import Seat
from lineshaft.engines._state import Progress, write
from lineshaft.values import (
    Crashed,
    Exceeded,
    Failure,
    Outcome,
    Raised,
    Returned,
    Stream,
    Suspended,
)

Waiter = TypeVar("Waiter", FunctionSnapshot, FutureSnapshot)
Settled = ExternalSettledResult

T = TypeVar("T")

_FUTURE: ExternalResult = {"future": ...}
_FACTS = "_ls_error"
"""What the prelude calls to learn more of an error."""


class _Suspending(Exception):
    def __init__(self, dump: bytes) -> None:
        super().__init__()
        self.dump = dump


class _Unloadable(Exception):
    """The engine does not take a dump."""


class Stepper:
    """Goes through one script.

    Args:
        job: The run.
        lowered: Its script as fed.
        progress: What was before, or nothing yet.
        seat: Where the interpreter comes from.
    """

    def __init__(self, job: Job, lowered: Lowered, progress: Progress, seat: Seat) -> None:
        self._program = job.program
        self._desk = job.desk
        self._box = job.box
        self._limits = job.limits
        self._lowered = lowered
        self._progress = progress
        self._seat = seat
        self._reporter = Reporter(job.program, lowered, job.limits, progress)
        self._started: set[int] = set(progress.results)
        self._box.results.update(progress.results)
        self._desk.slept = progress.slept
        tape = job.program.tape
        self._order: Order = (
            AsItComes(self._box)
            if tape is None
            else AsBefore(tape, progress, self._box, self._skip)
        )

    def run(self, dump: bytes | None) -> Outcome | None:
        """Go through the script, from its beginning or a dump; None: it was stopped."""
        try:
            snapshot = self._begin(self._seat.take(), dump)
            while not isinstance(snapshot, MontyComplete):
                snapshot = self._step(snapshot)
            return self._end(snapshot)
        except Stopped:
            return self._overslept()
        except _Suspending as suspending:
            return self._suspended(suspending.dump)
        except _Unloadable:
            return Crashed(message="the suspended run cannot be read: its state is damaged")
        except MontyError as error:
            return self._flooded() or self._reporter.outcome(error, self._ask_if_alive)
        finally:
            self._seat.leave()

    def _begin(self, session: MontySession, dump: bytes | None) -> SyncSnapshot:
        if dump is not None:
            try:
                return self._load(session, dump)
            except MontyError as error:
                raise _Unloadable from error
        self._session = session

        def start(inputs: dict[str, object]) -> SyncSnapshot:
            return session.feed_start(
                self._lowered.text,
                inputs={name: stand_in(name) for name in self._lowered.tools} | inputs,
                print_callback=self._say,
            )

        return self._resume(start, dict(self._program.inputs))

    def _load(self, session: MontySession, dump: bytes) -> SyncSnapshot:
        self._session = session
        return self._seat.turn(session.load_snapshot, dump, print_callback=self._say)

    def _say(self, stream: Stream, text: str) -> None:
        try:
            self._desk.say(stream, text)
        except TooMuchOutput:
            self._seat.stop()  # the interpreter does not end for what a callback raises
            raise

    def _step(self, snapshot: SyncSnapshot) -> SyncSnapshot:
        if isinstance(snapshot, FunctionSnapshot):
            return self._system(snapshot) if snapshot.is_os_function else self._call(snapshot)
        if isinstance(snapshot, FutureSnapshot):
            return self._settle(snapshot)
        return self._name(cast("NameLookupSnapshot", snapshot))

    def _name(self, snapshot: NameLookupSnapshot) -> SyncSnapshot:
        name = snapshot.variable_name
        if name in self._program.tools:
            return self._seat.turn(snapshot.resume, value=stand_in(name))
        return self._seat.turn(snapshot.resume)

    def _system(self, snapshot: FunctionSnapshot) -> SyncSnapshot:
        """Answer what the script asks of the system: imports and sleep, nothing else."""
        name = str(snapshot.function_name)
        if name == "import":
            return self._seat.turn(snapshot.resume_auto)
        if name not in ("time.sleep", "asyncio.sleep"):
            now = self._order.reads_clock(name, snapshot.args)
            if now is not None:
                return self._seat.turn(snapshot.resume, {"return_value": now})
            return self._seat.turn(snapshot.resume_not_handled)
        key = snapshot.call_id
        seconds = float(snapshot.args[0])
        self._progress.sleeps[key] = seconds if math.isfinite(seconds) else 1e9
        self._order.sleeps(key)
        if name == "time.sleep":
            return self._answer_at_once(snapshot)
        return self._seat.turn(snapshot.resume, _FUTURE)

    def _call(self, snapshot: FunctionSnapshot) -> SyncSnapshot:
        name = str(snapshot.function_name)
        if name == _FACTS:
            return self._seat.turn(snapshot.resume, {"return_value": self._facts(snapshot)})
        tool = tool_called(name, self._program)
        if tool is None:
            message = f"name {name!r} is not defined"
            unknown: Settled = {"exc_type": "NameError", "message": message}
            return self._seat.turn(snapshot.resume, unknown)
        place = snapshot.position
        line = snapshot.kwargs.get(LINE) or self._lowered.line_at(place.start)
        self._note_call(snapshot, tool, line)
        if self._lowered.is_direct(place.start, place.end):
            return self._answer_at_once(snapshot)
        return self._seat.turn(snapshot.resume, _FUTURE)

    def _facts(self, snapshot: FunctionSnapshot) -> list[str]:
        text = str(snapshot.args[0])
        return list(self._progress.told.get(text, ("", "", text)))

    def _note_call(self, snapshot: FunctionSnapshot, tool: str, line: int) -> None:
        """Keep what is called; a call that was announced before a pause is known already."""
        key, progress = snapshot.call_id, self._progress
        if key in progress.calls:
            return
        progress.count += 1
        progress.lines[key] = line
        try:
            progress.calls[key] = call_of(snapshot, tool, progress.count)
        except NotPlain as error:
            progress.refused[key] = tool
            self._box.results[key] = Failure("E_INVALID_ARGS", error.kind, status="refused")

    def _answer_at_once(self, snapshot: FunctionSnapshot) -> SyncSnapshot:
        """Answer with a value: nothing of the script runs meanwhile."""
        key = snapshot.call_id
        waited = self._until_one_of([key], snapshot)
        [key] = self._order.ready([key])
        return self._resume(waited.resume, self._take(key))

    def _settle(self, snapshot: FutureSnapshot) -> SyncSnapshot:
        """Answer some of the calls that the script waits for."""
        keys = sorted(snapshot.pending_call_ids)
        waited = self._until_one_of(keys, snapshot)
        ready = {key: self._take(key) for key in self._order.ready(keys)}
        return self._resume(waited.resume, ready)

    def _resume(self, resume: Callable[[T], SyncSnapshot], answer: T) -> SyncSnapshot:
        try:
            return self._seat.turn(resume, answer)
        except MontyRuntimeError as error:
            if not _was_refused(error):
                raise
            return self._seat.turn(resume, cast("T", scrubbed(answer)))

    def _take(self, key: int) -> Settled:
        done = self._box.results.pop(key)
        progress = self._progress
        progress.sleeps.pop(key, None)
        line = progress.lines.pop(key, None)
        self._started.discard(key)
        call = progress.calls.pop(key, None)
        if done is None:
            return {"return_value": None}
        tool = call.tool if call else progress.refused.pop(key, "")
        answer = answer_of(done, tool, progress.told)
        if line is not None and isinstance(done, Failure):
            progress.raised_at[answer.get("message", "")] = line
        return answer

    def _until_one_of(self, keys: list[int], snapshot: Waiter) -> Waiter:
        """Wait until one of the keys is settled; return where to go on from."""
        box = self._box
        box.sweep()
        wanted = self._order.stands(keys)
        came = any(key in box.results for key in wanted)
        new = [key for key in keys if key not in self._started and key not in box.results]
        if new or not came:
            self._serve(new, wanted)
        if came:
            return snapshot
        self._seat.idles()
        dump: bytes | None = None
        while not any(key in box.results for key in wanted):
            heard = box.receive()
            if heard is Signal.SUSPEND:
                raise _Suspending(dump or self._seat.park(snapshot))
            if heard is Signal.PARK and dump is None:
                dump = self._seat.park(snapshot)
        self._seat.works()
        if dump is not None:
            snapshot = cast("Waiter", self._load(self._seat.take(), dump))
        box.sweep()
        return snapshot

    def _skip(self, key: int) -> None:
        self._desk.post(self._desk.skip, key)

    def _serve(self, new: list[int], wanted: list[int]) -> None:
        """Have calls and sleeps started."""
        progress = self._progress
        self._started.update(new)
        self._desk.post(
            self._desk.serve,
            {key: progress.calls[key] for key in new if key in progress.calls},
            {key: progress.sleeps[key] for key in new if key in progress.sleeps},
            wanted,
        )

    def _end(self, complete: MontyComplete) -> Outcome:
        forgotten = self._never_awaited()
        if forgotten is not None:
            return forgotten
        try:
            value = plain(complete.output)
            for path, _ in texts(value, self._is_odd):
                self._check_text(path)
        except NotPlain as error:
            text = error.sentence("the script's value")
            return Raised(kind="TypeError", message=text, code="E_NOT_JSON")
        return Returned(value=value)

    def _never_awaited(self) -> Raised | None:
        lines = [line for key, line in self._progress.lines.items() if key not in self._started]
        if self._lowered.later:
            lines += cast("dict[int, int]", self._ask("_ls_made")).values()
        if not lines:
            return None
        message = "a call is made here and never awaited, so it did not run: write `await`"
        return self._reporter.at("NotAwaited", message, min(lines), code="E_NOT_AWAITED")

    def _is_odd(self, text: str) -> bool:
        return is_odd(text) or ("." in text and tool_called(text, self._program) is not None)

    def _check_text(self, path: str) -> None:
        """See whether a text that looks like one is a text."""
        if not self._lowered.keeps:
            return
        if self._ask(f"isinstance(_ls_value{path}, str)") is not True:
            name = str(self._ask(f"type(_ls_value{path}).__name__"))
            itself = " that contains itself" if name in ("dict", "list") else ""
            raise NotPlain(f"a {name}{itself}").inside(path)

    def _ask(self, expression: str) -> object:
        answer = self._seat.turn(self._session.feed_start, expression)
        return answer.output if isinstance(answer, MontyComplete) else None

    def _ask_if_alive(self, expression: str) -> object:
        with suppress(MontyError, Stopped):
            return self._ask(expression)

    def _suspended(self, dump: bytes) -> Suspended:
        progress = self._progress
        progress.results = {}
        progress.slept = self._desk.slept
        for key, done in (*self._box.results.items(), *self._desk.late.items()):
            if done is not None:
                progress.results[key] = done
            elif key in progress.sleeps:
                progress.sleeps[key] = 0
        return Suspended(state=write(self._progress, dump))

    def _flooded(self) -> Exceeded | None:
        stream = self._desk.exceeded
        if stream is None:
            return None
        limit = "stdout_bytes" if stream == "stdout" else "stderr_bytes"
        return Exceeded(limit=limit, message=f"the script printed too much to {stream}")

    def _overslept(self) -> Exceeded | None:
        if not self._desk.overslept:
            return None
        message = f"the script slept for more than {self._limits.seconds:g} s"
        return Exceeded(limit="seconds", message=message)


def _was_refused(error: MontyRuntimeError) -> bool:
    """Return whether a text that no UTF-8 can hold was kept from the script."""
    return "surrogates not allowed" in str(error) and not error.traceback()
