"""A run goes on only where its script would be executed alike; its undo needs no engine."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from lineshaft import Answer, Policy, Session, kit, tool
from lineshaft.engines import make_wasm
from lineshaft.errors import StateError
from lineshaft.values import (
    Dispatch,
    Engine,
    Limits,
    Outcome,
    Output,
    Pauses,
    Program,
    PythonOptions,
    PythonTarget,
    Waiting,
)

YES = {"*": Answer(allow=True)}
ASK = Policy.from_dict({"mode": "open", "rules": [{"id": "ask", "tool": "poke", "verdict": "ask"}]})
WRITES = "await write_file('a.txt', 'a')\nawait run_command('true')\nreturn await poke()"


@tool(effect="external")
async def poke() -> str:
    """Poke."""
    return "poked"


class Other:
    """The engine `wasm` as another version would have it.

    Args:
        differences: What is not as here, by name.
    """

    def __init__(self, differences: Mapping[str, str]) -> None:
        self._inner: Engine = make_wasm(PythonOptions())
        self._differences = differences
        self.runs = 0

    @property
    def name(self) -> str:
        """As the real one."""
        return self._inner.name

    @property
    def interprets(self) -> bool:
        """As the real one."""
        return True

    @property
    def pauses(self) -> Pauses:
        """As the real one."""
        return self._inner.pauses

    @property
    def identity(self) -> Mapping[str, str]:
        """Another one."""
        return {**self._inner.identity, **self._differences}

    @property
    def target(self) -> PythonTarget:
        """As the real one."""
        return self._inner.target

    async def lacks(self, module: str) -> str:
        """As the real one."""
        return await self._inner.lacks(module)

    async def ready(self) -> None:
        """As the real one."""
        await self._inner.ready()

    async def run(
        self,
        program: Program,
        dispatch: Dispatch,
        *,
        limits: Limits,
        output: Output,
        waiting: Waiting,
    ) -> Outcome:
        """Take note, and run."""
        self.runs += 1
        return await self._inner.run(
            program, dispatch, limits=limits, output=output, waiting=waiting
        )

    async def aclose(self) -> None:
        """Close it."""
        await self._inner.aclose()


def session(folder: Path, engine: str | Other = "wasm", *, imports: bool = False) -> Session:
    (folder / "work").mkdir(exist_ok=True)
    return Session(
        [poke, kit.tools()],
        workspace=folder / "work",
        policy=ASK,
        engine=engine,
        store=folder / "runs.db",
        python=PythonOptions(workspace_imports=imports),
    )


@pytest.mark.parametrize("what", ["image", "python", "packages"])
async def test_a_run_of_another_engine_is_refused_with_the_difference(
    tmp_path: Path, what: str
) -> None:
    async with session(tmp_path) as first:
        paused = await first.run(WRITES)
    assert paused.status == "paused"
    other = Other({what: "something-else"})
    async with session(tmp_path, other) as second:
        with pytest.raises(StateError) as refused:
            await second.resume(paused.run_id, YES)
        assert "something-else" in refused.value.message
        assert "use Lineshaft" in refused.value.hint
        assert other.runs == 0
        undone = await second.undo(paused.run_id)
    assert [change.path for change in undone] == ["a.txt"]


async def test_a_replay_on_another_engine_is_refused(tmp_path: Path) -> None:
    async with session(tmp_path) as first:
        done = await first.run("return 1")
    async with session(tmp_path, Other({"image": "something-else"})) as second:
        with pytest.raises(StateError, match="something-else"):
            await second.replay(done.run_id)


async def test_a_run_whose_modules_changed_is_refused(tmp_path: Path) -> None:
    async with session(tmp_path, imports=True) as first:
        (tmp_path / "work" / "shared.py").write_text("NUMBER = 1\n")
        paused = await first.run("import shared\nreturn [shared.NUMBER, await poke()]")
    assert paused.status == "paused", paused.error
    (tmp_path / "work" / "shared.py").write_text("NUMBER = 2\n")
    async with session(tmp_path, imports=True) as second:
        with pytest.raises(StateError, match=r"shared\.py"):
            await second.resume(paused.run_id, YES)
        (tmp_path / "work" / "shared.py").write_text("NUMBER = 1\n")
        done = await second.resume(paused.run_id, YES)
    assert done.value == [1, "poked"]
