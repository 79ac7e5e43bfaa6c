"""What one run works with, from its first event to its last."""

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace

import anyio
import pydantic_core

from lineshaft.errors import WorkspaceError
from lineshaft.gate import Book, Frame, Gate, Scope
from lineshaft.scripts._control import Control
from lineshaft.scripts._outcome import Ended
from lineshaft.scripts._output import Printed
from lineshaft.trace import Recorder, result_data
from lineshaft.values import (
    Change,
    Done,
    Finding,
    Limits,
    Origin,
    RunError,
    RunResult,
    Sink,
    Stage,
    Stream,
)


@dataclass(slots=True, kw_only=True)
class Progress:
    """How far a run has come; read when it is settled."""

    ended: Ended | None = None
    findings: tuple[Finding, ...] = ()
    engine: str = ""
    engine_reason: str = ""


class Bench:
    """One run's view, book, output and way through the gate.

    Args:
        gate: The session's gate.
        run_id: The run's id.
        view: The run's view of the workspace.
        limits: The run's limits.
        control: Ends the run from outside.
        sinks: Take its events.
    """

    def __init__(
        self,
        gate: Gate,
        *,
        run_id: str,
        view: Stage,
        limits: Limits,
        control: Control,
        sinks: tuple[Sink, ...],
    ) -> None:
        self.run_id = run_id
        self.view = view
        self.limits = limits
        self.control = control
        self._gate = gate
        self._started = time.monotonic()
        self._scope: Scope | None = None
        self._frame: Frame | None = None
        self._unrecorded: RunError | None = None
        recorder = Recorder(run_id, sinks, gate.redactor) if sinks else None
        self.book = Book(recorder, gate.redactor, broken=self._broken)
        self._is_heard = bool(sinks)
        self.printed = self._fresh_output()

    def _fresh_output(self) -> Printed:
        note: Callable[[Stream, str], None] | None = self._note_output if self._is_heard else None
        return Printed(self.limits, redactor=self._gate.redactor, note=note)

    def announce(self, *, script: object, name: str, origin: Origin, engine: str) -> None:
        """Record that the run has started."""
        if not self.book.recording:
            return
        text = script if isinstance(script, str) else repr(type(script))
        self.book.note(
            "run_started",
            script_sha256=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
            name=name,
            engine=engine,
            mode=self._gate.policy.mode,
            origin=origin,
            limits=asdict(self.limits),
        )

    async def enter(self, *, alone: bool = False) -> Scope:
        """Return the run's way through the gate.

        Raises:
            WorkspaceError: The workspace is not there.
        """
        root = await self.view.resolve(".")
        frame = Frame(
            gate=self._gate,
            run_id=self.run_id,
            view=self.view,
            limits=self.limits,
            book=self.book,
            controls=self.control,
            root=root.real,
            alone=alone,
        )
        self._frame, self._scope = frame, Scope(frame)
        return self._scope

    def begin_again(self, known: Mapping[str, Done], *, engine: str, reason: str) -> Scope:
        """Begin the run anew on another engine; what it printed so far is dropped.

        Args:
            known: Results of the calls made so far, by key.
            engine: Name of the engine that goes on.
            reason: Why the first one did not.
        """
        assert self._frame is not None and self._scope is not None  # noqa: PT018, S101  it was entered
        self._scope.close()
        self.printed = self._fresh_output()
        self.book.note("run_restarted", engine=engine, reason=reason, known=len(known))
        self._scope = Scope(self._frame, known=known)
        return self._scope

    async def settle(self, progress: Progress) -> RunResult:
        """End the run's authority, close its record and return its result; not to be cancelled."""
        if self._scope is not None:
            self._scope.close()
        self.printed.finish()
        how = self._how(progress)
        changes: tuple[Change, ...] = ()
        findings: tuple[Finding, ...] = ()
        with anyio.CancelScope(shield=True):
            changes, findings = await self._landed(how)
        bytes_out = self._bytes_out(how)
        result = RunResult(
            run_id=self.run_id,
            status=how.status,
            engine=progress.engine,
            engine_reason=progress.engine_reason,
            duration_ms=round((time.monotonic() - self._started) * 1000, 3),
            value=how.value,
            stdout=self.printed.text("stdout"),
            stderr=self.printed.text("stderr"),
            truncated=self.printed.truncated,
            error=how.error,
            findings=(*progress.findings, *findings),
            calls=self.book.records(),
            changes=changes,
            landed=bool(changes),
            usage=self.book.usage(bytes_out=bytes_out),
        )
        self._note_end(result)
        self.book.shut()
        if self._unrecorded is not None and result.error is None:
            return replace(result, status="error", error=self._unrecorded)
        return result

    def _how(self, progress: Progress) -> Ended:
        reason = self.control.reason
        if reason is not None:
            return Ended(status=reason.status, error=reason.error)
        if progress.ended is None:
            text = "the run ended without an outcome"
            return Ended(status="error", error=RunError(code="E_ENGINE", message=text))
        return progress.ended

    async def _landed(self, how: Ended) -> tuple[tuple[Change, ...], tuple[Finding, ...]]:
        try:
            findings = await self.view.land() if how.status == "success" else ()
            return await self.view.changes(), findings
        except (WorkspaceError, OSError) as error:
            text = f"the changes of this run could not be listed: {error}"
            return (), (Finding(code="workspace", message=text, level="error"),)
        finally:
            await self.view.discard()

    def _bytes_out(self, how: Ended) -> int:
        printed = self.printed.text("stdout").encode("utf-8", "replace")
        return len(printed) + len(pydantic_core.to_json(how.value))

    def _note_output(self, stream: Stream, text: str) -> None:
        self.book.note("output", stream=stream, text=text)

    def _note_end(self, result: RunResult) -> None:
        if not self.book.recording:
            return
        if result.changes:
            self.book.note("changes", changes=[asdict(c) for c in result.changes])
        shown = replace(result, value=self._gate.redactor.value(result.value))
        self.book.note("run_finished", None, **result_data(shown))

    def _broken(self, error: Exception) -> None:
        text = f"the run cannot be recorded: {error}"
        self._unrecorded = RunError(code="E_RECORD", message=text)
        self.control.end("error", "E_RECORD", text)
