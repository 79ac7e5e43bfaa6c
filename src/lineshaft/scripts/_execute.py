"""A script, its engine and its way through the gate, put together."""

from collections.abc import Mapping
from dataclasses import dataclass

from lineshaft.errors import EngineError
from lineshaft.gate import CallPipeline
from lineshaft.scripts._catalogue import by_script_name, program_names, signatures
from lineshaft.scripts._context import RunContext, RunProgress
from lineshaft.scripts._job import Job
from lineshaft.scripts._modules import WorkspaceModules
from lineshaft.scripts._outcome import ended
from lineshaft.scripts.reading import Prepared
from lineshaft.values import Crashed, Engine, Outcome, Program, Raised, ReplayInputs, Suspended


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyScript:
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
    outcome = await _outcome(ready, job, context, progress.modules)
    progress.suspended = isinstance(outcome, Suspended)
    progress.ended = ended(
        outcome,
        source=prepared.original,
        specs=prepared.told,
        chosen=progress.engine_reason,
        secrets=context.gate.redactor,
    )


async def _outcome(
    ready: ReadyScript, job: Job, context: RunContext, modules: dict[str, str]
) -> Outcome:
    engine, prepared = ready.engine, ready.prepared
    try:
        with context.control.preparing():
            await engine.ready()
            for module in sorted(prepared.import_names):  # its package is fetched and compiled
                await engine.lacks(module)
        return await engine.run(
            _program(ready, job, context, modules),
            by_script_name(ready.pipeline.dispatch, prepared.specs),
            limits=job.limits,
            output=context.printed.take,
            waiting=ready.pipeline.waiting,
        )
    except EngineError as error:
        text = f"{error.message}; {error.hint}" if error.hint else error.message
        return Raised(kind="EngineError", message=text, code=error.code)
    except Exception as error:  # noqa: BLE001  an engine may be the user's code
        return Crashed(message=f"the engine failed: {type(error).__name__}: {error}")


def _program(ready: ReadyScript, job: Job, context: RunContext, modules: dict[str, str]) -> Program:
    prepared = ready.prepared
    flat, namespaces = program_names(prepared.specs)
    importable = context.gate.python.workspace_imports and ready.engine.name == "wasm"
    return Program(
        source=prepared.program_source,
        name=job.name,
        inputs=job.inputs,
        tools=flat,
        namespaces=namespaces,
        signatures=signatures(prepared.told, prepared.program_source),
        imports=prepared.import_names,
        workspace_module=WorkspaceModules(ready.pipeline, modules).find if importable else None,
        replay=ready.replay,
        clock=context.control.elapsed,
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
