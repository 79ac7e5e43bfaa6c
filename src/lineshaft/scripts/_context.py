"""The context of one run, from its first event to its last."""

import hashlib
import time
from collections.abc import Awaitable, Mapping
from typing import TypeVar

import anyio
from msgspec import field
from msgspec.structs import replace

from lineshaft.errors import (
    Guarded,
    LineshaftError,
)
from lineshaft.gate import (
    CallLog,
    CallPipeline,
    Gate,
    InnerScripts,
    PausePoint,
    ReplayLog,
    RunInfo,
    described,
)
from lineshaft.scripts._checkpoint import Checkpoint, expiry, pause_of
from lineshaft.scripts._control import Control
from lineshaft.scripts._outcome import Ended, advised, paused, told
from lineshaft.scripts._output import Printed
from lineshaft.trace import Recorder, result_data
from lineshaft.values import (
    Caller,
    Change,
    EventKind,
    Finding,
    HeldLog,
    Limits,
    Pending,
    ReplayInputs,
    RunClaim,
    RunError,
    RunLog,
    RunResult,
    Sink,
    Stage,
    Struct,
    Workspace,
    as_dict,
    encoded,
)

T = TypeVar("T")

PAUSE_HOURS = 24.0
"""A run that waits for so long is over."""


class RunProgress(Struct, kw_only=True):
    """How far a run has come; read when it is settled."""

    ended: Ended | None = None
    findings: tuple[Finding, ...] = ()
    engine: str = ""
    engine_reason: str = ""
    suspended: bool = False
    """The run can go on after answers."""

    replay: ReplayInputs | None = None
    """The inputs of the script beside its calls."""

    modules: dict[str, str] = field(default_factory=dict[str, str])
    """Modules of the workspace that the script imported: sha256 of each text, by path."""

    lands: bool = True
    """False: its changes are dropped at its end."""


class RunSegment(Struct, frozen=True, kw_only=True):
    """Which segment of a run this is: the first one, or one that goes on after a pause."""

    run_id: str
    limits: Limits
    checkpoint: Checkpoint | None = None
    """The state from which it goes on."""

    last_seq: int = 0
    """Number of the last event that its record has."""

    claim: RunClaim | None = None
    """On its log, where it goes on."""

    keeps_back: bool = False
    """Its changes wait until they land."""

    caller: Caller | None = None
    """Its caller; None: the session's."""


class _Landed(Struct):
    """The changes on the disk when a run has been settled."""

    changes: tuple[Change, ...] = ()
    dropped: tuple[Change, ...] = ()
    findings: tuple[Finding, ...] = ()
    whole: bool = True
    error: RunError | None = None


class _Waits(Struct):
    """The calls that a paused run waits for."""

    pending: tuple[Pending, ...] = ()
    expires_at: str | None = None


class RunContext:
    """One run's view, call log, output and way through the gate.

    Args:
        gate: The session's gate.
        segment: The run.
        workspace: The workspace of files and commands.
        view: The run's view of it.
        control: Ends the run from outside.
        sinks: Take its events.
        log: Takes its steps; None: they are not kept.
        held: Takes them until a step has to outlive the process.
    """

    def __init__(
        self,
        gate: Gate,
        segment: RunSegment,
        *,
        workspace: Workspace,
        view: Stage,
        control: Control,
        sinks: tuple[Sink, ...],
        log: RunLog | None = None,
        held: HeldLog | None = None,
    ) -> None:
        self.run_id = segment.run_id
        self.workspace = workspace
        self.view = view
        self.limits = segment.limits
        self.control = control
        self.pipeline: CallPipeline | None = None
        """The way through the gate, once it was entered."""

        self.gate = gate
        """Its policy may be stricter than the session's."""

        self._segment = segment
        self._started = time.monotonic()
        self._keeps = False
        self._run_info: RunInfo | None = None
        self._unrecorded: RunError | None = None
        self._unpaused: RunError | None = None
        self._can_wait = False
        recorder = None
        if sinks or log is not None:
            recorder = Recorder(
                self.run_id,
                sinks,
                gate.redactor,
                seq=segment.last_seq,
                claim=segment.claim,
                log=log,
                held=held,
            )
        self.call_log = CallLog(recorder, gate.redactor, broken=self._broken)
        self.printed = self._fresh_output()
        if segment.checkpoint is not None:
            self.call_log.go_on(segment.checkpoint.calls, segment.checkpoint.usage)

    def _fresh_output(self) -> Printed:
        return Printed(
            self.limits,
            redactor=self.gate.redactor,
            note=lambda stream, text: self.call_log.note("output", stream=stream, text=text),
            heard=lambda: self.call_log.recording,
        )

    def announce(self, *, script: object, name: str, origin: str, engine: str) -> None:
        """Record that the run has started."""
        text = self.gate.redactor.text(script) if isinstance(script, str) else repr(type(script))
        started = {
            "script_sha256": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
            "name": name,
            "engine": engine,
            "mode": self.gate.policy.mode,
            "origin": origin,
            "limits": self.limits.as_dict(),
        }
        self.call_log.note("run_started", None, **started)

    async def enter(self, *, alone: bool = False, earlier: ReplayLog | None = None) -> CallPipeline:
        """Return the run's way through the gate.

        Raises:
            WorkspaceError: The workspace is not there.
        """
        findings = list(await self.workspace.recover())
        root = await self.view.resolve(".")
        self._run_info = RunInfo(
            gate=self.gate,
            run_id=self.run_id,
            view=self.view,
            limits=self.limits,
            call_log=self.call_log,
            controls=self.control,
            caller=self._segment.caller or self.gate.caller,
            approver_lock=anyio.Lock() if self._segment.caller else self.gate.approving,
            root=root.real,
            alone=alone,
            keeps_back=self._segment.keeps_back,
            findings=findings,
            recorded=earlier.recorded.left_in if earlier is not None else bool,
            inner=InnerScripts(earlier.scripts if earlier is not None else None),
        )
        self.pipeline = CallPipeline(self._run_info, earlier=earlier)
        return self.pipeline

    @property
    def root(self) -> str:
        """The workspace's place on this machine."""
        return self._run_info.root if self._run_info is not None else ""

    def keep(
        self,
        document: Mapping[str, object] | None,
        *,
        unpausable: str,
        replays: bool,
        replay: ReplayInputs | None = None,
        calls: bool = True,
        seed: str = "",
    ) -> None:
        """Keep the exact steps of the run from here on.

        Args:
            document: The state of its beginning; None: an earlier segment has kept it.
            unpausable: Why the run cannot pause; empty where it can.
            replays: Whether a pause is replayed.
            replay: The inputs of its script beside its calls.
            calls: False: its calls are not kept, unless it pauses.
            seed: Of the scripts of its containers.
        """
        self._keeps, self._can_wait = calls, True
        begin = None if document is None else {"workspace": self.root, "document": document}
        self.call_log.keep(
            begin, unpausable=unpausable, replays=replays, replay=replay, calls=calls, seed=seed
        )

    async def settle(self, progress: RunProgress) -> RunResult:
        """End the run's authority, close its record and return its result; not to be cancelled."""
        if self.pipeline is not None:
            self.pipeline.close()
        self.printed.finish()
        how = self._how(progress)
        result = await _shielded(self._settled(how, progress))
        self.call_log.shut()
        if self._unrecorded is not None and result.error is None:
            return replace(result, status="error", error=self._unrecorded)
        return result

    async def _settled(self, how: Ended, progress: RunProgress) -> RunResult:
        landed = await self._landed(how, progress)
        if landed.error is not None:
            how = Ended(status="error", value=how.value, error=landed.error)
        if how.status == "paused" and self.pipeline is not None:
            result = await self._paused(self.pipeline.pause_point, how, progress, landed)
            if result is not None:
                await self._discard()
                return result
            error, self._unpaused = self._unpaused, None
            how = Ended(status="error", error=error)
        landed.findings += await self._discard()
        result = self._result(how, progress, landed, _Waits())
        await self._over(result, progress)
        return result

    def _result(
        self, how: Ended, progress: RunProgress, landed: _Landed, waits: _Waits
    ) -> RunResult:
        calls = self.call_log.records()
        return RunResult(
            run_id=self.run_id,
            status=how.status,
            engine=progress.engine,
            engine_reason=progress.engine_reason,
            duration_ms=self._duration_ms(),
            value=how.value,
            stdout=self.printed.text("stdout"),
            stderr=self.printed.text("stderr"),
            truncated=self.printed.truncated,
            error=advised(how.error, calls),
            findings=(*progress.findings, *landed.findings),
            calls=calls,
            changes=landed.changes,
            landed=bool(landed.changes) and landed.whole,
            dropped=landed.dropped,
            pending=waits.pending,
            expires_at=waits.expires_at,
            usage=self.call_log.usage(bytes_out=self._bytes_out(how)),
        )

    def _how(self, progress: RunProgress) -> Ended:
        reason = self.control.reason
        if reason is not None:
            error = None if reason.status == "paused" else reason.error
            return Ended(status=reason.status, error=error)
        if progress.ended is None:
            text = "the run ended without an outcome"
            return Ended(status="error", error=RunError(code="E_ENGINE", message=text))
        return progress.ended

    async def _landed(self, how: Ended, progress: RunProgress) -> _Landed:
        """Land the staged changes of a run that succeeded; return the changes on the disk."""
        landed = _Landed(findings=tuple(self._run_info.findings) if self._run_info else ())
        try:
            if how.status == "success" and progress.lands:
                landed.findings += await self.view.consult()
                stage = self.view.landed
                written = self.call_log.landing(stage)
                if written is not None:
                    await written
                landed.findings += await self.view.land(self.gate.guards)
                self.call_log.landed(stage)
        except Exception as error:  # noqa: BLE001  of the user's workspace; the run has its end
            landed.error = told(error)
            if isinstance(error, Guarded):
                landed.findings += tuple(f for f in error.findings if isinstance(f, Finding))
        try:
            changes = await self.view.changes()
        except Exception as error:  # noqa: BLE001  of the user's workspace; the run has its end
            text = f"the changes of this run could not be listed: {error}"
            landed.findings += (Finding(code="workspace", message=text, level="error"),)
            return landed
        there = tuple(c for c in changes if c.stage <= self.view.landed)
        waits = how.status == "paused" or (not progress.lands and how.status == "success")
        landed.changes = changes if waits else there
        landed.whole = len(landed.changes) == len(there)
        if how.status != "paused":
            landed.dropped = tuple(c for c in changes if c.stage > self.view.landed)
        if how.status not in ("paused", "success"):  # what failed inside a success is no loss
            last = {change.path: change for change in (*self.view.abandoned, *landed.dropped)}
            landed.dropped = tuple(last.values())
        return landed

    async def _discard(self) -> tuple[Finding, ...]:
        """End the view, and return what is left of it."""
        try:
            await self.view.discard()
        except Exception as error:  # noqa: BLE001  of the user's workspace; the run has its end
            text = f"the view of this run could not be cleared away: {described(error)}"
            return (Finding(code="workspace", message=text),)
        return ()

    async def _paused(
        self, pause_point: PausePoint, how: Ended, progress: RunProgress, landed: _Landed
    ) -> RunResult | None:
        """Keep a run that waits for answers; None: it cannot wait, and `_unpaused` says why."""
        if progress.lands:  # else it is a preview, which waits for no answer
            error = paused(pause_point.pending, self.gate.tools, self.run_id)
            how = replace(how, error=error)
        if not progress.suspended or not self._can_wait:
            result = self._result(how, progress, landed, _Waits(pending=pause_point.pending))
            await self._over(result, progress)
            return result
        try:
            expires_at = expiry(PAUSE_HOURS)
            pause = pause_of(
                pause_point,
                seconds_used=self.control.used,
                modules=progress.modules,
                view=await self.view.pack(),
                expires_at=expires_at,
            )
            waits = _Waits(pending=pause_point.pending, expires_at=expires_at)
            result = self._result(how, progress, landed, waits)
            await self.call_log.paused(pause, self._ending("run_paused", result))
        except Exception as error:  # noqa: BLE001  of the user's workspace; the run has its end
            why = told(error)
            self._unpaused = replace(why, message=f"the run cannot wait: {why.message}")
            return None
        return result

    async def _over(self, result: RunResult, progress: RunProgress) -> None:
        """Record the end, and keep only the state for a replay of a run that is over."""
        end = None
        if self._keeps and self.control.reason is None:
            end = {
                "status": result.status,
                "value": result.value if result.status == "success" else None,
                "error": result.error.code if result.error else None,
                "stdout": result.stdout,
                "stderr": result.stderr,
                "modules": progress.modules,
                "dropped": list(self.pipeline.dropped) if self.pipeline else [],
            }
        try:
            shown = self._ending("run_finished", result)
            await self.call_log.over(shown, end=end, kept=self._keeps)
        except LineshaftError as error:
            text = f"the end of this run cannot be kept: {error.message}"
            self._unrecorded = RunError(code=error.code, message=text, hint=error.hint)

    def _duration_ms(self) -> float:
        before = self._segment.checkpoint.duration_ms if self._segment.checkpoint else 0
        return round(before + (time.monotonic() - self._started) * 1000, 3)

    def _bytes_out(self, how: Ended) -> int:
        printed = self.printed.text("stdout").encode("utf-8", "replace")
        return len(printed) + len(encoded(how.value))

    def _ending(self, kind: EventKind, result: RunResult) -> list[tuple[EventKind, object]]:
        """Return the last events of a run, or of this segment of it."""
        if not self.call_log.recording:
            return []
        waiting = tuple(self._as_recorded(each) for each in result.pending)
        shown = replace(result, value=self.gate.redactor.value(result.value), pending=waiting)
        events: list[tuple[EventKind, object]] = []
        if result.changes or result.dropped:
            data = {"changes": [as_dict(each) for each in result.changes]}
            if result.dropped:
                data["dropped"] = [as_dict(each) for each in result.dropped]
            events.append(("changes", data))
        return [*events, (kind, result_data(shown))]

    def _as_recorded(self, waiting: Pending) -> Pending:
        """Return a waiting call without its contents, which only the approver is shown."""
        tool = self.gate.tools.get(waiting.tool)
        spec = None if tool is None else tool.spec
        arguments = self.gate.redactor.acting.arguments(spec, waiting.arguments)
        return replace(waiting, arguments=arguments)

    def _broken(self, error: Exception) -> None:
        known = isinstance(error, LineshaftError)
        why, hint = (error.message, error.hint) if known else (described(error), "")
        text = f"the run cannot be recorded: {why}"
        self._unrecorded = RunError(code="E_RECORD", message=text, hint=hint)
        self.control.end("error", "E_RECORD", text, hint)


async def _shielded(work: Awaitable[T]) -> T:
    done: list[T] = []
    with anyio.CancelScope(shield=True):
        done.append(await work)
    return done[0]
