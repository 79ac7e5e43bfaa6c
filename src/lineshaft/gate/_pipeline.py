"""One run's way through the gate, from its first call to its last."""

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Literal, NoReturn

import anyio
import pydantic_core

from lineshaft.errors import StateError, ToolError, WorkspaceError
from lineshaft.gate._approvals import Approvals
from lineshaft.gate._asks import Asks
from lineshaft.gate._call_log import CallEntry
from lineshaft.gate._execution import Leave, execute
from lineshaft.gate._find import find
from lineshaft.gate._invoke import bind
from lineshaft.gate._lanes import CallLine, CallPlace, held_around
from lineshaft.gate._messages import CANCELLED, OVER, failed, refusal
from lineshaft.gate._middleware import noted, wrapped
from lineshaft.gate._paths import with_paths_decided
from lineshaft.gate._pause_point import PausePoint, acts_beyond_files, difference, pause_point_of
from lineshaft.gate._replay_log import ReplayLog
from lineshaft.gate._run_info import EndKind, RunInfo
from lineshaft.gate._subtree import paths_below, with_paths_told
from lineshaft.policy import Subject, closed_by, judge
from lineshaft.tools import Tool
from lineshaft.values import (
    Arguments,
    Call,
    CallRecord,
    Difference,
    Dispatch,
    Done,
    Failure,
    Pending,
    ToolSpec,
    Verdict,
)

REFUSALS_PER_CALL = 3
"""A run ends at this many refused calls for each one that it may make."""


_IMPORT = ToolSpec(name="read_file", effect="read", paths=(("path",),))
"""What stands for the import of a module of the workspace in policy."""


class CallPipeline:
    """The calls of one run. Its authority ends when it is closed.

    Args:
        run: The run.
        earlier: Where an earlier part of the same run stood: its calls are not made again, and the
            record has them already.
    """

    def __init__(self, run: RunInfo, *, earlier: ReplayLog | None = None) -> None:
        self._run = run
        self._earlier = earlier or ReplayLog()
        self._over = anyio.Event()
        self._script_waits = run.alone
        self._open: dict[CallEntry, None] = {}
        self._reserved = run.call_log.counts.total()
        self._seen = Counter[str]()
        self._dropped: dict[str, None] = dict.fromkeys(self._earlier.dropped)
        self._order = CallLine()
        self._held = held_around()
        self._asks = Asks(
            run.caller.approver,
            turn=run.turn,
            paused=run.controls.paused,
            stuck=self._stuck,
            can_pause=self._can_pause,
            left=self._left_open,
        )
        self._asks.for_the_run.update(self._earlier.for_the_run)
        self._approvals = Approvals(run, self._earlier, self._asks)
        self.dispatch: Dispatch = wrapped(self._enter, run)
        """Make one call. Raises nothing but cancellation."""

        self.preview = False
        """Stop at the first call that acts beyond files, and make it not."""

        self.difference: Difference | None = None
        """Where a replay left its record."""

        self._suspended: tuple[Pending, ...] = ()
        self._changed = anyio.Event()

    async def waiting(self, call_ids: Collection[str]) -> Literal["wait", "suspend"]:
        """Return "suspend" once only answers that do not come here can let the script go on.

        Args:
            call_ids: The unfinished calls; the script can do nothing before one of them ends.
        """
        self._script_waits = bool(call_ids)
        try:
            while not self._closed:
                unanswered = self._asks.unanswered
                everything = len(unanswered) == len(self._open)
                if unanswered and everything and not self._run.call_log.why_not_pause():
                    self._suspended = unanswered
                    return "suspend"
                self._changed = anyio.Event()
                self._asks.look()
                await self._changed.wait()
            return "wait"
        finally:
            self._script_waits = self._run.alone

    @property
    def pause_point(self) -> PausePoint:
        """Where the run stands, suspended."""
        waiting = {pending.id for pending in self._suspended}
        return pause_point_of(
            [entry for entry in self._run.call_log.entries.values() if entry.id in waiting],
            self._suspended,
            for_the_run=self._asks.for_the_run,
            shown=self._approvals.shown,
            dropped=self._dropped,
        )

    @property
    def dropped(self) -> Collection[str]:
        """Keys of calls that the script gave up before they ended."""
        return tuple(self._dropped)

    def close(self) -> None:
        """End the authority of everything that belongs to this run."""
        self._over.set()
        self._changed.set()
        self._run.call_log.close()
        self._asks.close()
        left, self._open = self._open, {}  # calls of tasks of a tool's own
        for entry in left:
            if entry.started is not None:
                entry.status = "unknown"
            self._close(entry, _fate(entry, CANCELLED))

    @property
    def _closed(self) -> bool:
        return self._over.is_set()

    async def admit(self, spec: ToolSpec, call: Call, *, paths: tuple[str, ...] = ()) -> None:
        """Decide whether the run itself may take place.

        Args:
            spec: What stands for the run in policy.
            call: Its name, arguments and origin.
            paths: Decided paths in its arguments.

        Raises:
            ToolError: `E_DENIED`, with the rule and its reason.
        """
        gate = self._run.gate
        verdict = judge(gate.policy, Subject(spec=spec, call=call, paths=paths))
        if verdict.kind == "ask":
            self._script_waits = True
            await self._approvals.of_run(spec, call.arguments, verdict)
            self._script_waits = self._run.alone
        elif verdict.kind != "allow":
            raise ToolError("E_DENIED", refusal(spec.name, verdict))

    async def read_module(self, path: str) -> bytes | None:
        """Return a module's text for an import, judged as `read_file`; None: there is no such file.

        Args:
            path: In the workspace.

        Raises:
            ToolError: `E_DENIED`, with the rule; or the file cannot be read.
        """
        run = self._run
        try:
            resolved = await run.view.resolve(path)
            call = Call(tool=_IMPORT.name, arguments={"path": resolved.path}, origin="script")
            subject = Subject(spec=_IMPORT, call=call, paths=(str(resolved.path),))
            verdict = judge(run.gate.policy, subject)
            if verdict.kind != "allow":
                raise ToolError("E_DENIED", refusal(f"import of {resolved.path}", verdict))
            data = (await run.view.read(resolved.path)).data
        except WorkspaceError as error:
            if error.code == "E_FILE_NOT_FOUND":
                return None
            raise ToolError(error.code, error.message, hint=error.hint) from error
        digest = hashlib.sha256(data).hexdigest()
        run.call_log.note("log", None, text=f"imported {resolved.path}, sha256 {digest}")
        return data

    # The way of a call. A stage that refuses it raises ToolError.

    async def _enter(self, call: Call) -> Done:
        if await self._has_ended():
            return OVER
        entry = noted(self._run.call_log.open(call))
        self._open[entry] = None
        done: Done = CANCELLED
        try:
            done = _fate(entry, await self._through(entry))
            if entry in self._open and not entry.answered:
                with suppress(ToolError):  # of a run that is over by now
                    await self._keep(partial(self._run.call_log.end, entry, done))
        finally:
            done = _fate(entry, done)
            if self._open.pop(entry, done) is None:  # else the run ended first, and closed it
                self._close(entry, done)
            self._asks.look()
            self._changed.set()
        return done

    def _close(self, entry: CallEntry, done: Done) -> None:
        log = self._run.call_log
        if entry.answered:
            log.drop(entry)
        elif done is CANCELLED and (self._suspended or self._run.controls.stands):
            return  # it waits; a later part of the run makes it
        else:
            if done is CANCELLED and entry.key:
                self._dropped[entry.key] = None
            with suppress(StateError):  # what is exact is lost with the run
                log.end(entry, done, keep=False)

    async def _keep(self, step: Callable[[], Awaitable[None] | None]) -> None:
        """Append a step to the run's log; where that cannot be done the run ends."""
        try:
            written = step()
            if written is not None:
                with self._run.controls.paused():  # a disk's time is no script's
                    await written
        except StateError as error:
            if not self._closed:  # else the run ended meanwhile: nothing goes on with it
                text = f"what this run does cannot be kept: {error.message}"
                await self._end("error", error.code, text)

    async def _through(self, entry: CallEntry) -> Done:
        try:
            return await self._with_tool(entry, find(self._run, entry))
        except ToolError as error:
            if entry.started is not None:
                return self._run.failure(error)
            entry.refusal = self._run.failure(error, "refused")
            await self._count_refusal()
            return entry.refusal
        except Exception as error:  # noqa: BLE001  nothing but cancellation may leave the gate
            return self._run.failure(failed(entry.call, error))

    async def _with_tool(self, entry: CallEntry, tool: Tool) -> Done:
        try:
            entry.arguments = bind(tool, entry.call.arguments, entry.call.positional)
        except ToolError as error:
            await self._malformed(entry, tool, error)
        lanes = self._run.gate.lanes
        place = CallPlace(tool.spec, lanes=lanes, order=self._order, held=self._held)
        place.join()
        try:
            entry.arguments, paths, entries = await self._decided(entry, tool, entry.arguments)
            entry.key = self._identify(entry, tool)
            if (done := await self._answered(entry, tool)) is not None:
                return done
            call = entry.call.decided(tool.name, entry.arguments)
            below = await paths_below(self._run.view, entries)
            subject = Subject(spec=tool.spec, call=call, paths=(*paths, *below))
            leave = Leave(subject=subject, place=place, dispatch=self.dispatch)
            verdict = await self._judge(entry, subject, named=len(paths))
            return await self._allowed(entry, tool, verdict=verdict, leave=leave)
        finally:
            place.leave()

    async def _decided(
        self, entry: CallEntry, tool: Tool, arguments: Arguments
    ) -> tuple[Arguments, tuple[str, ...], tuple[str, ...]]:
        """Return the arguments with their paths decided, all these paths, and those of entries."""
        spec, view = tool.spec, self._run.view
        if not spec.paths:
            return arguments, (), ()
        decided: list[str] = []
        entries: list[str] = []

        async def decide(path: str, follow: bool) -> str:  # noqa: FBT001  the seam's own shape
            resolved = await view.resolve(path, follow=follow)
            decided.append(str(resolved.path))  # as plain text: it may have to be decided again
            if not follow and spec.effect != "read":
                entries.append(decided[-1])
            return decided[-1]

        try:
            final = await with_paths_decided(
                arguments, spec.paths, entries=spec.entries, decide=decide
            )
        except WorkspaceError as error:
            failed = ToolError(error.code, error.message, hint=error.hint)
            await self._malformed(entry, tool, failed)
        return final, tuple(decided), tuple(entries)

    async def _malformed(self, entry: CallEntry, tool: Tool, error: ToolError) -> NoReturn:
        """Refuse a call that cannot be judged: what is closed anyhow is refused by its rule.

        An error of the arguments would tell what policy does not let be told: the signature.
        """
        origin = entry.call.origin
        verdict = closed_by(self._run.gate.policy, tool.spec, (origin,))
        if verdict is not None:
            await self._refuse(entry, tool.name, verdict)
        self._run.call_log.called(entry)
        raise error

    async def _recheck(self, entry: CallEntry, tool: Tool, subject: Subject) -> None:
        """Refuse a call whose paths were moved by an earlier one since it was judged."""
        _, paths, _ = await self._decided(entry, tool, entry.arguments)
        moved = [was for was, now in zip(subject.paths, paths, strict=False) if was != now]
        if moved:
            text = f"{moved[0]!r} leads elsewhere since this call was made: make it again"
            raise ToolError("E_STALE", text)

    def _identify(self, entry: CallEntry, tool: Tool) -> str:
        exact = pydantic_core.to_json([tool.name, sorted(entry.arguments.items())])
        pair = hashlib.sha256(exact).hexdigest()[:32]
        self._seen[pair] += 1
        return f"{self._run.run_id}/{pair}/{self._seen[pair]}"

    async def _answered(self, entry: CallEntry, tool: Tool) -> Done | None:
        """Return what a call came to in an earlier part of the run; None: it is to be made."""
        earlier, key = self._earlier, entry.key
        if key in earlier.waited:
            self._run.call_log.take_place(entry, earlier.waited[key])
        if (known := earlier.recorded.take(key)) is not None:
            entry.answered = not earlier.only
            return known
        if key in earlier.dropped:
            entry.answered = not earlier.only
            await anyio.sleep_forever()  # the script gives it up again
        if earlier.only or (entry.call.recorded and not self._goes_on(entry)):
            await self._differs(entry)
        elif key in earlier.unknown and not tool.spec.idempotent:
            text = f"{tool.name} was started before the host died, and nobody knows what it did"
            return Failure("E_TOOL_FAILED", text, "", "unknown")
        return None

    def _goes_on(self, entry: CallEntry) -> bool:
        """Return whether a call waited, or comes of middleware around one that did.

        Of a run whose process died not each call is known.
        """
        return not self._earlier.complete or any(
            each.key in self._earlier.waited for each in (entry, *entry.beside)
        )

    async def _differs(self, entry: CallEntry) -> None:
        left = (each.call for each in self._earlier.recorded.left if each.call.parent is None)
        expected = next(left, None)
        self._run.call_log.called(entry)
        call = CallRecord(
            id=entry.id,
            tool=entry.spec.name if entry.spec else entry.call.tool,
            arguments=self._run.call_log.show(entry),
            status="pending",
        )
        self.difference = difference(call, expected, self._run.gate.redactor)
        await self._end("error", "E_DIVERGED", self.difference.message)

    async def _judge(self, entry: CallEntry, subject: Subject, *, named: int) -> Verdict:
        verdict = judge(self._run.gate.policy, subject)
        if verdict.kind != "allow":
            verdict = with_paths_told(self._run.gate.policy, subject, verdict, named)
        entry.rule, entry.verdict = verdict.rule, verdict
        if verdict.kind in ("deny", "stop"):
            await self._refuse(entry, subject.call.tool, verdict)
        return verdict

    async def _refuse(self, entry: CallEntry, name: str, verdict: Verdict) -> NoReturn:
        text = refusal(name, verdict)
        entry.rule, entry.verdict = verdict.rule, verdict
        if verdict.kind == "stop":
            entry.refusal = Failure("E_DENIED", text, "", "refused")
            await self._end("refused", "E_DENIED", text)
        raise ToolError("E_DENIED", text)

    async def _allowed(
        self, entry: CallEntry, tool: Tool, *, verdict: Verdict, leave: Leave
    ) -> Done:
        if self.preview and acts_beyond_files(tool.spec, verdict):
            await self._told(entry)
            await self._stop_before(entry, verdict)
        self._reserve()
        try:
            if verdict.kind == "ask" and not self.preview:
                await self._told(entry)
                # Whoever waits for a person gives up its place and lines up again.
                leave.place.leave()
                await self._approvals.of_call(entry, tool, verdict=verdict, subject=leave.subject)
                leave.place.join()
            if not leave.place.granted or verdict.kind == "ask":
                await self._told(entry)
                await leave.place.turn()
                await self._recheck(entry, tool, leave.subject)
            if tool.spec.effect == "exec" and not tool.spec.container:
                await self._land()
        except BaseException:
            self._reserved -= 1
            raise
        entry.stage, spec = self._run.view.landed, tool.spec
        staged = spec.staged and self._run.keeps_back  # nothing of it acts before it lands
        acts = spec.effect != "read" and not (spec.container or staged)
        await self._keep(partial(self._run.call_log.starting, entry, acts=acts))
        if self._closed:
            return OVER
        self._run.call_log.started(entry)
        if await self._has_ended():
            return OVER
        return await execute(self._run, entry, tool, leave)

    async def _land(self) -> None:
        """Make what was kept back real, for a call that needs the disk."""
        run, stage = self._run, self._run.view.landed
        await self._keep(partial(run.call_log.landing, stage))
        try:
            run.findings.extend(await run.view.land(run.gate.guards))
        except WorkspaceError as error:
            raise ToolError(error.code, error.message, hint=error.hint) from error
        run.call_log.landed(stage)

    async def _told(self, entry: CallEntry) -> None:
        """Have the log know of a call that is about to wait."""
        await self._keep(partial(self._tell, entry))

    def _tell(self, entry: CallEntry) -> None:
        self._run.call_log.called(entry)

    async def _stop_before(self, entry: CallEntry, verdict: Verdict) -> None:
        """End a preview at a call that would act."""
        self._suspended = (self._approvals.pending(entry, verdict),)
        text = f"{entry.call.tool} acts beyond files: a preview stops before it"
        await self._end("paused", "E_PREVIEW", text)

    def _reserve(self) -> None:
        most = self._run.limits.calls
        if self._reserved >= most:
            text = f"this run may make {most} calls, and has made them all"
            hint = "return what you have, or do the rest in another run"
            raise ToolError("E_CALL_LIMIT", text, hint=hint)
        self._reserved += 1

    # When a run must not go on.

    def _stuck(self, pending: Collection[str]) -> bool:
        others = (e for e in self._open if e.id not in pending)
        return self._script_waits and all(e.spec and e.spec.container for e in others)

    def _can_pause(self) -> bool:
        nothing_lost = self._run.call_log.exact or len(self._open) == len(
            self._run.call_log.entries
        )
        return nothing_lost and not self._run.call_log.why_not_pause()

    def _left_open(self) -> None:
        """Pause a call by itself, for which no engine asks whether anything can go on."""
        self._changed.set()
        unanswered = self._asks.unanswered
        if self._run.alone and unanswered and len(unanswered) == len(self._open):
            self._suspended = unanswered
            self._run.controls.end("paused", "E_PAUSED", "the call waits for an approval")

    async def _count_refusal(self) -> None:
        most = REFUSALS_PER_CALL * self._run.limits.calls
        if not (self._run.alone or self._closed) and self._run.call_log.refused + 1 >= most:
            await self._end("limit", "E_CALL_LIMIT", f"{most} calls of this run were refused")

    async def _end(self, kind: EndKind, code: str, message: str) -> None:
        if self._run.alone:
            raise ToolError(code, message)
        self._run.controls.end(kind, code, message)
        await self._over.wait()  # the cancellation comes first, but for tasks of a tool's own
        raise ToolError(OVER.code, OVER.message)

    async def _has_ended(self) -> bool:
        if self._run.controls.ended:
            await self._over.wait()
        return self._closed


def _fate(entry: CallEntry, done: Done) -> Done:
    """Return how a call ended, also where the run was ended in the middle of it."""
    if done is CANCELLED and entry.refusal is not None:
        return entry.refusal
    if isinstance(done, Failure) and entry.status == "unknown":
        return replace(done, status="unknown")
    return done
