"""Where a path leads: into the workspace, or to an error that names no folder of this machine."""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineshaft.errors import ConfigError, OutsideWorkspace, WorkspaceError
from lineshaft.workspace import Folder, Mount


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with neighbours that it must not reach."""
    root = tmp_path / "ws"
    (root / "secrets").mkdir(parents=True)
    (root / "secrets" / "k").write_text("key")
    (root / "x").mkdir()
    (tmp_path / "ws-evil").mkdir()
    (tmp_path / "ws-evil" / "f").write_text("evil")
    return root


async def path_of(folder: Folder, path: str, *, follow: bool = True) -> str:
    return (await folder.resolve(path, follow=follow)).path


@pytest.mark.parametrize(
    "path",
    [
        "secrets/k",
        "./x/../secrets/k",
        "x//..//secrets/./k/",
        "@project/secrets/k",
        "@project/x/../secrets/k",
        "link/k",
        "x/up/k",
        "absolute/k",
        "file",
        "not/there/../../secrets/k",
    ],
)
async def test_a_file_has_one_name_however_it_is_written(root: Path, path: str) -> None:
    (root / "link").symlink_to("secrets")
    (root / "x" / "up").symlink_to("../secrets")
    (root / "absolute").symlink_to(root / "secrets")
    (root / "file").symlink_to("link/k")

    resolved = await Folder(root).resolve(path)

    assert (resolved.path, resolved.alias, resolved.writable) == ("secrets/k", "project", True)
    assert resolved.real == str(root / "secrets" / "k")


@pytest.mark.parametrize(
    ("below", "told"),
    [("secrets/k", "write 'secrets/k': paths are relative"), ("", "write '.': paths are relative")],
)
async def test_an_absolute_path_of_the_workspace_is_told_as_it_is_to_be_written(
    root: Path, below: str, told: str
) -> None:
    with pytest.raises(OutsideWorkspace, match=re.escape(told)):
        await Folder(root).resolve(str(root / below))


@pytest.mark.parametrize("path", ["{}-evil/f", "{}/../ws-evil/f"])
async def test_what_only_begins_like_the_workspace_is_no_path_of_it(root: Path, path: str) -> None:
    with pytest.raises(OutsideWorkspace, match="is absolute: name it relative"):
        await Folder(root).resolve(path.format(root))


@pytest.mark.parametrize("path", [".", "./", "@project", "@project/", "x/..", "secrets/./.."])
async def test_the_workspace_itself_is_a_dot(root: Path, path: str) -> None:
    assert await path_of(Folder(root), path) == "."


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "//etc/passwd",
        "",
        "  ",
        "~",
        "~/x",
        "..",
        "../ws-evil/f",
        "../ws/secrets/k",
        "x/../../ws-evil/f",
        "@project/../ws-evil/f",
        "@project/../../etc/passwd",
        "@nowhere/x",
        "@",
        "@/x",
        "a\0b",
        "secrets/k\0.txt",
        "a\ud800b",
        "a/" * 3_000,
        "out",
        "out/f",
        "out/new/file",
        "dangling",
        "dangling/x",
        "deep/link/f",
        "sibling",
        "loop",
        "loop/x",
        "ping",
        "self/self/self",
    ],
)
async def test_what_leads_out_is_refused_without_a_path_of_this_machine(
    root: Path, path: str
) -> None:
    (root / "out").symlink_to("../ws-evil")
    (root / "dangling").symlink_to("/nowhere/at/all")
    (root / "deep").mkdir()
    (root / "deep" / "link").symlink_to(root.parent / "ws-evil")
    (root / "sibling").symlink_to(str(root) + "-evil")
    (root / "loop").symlink_to("loop")
    (root / "ping").symlink_to("pong")
    (root / "pong").symlink_to("ping")
    (root / "self").symlink_to("../ws-evil/..")

    with pytest.raises(OutsideWorkspace) as caught:
        await Folder(root).resolve(path)

    assert str(root.parent) not in caught.value.message + caught.value.hint
    caught.value.message.encode()


async def test_a_link_to_a_place_that_does_not_exist_yet_is_decided(root: Path) -> None:
    (root / "later").symlink_to("x/not/yet")

    assert await path_of(Folder(root), "later/file") == "x/not/yet/file"


async def test_the_last_part_is_kept_where_the_link_itself_is_meant(root: Path) -> None:
    (root / "out").symlink_to("/etc")
    (root / "link").symlink_to("secrets")
    (root / "secrets" / "inner").symlink_to("k")
    folder = Folder(root)

    assert await path_of(folder, "out", follow=False) == "out"
    assert await path_of(folder, "out/.", follow=False) == "out"
    assert await path_of(folder, "link/inner", follow=False) == "secrets/inner"
    with pytest.raises(OutsideWorkspace):
        await folder.resolve("out/passwd", follow=False)


async def test_aliases_name_other_folders(root: Path, tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    folder = Folder(root, aliases={"pkg": Mount(package), "@out": Mount(tmp_path, writable=True)})

    resolved = await folder.resolve("@pkg/a/../b")

    assert (resolved.path, resolved.alias, resolved.writable) == ("@pkg/b", "pkg", False)
    assert (await folder.resolve("@out/c")).writable
    assert await path_of(folder, "@pkg") == "@pkg"
    with pytest.raises(OutsideWorkspace):
        await folder.resolve("@pkg/../ws-evil/f")


async def test_a_file_keeps_one_name_where_mounts_overlap(root: Path) -> None:
    (root / "docs").mkdir()
    folder = Folder(
        root,
        aliases={"docs": Mount(root / "docs"), "all": Mount(root.parent, writable=True)},
    )

    for path in ("docs/a", "@docs/a", "@all/ws/docs/a"):
        resolved = await folder.resolve(path)
        assert (resolved.path, resolved.writable) == ("docs/a", False)
    assert await path_of(folder, "@all/ws-evil/f") == "@all/ws-evil/f"


@pytest.mark.parametrize("alias", ["project", "state", "@state"])
def test_an_alias_of_our_own_is_not_given_away(root: Path, alias: str) -> None:
    with pytest.raises(ConfigError, match="is taken"):
        Folder(root, aliases={alias: Mount(root)})


async def test_a_link_into_another_mount_is_known_by_its_alias(root: Path, tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (root / "vendor").symlink_to(package)

    resolved = await Folder(root, aliases={"pkg": Mount(package)}).resolve("vendor/a.py")

    assert (resolved.path, resolved.writable) == ("@pkg/a.py", False)


async def test_an_unknown_alias_is_told_the_known_ones(root: Path) -> None:
    with pytest.raises(OutsideWorkspace, match="'@types'") as caught:
        await Folder(root).resolve("@types/node.d.ts")

    assert "@project" in caught.value.hint


async def test_a_file_whose_name_starts_with_an_at_sign_has_a_name_of_its_own(root: Path) -> None:
    (root / "@types").mkdir()
    (root / "@types" / "a").write_text("x")
    folder = Folder(root)

    assert await path_of(folder, "./@types/a") == "./@types/a"
    assert await path_of(folder, await path_of(folder, "x/../@types/a")) == "./@types/a"
    assert (await folder.read("./@types/a")).data == b"x"


async def test_the_run_has_a_private_folder_that_goes_with_it(root: Path) -> None:
    folder = Folder(root)
    one, two = folder.begin(), folder.begin()

    await one.write("@state/a/b", b"mine")

    place = Path((await one.resolve("@state/a/b")).real)
    assert (await one.read("@state/a/b")).data == b"mine"
    assert place.parents[1].stat().st_mode & 0o777 == 0o700
    assert not place.is_relative_to(root)
    with pytest.raises(WorkspaceError):
        await two.read("@state/a/b")
    await one.discard()
    await one.discard()
    assert not place.parents[1].exists()
    with pytest.raises(OutsideWorkspace):
        await folder.resolve("@state/a/b")
    await two.discard()


KEEPING = """
import asyncio, sys
from lineshaft.workspace import Folder
async def main():
    view = Folder(sys.argv[1]).begin()
    await view.write("@state/a/b", b"mine")
    print((await view.resolve("@state/a")).real, flush=True)
    sys.stdin.read()
asyncio.run(main())
"""


def test_private_folders_of_killed_processes_are_swept(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    # Of a number that is not looked up: a container that shares the folder counts its own.
    of_older_version = tmp_path / f"lineshaft-state-{2**22 + 1}-abcd"
    of_older_version.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", KEEPING, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        place = Path(process.stdout.readline().strip()).parent
        os.utime(place, (0, 0))
        Folder(root)
        assert (place / "a" / "b").read_bytes() == b"mine"
        process.kill()
    os.utime(place)
    Folder(root)
    assert place.exists()  # it may be so young that it is not locked yet
    os.utime(place, (0, 0))
    Folder(root)
    assert not place.exists()
    assert of_older_version.exists()


IN_OTHER_CONTAINER = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]


@pytest.mark.skipif(sys.platform != "linux", reason="platform: needs namespaces")
async def test_a_private_folder_stays_where_another_container_shares_the_temporary_folder(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    view = Folder(root).begin()
    await view.write("@state/a", b"mine")
    os.utime(Path((await view.resolve("@state/a")).real).parent, (0, 0))
    code = "import sys\nfrom lineshaft.workspace import Folder\nFolder(sys.argv[1])"
    argv = [*IN_OTHER_CONTAINER, sys.executable, "-c", code, str(root)]
    done = await asyncio.to_thread(
        subprocess.run, argv, capture_output=True, text=True, timeout=60, check=False
    )
    if done.stderr.startswith("unshare"):
        pytest.skip("platform: this machine lets nobody make namespaces")
    assert done.stderr == ""
    assert (await view.read("@state/a")).data == b"mine"
    await view.discard()


@pytest.mark.parametrize(
    ("aliases", "words"),
    [
        ({"pkg": "gone"}, "'@pkg'"),
        ({"a b": "."}, "is not a name"),
        ({"": "."}, "is not a name"),
        ({"project": "."}, "taken"),
    ],
)
def test_a_mount_that_cannot_be_is_a_mistake_in_the_settings(
    root: Path, aliases: dict[str, str], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        Folder(root, aliases={name: Mount(root / path) for name, path in aliases.items()})


@pytest.mark.parametrize("path", ["gone", "secrets/k"])
def test_a_workspace_that_is_no_folder_is_a_mistake_in_the_settings(root: Path, path: str) -> None:
    with pytest.raises(ConfigError, match="is not a folder"):
        Folder(root / path)


names = st.sampled_from(["a", "b", "c", "l", "m", "..", ".", "ws", "ws-evil", "up"])
paths = st.lists(names, min_size=1, max_size=6).map("/".join)


@settings(deadline=None)
@given(path=paths, one=paths, two=paths, follow=st.booleans())
async def test_no_path_and_no_symlink_leads_out(
    path: str, one: str, two: str, follow: bool
) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary).resolve() / "ws"
        for name in ("a/b/c", "b", "c/up"):
            (root / name).mkdir(parents=True)
        (root.parent / "ws-evil" / "a").mkdir(parents=True)
        (root / "l").symlink_to(one)
        (root / "a" / "m").symlink_to(two)
        folder = Folder(root)
        try:
            resolved = await folder.resolve(path, follow=follow)
        except OutsideWorkspace:
            return

        real = Path(resolved.real)
        assert real.is_relative_to(root)
        assert Path(os.path.realpath(real.parent)) == real.parent
        if follow:
            assert os.path.realpath(real) == str(real)
        assert resolved.path == (real.relative_to(root).as_posix())
        again = await folder.resolve(resolved.path, follow=follow)
        assert again == resolved


async def test_a_decided_path_is_not_followed_anywhere_else(root: Path) -> None:
    folder = Folder(root)
    (root / "x" / "f").write_text("mine")
    decided = (await folder.resolve("x/f")).path
    (root / "x" / "f").unlink()
    (root / "x" / "f").symlink_to("../secrets/k")
    with pytest.raises(OutsideWorkspace, match="became a symlink"):
        await folder.read(decided)
    with pytest.raises(OutsideWorkspace, match="became a symlink"):
        await folder.write(decided, b"new")
    assert (await folder.read("x/f")).data == b"key"
    assert (root / "secrets" / "k").read_text() == "key"
