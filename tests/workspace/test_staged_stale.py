"""What becomes of changes that somebody else has made stale."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from lineshaft.errors import FileMissing, StaleFile, WorkspaceError
from lineshaft.values import Change, Command, Finding, Stage, Workspace
from lineshaft.workspace import Folder, FolderView
from workspace.distant import STAGES


@pytest.fixture(params=STAGES)
def folder(request: pytest.FixtureRequest, root: Path) -> Workspace:
    """Return a workspace over it that keeps changes back: on the disk, or far away."""
    return STAGES[request.param](root)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "f").write_text("first")
    return root


@pytest.fixture
def view(root: Path, tmp_path: Path) -> FolderView:
    return Folder(root, journals=tmp_path / "journals").begin("run", atomic=True)


async def reads_all(changes: Sequence[Change], stage: Stage) -> list[Finding]:
    """Look at all that is to land, and at what it is built on."""
    for path in {"f", *(change.path for change in changes)}:
        await stage.read(path)
    return []


async def test_a_guard_that_reads_a_stale_file_drops_no_change_to_it(
    view: Stage, root: Path
) -> None:
    await view.write("f", b"mine")
    (root / "f").write_text("theirs")
    for _ in range(2):
        with pytest.raises(StaleFile, match="'f'"):
            await view.land([reads_all])
    assert [change.path for change in await view.changes()] == ["f"]
    assert ((root / "f").read_text(), view.landed) == ("theirs", 0)


async def test_where_the_workspaces_folder_is_gone_nobody_is_said_to_have_changed_a_file(
    root: Path, tmp_path: Path
) -> None:
    folder = Folder(root, journals=tmp_path / "journals")
    view = folder.begin("run", atomic=True)
    await view.write("g", b"mine")
    root.rename(tmp_path / "elsewhere")
    with pytest.raises(WorkspaceError, match="the folder of '@project' is gone") as told:
        await view.land()
    assert not isinstance(told.value, StaleFile)
    assert not root.exists()

    (tmp_path / "elsewhere").rename(root)
    await view.land()
    assert (root / "g").read_text() == "mine"
    await view.discard()
    root.rename(tmp_path / "elsewhere")
    with pytest.raises(WorkspaceError, match="the folder of '@project' is gone") as told:
        await folder.undo("run")
    assert not isinstance(told.value, StaleFile)


async def test_nor_does_it_stand_for_the_run_reading_it_again(view: Stage, root: Path) -> None:
    await view.read("f")
    await view.write("g", b"made of f")
    (root / "f").write_text("theirs")
    for _ in range(2):
        with pytest.raises(StaleFile, match="'f'"):
            await view.land([reads_all])
    await view.read("f")
    await view.land([reads_all])
    assert (root / "g").read_text() == "made of f"


async def test_a_file_that_is_as_it_was_again_is_not_stale(view: Stage, root: Path) -> None:
    await view.write("f", b"mine")
    (root / "f").write_text("theirs")
    with pytest.raises(StaleFile):
        await view.land([reads_all])
    (root / "f").write_text("first")
    await view.land([reads_all])
    assert (root / "f").read_text() == "mine"


async def test_a_file_that_somebody_made_in_a_folder_that_was_to_be_made_is_read_again(
    view: Stage, root: Path
) -> None:
    await view.write("new/inner/f", b"mine")
    (root / "new" / "inner").mkdir(parents=True)
    (root / "new" / "inner" / "f").write_text("theirs")
    with pytest.raises(StaleFile, match="new/inner/f"):
        await view.land()
    assert (await view.read("new/inner/f")).data == b"theirs"
    await view.write("new/inner/g", b"mine too")
    await view.land()
    found = {path.name: path.read_text() for path in (root / "new" / "inner").iterdir()}
    assert found == {"f": "theirs", "g": "mine too"}


@pytest.mark.parametrize("landed", [False, True])
async def test_a_folder_whose_mode_the_run_set_is_not_stale_once_the_run_has_moved_it(
    view: Stage, root: Path, landed: bool
) -> None:
    (root / "c").mkdir()
    (root / "c" / "b").write_text("kept")
    await view.make_folder("c", mode=0o700)
    if landed:
        await view.land()
    await view.move("c", "d")
    await view.write("c", b"a file by now")
    moved = {(change.path, change.moved_from) for change in await view.changes()}
    assert ("d/b", "c/b") in moved
    await view.land()
    assert ((root / "c").read_text(), (root / "d" / "b").read_text()) == ("a file by now", "kept")
    assert (root / "d").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("path", ["ignored/new", "folder", "ignored/folder"])
async def test_what_a_command_makes_where_a_layer_found_nothing_is_not_stale(
    view: FolderView, root: Path, path: str
) -> None:
    (root / ".gitignore").write_text("ignored/\n")
    (root / "ignored").mkdir()
    layer = view.layer("container")
    with pytest.raises(FileMissing):
        await layer.read(path)
    await layer.merge()
    made = "touch" if path.endswith("new") else "mkdir"
    await (await view.run(Command(argv=(made, path)))).wait()

    await view.write("g", b"mine")
    await view.land()

    assert (root / "g").read_bytes() == b"mine"
