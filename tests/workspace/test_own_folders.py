"""Lineshaft's own folders are closed to every path, also where the workspace is the home folder."""

import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from lineshaft.errors import ConfigError, OutsideWorkspace, WorkspaceError
from lineshaft.values import Workspace
from lineshaft.workspace import Folder, Mount

OWN = {
    "XDG_CACHE_HOME": ".cache/lineshaft",
    "XDG_STATE_HOME": ".local/state/lineshaft",
    "XDG_DATA_HOME": ".local/share/lineshaft",
    "XDG_CONFIG_HOME": ".config/lineshaft",
}

Act = Callable[[Workspace, str], Awaitable[object]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home folder in which Lineshaft has files."""
    home = tmp_path / "home"
    for variable, folder in OWN.items():
        monkeypatch.delenv(variable, raising=False)
        (home / folder / "inner").mkdir(parents=True)
        (home / folder / "inner" / "file").write_text("own")
    (home / ".cache" / "other").mkdir()
    (home / ".cache" / "other" / "file").write_text("other")
    (home / "evil" / "lineshaft" / "inner").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture(params=["folder", "view", "staged"])
def workspace(home: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Workspace:
    """Return the home folder as a workspace, used in each way."""
    return used(Folder(home, journals=tmp_path / "journals"), request.param)


def used(folder: Folder, way: str) -> Workspace:
    if way == "folder":
        return folder
    return folder.begin("run", atomic=way == "staged")


async def _walk(at: Workspace, path: str) -> None:
    async for _ in at.walk(path, ignore=False):
        pass


EVERYTHING: dict[str, Act] = {
    "resolve": lambda at, path: at.resolve(path),
    "resolve the link": lambda at, path: at.resolve(path, follow=False),
    "stat": lambda at, path: at.stat(path),
    "read": lambda at, path: at.read(path),
    "write": lambda at, path: at.write(path, b"x"),
    "make a folder": lambda at, path: at.make_folder(path),
    "link": lambda at, path: at.link(path, "evil"),
    "link to": lambda at, path: at.link("new", path),
    "move": lambda at, path: at.move(path, "new"),
    "move to": lambda at, path: at.move("evil", path),
    "delete": lambda at, path: at.delete(path),
    "walk": _walk,
}


@pytest.mark.parametrize("act", EVERYTHING.values(), ids=EVERYTHING)
@pytest.mark.parametrize("own", OWN.values())
async def test_nothing_can_be_done_with_a_path_in_them(
    workspace: Workspace, home: Path, own: str, act: Act
) -> None:
    before = sorted(home.rglob("*"))
    for path in (own, f"{own}/inner/file", f"{own}/inner", f"{own}/new", f"./x/..//{own}/inner/"):
        with pytest.raises(OutsideWorkspace, match=r"Lineshaft's own|leads out") as raised:
            await act(workspace, path)
        assert str(home) not in str(raised.value)
    assert sorted(home.rglob("*")) == before


@pytest.mark.parametrize("own", OWN.values())
async def test_before_they_are_there_nobody_can_make_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str
) -> None:
    home = tmp_path / "new"
    (home / "evil" / "lineshaft").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    for variable in OWN:
        monkeypatch.delenv(variable, raising=False)
    above = own.removesuffix("/lineshaft")
    acts: list[Callable[[Workspace], Awaitable[object]]] = [
        lambda at: at.make_folder(own),
        lambda at: at.write(f"{own}/file", b"x"),
        lambda at: at.move("evil", above),
        lambda at: at.move("evil", own),
        lambda at: at.link(above, "evil"),
        lambda at: at.link(own, "../evil/lineshaft"),
    ]
    for way in ("view", "staged"):
        at = used(Folder(home, journals=tmp_path / "journals"), way)
        for act in acts:
            with pytest.raises(OutsideWorkspace):
                await act(at)
    assert sorted(path.name for path in home.iterdir()) == ["evil"]


@pytest.mark.parametrize("above", [".cache", ".local", ".local/state"])
async def test_what_holds_them_is_neither_moved_nor_deleted_nor_replaced(
    workspace: Workspace, home: Path, above: str
) -> None:
    for act in (
        lambda: workspace.move(above, "elsewhere"),
        lambda: workspace.move("evil", above),
        lambda: workspace.delete(above),
        lambda: workspace.link(above, "evil"),
    ):
        with pytest.raises(WorkspaceError):
            await act()
    assert (home / above).is_dir()
    assert not (home / "elsewhere").exists()


async def test_a_link_to_them_leads_nowhere(workspace: Workspace, home: Path) -> None:
    (home / "link").symlink_to(home / ".local" / "state")
    (home / "deep").symlink_to(".cache/lineshaft/inner")
    (home / "second").symlink_to("link/lineshaft")
    for path in ("link/lineshaft/inner/file", "deep/file", "second/inner", "second"):
        with pytest.raises(OutsideWorkspace, match="Lineshaft's own"):
            await workspace.read(path)
    for target in (".cache/lineshaft", "link/lineshaft/inner", str(home / ".cache" / "lineshaft")):
        with pytest.raises(OutsideWorkspace):
            await workspace.link("another", target)


async def test_a_link_on_the_way_to_them_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, disk = tmp_path / "home", tmp_path / "home" / "disk"
    (disk / "lineshaft" / "inner").mkdir(parents=True)
    (home / ".cache").symlink_to("disk")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    acts: list[Callable[[Workspace], Awaitable[object]]] = [
        lambda at: at.delete(".cache"),
        lambda at: at.move(".cache", "x"),
        lambda at: at.move("disk", "x"),
    ]
    for way in ("folder", "view", "staged"):
        at = used(Folder(home, journals=tmp_path / "journals"), way)
        for path in ("disk/lineshaft/inner", ".cache/lineshaft/inner"):
            with pytest.raises(OutsideWorkspace, match="Lineshaft's own"):
                await at.stat(path)
        for act in acts:
            with pytest.raises(OutsideWorkspace, match="Lineshaft's own"):
                await act(at)


async def test_a_link_to_what_holds_them_may_go(workspace: Workspace, home: Path) -> None:
    (home / "link").symlink_to(".cache")
    await workspace.delete("link")
    assert (await workspace.read(".cache/other/file")).data == b"other"


async def test_a_walk_leaves_them_out(workspace: Workspace) -> None:
    found = [entry.path async for entry in workspace.walk(ignore=False)]
    assert [path for path in found if "inner/file" in path] == []
    assert not set(found) & set(OWN.values())
    assert ".cache/other/file" in found
    assert "evil/lineshaft/inner" in found  # only their name is the same


async def test_by_an_alias_they_are_as_closed(home: Path, tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    root.mkdir()
    at = Folder(root, aliases={"home": Mount(home, writable=True)})
    with pytest.raises(OutsideWorkspace, match="Lineshaft's own"):
        await at.read("@home/.cache/lineshaft/inner/file")
    with pytest.raises(OutsideWorkspace, match="Lineshaft's own"):
        await at.move("@home/.cache", "@home/x")
    assert (await at.read("@home/.cache/other/file")).data == b"other"


def test_they_are_no_workspace_and_no_mount(home: Path, tmp_path: Path) -> None:
    (home / "link").symlink_to(".local/state/lineshaft")
    for own in (*OWN.values(), ".cache/lineshaft/inner", "link"):
        with pytest.raises(ConfigError, match="Lineshaft's own"):
            Folder(home / own)
        with pytest.raises(ConfigError, match="@own"):
            Folder(tmp_path, aliases={"own": Mount(home / own)})


async def test_other_folders_are_open_as_before(workspace: Workspace, home: Path) -> None:
    await workspace.write(".cache/other/file", b"new")
    await workspace.move(".cache/other", ".cache/moved")
    assert (await workspace.read(".cache/moved/file")).data == b"new"
    await workspace.write(".cache/lineshaft2/file", b"x")
    await workspace.make_folder(".config/other")
    await workspace.delete(".config/other")


MOUNTED = """
import asyncio, subprocess, sys
from lineshaft.errors import WorkspaceError
from lineshaft.workspace import Folder
home = sys.argv[1]
own, seen = f"{home}/.cache/lineshaft", f"{home}/seen"
subprocess.run(["mount", "--bind", own, seen], check=True)
async def main():
    at = Folder(home)
    acts = [at.read, at.stat, lambda path: at.write(path, b"x"), lambda path: at.move(path, "y")]
    for path in ("seen", "seen/inner", "seen/inner/file"):
        for act in acts:
            try:
                await act(path)
            except WorkspaceError:
                print("refused")
    print([entry.path async for entry in at.walk() if entry.path.startswith("seen")])
asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="platform: needs bind mounts")
def test_mounted_elsewhere_they_are_as_closed(home: Path) -> None:
    (home / "seen").mkdir()
    argv = ["unshare", "--user", "--map-root-user", "--mount", sys.executable, "-c", MOUNTED]
    done = subprocess.run(
        [*argv, str(home)], capture_output=True, text=True, timeout=60, check=False
    )
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip("platform: this machine lets nobody mount")
    assert (done.stdout.split(), done.stderr) == (["refused"] * 12 + ["[]"], "")
