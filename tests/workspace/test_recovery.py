"""What a crash left is finished; what somebody else changed since is left alone and named."""

import errno
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from landing.trees import tree_of
from lineshaft.errors import RunUnknown, StaleFile, StateError, WorkspaceError
from lineshaft.workspace import Folder
from lineshaft.workspace.journal import Journals, failpoints
from lineshaft.workspace.journal.lock import locked

CRASH = """
import os, sys
from pathlib import Path
import anyio
from lineshaft.workspace import Folder
from lineshaft.workspace.journal import failpoints

async def main():
    folder = Folder(sys.argv[1], journals=Path(sys.argv[2]))
    view = folder.begin("run", atomic=True)
    for name in ("a", "b", "c"):
        await view.write(name, b"new " + name.encode())
    await view.delete("gone")
    await view.make_folder("folder")
    for name in sys.argv[4:]:
        place, _, moved = name.partition(":")
        await (view.move(place, moved) if moved else view.write(place, b"new " + place.encode()))
    failpoints.at_each_step(lambda step: os._exit(9) if step == sys.argv[3] else None)
    await view.land()

anyio.run(main)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    root.mkdir()
    for name in ("a", "b", "c", "gone"):
        (root / name).write_text(f"old {name}")
    return root


@pytest.fixture
def folder(root: Path, tmp_path: Path) -> Folder:
    return Folder(root, journals=tmp_path / "journals")


def crash(root: Path, step: str, *more: str) -> None:
    """Have a process begin to land, and end it at a step; `more` are files written or moved too."""
    journals = root.parent / "journals"
    command = [sys.executable, "-c", CRASH, str(root), str(journals), step, *more]
    assert subprocess.run(command, check=False).returncode == 9


AFTER = {"a": b"new a", "b": b"new b", "c": b"new c"}


def files(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in root.iterdir() if path.is_file()}


async def test_a_landing_that_had_begun_is_finished(folder: Folder, root: Path) -> None:
    crash(root, "file-placed")
    assert folder.half_landed() == 1

    findings = await folder.recover()

    assert [(finding.code, finding.level) for finding in findings] == [("landing-finished", "info")]
    assert files(root) == AFTER
    assert folder.half_landed() == 0
    assert await folder.recover() == ()
    await folder.undo("run")
    assert files(root) == {name: f"old {name}".encode() for name in ("a", "b", "c", "gone")}


async def test_a_landing_that_had_not_begun_is_dropped(folder: Folder, root: Path) -> None:
    before = tree_of(root)
    crash(root, "journal-half-written")
    assert [finding.code for finding in await folder.recover()] == ["landing-dropped"]
    assert tree_of(root) == before


async def test_what_somebody_changed_since_is_left_alone_and_named(
    folder: Folder, root: Path
) -> None:
    crash(root, "committed")
    (root / "b").write_text("theirs")
    (root / "gone").write_text("theirs too")

    findings = await folder.recover()

    assert [finding.code for finding in findings] == [
        "landing-finished",
        "left-alone",
        "left-alone",
    ]
    assert {finding.path for finding in findings if finding.path} == {"b", "gone"}
    assert files(root) == AFTER | {"b": b"theirs", "gone": b"theirs too"}


LARGE = b"old line\n" * 200_000


def write_in_place(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"theirs")


async def test_a_landing_is_finished_though_a_large_file_was_written_in_place(
    folder: Folder, root: Path
) -> None:
    (root / "z").write_bytes(LARGE)
    crash(root, "file-placed", "z")
    write_in_place(root / "z")

    findings = await folder.recover()

    assert [(finding.code, finding.path) for finding in findings] == [
        ("landing-finished", None),
        ("left-alone", "z"),
        ("before-lost", "z"),
    ]
    theirs = b"theirs" + LARGE[6:]
    assert files(root) == AFTER | {"z": theirs}
    with pytest.raises(StaleFile, match="'z'"):
        await folder.undo("run")
    (root / "z").write_bytes(b"new z")
    with pytest.raises(StateError, match="kept content of 'z' from before run 'run' is damaged"):
        await folder.undo("run")
    (root / "z").write_bytes(LARGE)
    undone = await folder.undo("run")
    assert undone.already == ("z",)
    assert files(root) == {name: f"old {name}".encode() for name in ("a", "b", "c", "gone")} | {
        "z": LARGE
    }


async def test_a_landing_whose_new_content_is_lost_is_taken_back(
    folder: Folder, root: Path
) -> None:
    (root / "z").write_bytes(LARGE)
    before = files(root)
    crash(root, "committed", "z:moved")
    write_in_place(root / "z")

    (finding,) = await folder.recover()

    assert finding.code == "landing-taken-back"
    assert files(root) == before | {"z": b"theirs" + LARGE[6:]}
    assert folder.half_landed() == 0


async def test_what_can_neither_be_finished_nor_taken_back_stops_no_later_landing(
    folder: Folder, root: Path
) -> None:
    for name in ("A", "z"):
        (root / name).write_bytes(LARGE + name.encode())
    with (root / "A").open("r+b") as log:
        crash(root, "file-placed", "A", "z:moved")
        log.write(b"theirs")
    write_in_place(root / "z")

    findings = await folder.recover()

    assert [(finding.code, finding.path) for finding in findings] == [
        ("landing-finished", None),
        ("left-alone", "z"),
        ("left-alone", "moved"),
        ("before-lost", "A"),
        ("before-lost", "z"),
    ]
    assert files(root) == AFTER | {"A": b"new A", "z": b"theirs" + LARGE[6:] + b"z"}
    assert folder.half_landed() == 0


async def test_what_cannot_be_finished_is_taken_back(folder: Folder, root: Path) -> None:
    crash(root, "temporary-made")
    before = {name: data for name, data in files(root).items() if not name.startswith(".")}

    def interfere(step: failpoints.Step) -> None:
        if step == "temporary-made" and (root / "c").read_bytes() == b"old c":
            (root / "c").write_text("theirs")

    failpoints.at_each_step(interfere)
    try:
        findings = await folder.recover()
    finally:
        failpoints.at_each_step(None)

    assert [(one.code, one.level) for one in findings] == [("landing-taken-back", "warning")]
    assert files(root) == before | {"c": b"theirs"}
    assert folder.half_landed() == 0


async def test_a_folder_without_its_mode_is_taken_back_too(folder: Folder, root: Path) -> None:
    (root / "narrow").mkdir(mode=0o700)
    (root / "narrow/f").write_text("f")
    before = tree_of(root)
    view = folder.begin("moves", atomic=True)
    await view.write("c", b"mine")
    await view.move("narrow", "went")

    def interfere(step: failpoints.Step) -> None:
        if step == "folder-made":
            (root / "c").write_text("theirs")

    failpoints.at_each_step(interfere)
    try:
        with pytest.raises(StaleFile):
            await view.land()
    finally:
        failpoints.at_each_step(None)

    found = tree_of(root)
    assert "went" not in found
    assert {name: each for name, each in found.items() if name != "c"} == {
        name: each for name, each in before.items() if name != "c"
    }


async def test_the_next_landing_finishes_what_a_crash_left(folder: Folder, root: Path) -> None:
    view = folder.begin("next", atomic=True)
    await view.write("mine", b"x")
    crash(root, "committed")
    await view.land()
    assert files(root) == AFTER | {"mine": b"x"}


async def test_a_journal_of_another_version_is_kept_and_said(folder: Folder, root: Path) -> None:
    crash(root, "committed")
    (path,) = Journals(root.parent / "journals", 7).unfinished()
    other = path.read_bytes().replace(b'"format": 1', b'"format": 2')
    head, rest = other.split(b"\n", 2)[:2], other.split(b"\n", 2)[2]
    digest = hashlib.sha256(b"\n".join(head) + b"\n").hexdigest().encode()
    path.write_bytes(b"\n".join(head) + b"\n" + rest[: -len(digest) - 7] + digest + b"\nwhole\n")
    before = tree_of(root)

    with pytest.raises(StateError, match="another format"):
        await folder.recover()

    assert path.exists()
    assert tree_of(root) == before


async def test_a_journal_that_was_cut_off_lands_nothing(folder: Folder, root: Path) -> None:
    before = files(root)
    crash(root, "journal-synced")
    (journal,) = (root.parent / "journals").glob("*.landing")
    journal.write_bytes(journal.read_bytes()[:-1])
    await folder.recover()
    assert files(root) == before
    assert folder.half_landed() == 0


async def test_a_damaged_journal_of_a_half_made_landing_is_said_and_stops_no_later_one(
    folder: Folder, root: Path
) -> None:
    crash(root, "file-placed")
    (journal,) = (root.parent / "journals").glob("*.landing")
    journal.write_bytes(journal.read_bytes().replace(b'["a"]', b'["x"]', 1))
    before = files(root)

    (finding,) = await folder.recover()

    assert (finding.code, finding.level) == ("landing-damaged", "warning")
    assert files(root) == before
    assert await folder.recover() == ()
    with pytest.raises(StateError, match="a journal is damaged"):
        await folder.undo("run")
    view = folder.begin("next", atomic=True)
    await view.write("b", b"next")
    await view.land()
    assert (root / "b").read_bytes() == b"next"


async def test_an_undo_says_which_journal_is_damaged(folder: Folder, root: Path) -> None:
    view = folder.begin("run", atomic=True)
    await view.write("a", b"mine")
    await view.land()
    (journal,) = (root.parent / "journals/done").glob("*.journal")
    journal.write_bytes(journal.read_bytes().replace(b'["a"]', b'["x"]'))
    with pytest.raises(StateError, match="a journal is damaged"):
        await folder.undo("run")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('["a"]', '["..", "outside"]'),
        ('["a"]', '["/outside"]'),
        ('["a"]', '["a\\u0000"]'),
        ('["a"]', '["."]'),
        ('"mode": ', '"mode": -'),
        ('"mode": ', '"mode": 99999999999999999999'),
        ('"items": [', '"items": 5, "more": ['),
        ('"blobs": [', '"blobs": 5, "more": ['),
        ('"size": ', '"size": "x", "more": '),
        ('"format": 1, ', ""),
        ('"undoes": []', '"undoes": ["../../x"]'),
        ('"run_id"', "x"),
        ("{", "[" * 50_000 + "{"),
    ],
)
async def test_a_journal_that_another_program_made_up_is_damaged(
    folder: Folder, root: Path, old: str, new: str
) -> None:
    """A state folder may come from elsewhere; its journals name no file outside of their mounts."""
    view = folder.begin("run", atomic=True)
    await view.write("a", b"mine")
    await view.land()
    (journal,) = (root.parent / "journals/done").glob("*.journal")
    magic, told, rest = journal.read_bytes().split(b"\n", 2)
    head = magic + b"\n" + told.replace(old.encode(), new.encode(), 1) + b"\n"
    mark = hashlib.sha256(head).hexdigest().encode() + b"\nwhole\n"
    journal.write_bytes(head + rest[: -len(mark)] + mark)
    (root.parent / "outside").write_bytes(b"mine")

    with pytest.raises(StateError, match="a journal is damaged"):
        await folder.undo("run")

    journal.rename(root.parent / f"journals/{journal.stem}.landing")
    assert [finding.code for finding in await folder.recover()] == ["landing-damaged"]
    assert (root.parent / "outside").read_bytes() == b"mine"


async def test_other_files_among_the_journals_stop_nothing(folder: Folder, root: Path) -> None:
    """Such as those that programs leave which keep folders alike."""
    view = folder.begin("run", atomic=True)
    await view.write("a", b"mine")
    await view.land()
    done = root.parent / "journals/done"
    (own,) = done.glob("*.journal")
    for name in ("a-b-c.journal", f"{own.stem} (copy).journal", f"{own.stem}~1.undone"):
        (done / name).touch()

    view = folder.begin("next", atomic=True)
    await view.write("b", b"next")
    await view.land()
    await folder.undo("run")

    assert files(root)["a"] == b"old a"


async def test_nobody_else_has_the_lock_of_who_is_landing(
    folder: Folder, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lineshaft.workspace.journal.folder._WAIT_SECONDS", 0)
    other = Journals(root.parent / "journals", 7)
    refused: list[str] = []

    def look(step: failpoints.Step) -> None:
        if step == "committed":
            try:
                with other.lock():
                    pass
            except WorkspaceError as error:
                refused.append(error.message)

    view = folder.begin("run", atomic=True)
    await view.write("a", b"mine")
    failpoints.at_each_step(look)
    try:
        await view.land()
    finally:
        failpoints.at_each_step(None)
    assert len(refused) == 1


async def test_who_holds_the_lock_for_long_is_told_of(tmp_path: Path) -> None:
    late = locked(tmp_path / "lock", seconds=0.05)
    with (
        locked(tmp_path / "lock", seconds=0),
        pytest.raises(WorkspaceError, match="another process"),
    ):
        late.__enter__()
    with locked(tmp_path / "lock", seconds=0):
        pass


async def test_recovery_waits_for_who_is_landing_now(folder: Folder, root: Path) -> None:
    view = folder.begin("run", atomic=True)
    await view.write("a", b"mine")
    seen: list[int] = []
    landing = anyio.Event()
    portal = anyio.from_thread.run_sync

    def look(step: failpoints.Step) -> None:
        if step == "committed":
            seen.append(folder.half_landed())
            portal(landing.set)

    failpoints.at_each_step(look)
    try:
        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(view.land)
                await landing.wait()
                assert await folder.recover() == ()
    finally:
        failpoints.at_each_step(None)
    assert seen == [1]
    assert (root / "a").read_bytes() == b"mine"


async def test_journals_that_cannot_be_kept_change_nothing(root: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = Folder(root, journals=tmp_path / "file" / "journals")
    view = folder.begin("run", atomic=True)
    await view.write("a", b"new")
    assert await folder.recover() == ()
    with pytest.raises(WorkspaceError, match="journal of changes cannot be kept"):
        await view.land()
    assert (root / "a").read_text() == "old a"


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Have the disk no room for journals with these suffixes."""
    suffixes: set[str] = set()

    def checked(act: Callable[..., object]) -> Callable[..., object]:
        def go(path: Path, *more: Any, **named: Any) -> object:
            if suffixes.intersection({path.suffix, *(Path(str(one)).suffix for one in more)}):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return act(path, *more, **named)

        return go

    monkeypatch.setattr(Path, "touch", checked(Path.touch))
    monkeypatch.setattr(Path, "rename", checked(Path.rename))
    return suffixes


async def landed(folder: Folder, run_id: str, text: bytes) -> None:
    view = folder.begin(run_id, atomic=True)
    await view.write("a", text)
    await view.land()
    assert view.landed == 1
    await view.discard()


async def test_expired_landings_that_cannot_be_dropped_wait(
    folder: Folder, root: Path, tmp_path: Path, full: set[str]
) -> None:
    await landed(folder, "old", b"1")
    later = Folder(root, journals=tmp_path / "journals", keep_days=1e-9)
    full.add(".expired")

    await landed(later, "run", b"2")
    await landed(later, "run after", b"3")

    assert (root / "a").read_bytes() == b"3"


async def test_a_landing_that_cannot_be_noted_stands_and_is_noted_later(
    folder: Folder, root: Path, full: set[str]
) -> None:
    full.add(".journal")

    await landed(folder, "run", b"1")
    with pytest.raises(WorkspaceError, match="No space left"):
        await landed(folder, "run after", b"2")
    assert (root / "a").read_bytes() == b"1"

    full.clear()
    await folder.undo("run")
    assert (root / "a").read_bytes() == b"old a"


async def test_an_undo_that_cannot_be_noted_stands_and_is_noted_later(
    folder: Folder, root: Path, full: set[str]
) -> None:
    await landed(folder, "run", b"1")
    full.add(".undone")

    await folder.undo("run")
    assert (root / "a").read_bytes() == b"old a"

    full.clear()
    with pytest.raises(RunUnknown, match="undone already"):
        await folder.undo("run")
