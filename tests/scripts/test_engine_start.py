"""The time of a run begins with its script: what an engine starts for all runs is not in it."""

from pathlib import Path

from lineshaft import Limits, Policy, Session
from lineshaft.errors import EngineError
from lineshaft.gate import Gate
from lineshaft.scripts import Control, Engines, Job, RunEnvironment, Runner, new_run_id
from lineshaft.testing import ScriptedEngine
from lineshaft.trace import Redactor
from lineshaft.values import Dispatch, Engine, Outcome, Output, Program, RunResult, Waiting
from lineshaft.workspace import Folder

SECONDS = 5.0


class Slow(ScriptedEngine):
    """Notes how long the run has, at its start and with a script: times differ while they go."""

    def __init__(
        self, problem: EngineError | None = None, *, control: Control | None = None
    ) -> None:
        super().__init__(value="done")
        self._problem = problem
        self._control = control
        self.left: dict[str, set[float]] = {}

    def _note(self, what: str) -> None:
        self.left[what] = {self._control.remaining for _ in range(10)} if self._control else set()

    async def ready(self) -> None:
        """Take note."""
        self._note("start")
        if self._problem is not None:
            raise self._problem

    async def run(
        self,
        program: Program,
        dispatch: Dispatch,
        *,
        limits: Limits,
        output: Output,
        waiting: Waiting,
    ) -> Outcome:
        """Take note."""
        self._note("script")
        return await super().run(program, dispatch, limits=limits, output=output, waiting=waiting)


async def run(engines: Engines, control: Control, folder: Path) -> RunResult:
    """Run a script."""
    gate = Gate(tools={}, policy=Policy(), redactor=Redactor())
    environment = RunEnvironment(workspace=Folder(folder))
    runner = Runner(gate, environment=environment, engines=engines, check="off", sinks=())
    job = Job(script="return 1", limits=Limits(seconds=SECONDS))
    result = await runner.run(job, run_id=new_run_id(), control=control)
    await engines.aclose()
    return result


async def test_a_run_has_its_whole_time_however_long_the_engine_starts(tmp_path: Path) -> None:
    control = Control(SECONDS)
    engine = Slow(control=control)
    result = await run(Engines(engine), control, tmp_path)
    assert result.value == "done"
    assert len(engine.left["start"]) == 1
    assert len(engine.left["script"]) > 1
    assert max(engine.left["script"]) <= SECONDS


async def test_an_engine_that_cannot_start_ends_the_run_with_its_words() -> None:
    engine = Slow(EngineError("it is broken", hint="mend it"))
    async with Session(engine=engine) as session:
        result = await session.run("return 1")
    assert result.status == "error"
    assert result.error is not None
    assert "it is broken; mend it" in result.error.message
    assert "script" not in engine.left


async def test_a_run_has_its_whole_time_however_long_an_engine_is_looked_for(
    tmp_path: Path,
) -> None:
    control, engine = Control(SECONDS), Slow()
    left: list[float] = []

    def make() -> Engine:
        left.extend(control.remaining for _ in range(10))  # they differ while the clock runs
        return engine

    result = await run(Engines("cpython", makers={"cpython": make}), control, tmp_path)
    assert result.value == "done"
    assert len(left) == 10
    assert len(set(left)) == 1
