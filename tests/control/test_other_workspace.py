"""Runs belong to the workspace that they began in: its files, its rules."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from control.world import Open
from lineshaft import Answer
from lineshaft.errors import RunUnknown
from lineshaft.workspace import Folder

YES = {"*": Answer(allow=True)}
WRITES = "await write_file(path='asked/made.txt', content='hi')\nreturn 1"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    folder = tmp_path / "another place"
    folder.mkdir()
    return folder


async def test_a_run_of_another_workspace_is_refused_whatever_is_done_with_it(
    opened: Open, workspace: Path, other: Path
) -> None:
    async with opened() as session:
        paused = await session.run(WRITES)
        done = await session.run("await write_file(path='made.txt', content='hi')\nreturn 2")
        assert (paused.status, done.status) == ("paused", "success")
    async with opened(workspace=other, rules=()) as session:
        for attempt in (
            session.resume(paused.run_id, YES),
            session.resume(paused.run_id),
            session.pending(paused.run_id),
            session.cancel(paused.run_id),
            session.replay(done.run_id),
            session.replay(paused.run_id),
            session.undo(done.run_id),
        ):
            with pytest.raises(RunUnknown, match="another workspace") as refused:
                await attempt
            assert str(workspace) in refused.value.message
            assert f"--workspace {shlex.quote(str(workspace))}" in refused.value.hint
    assert list(other.iterdir()) == []
    async with opened() as session:
        assert (await session.resume(paused.run_id, YES)).status == "success"
        assert (await session.replay(done.run_id)).difference is None
        assert [change.path for change in await session.undo(done.run_id)] == ["made.txt"]


async def test_the_same_workspace_may_be_named_in_another_way(
    opened: Open, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = tmp_path / "link"
    link.symlink_to(workspace)
    monkeypatch.chdir(tmp_path)
    for began, ends in ((workspace, link), (link, Path("work")), (Path("work"), str(workspace))):
        async with opened(workspace=began) as session:
            paused = await session.run(WRITES)
        async with opened(workspace=ends) as session:
            assert (await session.resume(paused.run_id, YES)).status == "success"


class Elsewhere:
    """A workspace of another kind: nobody knows where it is on this machine."""

    def __init__(self, inner: Folder) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


async def test_a_workspace_of_another_kind_takes_its_runs_up(
    opened: Open, workspace: Path, tmp_path: Path
) -> None:
    def made() -> Any:
        return Elsewhere(Folder(workspace, journals=tmp_path / "journals"))

    async with opened(workspace=made()) as session:
        paused = await session.run(WRITES)
    async with opened(workspace=made()) as session:
        assert (await session.resume(paused.run_id, YES)).status == "success"
        await session.undo(paused.run_id)
