"""A script from text to result: prepare, check, choose the engine, run, settle."""

import math
import secrets
from collections.abc import Awaitable, Mapping

import anyio
from msgspec.structs import replace

from lineshaft import __version__
from lineshaft.errors import ToolError, WorkspaceError
from lineshaft.gate import CallPipeline, Gate
from lineshaft.policy import Mode, judge
from lineshaft.scripts._context import RunContext, RunProgress, RunSegment
from lineshaft.scripts._control import Control
from lineshaft.scripts._engines import Engines
from lineshaft.scripts._execute import ReadyScript, execute
from lineshaft.scripts._inner import InnerScripting
from lineshaft.scripts._job import RUN_SCRIPT, CheckLevel, Job, new_run_id, script_text
from lineshaft.scripts._nested import beginning_runs, mode_within
from lineshaft.scripts._outcome import Ended, told
from lineshaft.scripts._preview import PreviewOutcome
from lineshaft.scripts._reader import Reader
from lineshaft.scripts._single_call import call_result, of_call
from lineshaft.scripts._tools import FixedTools, ToolSource
from lineshaft.store import MemoryLog
from lineshaft.values import (
    Call,
    Caller,
    CallResult,
    Engine,
    Finding,
    Limits,
    Origin,
    ReplayInputs,
    RunClaim,
    RunLog,
    RunResult,
    Sink,
    Struct,
    Verdict,
    Workspace,
)

MAX_DEPTH = 8
"""A tool of a run may start a run, whose tools may start a run, so many times."""


class RunEnvironment(Struct, frozen=True, kw_only=True):
    """The environment of a session's runs."""

    workspace: Workspace
    """The workspace of files and commands."""

    atomic: bool = False
    """Changes land whole or not at all."""

    root: str = ""
    """The log's name for the workspace."""

    log: RunLog | None = None
    """The log that keeps runs; None: they are not kept."""

    eager: bool = False
    """Runs are kept that only read."""

    tools: ToolSource | None = None
    """The tools as they are at each moment; None: those of the gate, which stay as they are."""


class Runner:
    """Runs scripts and single calls through one gate.

    Args:
        gate: The door.
        environment: The environment of the runs.
        engines: Executes the scripts.
        check: Whether findings of the check block, only inform, or the check is off.
        sinks: Take the events of every run.
        scripts: Whether there are scripts at all.
    """

    def __init__(
        self,
        gate: Gate,
        *,
        environment: RunEnvironment,
        engines: Engines,
        check: CheckLevel,
        sinks: tuple[Sink, ...],
        scripts: bool = True,
    ) -> None:
        self._scripts = scripts
        self.engines = engines
        self._tools = environment.tools or FixedTools(gate.tools)
        self.reader = Reader(engines, tools=self._tools, policy=gate.policy, level=check)
        scripting = InnerScripting(engines, self.reader).run if scripts else None
        self.gate = replace(gate, scripting=scripting)
        self.environment = environment
        self._sinks = sinks

    def context(
        self,
        segment: RunSegment,
        *,
        control: Control,
        sinks: tuple[Sink, ...] = (),
        atomic: bool | None = None,
        silent: bool = False,
        mode: Mode = "open",
    ) -> RunContext:
        """Set up the context of one run.

        Args:
            segment: The run.
            control: Its control from outside.
            sinks: Take its events, beside the session's.
            atomic: Instead of the session's.
            silent: Whether the session's sinks get no events of it.
            mode: The widest that it may be in.
        """
        environment = self.environment
        keeps_back = environment.atomic if atomic is None else atomic
        segment = replace(segment, keeps_back=keeps_back)
        packed = segment.checkpoint.view if segment.checkpoint else None
        log = None if silent else environment.log
        if segment.claim is None:
            segment = replace(
                segment, claim=RunClaim(run_id=segment.run_id, workspace=environment.root)
            )
            held = None if environment.eager else MemoryLog()
        else:
            held = None
        return RunContext(
            replace(self.gate, policy=self.gate.policy.no_wider_than(mode_within(self.gate, mode))),
            segment,
            workspace=environment.workspace,
            view=environment.workspace.begin(
                segment.run_id, atomic=keeps_back, packed=packed, secrets=self.gate.redactor
            ),
            control=control,
            sinks=(*(() if silent else self._sinks), *sinks, *_of_caller(segment)),
            log=log,
            held=held,
        )

    async def run(
        self, job: Job, *, run_id: str, control: Control, sinks: tuple[Sink, ...] = ()
    ) -> RunResult:
        """Run a script and settle it, also when the caller is cancelled meanwhile."""
        segment = RunSegment(run_id=run_id, limits=job.limits, caller=job.caller)
        context = self.context(segment, control=control, sinks=sinks)
        progress = RunProgress()
        return await settled(context, progress, self._work(job, context, progress))

    async def preview(
        self, job: Job, *, run_id: str, control: Control, sinks: tuple[Sink, ...] = ()
    ) -> tuple[RunResult, str]:
        """Run a script whose changes do not land; return its result and the changes."""
        context = self.context(
            RunSegment(run_id=run_id, limits=job.limits, caller=job.caller),
            control=control,
            sinks=sinks,
            atomic=True,
            silent=True,
        )
        progress = RunProgress(lands=False)
        outcome = PreviewOutcome(context, progress)
        work = outcome.after(self._work(job, context, progress))
        return await settled(context, progress, work), self.gate.redactor.acting.text(outcome.diff)

    async def call(
        self,
        name: str,
        arguments: Mapping[str, object],
        *,
        origin: Origin,
        limits: Limits,
        control: Control,
        caller: Caller | None = None,
        seconds: float | None = None,
    ) -> CallResult:
        """Make one call, with a record of its own; the arguments are those of `Session.call`."""
        job = Job(
            script="",
            name=f"call {name}",
            tool=name,
            arguments=arguments,
            limits=limits,
            origin=origin,
            seconds=seconds,
        )
        segment = RunSegment(run_id=new_run_id(), limits=limits, caller=caller)
        context, progress = self.context(segment, control=control), RunProgress()
        return call_result(await settled(context, progress, self._alone(job, context, progress)))

    def verdict(self, name: str, arguments: Mapping[str, object], *, origin: Origin) -> Verdict:
        """Return the verdict about a call that names no paths; the call is not made."""
        tool = self.gate.tools.get(name)
        call = Call(tool=name, arguments=arguments, origin=origin)
        return judge(self.gate.policy, self.gate.subject(tool and tool.spec, call))

    async def make(
        self, job: Job, pipeline: CallPipeline, context: RunContext, progress: RunProgress
    ) -> None:
        """Make the one call of a run without a script."""
        call = Call(tool=job.tool, arguments=job.arguments, origin=job.origin)
        with context.control.preparing():
            progress.findings += await self._tools.ready(call.tool)
        progress.suspended = True  # its status where the call has to wait
        progress.ended = of_call(await pipeline.dispatch(call))

    def control_of(self, job: Job, *, used: float) -> Control:
        """Return the control of a run that goes on.

        Args:
            job: The run.
            used: Seconds that it has used.
        """
        if job.tool:
            return self.control_of_call(job.tool, job.limits, seconds=job.seconds, used=used)
        return Control(job.limits.seconds, used=used)

    def control_of_call(
        self, name: str, limits: Limits, *, seconds: float | None = None, used: float = 0
    ) -> Control:
        """Return the control of a single call; a container's time is that of a run.

        A microagent has a time of its own.

        Args:
            name: The tool.
            limits: Of the run that the call has of its own.
            seconds: What the call and all that it makes may take; None: as the limits say.
            used: Seconds that an earlier segment of it has used.
        """
        if seconds is not None:
            return Control(seconds, used=used)
        tool = self.gate.tools.get(name)
        timed = tool is not None and tool.spec.container and tool.spec.calls_as != "agent"
        return Control(limits.seconds, used=used) if timed else Control(math.inf)

    async def find(
        self, script: object, *, name: str, inputs: Mapping[str, object]
    ) -> tuple[Finding, ...]:
        """Return the findings of a script without running it."""
        prepared = await self.reader.read(script, name=name)
        return await self.reader.find(prepared, inputs, level="error")

    async def _work(self, job: Job, context: RunContext, progress: RunProgress) -> None:
        engine = self.engines.wanted
        context.announce(script=job.script, name=job.name, origin=job.origin, engine=engine)
        ready = await self._read(job, context, progress)
        if ready is None:
            return
        await execute(ready, job, context, progress)

    async def _read(
        self, job: Job, context: RunContext, progress: RunProgress
    ) -> ReadyScript | None:
        try:
            with context.control.paused():  # the run's clock starts when its script starts
                pipeline, script = await self._admit(job, context)
        except (ToolError, WorkspaceError) as error:
            status = "refused" if error.code == "E_DENIED" else "error"
            progress.ended = Ended(status=status, error=told(error))
            return None
        with context.control.preparing():
            prepared = await self.reader.read(script, name=job.name)
            choice = await self.reader.choose(prepared, job.inputs, progress)
        if choice is None or choice.engine is None:
            return None
        engine, source = choice.engine, prepared.original
        pipeline.preview, pipeline.with_models = not progress.lands, job.with_models
        replay = self._keep(job, source, context, engine=engine, progress=progress)
        return ReadyScript(pipeline=pipeline, prepared=prepared, engine=engine, replay=replay)

    def _keep(
        self,
        job: Job,
        source: str,
        context: RunContext,
        *,
        engine: Engine,
        progress: RunProgress,
    ) -> ReplayInputs | None:
        """Keep the run's exact steps, and return the inputs of its script beside its calls."""
        if self.environment.log is None or not progress.lands:
            return None
        replay = ReplayInputs(seed=secrets.token_hex(32))
        document: dict[str, object] = {
            **job.kept(source),
            "engine": engine.name,
            "identity": dict(engine.identity),
            "version": __version__,
            "seed": replay.seed,
            "digests": self._digests(),
        }
        why_not = _why_nested(context)
        if not why_not and engine.pauses == "never":
            why_not = f"the engine {engine.name!r} has no pauses"
        replays = engine.pauses == "replay"
        document["mode"] = self.gate.policy.own_mode
        context.keep(document, unpausable=why_not, replays=replays, replay=replay, seed=replay.seed)
        return replay

    def _digests(self) -> dict[str, str]:
        """Return what decides how containers work, by tool."""
        specs = (tool.spec for tool in self.gate.tools.values())
        return {spec.name: spec.digest for spec in specs if spec.digest}

    async def _alone(self, job: Job, context: RunContext, progress: RunProgress) -> None:
        context.announce(script="", name=job.name, origin=job.origin, engine="")
        pipeline = await context.enter(alone=True)
        if self.environment.log is not None:
            # It is not kept, unless it has to wait: its end is all that could be resumed.
            mode = self.gate.policy.own_mode
            seed = secrets.token_hex(32)
            document = {
                **job.kept(""),
                "engine": "",
                "seed": seed,
                "mode": mode,
                "digests": self._digests(),
            }
            tool = self.gate.tools.get(job.tool)
            calls = tool is not None and tool.spec.replayable
            context.keep(
                document,
                unpausable=_why_nested(context),
                replays=False,
                calls=calls,
                seed=seed,
            )
        await self.make(job, pipeline, context, progress)

    async def _admit(self, job: Job, context: RunContext) -> tuple[CallPipeline, object]:
        if not self._scripts:
            raise ToolError("E_DENIED", "scripts are switched off in this session")
        if context.control.depth > MAX_DEPTH:
            raise ToolError("E_DENIED", f"runs may be nested {MAX_DEPTH} deep, and this is deeper")
        pipeline = await context.enter()
        paths: tuple[str, ...] = ()
        if job.file is not None:
            paths = ((await context.view.resolve(job.file)).path,)
        arguments: dict[str, object] = dict(zip(("file",), paths, strict=False))
        call = Call(tool=RUN_SCRIPT.name, arguments=arguments, origin=job.origin)
        await pipeline.admit(RUN_SCRIPT, call, paths=paths)
        if not paths:
            return pipeline, job.script
        data = await pipeline.read_script(paths[0], origin=job.origin)
        return pipeline, script_text(paths[0], data)


async def settled(context: RunContext, progress: RunProgress, work: Awaitable[None]) -> RunResult:
    """Do a run's work and settle it in every case, also when the caller is cancelled."""
    try:
        with context.control.inside(), beginning_runs(context.gate):
            try:
                await work
            except Exception as error:  # noqa: BLE001  of the user's workspace or middleware
                progress.ended = Ended(status="error", error=told(error))
    except anyio.get_cancelled_exc_class():
        context.control.end("cancelled", "E_CANCELLED", "the caller was cancelled")
        await context.settle(progress)
        raise
    return await context.settle(progress)


def _of_caller(segment: RunSegment) -> tuple[Sink, ...]:
    return (segment.caller.sink,) if segment.caller and segment.caller.sink else ()


def _why_nested(context: RunContext) -> str:
    return "it runs inside another run" if context.control.depth > 0 else ""
