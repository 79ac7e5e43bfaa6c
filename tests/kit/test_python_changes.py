"""How what a program did becomes changes of the workspace."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lineshaft.errors import LineshaftError, StaleFile, ToolError, WorkspaceError
from lineshaft.kit.jailed.changes import land
from lineshaft.sandbox.jail import Changes, JailedChange
from lineshaft.values import Context, Reach
from lineshaft.workspace import Folder, Mount
from users import as_nobody


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def upper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("upper")


@pytest.fixture
def written(upper: Path) -> Callable[..., JailedChange]:
    """Return a function that says a program wrote a file."""

    def write(
        path: str, text: str, *, before: str | None = None, mode: int = 0o644
    ) -> JailedChange:
        place = upper / str(len(list(upper.iterdir())))
        place.write_text(text)
        return JailedChange(
            path=path,
            how="written",
            upper=str(place),
            mode=mode,
            before_sha256=None if before is None else sha256(before),
        )

    return write


def deleted(path: str, *, before: str | None = None) -> JailedChange:
    digest = None if before is None else sha256(before)
    return JailedChange(path=path, how="deleted", before_sha256=digest)


def folder_made(path: str, *, before: str | None = None) -> JailedChange:
    digest = None if before is None else sha256(before)
    return JailedChange(path=path, how="folder", mode=0o755, before_sha256=digest)


@pytest.fixture
def permitted(call: Context) -> Context:
    def everything(path: str) -> Reach:
        return "hidden" if path.startswith("closed") else "open"

    return replace(call, reach=everything)


async def test_a_file_that_changed_meanwhile_keeps_everything_from_landing(
    permitted: Context, written: Callable[..., JailedChange], tmp_path: Path
) -> None:
    (tmp_path / "b").write_text("of somebody else")
    files = (written("a", "new"), written("b", "new", before="as it was"))

    with pytest.raises(StaleFile, match="'b'"):
        await land(permitted, Changes(files=files))

    assert not (tmp_path / "a").exists()
    assert (tmp_path / "b").read_text() == "of somebody else"


async def test_a_file_made_meanwhile_is_not_overwritten(
    permitted: Context, written: Callable[..., JailedChange], tmp_path: Path
) -> None:
    (tmp_path / "a").write_text("of somebody else")

    with pytest.raises(StaleFile):
        await land(permitted, Changes(files=(written("a", "new"),)))

    assert (tmp_path / "a").read_text() == "of somebody else"


async def test_a_file_deleted_meanwhile_is_stale(permitted: Context) -> None:
    with pytest.raises(StaleFile):
        await land(permitted, Changes(files=(deleted("a", before="text"),)))


@pytest.mark.parametrize("refused", [True, False])
async def test_what_is_closed_keeps_everything_from_landing(
    permitted: Context, written: Callable[..., JailedChange], tmp_path: Path, *, refused: bool
) -> None:
    files = [written("a", "new")]
    if not refused:
        files.append(written("closed/b", "new"))
    changes = Changes(files=tuple(files), refused=("closed/b",) if refused else ())

    with pytest.raises(ToolError, match="'closed/b'") as caught:
        await land(permitted, changes)

    assert caught.value.code == "E_DENIED"
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def nobody() -> Iterator[Path]:
    """A folder for a user without privileges, who this process is for a while."""
    with as_nobody() as folder:
        (folder / "work").mkdir()
        yield folder / "work"


@pytest.mark.parametrize("atomic", [False, True])
async def test_what_is_write_protected_keeps_everything_from_landing(
    permitted: Context, nobody: Path, *, atomic: bool
) -> None:
    (nobody / "a").write_text("keep me")
    (nobody / "b").write_text("old")
    (nobody / "b").chmod(0o444)
    (nobody / "upper").write_text("new")
    view = Folder(nobody, journals=nobody.parent / "journals").begin("run", atomic=atomic)
    replaced = JailedChange(
        path="b",
        how="written",
        upper=str(nobody / "upper"),
        mode=0o444,
        before_sha256=sha256("old"),
    )
    files = (deleted("a", before="keep me"), replaced)

    with pytest.raises(WorkspaceError, match="write-protected: 'b'; none of its changes"):
        await land(replace(permitted, workspace=view), Changes(files=files))

    assert await view.changes() == ()
    assert (nobody / "a").exists()
    await view.discard()


async def test_what_was_write_protected_and_is_staged_anew_is_changed(
    permitted: Context, nobody: Path
) -> None:
    (nobody / "b").write_text("old")
    (nobody / "b").chmod(0o444)
    (nobody / "upper").write_text("new")
    view = Folder(nobody, journals=nobody.parent / "journals").begin("run", atomic=True)
    await view.delete("b")
    await view.write("b", b"staged")
    replaced = JailedChange(
        path="b",
        how="written",
        upper=str(nobody / "upper"),
        mode=0o644,
        before_sha256=sha256("staged"),
    )

    await land(replace(permitted, workspace=view), Changes(files=(replaced,)))

    assert (await view.read("b")).data == b"new"
    await view.discard()


async def test_what_is_mounted_read_only_inside_the_workspace_is_closed(
    permitted: Context, written: Callable[..., JailedChange], tmp_path: Path
) -> None:
    (tmp_path / "vendor").mkdir()
    view = Folder(tmp_path, aliases={"@pkg": Mount(tmp_path / "vendor")}).begin()
    call = replace(permitted, workspace=view)

    with pytest.raises(LineshaftError, match="vendor/a"):
        await land(call, Changes(files=(written("vendor/a", "new"),)))

    await view.discard()
    assert list((tmp_path / "vendor").iterdir()) == []


async def test_without_a_policy_nothing_lands(
    call: Context, written: Callable[..., JailedChange], tmp_path: Path
) -> None:
    with pytest.raises(ToolError):
        await land(call, Changes(files=(written("a", "new"),)))

    assert list(tmp_path.iterdir()) == []


async def test_a_file_becomes_a_folder_and_a_folder_a_file(
    permitted: Context, written: Callable[..., JailedChange], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("f")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inner").write_text("i")
    files = (
        folder_made("file", before="f"),
        written("file/inside", "new"),
        written("folder", "now a file"),
        deleted("folder/inner", before="i"),
    )

    assert await land(permitted, Changes(files=files)) == []

    assert (tmp_path / "file" / "inside").read_text() == "new"
    assert (tmp_path / "folder").read_text() == "now a file"


async def test_a_symlink_that_became_a_file_leaves_what_it_led_to(
    permitted: Context, written: Callable[..., JailedChange], tmp_path: Path
) -> None:
    (tmp_path / "real").write_text("real")
    (tmp_path / "link").symlink_to("real")

    await land(permitted, Changes(files=(written("link", "new"),)))

    assert (tmp_path / "real").read_text() == "real"
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "link").read_text() == "new"


async def test_files_that_moved_into_what_was_a_file_are_moved(
    permitted: Context, written: Callable[..., JailedChange], tmp_path: Path
) -> None:
    (tmp_path / "a").write_text("unique")
    (tmp_path / "b").write_text("b")
    files = (
        deleted("a", before="unique"),
        folder_made("b", before="b"),
        written("b/a", "unique"),
    )

    await land(permitted, Changes(files=files))

    assert (tmp_path / "b" / "a").read_text() == "unique"
    assert not (tmp_path / "a").exists()


async def test_files_alike_are_not_taken_for_moved(
    permitted: Context, written: Callable[..., JailedChange], tmp_path: Path
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("same")
    files = (deleted("a", before="same"), deleted("b", before="same"), written("c", "same"))

    await land(permitted, Changes(files=files))

    assert [path.name for path in tmp_path.iterdir()] == ["c"]


async def test_a_folder_that_somebody_filled_meanwhile_stays_and_is_named(
    permitted: Context, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "theirs").write_text("x")

    not_kept = await land(permitted, Changes(files=(deleted("folder"),)))

    assert (tmp_path / "folder" / "theirs").exists()
    assert len(not_kept) == 1
    assert "not empty" in not_kept[0]


async def test_a_file_that_was_executable_stays_so(
    permitted: Context, written: Callable[..., JailedChange], tmp_path: Path
) -> None:
    (tmp_path / "tool").write_text("old")
    (tmp_path / "tool").chmod(0o755)

    not_kept = await land(
        permitted, Changes(files=(written("tool", "new", before="old", mode=0o755),))
    )

    assert not_kept == []
    assert (tmp_path / "tool").stat().st_mode & 0o777 == 0o755


async def test_a_name_that_looks_like_an_alias_is_a_file(
    permitted: Context, written: Callable[..., JailedChange], tmp_path: Path
) -> None:
    await land(permitted, Changes(files=(written("@pkg/a", "new"),)))

    assert (tmp_path / "@pkg" / "a").read_text() == "new"
