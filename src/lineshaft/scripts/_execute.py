"""A script, its engine and its way through the gate, put together."""

from dataclasses import dataclass

from lineshaft.errors import EngineError
from lineshaft.gate import Scope
from lineshaft.scripts._bench import Bench, Progress
from lineshaft.scripts._catalogue import by_script_name, program_names
from lineshaft.scripts._job import Job
from lineshaft.scripts._outcome import ended
from lineshaft.scripts._prepare import Prepared
from lineshaft.values import (
    Crashed,
    Engine,
    Outcome,
    Program,
    Raised,
    Suspended,
    Tape,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """What a script needs to be executed."""

    scope: Scope
    prepared: Prepared
    engine: Engine
    restarts: bool = False
    """Where the engine turns out to lack something, full Python may begin again."""

    tape: Tape | None = None
    resume: bytes | None = None
    """The engine's state to go on from."""


async def execute(ready: Ready, job: Job, bench: Bench) -> Outcome:
    """Execute a script; what the engine cannot do is an outcome too."""
    specs = ready.prepared.specs
    flat, namespaces = program_names(specs)
    program = Program(
        source=ready.prepared.program_source,
        name=job.name,
        inputs=job.inputs,
        tools=flat,
        namespaces=namespaces,
        tape=ready.tape,
    )
    try:
        with bench.control.paused():
            await ready.engine.ready()
        return await ready.engine.run(
            program,
            by_script_name(ready.scope.dispatch, specs),
            limits=job.limits,
            output=bench.printed.take,
            waiting=ready.scope.waiting,
            resume=ready.resume,
        )
    except EngineError as error:
        text = f"{error.message}; {error.hint}" if error.hint else error.message
        return Raised(kind="EngineError", message=text, code=error.code)
    except Exception as error:  # noqa: BLE001  an engine may be the user's code
        return Crashed(message=f"the engine failed: {type(error).__name__}: {error}")


def take(outcome: Outcome, ready: Ready, progress: Progress) -> None:
    """Note what an outcome means for the run."""
    if isinstance(outcome, Suspended):
        progress.suspended = outcome
    prepared = ready.prepared
    progress.ended = ended(outcome, source=prepared.original, specs=prepared.specs)
