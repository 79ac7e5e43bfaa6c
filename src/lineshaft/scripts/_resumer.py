"""Runs that go on: after answers, after a crash; and runs that are only executed again."""

import hashlib
import os
import shlex
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol, cast

import anyio
from anyio.lowlevel import checkpoint_if_cancelled
from msgspec.structs import replace

from lineshaft.errors import (
    ConfigError,
    EngineError,
    RunBusy,
    RunUnknown,
    StateError,
    WorkspaceError,
)
from lineshaft.gate import ALL, RecordedResults, ReplayLog
from lineshaft.policy import Mode
from lineshaft.scripts._checkpoint import Checkpoint, checkpoint_of, document_of
from lineshaft.scripts._comparison import at_the_end
from lineshaft.scripts._context import RunContext, RunProgress, RunSegment
from lineshaft.scripts._crash import after_crash
from lineshaft.scripts._execute import ReadyScript, differs, execute
from lineshaft.scripts._job import Job
from lineshaft.scripts._runner import Runner, settled
from lineshaft.trace import summarise
from lineshaft.values import (
    Answer,
    Caller,
    CallRecord,
    Engine,
    Event,
    Finished,
    KeptCall,
    KeptScript,
    Pending,
    Replay,
    ReplayInputs,
    RunClaim,
    RunLog,
    RunResult,
    SavedRun,
    Sink,
    Struct,
)


class Archive(RunLog, Protocol):
    """The place where runs are kept and found again."""

    async def events(self, run_id: str) -> list[Event]:
        """Return a run's record, with the end that it lacks where its process died."""
        ...


_TOLD = 5
"""Calls that are named in a message."""


class Reply(Struct, frozen=True, kw_only=True):
    """A person's answers to a run that stands still."""

    answers: Mapping[str, Answer]
    """By id of the pending call; `*` for all others."""

    repeat: Collection[str] | None = ()
    """Ids of calls with an unknown end that may be made again; `*` for all; None: not decided."""

    caller: Caller | None = None
    """The caller of the run from here on; None: the session's."""


class Resumer:
    """Takes runs up again.

    Args:
        runner: Runs scripts.
        archive: The kept runs, those of other workspaces too.
        root: The folder that runs work in; empty where they work in no folder.
    """

    def __init__(self, runner: Runner, archive: Archive, *, root: str) -> None:
        self._runner = runner
        self._archive = archive
        self._root = root

    def works_in(self, root: str) -> bool:
        """Return whether runs work in a folder."""
        return _is_same(self._root, root) if self._root else not root

    async def elsewhere(self, run_id: str) -> RunUnknown | None:
        """Return the reason why a run of another workspace cannot be handled here."""
        try:
            return self._misplaced(await self._archive.load(run_id))
        except StateError:
            return None

    async def _saved(self, run_id: str) -> SavedRun:
        """Return the kept state of a run of this workspace.

        Raises:
            RunUnknown: It belongs to another workspace, with other rules and files.
            StateError: It cannot be read.
        """
        saved = await self._archive.load(run_id)
        if (error := self._misplaced(saved)) is not None:
            raise error
        return saved

    def _misplaced(self, saved: SavedRun) -> RunUnknown | None:
        there = saved.run.workspace
        if not self._root or _is_same(self._root, there):
            return None
        return RunUnknown(
            f"run {saved.run.run_id!r} is one of another workspace: {there}",
            hint=f"say it there, or with --workspace {shlex.quote(there)}",
        )

    async def pending(self, run_id: str) -> tuple[Pending, ...]:
        """Return the calls that a run waits for."""
        saved = await self._saved(run_id)
        return saved.pause.pending if saved.pause else ()

    async def resume(self, run_id: str, reply: Reply, *, sinks: tuple[Sink, ...] = ()) -> "Resumed":
        """Take a run up, for this process alone; `Resumed.carry_on` lets it go on.

        Raises:
            ConfigError: An answer is for a call that does not wait.
            StateError: The run cannot go on; it says why.
        """
        saved = await self._saved(run_id)
        _fits(saved, reply)
        reply = replace(reply, answers=_by_call(saved, reply.answers))
        await self._must_have_tools(saved)
        if reply.repeat is None:
            self._must_be_decided(saved)
        saved, claim = await self._archive.take(run_id)
        try:
            resumed = await self._set_up(saved, claim, reply, sinks)
            await checkpoint_if_cancelled()  # from here on a cancel ends the run
        except BaseException:
            given_back = self._archive.give_back(claim)  # done, however often one cancels here
            with anyio.CancelScope(shield=True), suppress(StateError):  # the first error is told
                await given_back
            raise
        return resumed

    async def check(self, run_id: str) -> None:
        """Refuse a run that could not go on here, whatever the answers.

        Raises:
            ConfigError: A tool is missing.
            StateError: The run cannot go on; it says why.
        """
        saved = await self._saved(run_id)
        _fits(saved, Reply(answers={}))
        await self._must_have_tools(saved)
        if not Job.of(saved.run.document).tool:
            await _engine(self._runner, saved)
        if saved.pause is not None:
            await self._must_have_modules(saved, document_of(saved.pause).modules)

    async def undecided(self, run_id: str) -> tuple[KeptCall, ...]:
        """Return the calls of a cut off run that are only made twice where somebody says so."""
        saved = await self._saved(run_id)
        await self._runner.reader.ready(call.tool for call in saved.unknown)
        return self._undecided(saved)

    def _undecided(self, saved: SavedRun) -> tuple[KeptCall, ...]:
        if saved.pause is not None:
            return ()
        tools = self._runner.gate.tools
        own = {name: tool for each in tools.values() for name, tool in each.brings.items()}
        every = {**own, **tools}
        idempotent = {name for name, tool in every.items() if tool.spec.idempotent}
        return tuple(call for call in saved.unknown if call.tool not in idempotent)

    def _must_be_decided(self, saved: SavedRun) -> None:
        """Refuse a run of which somebody must decide whether calls are made twice.

        Raises:
            RunBusy: Names them.
        """
        if asked := self._undecided(saved):
            calls = ", ".join(f"{call.tool} ({call.id})" for call in asked[:_TOLD])
            more = f" and {len(asked) - _TOLD} more" if len(asked) > _TOLD else ""
            raise RunBusy(
                f"run {saved.run.run_id!r} was cut off in the middle of {calls}{more}, "
                "and nobody knows what that did",
                hint="look what it did, then resume with repeat=('*',) or with ids to make it"
                " again, or with repeat=(), where the script is told that the end is unknown",
            )

    async def _must_have_tools(self, saved: SavedRun) -> None:
        """Refuse a run that speaks of tools that are not here, before anything of it goes on.

        Raises:
            ConfigError: Names the first of them.
        """
        job, tools = Job.of(saved.run.document), self._runner.gate.tools
        waiting = saved.pause.pending if saved.pause else ()
        await self._runner.reader.ready(each.tool for each in waiting)
        prepared = await self._runner.reader.read(job.script or job.tool, name=job.name)
        there = {*tools, *(own for tool in tools.values() for own in tool.brings)}
        gone = [f"there is no tool `{each.tool}`" for each in waiting if each.tool not in there]
        if job.tool and job.tool not in there:
            gone.insert(0, f"there is no tool `{job.tool}`")
        if not job.tool:
            gone += [f.message for f in self._runner.reader.strange(prepared, job.inputs)]
        if gone:
            raise ConfigError(
                f"run {saved.run.run_id!r} cannot go on: {gone[0]}",
                hint="give the tools that it was begun with, such as --tools FILE",
            )
        self._must_work_alike(saved)

    def _must_work_alike(self, saved: SavedRun) -> None:
        """Refuse a run with a container in it that works in another way here.

        Raises:
            StateError: Names the first of them.
        """
        tools = self._runner.gate.tools
        finished = (each.call for each in saved.finished)
        called = {call.tool for call in (*finished, *saved.asked, *saved.unknown)}
        digests = cast("Mapping[str, str]", saved.run.document.get("digests", {}))
        for name, digest in digests.items():
            if name in called and name in tools and tools[name].spec.digest != digest:
                raise StateError(
                    f"run {saved.run.run_id!r} cannot go on: {name} is not what it was when the"
                    " run began: its instructions, tools, result, model or budget differ",
                    hint="bring it back as it was, or run the script anew",
                )

    async def _set_up(
        self, saved: SavedRun, claim: RunClaim, reply: Reply, sinks: tuple[Sink, ...]
    ) -> "Resumed":
        runner, document = self._runner, saved.run.document
        job = Job.of(document)
        engine = None if job.tool else await _engine(runner, saved)
        checkpoint = await self._checkpoint(saved)
        await self._must_have_modules(saved, checkpoint.modules)
        context = runner.context(
            RunSegment(
                run_id=saved.run.run_id,
                limits=job.limits,
                checkpoint=checkpoint,
                last_seq=saved.last_seq,
                claim=claim,
                caller=reply.caller,
            ),
            control=runner.control_of(job, used=checkpoint.seconds_used),
            sinks=sinks,
            mode=cast("Mode", document.get("mode", "open")),
        )
        landed = context.view.landed
        replay = _replay(saved) if saved.pause else _cut(saved, _not_lost(saved, landed)[1])
        earlier = _earlier(saved, checkpoint, reply, landed=landed)
        for script in earlier.scripts.values():
            await _alike(runner, saved, script.engine, script.identity)
        return Resumed(
            runner=runner,
            context=context,
            job=job,
            engine=engine,
            checkpoint=checkpoint,
            replay=replay,
            earlier=earlier,
        )

    async def _must_have_modules(self, saved: SavedRun, modules: Mapping[str, str]) -> None:
        """Refuse a run whose modules of the workspace have changed.

        Raises:
            StateError: Names the first of them.
        """
        workspace = self._runner.environment.workspace
        for path, digest in modules.items():
            try:
                same = hashlib.sha256((await workspace.read(path)).data).hexdigest() == digest
            except WorkspaceError:
                same = False
            if not same:
                text = f"run {saved.run.run_id!r} cannot be executed again: it imported {path!r}"
                hint = "bring the file back as it was, or run the script anew"
                raise StateError(f"{text}, which is another file now", hint=hint)

    async def _checkpoint(self, saved: SavedRun) -> Checkpoint:
        """Return the state of a run; where its host died, after finishing its landings."""
        events = await self._archive.events(saved.run.run_id)
        if saved.pause is not None:
            return checkpoint_of(saved.pause, summarise(events))
        try:
            findings = await self._runner.environment.workspace.recover()
        except WorkspaceError as error:
            text = f"run {saved.run.run_id!r} cannot go on: {error.message}"
            raise StateError(text, hint=error.hint) from error
        redactor = self._runner.gate.redactor
        return after_crash(saved, events, findings=findings, redactor=redactor)

    async def replay(self, run_id: str) -> "Replaying":
        """Set up that a run's script is executed against its recorded results.

        Raises:
            StateError: Its state is not kept, or no longer enough of it.
        """
        saved = await self._saved(run_id)
        job = Job.of(saved.run.document)
        self._must_work_alike(saved)
        engine = None if job.tool else await _engine(self._runner, saved)
        modules = cast("Mapping[str, str]", (saved.end or {}).get("modules", {}))
        await self._must_have_modules(saved, modules)
        context = self._runner.context(
            RunSegment(run_id=run_id, limits=job.limits),
            control=self._runner.control_of(job, used=0),
            silent=True,
        )
        return Replaying(runner=self._runner, context=context, job=job, engine=engine, saved=saved)


class Resumed(Struct, frozen=True, kw_only=True):
    """A run that was taken up, and is about to go on."""

    runner: Runner
    context: RunContext
    job: Job
    engine: Engine | None
    """None: it is one call, without a script."""

    checkpoint: Checkpoint
    replay: ReplayInputs
    earlier: ReplayLog

    async def carry_on(self) -> RunResult:
        """Continue the run, and settle it."""
        progress = RunProgress(
            engine=self.engine.name if self.engine else "",
            engine_reason=self.checkpoint.engine_reason,
            findings=self.checkpoint.findings,
        )
        return await settled(self.context, progress, self._work(progress))

    async def _work(self, progress: RunProgress) -> None:
        context, engine = self.context, self.engine
        replays = engine is not None and engine.pauses == "replay"
        replay = None if engine is None else self.replay
        context.keep(None, unpausable="", replays=replays, replay=replay, seed=self.replay.seed)
        context.call_log.resumed(len(self.earlier.answers), self.earlier.scripts.keys())
        for call in self.checkpoint.learnt:
            context.call_log.note("call_finished", call.id, **_ending(call))
        pipeline = await context.enter(earlier=self.earlier, alone=engine is None)
        if engine is None:
            await self.runner.make(self.job, pipeline, context, progress)
            return
        with context.control.preparing():
            prepared = await self.runner.reader.read(self.job.script, name=self.job.name)
        ready = ReadyScript(pipeline=pipeline, prepared=prepared, engine=engine, replay=self.replay)
        await execute(ready, self.job, context, progress)


class Replaying(Struct, frozen=True, kw_only=True):
    """A run that is about to be executed again, over the results of its calls."""

    runner: Runner
    context: RunContext
    job: Job
    engine: Engine | None
    """None: it is one call, without a script."""

    saved: SavedRun

    async def carry_on(self) -> Replay:
        """Execute the script; no tool is called, and no change lands."""
        engine, recorded = self.engine, RecordedResults(self.saved.finished)
        name, reason = (engine.name, "as recorded") if engine else ("", "")
        progress = RunProgress(lands=False, engine=name, engine_reason=reason)
        result = await settled(self.context, progress, self._work(recorded, progress))
        found = self.context.pipeline.difference if self.context.pipeline else None
        return Replay(run=result, difference=found or at_the_end(result, self.saved, recorded))

    async def _work(self, recorded: RecordedResults, progress: RunProgress) -> None:
        context, job, engine = self.context, self.job, self.engine
        dropped = cast("list[str]", (self.saved.end or {}).get("dropped", []))
        earlier = ReplayLog(recorded=recorded, dropped=dropped, only=True)
        pipeline = await context.enter(earlier=earlier, alone=engine is None)
        if engine is None:
            await self.runner.make(job, pipeline, context, progress)
            return
        with context.control.preparing():
            prepared = await self.runner.reader.read(job.script, name=job.name)
        ready = ReadyScript(
            pipeline=pipeline, prepared=prepared, engine=engine, replay=_replay(self.saved)
        )
        await execute(ready, job, context, progress)


async def _engine(runner: Runner, saved: SavedRun) -> Engine:
    """Return the engine that a run was begun on, where it would execute the script alike.

    Raises:
        StateError: There is no such engine here, or it differs; the message names the difference.
    """
    document = saved.run.document
    kept = cast("Mapping[str, str]", document.get("identity", {}))
    return await _alike(runner, saved, str(document["engine"]), kept)


async def _alike(runner: Runner, saved: SavedRun, name: str, kept: Mapping[str, str]) -> Engine:
    """Return an engine of a name that executes a script as the one with a kept identity did.

    Raises:
        StateError: There is no such engine here, or it differs; the message names the difference.
    """
    document = saved.run.document
    engine = await runner.engines.named(name)
    if isinstance(engine, EngineError):
        raise StateError(f"the run needs the engine {name!r}: {engine.message}", hint=engine.hint)
    await engine.ready()
    if difference := differs(engine, kept):
        text = f"run {saved.run.run_id!r} cannot be executed again here: {difference}"
        version = document.get("version") or "of the version that began it"
        raise StateError(text, hint=f"use Lineshaft {version}, with the packages of that run")
    return engine


def _is_same(here: str, there: str) -> bool:
    """Return whether two paths lead to one folder."""
    if os.path.realpath(here) == os.path.realpath(there):
        return True
    try:
        return Path(here).samefile(there)
    except (OSError, ValueError):
        return False


def _fits(saved: SavedRun, reply: Reply) -> None:
    if saved.end is not None:
        raise RunBusy(f"run {saved.run.run_id!r} is over; there is nothing to go on with")
    waiting = {each.id for each in saved.pause.pending} if saved.pause else set[str]()
    unknown = {call.id for call in saved.unknown}
    for given, known, what in (
        (reply.answers, waiting, "waits"),
        (reply.repeat or (), unknown, "has an unknown end"),
    ):
        stray = sorted(set(given) - known - {ALL})
        if stray:
            there = ", ".join(sorted(known)) or "none does"
            raise ConfigError(f"no call {stray[0]!r} of run {saved.run.run_id!r} {what}: {there}")


def _by_call(saved: SavedRun, answers: Mapping[str, Answer]) -> Mapping[str, Answer]:
    """Return answers in which `*` stands for the calls that wait now, and for no later ones.

    Another process may take the run up first, and have it wait for other calls.
    """
    if saved.pause is None or ALL not in answers:
        return answers
    every = {each.id: answers[ALL] for each in saved.pause.pending}
    return every | {call_id: answer for call_id, answer in answers.items() if call_id != ALL}


def _earlier(saved: SavedRun, checkpoint: Checkpoint, reply: Reply, *, landed: int) -> ReplayLog:
    """Return the state from which the gate goes on."""
    pause_point = checkpoint.pause_point
    if saved.pause is not None:
        known, lost = saved.finished, ()
    else:
        known, lost = _not_lost(saved, landed)
    unknown = [*saved.unknown, *lost]
    wanted = reply.repeat or ()
    repeated = {call.key for call in unknown if call.id in wanted or ALL in wanted}
    by_id = {key: call_id for call_id, key in pause_point.keys.items()}
    staged = _staged(saved.finished, known, lost)
    again = (*saved.asked, *unknown, *staged)
    gone = {call.key: call.id for call in again} if saved.pause is None else {}
    standing = frozenset(pause_point.standing)
    return ReplayLog(
        recorded=RecordedResults(known, open_calls=again),
        answers=dict.fromkeys(pause_point.approved, Answer(allow=True))
        | {
            key: answer
            for key, call_id in by_id.items()
            if (answer := reply.answers.get(call_id)) is not None
        },
        for_the_run=pause_point.for_the_run,
        shown=pause_point.shown,
        schemas=pause_point.schemas,
        rules={pause_point.keys.get(each.id, ""): each.rule for each in pause_point.pending},
        waited={**by_id, **gone},
        dropped=pause_point.dropped,
        standing=standing,
        unknown=frozenset(call.key for call in unknown) - repeated,
        ended=frozenset(call.key for call in (*lost, *staged)),
        complete=saved.pause is not None,
        scripts=_scripts(saved, known, lost),
    )


def _scripts(
    saved: SavedRun, known: tuple[Finished, ...], lost: tuple[KeptCall, ...]
) -> Mapping[str, KeptScript]:
    """Return the scripts of the containers that are executed again.

    Those that cannot get a result again, and those around them, begin anew over what is left.
    """
    made = (*saved.asked, *saved.unknown, *(each.call for each in saved.finished))
    parents = {call.id: call.parent for call in made}
    anew: set[str | None] = {call.parent for call in lost}
    while further := {parents.get(each or "") for each in anew} - anew:
        anew |= further
    ended = {each.call.key for each in known}
    again = {call.key for call in made if call.id not in anew} - ended
    kept = ((key, script) for key, script in saved.scripts.items() if key in again)
    return {key: script for key, script in kept if not script.replay.torn}


def _not_lost(saved: SavedRun, landed: int) -> tuple[tuple[Finished, ...], tuple[KeptCall, ...]]:
    """Return the calls before the host's death that still hold.

    Staged changes are gone with the host: a call that only stages is made again, and a container
    is executed again over what is recorded of its calls.
    """
    finished, taken = saved.finished, saved.taken
    gone = {
        each.call.id
        for each in finished
        if each.call.staged and taken.get(each.call.id, landed) >= landed
    }
    lost = tuple(e.call for e in finished if e.call.id in gone and e.call.effect != "write")
    while around := {e.call.parent for e in finished if e.call.id in gone} - gone - {None}:
        gone |= {each for each in around if each is not None}
    known = tuple(each for each in finished if each.call.id not in gone)
    return known, lost


def _staged(
    finished: tuple[Finished, ...], known: tuple[Finished, ...], lost: tuple[KeptCall, ...]
) -> tuple[KeptCall, ...]:
    keys = {each.call.key for each in known} | {call.key for call in lost}
    return tuple(each.call for each in finished if each.call.key not in keys)


def _replay(saved: SavedRun) -> ReplayInputs:
    return saved.replay or ReplayInputs(seed=str(saved.run.document["seed"]))


def _cut(saved: SavedRun, lost: tuple[KeptCall, ...]) -> ReplayInputs:
    """Return the inputs of a script, up to the first result that it cannot get again."""
    replay, gone = _replay(saved), {call.id for call in lost}
    turns = replay.turns
    first = next((at for at, number in enumerate(turns) if str(number) in gone), len(turns))
    fits = [cut for cut in saved.cuts if cut[0] <= first]
    ended, read = fits[-1] if fits else (0, 0)
    return replace(replay, turns=turns[:ended], readings=replay.readings[:read])


def _ending(call: CallRecord) -> dict[str, object]:
    """Return the data of `call_finished` for a call whose end is only known now."""
    return {
        "status": call.status,
        "duration_ms": call.duration_ms,
        "error": call.error,
        "bytes": 0,
        "staged_after": call.staged_after,
    }
