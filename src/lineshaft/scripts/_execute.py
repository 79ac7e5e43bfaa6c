"""A script, its engine and its way through the gate, put together."""

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from lineshaft.errors import EngineError
from lineshaft.gate import CallPipeline
from lineshaft.scripts._catalogue import by_script_name, program_names, signatures
from lineshaft.scripts._context import RunContext, RunProgress
from lineshaft.scripts._control import Control
from lineshaft.scripts._job import Job
from lineshaft.scripts._modules import WorkspaceModules
from lineshaft.scripts._outcome import ended
from lineshaft.scripts.reading import Prepared
from lineshaft.values import (
    Crashed,
    Dispatch,
    Engine,
    Limits,
    Outcome,
    Output,
    Program,
    Raised,
    ReplayInputs,
    Struct,
    Suspended,
    Waiting,
)


class ReadyScript(Struct, frozen=True, kw_only=True):
    """The parts that the execution of a script needs."""

    pipeline: CallPipeline
    prepared: Prepared
    engine: Engine
    replay: ReplayInputs | None = None
    """The inputs of the script beside its calls; None: they are not kept."""


async def execute(ready: ReadyScript, job: Job, context: RunContext, progress: RunProgress) -> None:
    """Execute a script, and note in `progress` how that ended."""
    prepared = ready.prepared
    progress.replay = ready.replay
    outcome = await execution(
        ready.engine,
        _program(ready, job, context, progress.modules),
        by_script_name(ready.pipeline.dispatch, prepared.specs),
        limits=job.limits,
        control=context.control,
        output=context.printed.take,
        waiting=ready.pipeline.waiting,
    )
    progress.suspended = isinstance(outcome, Suspended)
    progress.ended = ended(
        outcome,
        source=prepared.original,
        specs=prepared.told,
        chosen=progress.engine_reason,
        python=ready.engine.target.version,
        secrets=context.gate.redactor,
    )


async def execution(
    engine: Engine,
    program: Program,
    dispatch: Dispatch,
    *,
    limits: Limits,
    control: Control,
    output: Output,
    waiting: Waiting,
) -> Outcome:
    """Execute a program on an engine, and return how that ended.

    Args:
        engine: The engine; it is started where it was not.
        program: The script.
        dispatch: Makes its calls.
        limits: Its limits.
        control: Its control from outside.
        output: Takes its output.
        waiting: Asked while it can only wait.
    """
    try:
        with control.preparing():
            await engine.ready()
            for module in sorted(program.imports):  # its package is fetched and compiled
                await engine.lacks(module)
        return await engine.run(program, dispatch, limits=limits, output=output, waiting=waiting)
    except EngineError as error:
        text = f"{error.message}; {error.hint}" if error.hint else error.message
        return Raised(kind="EngineError", message=text, code=error.code)
    except Exception as error:  # noqa: BLE001  an engine may be the user's code
        return Crashed(message=f"the engine failed: {type(error).__name__}: {error}")


def _program(ready: ReadyScript, job: Job, context: RunContext, modules: dict[str, str]) -> Program:
    importable = context.gate.python.workspace_imports and ready.engine.name == "wasm"
    program = program_of(
        ready.prepared,
        name=job.name,
        inputs=job.inputs,
        replay=ready.replay,
        clock=context.control.elapsed,
    )
    if not importable:
        return program
    return replace(program, workspace_module=WorkspaceModules(ready.pipeline, modules).find)


def program_of(
    prepared: Prepared,
    *,
    name: str,
    inputs: Mapping[str, object],
    replay: ReplayInputs | None,
    clock: Callable[[], float],
) -> Program:
    """Return a script for any engine.

    Args:
        prepared: The script, read.
        name: Its name in tracebacks.
        inputs: Values that it finds as globals.
        replay: Its inputs beside its calls; None: they are not kept.
        clock: Gives the seconds since it began.
    """
    flat, namespaces = program_names(prepared.specs)
    return Program(
        source=prepared.program_source,
        name=name,
        inputs=inputs,
        tools=flat,
        namespaces=namespaces,
        signatures=signatures(prepared.told, prepared.program_source),
        imports=prepared.import_names,
        replay=replay,
        clock=clock,
    )


def differs(engine: Engine, kept: Mapping[str, str]) -> str:
    """Return the differences of an engine from the one that a run began with; empty: none.

    Args:
        engine: The present engine.
        kept: The identity of the other one.
    """
    here = engine.identity
    for name in sorted({*here, *kept}):
        if here.get(name, "") != kept.get(name, ""):
            return f"its {_WORDS.get(name, name)} {kept.get(name) or 'none'}, and here it is " + (
                here.get(name) or "none"
            )
    return ""


_WORDS = {"image": "image is", "python": "Python is", "packages": "package set is"}
