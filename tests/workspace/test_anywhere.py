"""A stage over a workspace that cannot keep changes back itself: what it lacks, it says."""

import asyncio
import stat
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from lineshaft import Event, Policy, Session, kit
from lineshaft.errors import ConnectFailed, RunUnknown, StaleFile, StateError, WorkspaceError
from lineshaft.values import Change, Command, Stage
from lineshaft.workspace import Folder, StagedAnywhere
from workspace.distant import Distant, DistantView


@pytest.fixture
def distant(root: Path) -> Distant:
    return Distant(root)


@pytest.fixture
def view(distant: Distant) -> Stage:
    return StagedAnywhere(distant).begin("run", atomic=True)


def on_disk(root: Path) -> dict[str, str | None]:
    return {
        str(path.relative_to(root)): path.read_text() if path.is_file() else None
        for path in sorted(root.rglob("*"))
    }


async def test_a_session_keeps_changes_back_and_says_that_they_were_not_landed_whole(
    distant: Distant, root: Path
) -> None:
    (root / "f").write_text("one\n")
    async with Session(
        kit.tools(), workspace=distant, policy=Policy("open"), store=False
    ) as session:
        failed = await session.run(
            "await edit_file(path='f', old='one', new='two')\nraise ValueError('no')"
        )
        assert on_disk(root) == {"f": "one\n"}
        done = await session.run(
            "await edit_file(path='f', old='one', new='two')\n"
            "await write_file(path='new/g', content='new')\n"
            "return [each['path'] for each in (await find_files(pattern='**/*'))['entries']]"
        )
    assert failed.status == "error"
    assert done.status == "success", done.error
    assert done.value == ["f", "new", "new/g"]
    assert on_disk(root) == {"f": "two\n", "new": None, "new/g": "new"}
    assert [finding.code for finding in done.findings] == ["not-atomic"]
    assert [(change.path, change.undoable) for change in done.changes] == [
        ("f", False),
        ("new/g", False),
    ]


@pytest.mark.parametrize("guards", [None, ()])
@pytest.mark.parametrize("error", [ConnectFailed("no answer"), RuntimeError("no answer")])
async def test_a_workspace_that_is_gone_when_changes_land_fails_the_run(
    distant: Distant, root: Path, error: Exception, guards: tuple[()] | None
) -> None:
    (root / "f").write_text("one\n")
    kinds: list[str] = []

    def leave(event: Event) -> None:
        kinds.append(event.kind)
        if event.kind == "call_finished":
            distant.gone.append(error)

    async with Session(
        kit.tools(),
        workspace=distant,
        policy=Policy("open"),
        store=False,
        sinks=[leave],
        guards=guards,
    ) as session:
        result = await session.run("await edit_file(path='f', old='one', new='two')")
    assert (result.status, result.landed) == ("error", False)
    assert result.error is not None
    assert "no answer" in result.error.message
    assert "nothing landed" in result.error.message
    assert kinds[-1] == "run_finished"
    assert on_disk(root) == {"f": "one\n"}


async def test_what_it_lacks_is_told(distant: Distant, view: Stage, root: Path) -> None:
    staged = StagedAnywhere(distant)
    assert staged.capabilities == view.capabilities == {"staged"}
    assert StagedAnywhere(Folder(root)).capabilities == {"staged", "run"}
    with pytest.raises(RunUnknown, match="keeps nothing"):
        await staged.undo("run")
    with pytest.raises(WorkspaceError, match="runs no commands"):
        await view.run(Command(argv=("true",)))
    with pytest.raises(WorkspaceError, match="'link' cannot be made a symlink"):
        await view.link("link", "f")
    (root / "f").touch()
    (root / "link").symlink_to("f")
    for act in (view.delete("link"), view.move("link", "g")):
        with pytest.raises(WorkspaceError, match="'link' is a symlink"):
            await act
    assert (root / "link").is_symlink()


@pytest.mark.parametrize("deaf", [False, True])
async def test_a_landing_that_fails_is_taken_back_or_says_what_is_left(
    distant: Distant, view: Stage, root: Path, deaf: bool
) -> None:
    before = {"a": "a", "gone": "gone", "moves": "moves"}
    for name, text in before.items():
        (root / name).write_text(text)
        await view.read(name)
    await view.write("a", b"A")
    await view.move("moves", "at/last")
    await view.write("z", b"z")
    distant.fails_at, distant.deaf = "z", deaf
    if not deaf:
        with pytest.raises(WorkspaceError, match="'z' cannot be written there; nothing landed"):
            await view.land()
        assert on_disk(root) == before
        distant.fails_at = ""
        await view.land()
        assert on_disk(root) == {
            "a": "A",
            "at": None,
            "at/last": "moves",
            "gone": "gone",
            "z": "z",
        }
    else:
        with pytest.raises(WorkspaceError, match=r"landed in part: .*; not taken back: 'a'"):
            await view.land()
        assert on_disk(root) == {**before, "a": "A"}


@pytest.mark.parametrize("kind", [ConnectFailed, OSError])
async def test_a_landing_is_taken_back_whatever_fails(
    kind: type[Exception], view: Stage, root: Path, distant: Distant
) -> None:
    (root / "a").write_text("a")
    await view.read("a")
    await view.write("a", b"A")
    await view.write("z", b"z")
    distant.fails_at, distant.fails_with = "z", kind
    with pytest.raises(WorkspaceError, match=r"'z' cannot be written there.*; nothing landed"):
        await view.land()
    assert on_disk(root) == {"a": "a"}
    distant.fails_at = ""
    await view.land()
    assert on_disk(root) == {"a": "A", "z": "z"}


@pytest.mark.parametrize("fails", [False, True])
async def test_a_cancel_while_changes_land_leaves_all_or_none(
    view: Stage, root: Path, distant: Distant, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    reached, go = asyncio.Event(), asyncio.Event()
    write = DistantView.write

    async def slow(self: DistantView, path: str, data: bytes, **options: Any) -> Change:
        if path == "m":
            reached.set()
            await go.wait()
        return await write(self, path, data, **options)

    monkeypatch.setattr(DistantView, "write", slow)
    for name in ("a", "m", "z"):
        await view.write(name, b"new")
    distant.fails_at = "z" if fails else ""
    landing = asyncio.create_task(view.land())
    await reached.wait()
    for _ in range(2):
        landing.cancel()
        await asyncio.sleep(0)
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await landing
    assert on_disk(root) == ({} if fails else dict.fromkeys("amz", "new"))
    assert len(await view.changes()) == 3
    assert view.landed == (0 if fails else 1)


async def test_a_workspace_that_cancels_itself_leaves_nothing(
    view: Stage, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = DistantView.write

    async def cancelling(self: DistantView, path: str, data: bytes, **options: Any) -> Change:
        if path == "z":
            raise asyncio.CancelledError
        return await write(self, path, data, **options)

    monkeypatch.setattr(DistantView, "write", cancelling)
    await view.write("a", b"new")
    await view.write("z", b"new")
    with pytest.raises(WorkspaceError, match="nothing landed"):
        await view.land()
    assert on_disk(root) == {}


async def test_a_place_that_was_free_is_not_written_over(view: Stage, root: Path) -> None:
    await view.write("new", b"mine")
    (root / "new").write_text("theirs")
    with pytest.raises(StaleFile, match="'new'"):
        await view.land()
    assert on_disk(root) == {"new": "theirs"}
    assert (await view.read("new")).data == b"theirs"
    await view.write("new", b"mine")
    await view.land()
    assert on_disk(root) == {"new": "mine"}


async def test_files_and_folders_take_each_others_places(view: Stage, root: Path) -> None:
    (root / "file").write_text("file")
    (root / "folder").mkdir()
    (root / "folder" / "inner").write_text("inner")
    await view.move("file", "passing")
    await view.move("folder/inner", "file/inner")
    await view.delete("folder")
    await view.move("passing", "folder")
    assert [entry.path async for entry in view.walk()] == ["file", "file/inner", "folder"]
    await view.land()
    assert on_disk(root) == {"file": None, "file/inner": "inner", "folder": "file"}


async def test_a_file_that_moves_keeps_its_mode(view: Stage, root: Path) -> None:
    (root / "tool").write_text("#!/bin/sh\n")
    (root / "tool").chmod(0o755)
    await view.move("tool", "bin/tool")
    await view.write("bin/tool", b"#!/bin/sh\ntrue\n")
    await view.land()
    assert on_disk(root) == {"bin": None, "bin/tool": "#!/bin/sh\ntrue\n"}
    assert stat.S_IMODE((root / "bin" / "tool").stat().st_mode) == 0o755


async def test_rules_that_wait_to_land_hide_what_they_name(view: Stage, root: Path) -> None:
    (root / "out").mkdir()
    (root / "out" / "old").touch()
    (root / "kept").touch()
    await view.write("out/new", b"")
    assert [entry.path async for entry in view.walk()] == ["kept", "out", "out/new", "out/old"]
    await view.write(".gitignore", b"out/\n")
    assert [entry.path async for entry in view.walk()] == [".gitignore", "kept"]
    assert [entry.path async for entry in view.walk("out")] == ["out/new", "out/old"]
    assert [entry.path async for entry in view.walk(ignore=False, depth=1)] == [
        ".gitignore",
        "kept",
        "out",
    ]


async def test_a_view_goes_on_with_all_that_waits_and_its_own_folder(
    distant: Distant, view: Stage, root: Path
) -> None:
    (root / "f").write_text("f")
    await view.read("f")
    await view.move("f", "g")
    await view.write("@state/note", b"note")
    await view.layer("inner").write("h", b"h")
    packed = await view.pack()
    await view.discard()
    assert on_disk(root) == {"f": "f"}
    again = StagedAnywhere(distant).begin("run", packed=packed)
    assert (await again.read("@state/note")).data == b"note"
    layer = again.layer("inner")
    assert [entry.path async for entry in layer.walk()] == ["g", "h"]
    await layer.land()
    assert on_disk(root) == {"g": "f", "h": "h"}
    other = Folder(root, journals=root.parent / "journals").begin("run", atomic=True)
    with pytest.raises(StateError, match="those of a folder on the disk"):
        StagedAnywhere(distant).begin("run", packed=await other.pack())


@pytest.fixture
async def resumed(distant: Distant, view: Stage) -> Stage:
    """Return a view that goes on with a file of `@state`, not yet used."""
    await view.write("@state/note", b"note")
    packed = await view.pack()
    await view.discard()
    return StagedAnywhere(distant).begin("run", packed=packed)


async def test_its_own_folder_stays_where_it_could_not_be_written_at_first(
    distant: Distant, resumed: Stage
) -> None:
    distant.fails_at = "@state/note"
    with pytest.raises(WorkspaceError, match="cannot be written there"):
        await resumed.read("@state/note")
    distant.fails_at = ""
    assert (await resumed.read("@state/note")).data == b"note"


async def test_its_own_folder_is_there_for_each_of_those_who_use_it_at_once(
    resumed: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = DistantView.write

    async def late(view: DistantView, path: str, data: bytes) -> Change:
        for _ in range(10):  # until the other one has come as far as it can
            await anyio.to_thread.run_sync(int)
            await anyio.wait_all_tasks_blocked()
        return await write(view, path, data)

    monkeypatch.setattr(DistantView, "write", late)
    found: list[bytes] = []

    async def read() -> None:
        found.append((await resumed.read("@state/note")).data)

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        group.start_soon(read)
    assert found == [b"note", b"note"]


async def test_a_copy_shows_what_a_call_would_change(view: Stage, root: Path) -> None:
    (root / "f").write_text("one\n")
    await view.write("g", b"g\n")
    copy = await view.fork()
    await copy.write("f", b"two\n")
    await copy.delete("g")
    assert await view.diff() == (
        "diff --git a/g b/g\nnew file mode 100644\n--- /dev/null\n+++ b/g\n@@ -0,0 +1 @@\n+g\n"
    )
    assert "-one\n+two\n" in await copy.diff()
    assert (await view.before("f")) == await view.read("f")
    assert await view.before("g") is None
    await view.land()
    assert on_disk(root) == {"f": "one\n", "g": "g\n"}
