"""The time of a run begins with its script: what an engine starts for all runs is not in it."""

from pathlib import Path

import anyio

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


async def run(
    engines: Engines, control: Control, folder: Path, *, script: str = "return 1"
) -> RunResult:
    """Run a script."""
    gate = Gate(tools={}, policy=Policy(), redactor=Redactor())
    environment = RunEnvironment(workspace=Folder(folder))
    runner = Runner(gate, environment=environment, engines=engines, check="off", sinks=())
    job = Job(script=script, limits=Limits(seconds=SECONDS))
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


class Endless(ScriptedEngine):
    """Never comes to be ready."""

    async def ready(self) -> None:
        """Wait for ever."""
        await anyio.sleep_forever()


async def test_what_comes_before_a_script_has_a_time_of_its_own(tmp_path: Path) -> None:
    control = Control(SECONDS, prepare_seconds=0)
    with anyio.fail_after(10):
        result = await run(Engines(Endless(value="done")), control, tmp_path)
    assert (result.status, result.error and result.error.code) == ("timeout", "E_TIMEOUT")
    assert result.error is not None
    assert "could not be prepared within 0 s" in result.error.message


class Fetching(Slow):
    """Has to fetch what a script imports."""

    @property
    def interprets(self) -> bool:
        """The text of its scripts is read, for their imports."""
        return True

    async def lacks(self, module: str) -> str:
        """Take note."""
        self._note(module)
        return ""


async def test_packages_are_fetched_before_a_runs_time_begins(tmp_path: Path) -> None:
    control = Control(SECONDS)
    engine = Fetching(control=control)
    result = await run(Engines(engine), control, tmp_path, script="import json\nreturn 1")
    assert result.value == "done"
    assert len(engine.left["json"]) == 1


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
