"""Commands: where they run, and what is found of what they changed."""

import hashlib
from pathlib import Path

import anyio
import pytest

from lineshaft.errors import FileMissing, OutsideWorkspace, WorkspaceError
from lineshaft.values import Command, Exit, Workspace
from lineshaft.workspace import Folder, FolderView


@pytest.fixture
def view(tmp_path: Path) -> FolderView:
    return Folder(tmp_path).begin()


async def sh(view: Workspace, script: str, cwd: str = ".") -> Exit:
    process = await view.run(Command(argv=("sh", "-c", script), cwd=cwd))
    with anyio.fail_after(20):
        return await process.wait()


async def test_a_command_runs_in_a_folder_of_the_workspace(
    view: FolderView, tmp_path: Path
) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "f").touch()

    assert (await sh(view, "basename $(pwd)", "d")).stdout == "d\n"
    with pytest.raises(OutsideWorkspace):
        await sh(view, "pwd", "..")
    with pytest.raises(FileMissing):
        await sh(view, "pwd", "gone")
    with pytest.raises(WorkspaceError, match="'f' is not a folder"):
        await sh(view, "pwd", "f")


async def test_what_a_command_changed_is_found(view: FolderView, tmp_path: Path) -> None:
    for name in ("edited", "gone", "moved", "same", "restored"):
        (tmp_path / name).write_text("old\n")

    done = await sh(
        view,
        "echo new >> edited; rm gone; mkdir d; mv moved d/there; printf 'a\\nb\\n' > d/new;"
        "touch -r restored times; echo new > restored; touch -r times restored; rm times",
    )

    sha = hashlib.sha256(b"a\nb\n").hexdigest()
    changes = {c.path: (c.kind, c.moved_from, c.added) for c in done.changes}
    assert changes == {
        "d/new": ("created", None, 2),
        "d/there": ("moved", "moved", 0),
        "edited": ("modified", None, 2),
        "gone": ("deleted", None, 0),
        "restored": ("modified", None, 1),
    }
    assert next(c.sha256 for c in done.changes if c.path == "d/new") == sha
    assert not any(change.undoable for change in done.changes)
    assert {(c.path, c.kind) for c in await view.changes()} == {
        (c.path, c.kind) for c in done.changes
    }


async def test_a_command_that_changes_nothing_reports_nothing(
    view: FolderView, tmp_path: Path
) -> None:
    (tmp_path / "f").write_text("x")
    await view.read("f")

    assert (await sh(view, "cat f; touch f")).changes == ()


async def test_ignored_folders_are_not_looked_into(view: FolderView, tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("build/\n*.log\n")
    (tmp_path / "build").mkdir()
    (tmp_path / ".git").mkdir()

    done = await sh(view, "touch build/x .git/x; echo x > a.log")

    assert [change.path for change in done.changes] == ["a.log"]


async def test_what_a_command_wrote_is_the_runs_own(view: FolderView, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old")
    await view.read("f")
    await sh(view, "echo new > f")

    await view.write("f", b"mine")

    assert (tmp_path / "f").read_text() == "mine"


async def test_changes_of_a_cancelled_command_are_known(view: FolderView, tmp_path: Path) -> None:
    process = await view.run(Command(argv=("sh", "-c", "echo x > f; echo ready; sleep 60")))
    async for _ in process.lines():
        break
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(process.wait)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()

    assert [(c.path, c.kind) for c in await view.changes()] == [("f", "created")]


async def test_variables_are_passed_on_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SETTING", "1")

    assert (await sh(Folder(tmp_path), "echo $MY_SETTING")).stdout == "\n"
    folder = Folder(tmp_path, allow_env=["MY_SETTING"])
    assert (await sh(folder, "echo $MY_SETTING")).stdout == "1\n"
    assert "run" in folder.capabilities
