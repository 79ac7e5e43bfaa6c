"""The calls of one run on their way through the gate; `CallPipeline._dispatch` is that way.

Above: `scripts`, which gives `dispatch` to an engine or makes one direct call. Below: policy, the
tools, the run's view of the workspace, the run's log. A stage that refuses a call raises; only a
cancellation leaves `dispatch`.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection
from contextlib import nullcontext, suppress
from difflib import get_close_matches
from functools import partial
from typing import Literal

import anyio
import msgspec
from msgspec.structs import replace

from lineshaft.errors import StateError, ToolError, WorkspaceError
from lineshaft.gate._approvals import Approvals
from lineshaft.gate._asks import Asks
from lineshaft.gate._call_entry import CallEntry
from lineshaft.gate._execution import execute
from lineshaft.gate._invoke import bind
from lineshaft.gate._lanes import CallLine, CallPlace, held_around
from lineshaft.gate._messages import CANCELLED, OVER, failed, refusal
from lineshaft.gate._middleware import note_beside, wrapped
from lineshaft.gate._paths import with_paths_decided
from lineshaft.gate._pause_point import (
    PausePoint,
    acts_beyond_files,
    difference,
    pause_point_of,
)
from lineshaft.gate._replay_log import ReplayLog
from lineshaft.gate._run_info import EndKind, RunInfo
from lineshaft.gate._script_place import leaves
from lineshaft.gate._source_reads import read_source
from lineshaft.gate._subtree import paths_below, with_paths_told
from lineshaft.policy import Subject, closed_by, judge
from lineshaft.tools import Tool, script_name, web_address, with_defaults
from lineshaft.values import (
    Arguments,
    Call,
    CallRecord,
    CallScope,
    Difference,
    Dispatch,
    Done,
    Failure,
    Origin,
    Pending,
    ToolSpec,
    Verdict,
)

REFUSALS_PER_CALL = 3
"""A run ends at this many refused calls for each one that it may make."""

MOST_NESTED = 4
"""Containers around a call."""

MOST_SCRIPTS = 2
"""Scripts one inside of the other, the run's own among them."""

_LONGEST_PROCESS = 2_000

Paths = tuple[str, ...]


class CallPipeline:
    """The calls of one run. Its authority ends when it is closed.

    Args:
        run: The run.
        earlier: What an earlier segment of the same run did: its calls are not made again, and the
            record has them already. None: there was none.
    """

    def __init__(self, run: RunInfo, *, earlier: ReplayLog | None = None) -> None:
        self._run = run
        self._recalls = earlier is not None
        self._earlier = earlier or ReplayLog()
        self._over = anyio.Event()
        self._script_waits = run.alone
        self._open: dict[CallEntry, None] = {}
        self._of_agents = self._earlier.recorded.of_agents
        self._reserved = max(run.call_log.counts.total() - self._of_agents, 0)
        self._seen = Counter[str]()
        self._dropped: dict[str, None] = dict.fromkeys(self._earlier.dropped)
        self._orders: defaultdict[str | None, CallLine] = defaultdict(CallLine)
        """By container: its reads and writes of files keep their order."""

        self._standing_before = {
            call_id
            for key, call_id in self._earlier.waited.items()
            if key in self._earlier.standing
        }
        """Ids of the containers in the middle of which an earlier segment of the run paused."""

        self._held = held_around()
        self._asks = Asks(
            run.caller.approver,
            approver_lock=run.approver_lock,
            paused=run.paused,
            stuck=self._stuck,
            can_pause=self._can_pause,
            left=self._left_open,
        )
        run.inner.changed = self._look
        self._inside = Counter[str | None]()
        """Calls that scripts of containers have made, by the container's id."""

        self._asks.for_the_run.update(self._earlier.for_the_run)
        self._approvals = Approvals(run, self._earlier, self._asks)
        self.dispatch: Dispatch = wrapped(self._dispatch, run)
        """Make one call. Raises nothing but cancellation."""

        self.preview = False
        """Stop at the first call that acts beyond the run's view, and make it not."""

        self.with_models = False
        """In a preview: ask models all the same."""

        self.difference: Difference | None = None
        """Where a replay left its record."""

        self._suspended: tuple[Pending, ...] = ()
        self._standing: tuple[str, ...] = ()
        """Ids of the containers around the calls that wait."""

        self._changed = anyio.Event()

    async def _dispatch(self, call: Call) -> Done:
        """Make one call: its stages, from top to bottom."""
        if self._run.controls.ended or self._over.is_set():
            await self._over.wait()
            return OVER
        entry = self._begin(call)
        place: CallPlace | None = None
        done: Done = CANCELLED
        try:
            try:
                tool = self._find(entry)
                entry.arguments = bind(tool, call.arguments, call.positional)
                place = self._ticket(call, tool.spec)
                entry.arguments, named, entries = await self._resolve(entry, tool.spec)
                entry.key = self._identify(entry, tool.spec.name)
                recalls = self._recalls or call.recorded
                known = await self._recall(entry, tool.spec) if recalls else None
                if known is None:
                    subject, verdict = await self._judge(entry, tool.spec, named, entries)
                    asks = verdict.kind == "ask" and not self.preview
                    if self.preview and acts_beyond_files(tool, verdict, models=self.with_models):
                        await self._end_preview(entry, verdict)
                    self._reserve(entry)
                    if asks:
                        await self._ask(entry, tool, subject, verdict, place)
                    if asks or not place.granted:
                        await self._wait_in_line(entry, place)
                        await self._resolve_again(entry, tool.spec, named)
                    if asks:
                        await self._approvals.must_be_as_shown(entry, tool, subject)
                    if tool.spec.needs_disk:
                        await self._land(entry, tool.spec)
                    await self._start(entry, tool.spec)
                    known = await execute(
                        self._run, entry, tool, subject=subject, place=place, further=self.dispatch
                    )
                done = known
            except Exception as error:  # noqa: BLE001  nothing but cancellation leaves the gate
                done = await self._fail(entry, error)
            finally:
                if place is not None:
                    place.leave()
            await self._keep_end(entry, done)
        finally:
            self._finish(entry, done)
        return done

    # The stages, in the order in which a call passes them.

    def _begin(self, call: Call) -> CallEntry:
        entry = self._run.call_log.open(call)
        if self._run.gate.middleware:
            note_beside(entry)
        self._open[entry] = None
        return entry

    def _find(self, entry: CallEntry) -> Tool:
        """Return the tool that a call names, and note which it is."""
        scope, name = entry.call.scope, entry.call.tool
        tool = (scope and scope.own.get(name)) or self._run.gate.tools.get(name)
        if tool is None:
            close = get_close_matches(name, self._open_to(entry.call), n=1)
            hint = f"did you mean {close[0]!r}?" if close else "search_tools(words) finds tools"
            hint = self._run.gate.why_missing(name) or hint
            raise ToolError("E_UNKNOWN_TOOL", f"there is no tool {name!r}", hint=hint)
        entry.spec = tool.spec
        if entry.call.origin == "script" and not tool.spec.scriptable:
            entry.rule = "not-scriptable"
            raise ToolError("E_DENIED", f"{name!r} may not be called from a script")
        if scope and tool.spec.container and len(scope.containers) >= MOST_NESTED:
            text = f"containers nest {MOST_NESTED} deep, and this call of {name!r} is deeper"
            raise ToolError("E_DENIED", text)
        if scope and tool.spec.calls_as == "script" and self._scripts_around(scope) >= MOST_SCRIPTS:
            text = f"scripts nest {MOST_SCRIPTS} deep, and this call of {name!r} is deeper"
            raise ToolError("E_DENIED", text)
        if scope and not leaves(scope, tool.name):
            entry.rule = "narrowed:tools"
            raise ToolError("E_DENIED", f"{name!r} is not among the tools of its container")
        return tool

    def _open_to(self, call: Call) -> list[str]:
        """Return the names of the tools that policy does not close to a call's origin."""
        policy, scope = self._run.policy_of(call), call.scope
        tools = {**self._run.gate.tools, **(scope.own if scope else {})}
        return [
            name
            for name, tool in tools.items()
            if (scope is None or leaves(scope, name))
            and not closed_by(policy, tool.spec, (call.origin,))
        ]

    def _ticket(self, call: Call, spec: ToolSpec) -> CallPlace:
        """Take the next place in the lines that a call of the tool stands in."""
        lanes = self._run.gate.lanes
        held = self._held if call.parent is None else held_around()
        place = CallPlace(spec, lanes=lanes, order=self._orders[call.parent], held=held)
        place.join()
        return place

    async def _resolve(self, entry: CallEntry, spec: ToolSpec) -> tuple[Arguments, Paths, Paths]:
        """Return the arguments with their paths decided, all these paths, and those of entries."""
        given = _with_addresses(spec, entry.arguments) if spec.addresses else entry.arguments
        if not spec.paths:
            return given, (), ()
        view = self._run.view_of(entry.call)
        decided: list[str] = []
        entries: list[str] = []

        async def decide(path: str, follow: bool) -> str:  # noqa: FBT001  the seam's own shape
            resolved = await view.resolve(path, follow=follow)
            decided.append(str(resolved.path))  # as plain text: it may have to be decided again
            if not follow and spec.effect != "read":
                entries.append(decided[-1])
            return decided[-1]

        arguments = await with_paths_decided(given, spec.paths, entries=spec.entries, decide=decide)
        if spec.default_paths:
            whole = with_defaults(given, spec.input_schema, optional=True)
            if whole is not given:  # the function reads its own defaults: they are only judged
                decided.clear()
                entries.clear()
                await with_paths_decided(whole, spec.paths, entries=spec.entries, decide=decide)
        return arguments, tuple(decided), tuple(entries)

    def _identify(self, entry: CallEntry, name: str) -> str:
        within = scope.containers[:1] if (scope := entry.call.scope) else ()
        exact = msgspec.json.encode([*within, name, sorted(entry.arguments.items())])
        pair = hashlib.sha256(exact).hexdigest()[:32]
        self._seen[pair] += 1
        return f"{self._run.run_id}/{pair}/{self._seen[pair]}"

    async def _recall(self, entry: CallEntry, spec: ToolSpec) -> Done | None:
        """Return how a call ended in an earlier segment of the run; None: it is to be made."""
        earlier, key = self._earlier, entry.key
        if key in earlier.waited:
            self._run.call_log.take_place(entry, earlier.waited[key])
            died = spec.container and not earlier.complete
            entry.weighed = key in earlier.ended
            entry.counted = died or entry.weighed or key in earlier.standing
        if (known := earlier.recorded.take(key)) is not None:
            entry.answered = not earlier.only
            if not (isinstance(known, Failure) and known.status == "refused"):
                self._inside[entry.call.parent] += 1
            return known
        if key in earlier.dropped:
            entry.answered = not earlier.only
            await anyio.sleep_forever()  # the script gives it up again
        diverges = entry.call.recorded or self._before_its_record_ends(entry.call)
        if earlier.only or (diverges and not self._goes_on(entry)):
            await self._differs(entry)
        elif key in earlier.unknown and not spec.idempotent:
            text = f"{spec.name} was started before the host died, and nobody knows what it did"
            return Failure("E_TOOL_FAILED", text, "", "unknown")
        return None

    def _before_its_record_ends(self, call: Call) -> bool:
        """Return whether a container makes a call that it did not make the first time.

        It gets no new ones before it has come to where it stood.
        """
        within = call.parent
        if within is None or within not in self._standing_before:
            return False
        return self._earlier.recorded.left_in(within)

    async def _judge(
        self, entry: CallEntry, spec: ToolSpec, named: Paths, entries: Paths
    ) -> tuple[Subject, Verdict]:
        """Return a call as policy sees it, and the verdict; what lies below its folders counts."""
        gate = self._run.gate
        below = await paths_below(self._run.view_of(entry.call), entries) if entries else ()
        call = replace(entry.call, tool=spec.name, arguments=entry.arguments)
        subject = gate.subject(spec, call, (*named, *below))
        policy = self._run.policy_of(call)
        verdict = judge(policy, subject)
        if verdict.kind != "allow":
            verdict = with_paths_told(policy, subject, verdict, len(named))
        entry.rule, entry.verdict = verdict.rule, verdict
        if verdict.kind == "deny":
            raise ToolError("E_DENIED", refusal(spec.name, verdict))
        if verdict.kind == "stop":
            text = refusal(spec.name, verdict)
            entry.refusal = Failure("E_DENIED", text, "", "refused")
            await self._end("refused", "E_DENIED", text)
        return subject, verdict

    async def _end_preview(self, entry: CallEntry, verdict: Verdict) -> None:
        """End a preview at a call that would act."""
        await self._tell(entry)
        self._suspended = (self._approvals.pending(entry, verdict),)
        text = f"{entry.call.tool} acts beyond the run's view: a preview stops before it"
        await self._end("paused", "E_PREVIEW", text)

    def _reserve(self, entry: CallEntry) -> None:
        """Take one of the calls that the run may make; `_finish` gives it back if none was made."""
        scope, container = entry.call.scope, entry.call.parent
        inner = scope and scope.most_calls
        if inner is not None and self._inside[container] >= inner:
            hint = "return what you have, and do the rest in another script"
            raise _made_all(inner, "this script", hint)
        if scope is not None and under_agent(entry.call):
            most = self._run.limits.agent_calls
            if self._of_agents >= most:
                hint = "finish with what you have; `agent_calls` in the run's limits allows more"
                raise _made_all(most, "the agents of this run", hint)
            self._of_agents += 1
        else:
            most = self._run.limits.calls
            if self._reserved >= most:
                hint = "return what you have, or do the rest in another run"
                raise _made_all(most, "this run", hint)
            self._reserved += 1
        self._inside[container] += 1
        entry.reserved = True

    async def _ask(
        self, entry: CallEntry, tool: Tool, subject: Subject, verdict: Verdict, place: CallPlace
    ) -> None:
        """Ask a person; other calls go ahead meanwhile."""
        entry.schema = tool.schema_digest
        await self._tell(entry)
        place.leave()
        await self._approvals.of_call(entry, tool, verdict=verdict, subject=subject)
        if self._find(entry).schema_digest != entry.schema:
            text = f"the arguments of {tool.name} have changed since this call was shown"
            raise ToolError("E_STALE", f"{text}: make it again")
        place.join()

    async def _wait_in_line(self, entry: CallEntry, place: CallPlace) -> None:
        await self._tell(entry)
        await place.wait()

    async def _resolve_again(self, entry: CallEntry, spec: ToolSpec, named: Paths) -> None:
        """Refuse a call whose paths were moved by an earlier one since it was judged."""
        _, paths, _ = await self._resolve(entry, spec)
        moved = [was for was, now in zip(named, paths, strict=True) if was != now]
        if moved:
            text = f"{moved[0]!r} leads elsewhere since this call was made: make it again"
            raise ToolError("E_STALE", text)

    async def _land(self, entry: CallEntry, spec: ToolSpec) -> None:
        """Make real what a call that needs the disk sees, and was kept back.

        A person at an editor is asked first about what they have not saved; clocks stand still.
        """
        call = entry.call
        run, view = self._run, self._run.view_of(call)
        async with run.landing:
            with run.paused():
                process = self._in_words(entry, spec) if spec.effect == "exec" else ""
                run.findings.extend(await view.consult(process))
            stage = view.landed
            await self._keep(partial(run.call_log.landing, stage, self._around(call)))
            run.findings.extend(await view.land(run.gate.guards))
            run.call_log.landed(stage)

    def _in_words(self, entry: CallEntry, spec: ToolSpec) -> str:
        """Return what a call is about to start, for a person."""
        from pydantic_core import to_json  # noqa: PLC0415  slow, and most runs need no words

        given = self._run.gate.redactor.whole(spec, entry.arguments)
        said = to_json(given, fallback=str).decode()
        return f"{spec.name} {said}"[:_LONGEST_PROCESS]

    def _around(self, call: Call) -> list[str]:
        """Return the ids of the containers around a call, the innermost first."""
        around: list[str] = []
        while call.parent is not None:
            around.append(call.parent)
            call = self._run.call_log.entries[call.parent].call
        return around

    async def _start(self, entry: CallEntry, spec: ToolSpec) -> None:
        """Log that the tool is about to start: on the disk, where it may act at once."""
        entry.stage = self._run.view.landed
        staged = spec.staged and self._run.keeps_back  # nothing of it acts before it lands
        acts = spec.effect != "read" and not (spec.container or staged)
        await self._keep(partial(self._run.call_log.starting, entry, acts=acts))
        if not self._over.is_set():
            self._run.call_log.started(entry)
        if self._run.controls.ended or self._over.is_set():
            await self._over.wait()
            raise ToolError(OVER.code, OVER.message)

    async def _fail(self, entry: CallEntry, error: Exception) -> Done:
        """Return what an error of a stage means to the caller: a refusal, unless the tool ran."""
        if isinstance(error, WorkspaceError):
            error = ToolError.of(error)
        if not isinstance(error, ToolError):
            return _fate(entry, self._run.failure(failed(entry.call, error)))
        if entry.started is not None:
            return _fate(entry, self._run.failure(error))
        if entry.spec is not None and not entry.rule:
            error = await self._closed(entry, entry.spec) or error
        entry.refusal = self._run.failure(error, "refused")
        with suppress(ToolError):  # of a run that is over by now
            if not under_agent(entry.call):  # its agent counts it
                await self._count_refusal()
        return entry.refusal

    async def _closed(self, entry: CallEntry, spec: ToolSpec) -> ToolError | None:
        """Return the refusal of a call that cannot be judged, where its tool is closed anyhow.

        An error of the arguments would tell what policy does not let be told: the signature.
        """
        policy = self._run.policy_of(entry.call)
        verdict = closed_by(policy, spec, (entry.call.origin,))
        if verdict is None:
            return None
        entry.rule, entry.verdict = verdict.rule, verdict
        text = refusal(spec.name, verdict)
        if verdict.kind == "stop":
            entry.refusal = Failure("E_DENIED", text, "", "refused")
            with suppress(ToolError):  # as below
                await self._end("refused", "E_DENIED", text)
        return ToolError("E_DENIED", text)

    async def _keep_end(self, entry: CallEntry, done: Done) -> None:
        """Log how a call ended, on the disk where it acted, before its caller knows."""
        if entry in self._open and not entry.answered:
            with suppress(ToolError):  # as above
                await self._keep(partial(self._run.call_log.end, entry, done))

    def _finish(self, entry: CallEntry, done: Done) -> None:
        """Close a call, however it ended."""
        if entry.reserved and entry.started is None:
            self._inside[entry.call.parent] -= 1
            if under_agent(entry.call):
                self._of_agents -= 1
            else:
                self._reserved -= 1
        if self._open.pop(entry, self) is None:  # else the run ended first, and closed it
            self._close(entry, done)
        self._orders.pop(entry.id, None)
        self._inside.pop(entry.id, None)
        self._look()

    # What several stages need.

    def _look(self) -> None:
        """Look again whether anything can go on without a person."""
        self._asks.look()
        self._changed.set()

    def _scripts_around(self, scope: CallScope) -> int:
        return scope.scripts + (not self._run.alone)

    async def _tell(self, entry: CallEntry) -> None:
        """Log a call that is about to wait."""
        await self._keep(partial(self._run.call_log.called, entry))

    async def _keep(self, step: Callable[[], Awaitable[None] | None]) -> None:
        """Append a step to the run's log; where that cannot be done the run ends."""
        try:
            written = step()
            if written is not None:
                with self._run.controls.paused():  # a disk's time is no script's
                    await written
        except StateError as error:
            if not self._over.is_set():  # else the run ended meanwhile: nothing goes on with it
                text = f"what this run does cannot be kept: {error.message}"
                await self._end("error", error.code, text, error.hint)

    def _close(self, entry: CallEntry, done: Done) -> None:
        log = self._run.call_log
        fate = _fate(entry, done)
        waits = self._suspended or self._run.controls.stands
        if entry.answered:
            log.drop(entry)
        elif fate is CANCELLED and waits:
            return  # a later segment of the run makes it
        else:
            if entry.layer is not None:
                entry.layer.drop()
            if done is CANCELLED and entry.refusal is None and entry.key and not waits:
                self._dropped[entry.key] = None
            with suppress(StateError):  # what is exact is lost with the run
                log.end(entry, fate, keep=False)

    def _goes_on(self, entry: CallEntry) -> bool:
        """Return whether a call waited, or comes of middleware around one that did.

        Of a run whose process died not each call is known.
        """
        return not self._earlier.complete or any(
            each.key in self._earlier.waited for each in (entry, *entry.beside)
        )

    async def _differs(self, entry: CallEntry) -> None:
        left = (each.call for each in self._earlier.recorded.left if each.call.parent is None)
        call = CallRecord(
            id=entry.id,
            tool=entry.name,
            arguments=self._run.call_log.show(entry),
            status="pending",
        )
        self.difference = difference(call, next(left, None), self._run.gate.redactor)
        await self._end("error", "E_DIVERGED", self.difference.message)

    # The run around the calls.

    async def waiting(self, call_ids: Collection[str]) -> Literal["wait", "suspend"]:
        """Return "suspend" once only answers that do not come here can let the script go on.

        Args:
            call_ids: The unfinished calls; the script can do nothing before one of them ends.
        """
        self._script_waits = bool(call_ids)
        self._asks.look()
        try:
            while not self._over.is_set():
                unanswered = self._asks.unanswered
                everything = unanswered and self._all_wait({each.id for each in unanswered})
                if everything and not self._run.call_log.why_not_pause():
                    self._suspend(unanswered)
                    return "suspend"
                self._changed = anyio.Event()
                controls = self._run.controls  # an agent has a time of its own
                with controls.paused(script=False) if self._only_agents() else nullcontext():
                    await self._changed.wait()
            return "wait"
        finally:
            self._script_waits = self._run.alone

    @property
    def pause_point(self) -> PausePoint:
        """The point at which the run is suspended."""
        waiting = {pending.id for pending in self._suspended}
        entries = self._run.call_log.entries
        return pause_point_of(
            [entry for entry in entries.values() if entry.id in waiting],
            self._suspended,
            standing=[entries[each] for each in self._standing],
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
            self._close(entry, CANCELLED)

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
        verdict = judge(gate.policy, gate.subject(spec, call, paths))
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
            decided, data = await read_source(run, path, what="import of")
        except WorkspaceError as error:
            if error.code == "E_FILE_NOT_FOUND":
                return None
            raise ToolError.of(error) from error
        digest = hashlib.sha256(data).hexdigest()
        run.call_log.note("log", None, text=f"imported {decided}, sha256 {digest}")
        return data

    async def read_script(self, path: str, *, origin: Origin) -> bytes:
        """Return the text of a script's file, judged as `read_file`.

        Args:
            path: In the workspace.
            origin: The way in of the run.

        Raises:
            ToolError: `E_DENIED`, with the rule.
            WorkspaceError: The file cannot be read.
        """
        return (await read_source(self._run, path, what="the script", origin=origin))[1]

    def _stuck(self, pending: Collection[str]) -> bool:
        return self._script_waits and self._all_wait(pending)

    def _all_wait(self, pending: Collection[str]) -> bool:
        """Return whether no open call can go on before one of some calls is answered.

        A call that has made others waits where all of them wait, and its script, where it executes
        one, can do nothing else, or waits for others to end. It is a container, or the body of its
        tool runs an agent.
        """
        inner = self._run.inner
        waiting = {entry.call.parent for entry in self._open} - inner.working | inner.queued.keys()
        return all(entry.id in pending or entry.id in waiting for entry in self._open)

    def _only_agents(self) -> bool:
        outermost = [entry.spec for entry in self._open if entry.call.parent is None]
        return bool(outermost) and all(spec and spec.calls_as == "agent" for spec in outermost)

    def _suspend(self, unanswered: tuple[Pending, ...]) -> None:
        waiting = {pending.id for pending in unanswered}
        self._suspended = unanswered
        self._standing = tuple(entry.id for entry in self._open if entry.id not in waiting)

    def _can_pause(self) -> bool:
        nothing_lost = self._run.call_log.exact or len(self._open) == len(
            self._run.call_log.entries
        )
        return nothing_lost and not self._run.call_log.why_not_pause()

    def _left_open(self) -> None:
        """Pause a call by itself, for which no engine asks whether anything can go on."""
        self._changed.set()
        unanswered = self._asks.unanswered
        waiting = {pending.id for pending in unanswered}
        if self._run.alone and unanswered and self._all_wait(waiting):
            self._suspend(unanswered)
            self._run.controls.end("paused", "E_PAUSED", "the call waits for an approval")

    async def _count_refusal(self) -> None:
        most = REFUSALS_PER_CALL * self._run.limits.calls
        if not (self._run.alone or self._over.is_set()) and self._run.call_log.refused + 1 >= most:
            await self._end("limit", "E_CALL_LIMIT", f"{most} calls of this run were refused")

    async def _end(self, kind: EndKind, code: str, message: str, hint: str = "") -> None:
        if self._run.alone:
            raise ToolError(code, message, hint=hint)
        self._run.controls.end(kind, code, message, hint)
        await self._over.wait()  # the cancellation comes first, but for tasks of a tool's own
        raise ToolError(OVER.code, OVER.message)


def under_agent(call: Call) -> bool:
    """Return whether a microagent made a call, itself or by another container."""
    return call.origin == "agent" or bool(call.scope and "agent" in call.scope.origins)


def _made_all(most: int, who: str, hint: str) -> ToolError:
    allowed = f"{most} calls, and made them all" if most != 1 else "1 call, and made it"
    return ToolError("E_CALL_LIMIT", f"{who} may make {allowed}", hint=hint)


def _with_addresses(spec: ToolSpec, arguments: Arguments) -> Arguments:
    """Return the arguments with each address in its one spelling: policy sees no other."""
    given = {name: arguments.get(name) for name in spec.addresses}
    texts = {name: text for name, text in given.items() if isinstance(text, str)}
    try:
        return {**arguments, **{name: web_address(text) for name, text in texts.items()}}
    except ValueError as error:
        raise ToolError("E_INVALID_ARGS", f"{script_name(spec.name)}(): {error}") from None


def _fate(entry: CallEntry, done: Done) -> Done:
    """Return how a call ended, also where the run was ended in the middle of it."""
    if done is CANCELLED and entry.refusal is not None:
        return entry.refusal
    if isinstance(done, Failure) and entry.status == "unknown":
        return replace(done, status="unknown")
    return done
