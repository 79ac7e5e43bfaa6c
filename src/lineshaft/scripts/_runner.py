"""A script from text to result: prepare, check, choose the engine, run, settle."""

import math
import secrets
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Literal

import anyio
import anyio.to_thread

from lineshaft.errors import EngineError, LineshaftError, ToolError, WorkspaceError
from lineshaft.gate import Gate, Reads, Scope
from lineshaft.scripts._bench import Bench, Progress
from lineshaft.scripts._catalogue import by_script_name, program_names
from lineshaft.scripts._check import check
from lineshaft.scripts._choice_restart import lacks
from lineshaft.scripts._control import Control
from lineshaft.scripts._engines import Choice, Engines
from lineshaft.scripts._outcome import Ended, ended
from lineshaft.scripts._prepare import Prepared, prepare
from lineshaft.values import (
    Call,
    CallError,
    CallResult,
    Crashed,
    Done,
    Engine,
    Failure,
    Finding,
    Limits,
    Origin,
    Outcome,
    Program,
    Raised,
    RunError,
    RunResult,
    Sink,
    ToolSpec,
    Workspace,
)

CheckLevel = Literal["error", "warn", "off"]

_LONG_SCRIPT = 20_000
"""From so many characters on, a script is read beside the event loop."""

MAX_DEPTH = 8
"""A tool of a run may start a run, whose tools may start a run, so many times."""

RUN_SCRIPT = ToolSpec(
    name="run_script",
    description="Run one Python script over many tools.",
    effect="exec",
    scriptable=False,
    container=True,
)
"""What stands for a run in policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One script to run."""

    script: object
    """Its text; anything else is refused with a clear error."""

    name: str = "script.py"
    inputs: Mapping[str, object] = field(default_factory=dict[str, object])
    limits: Limits
    origin: Origin = "code"
    file: str | None = None
    """A workspace path to read the script from, instead of `script`; policy sees it."""


@dataclass(frozen=True, slots=True)
class _Ready:
    """What a script needs to be executed."""

    scope: Scope
    prepared: Prepared
    choice: Choice
    engine: Engine


def new_run_id() -> str:
    """Return an id that sorts by time and is hard to guess."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"


class Runner:
    """Runs scripts and single calls through one gate.

    Args:
        gate: The door.
        workspace: Where files and commands live.
        engines: Executes the scripts.
        check: Whether findings of the check block, only inform, or are not looked for.
        sinks: Take the events of every run.
        scripts: Whether there are scripts at all.
    """

    def __init__(
        self,
        gate: Gate,
        *,
        workspace: Workspace,
        engines: Engines,
        check: CheckLevel,
        sinks: tuple[Sink, ...],
        scripts: bool = True,
    ) -> None:
        self._scripts = scripts
        self.gate = gate
        self.engines = engines
        self.specs = tuple(t.spec for t in gate.tools.values() if t.spec.scriptable)
        """What scripts are told of."""
        self._workspace = workspace
        self._check: CheckLevel = check
        self._sinks = sinks

    def bench(
        self, run_id: str, *, limits: Limits, control: Control, sinks: tuple[Sink, ...] = ()
    ) -> Bench:
        """Set up what one run works with."""
        return Bench(
            self.gate,
            run_id=run_id,
            view=self._workspace.begin(),
            limits=limits,
            control=control,
            sinks=(*self._sinks, *sinks),
        )

    async def run(
        self, job: Job, *, run_id: str, control: Control, sinks: tuple[Sink, ...] = ()
    ) -> RunResult:
        """Run a script and settle it, also when the caller is cancelled meanwhile."""
        bench = self.bench(run_id, limits=job.limits, control=control, sinks=sinks)
        progress = Progress()
        return await _settled(bench, progress, self._work(job, bench, progress))

    async def call(
        self,
        name: str,
        arguments: Mapping[str, object],
        *,
        origin: Origin,
        limits: Limits,
        control: Control,
    ) -> CallResult:
        """Make one call, with a record of its own."""
        call = Call(tool=name, arguments=arguments, origin=origin)
        bench = self.bench(new_run_id(), limits=limits, control=control)
        progress = Progress()
        return _call_result(await _settled(bench, progress, _alone(call, bench, progress)))

    def control_of_call(self, name: str, limits: Limits) -> Control:
        """Return the reins of a single call; only a container's time is that of a run."""
        tool = self.gate.tools.get(name)
        timed = tool is not None and tool.spec.container
        return Control(limits.seconds if timed else math.inf)

    async def find(
        self, script: object, *, name: str, inputs: Mapping[str, object]
    ) -> tuple[Finding, ...]:
        """Return the findings of a script without running it."""
        prepared = await self._prepared(script, name)
        return await self._findings(prepared, inputs, "error")

    async def _work(self, job: Job, bench: Bench, progress: Progress) -> None:
        engine = self.engines.wanted
        bench.announce(script=job.script, name=job.name, origin=job.origin, engine=engine)
        ready = await self._read(job, bench, progress)
        if ready is None:
            return
        outcome = await self._execute(ready, ready.scope, job, bench)
        if ready.choice.restarts and isinstance(outcome, Raised) and lacks(outcome):
            outcome = await self._again(ready, outcome, job, bench, progress)
        progress.ended = ended(outcome, source=ready.prepared.original, specs=self.specs)

    async def _execute(self, ready: _Ready, scope: Scope, job: Job, bench: Bench) -> Outcome:
        flat, namespaces = program_names(self.specs)
        program = Program(
            source=ready.prepared.program_source,
            name=job.name,
            inputs=job.inputs,
            tools=flat,
            namespaces=namespaces,
        )
        try:
            with bench.control.paused():
                await ready.engine.ready()
            return await ready.engine.run(
                program,
                by_script_name(scope.dispatch, self.specs),
                limits=job.limits,
                output=bench.printed.take,
                waiting=scope.waiting,
            )
        except EngineError as error:
            text = f"{error.message}; {error.hint}" if error.hint else error.message
            return Raised(kind="EngineError", message=text, code=error.code)
        except Exception as error:  # noqa: BLE001  an engine may be the user's code
            return Crashed(message=f"the engine failed: {type(error).__name__}: {error}")

    async def _again(
        self, ready: _Ready, outcome: Raised, job: Job, bench: Bench, progress: Progress
    ) -> Outcome:
        """Run a script that the small engine stopped in full Python, if it has only read."""
        with bench.control.paused():
            reads, full = ready.scope.reads, await self.engines.get("cpython")
        if reads is None or isinstance(full, EngineError):
            return outcome
        if reads.spoiled:
            message = f"{outcome.message}; it was not begun again in full Python: {reads.spoiled}"
            progress.engine_reason += f"; it stopped at {outcome.message}"
            return replace(outcome, message=message)
        known = len(reads.answers)
        what = f"line {outcome.line}: {outcome.message}" if outcome.line else outcome.message
        reason = f"the small engine stopped ({what}); begun again with {known} reads known"
        progress.engine, progress.engine_reason = full.name, reason
        scope = bench.begin_again(reads.answers, engine=full.name, reason=reason)
        return await self._execute(replace(ready, engine=full), scope, job, bench)

    async def _read(self, job: Job, bench: Bench, progress: Progress) -> _Ready | None:
        try:
            scope, script = await self._admit(job, bench)
        except (ToolError, WorkspaceError) as error:
            status = "refused" if error.code == "E_DENIED" else "error"
            progress.ended = Ended(status=status, error=_told(error))
            return None
        if self.engines.reads_scripts:
            prepared = await self._prepared(script, job.name)
        else:
            prepared = Prepared(name=job.name, original=str(script), program_source=str(script))
        with bench.control.paused():  # what has to be started for that is no run's time
            choice = await self.engines.choose(prepared, job.inputs)
            progress.engine, progress.engine_reason = choice.name, choice.reason
            if self.engines.reads_scripts:
                progress.findings = await self._findings(prepared, job.inputs, self._check)
        blocking = [f for f in progress.findings if f.level == "error"]
        if blocking or choice.engine is None:
            error = _blocked(blocking) if blocking else choice.problem
            progress.ended = Ended(status="error", error=error)
            return None
        if choice.restarts:
            scope.reads = Reads()
        return _Ready(scope, prepared, choice, choice.engine)

    async def _admit(self, job: Job, bench: Bench) -> tuple[Scope, object]:
        if not self._scripts:
            raise ToolError("E_DENIED", "scripts are switched off in this session")
        if bench.control.depth > MAX_DEPTH:
            raise ToolError("E_DENIED", f"runs may be nested {MAX_DEPTH} deep, and this is deeper")
        scope = await bench.enter()
        paths: tuple[str, ...] = ()
        if job.file is not None:
            paths = ((await bench.view.resolve(job.file)).path,)
        arguments: dict[str, object] = dict(zip(("file",), paths, strict=False))
        call = Call(tool=RUN_SCRIPT.name, arguments=arguments, origin=job.origin)
        await scope.admit(RUN_SCRIPT, call, paths=paths)
        return scope, await _text_of(paths[0], bench.view) if paths else job.script

    async def _prepared(self, script: object, name: str) -> Prepared:
        read = partial(prepare, script, specs=self.specs, name=name)
        if isinstance(script, str) and len(script) > _LONG_SCRIPT:
            return await anyio.to_thread.run_sync(read)
        return read()

    async def _findings(
        self, prepared: Prepared, inputs: Mapping[str, object], level: CheckLevel
    ) -> tuple[Finding, ...]:
        if not prepared.ok:
            return prepared.findings
        return await check(
            prepared,
            specs=self.specs,
            checker=self.engines.checker,
            inputs=inputs,
            level=level,
        )


async def _settled(bench: Bench, progress: Progress, work: Awaitable[None]) -> RunResult:
    """Do a run's work and settle it, whatever comes of it: also when the caller is cancelled."""
    try:
        with bench.control.inside():
            try:
                await work
            except Exception as error:  # noqa: BLE001  of the user's workspace or middleware
                progress.ended = Ended(status="error", error=_told(error))
    except anyio.get_cancelled_exc_class():
        bench.control.end("cancelled", "E_CANCELLED", "the caller was cancelled")
        await bench.settle(progress)
        raise
    return await bench.settle(progress)


async def _alone(call: Call, bench: Bench, progress: Progress) -> None:
    bench.announce(script="", name=f"call {call.tool}", origin=call.origin, engine="")
    scope = await bench.enter(alone=True)
    progress.ended = _of_call(await scope.dispatch(call))


def _told(error: Exception) -> RunError:
    if isinstance(error, LineshaftError):
        return RunError(code=error.code, message=error.message, hint=error.hint)
    text = f"the run could not be carried out: {type(error).__name__}: {error}"
    return RunError(code="E_ENGINE", message=text)


async def _text_of(path: str, view: Workspace) -> str:
    try:
        return (await view.read(path)).data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ToolError("E_INVALID_ARGS", f"{path!r} is not a text in UTF-8") from error


def _of_call(done: Done) -> Ended:
    if isinstance(done, Failure):
        error = RunError(code=done.code, message=done.message, hint=done.hint)
        return Ended(status="error", error=error)
    return Ended(status="success", value=done.value)


def _call_result(result: RunResult) -> CallResult:
    first = next(iter(result.calls), None)
    error = result.error
    return CallResult(
        value=result.value,
        error=error and CallError(code=error.code, message=error.message, hint=error.hint),
        status=first.status if first else "refused",
        rule=first.rule if first else "",
        duration_ms=result.duration_ms,
        call_id=first.id if first else "",
        run_id=result.run_id,
    )


def _blocked(findings: list[Finding]) -> RunError:
    first = findings[0]
    code = {"E_INVALID_ARGS": "E_INVALID_ARGS", "not-awaited": "E_NOT_AWAITED"}.get(first.code)
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    return RunError(
        code=code or "E_CHECK",
        message=f"{first.message}{more}",
        line=first.line,
        hint=first.hint,
    )
