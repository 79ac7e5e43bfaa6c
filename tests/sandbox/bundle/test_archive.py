"""An archive unpacks whole and inside its folder, or not at all."""

import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from lineshaft.errors import PythonNotFound
from lineshaft.sandbox.bundle._archive import ArchiveBounds, unpack

Member = tuple[str, bytes, str, str]
"""Name, kind, content, link target."""


def _archive(path: Path, *members: Member) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, kind, content, target in members:
            info = tarfile.TarInfo(name)
            info.type, info.linkname, info.mode = kind, target, 0o4777
            info.size = len(content) if kind == tarfile.REGTYPE else 0
            tar.addfile(info, io.BytesIO(content.encode()))
    return path


def _file(name: str, content: str = "x") -> Member:
    return name, tarfile.REGTYPE, content, ""


def _link(name: str, target: str) -> Member:
    return name, tarfile.SYMTYPE, "", target


def _second_name(name: str, target: str) -> Member:
    return name, tarfile.LNKTYPE, "", target


HOSTILE: dict[str, tuple[Member, ...]] = {
    "absolute": (_file("/evil-of-an-archive"),),
    "above": (_file("../evil"),),
    "above in the middle": (_file("a/../../evil"),),
    "backslashes": (_file("..\\evil"),),
    "link to an absolute path": (_link("a", "/etc/passwd"),),
    "link out": (_link("a/b", "../../evil"),),
    "link that comes back": (_link("a", "x/../../target/b"),),
    "link up behind a link": (_link("d/l", ".."), _link("a", "d/l/../../evil")),
    "through a link": (_link("a", "."), _file("a/evil")),
    "through a link to a folder": (_file("b/c"), _link("a", "b"), _file("a/evil")),
    "over a link": (_link("a", "b"), _file("a")),
    "over a file": (_file("a"), _file("a", "y")),
    "second name of nothing": (_second_name("a", "nothing"),),
    "second name of something outside": (_second_name("a", "../../etc/passwd"),),
    "second name of a link": (_link("b", "c"), _second_name("a", "b")),
    "pipe": (("a", tarfile.FIFOTYPE, "", ""),),
    "device": (("a", tarfile.CHRTYPE, "", ""),),
    "folder in the place of a file": (_file("a"), _file("a/b")),
}


@pytest.mark.parametrize("members", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_archive_is_refused_and_leaves_nothing(
    tmp_path: Path, members: tuple[Member, ...]
) -> None:
    archive = _archive(tmp_path / "a.tar.gz", _file("good"), *members)
    with pytest.raises(PythonNotFound, match="is refused"):
        unpack(archive, tmp_path / "target")
    assert [path.name for path in tmp_path.iterdir()] == ["a.tar.gz"]
    assert not (tmp_path.parent / "evil").exists()
    assert not Path("/evil-of-an-archive").exists()


def _bomb(path: Path) -> Path:
    with tarfile.open(path, "w:gz", compresslevel=9) as tar:
        info = tarfile.TarInfo("zeros")
        info.size = 50_000_000
        tar.addfile(info, io.BytesIO(bytes(info.size)))
    return path


def _many(path: Path) -> Path:
    return _archive(path, *(_file(f"f{number}") for number in range(60)))


def _torn(path: Path) -> Path:
    whole = _archive(path, _file("a", "x" * 100_000)).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    return path


def _spoilt(path: Path) -> Path:
    path.write_bytes(gzip.compress(b"no archive at all" * 100))
    return path


@pytest.mark.parametrize("make", [_bomb, _many, _torn, _spoilt])
def test_what_is_too_large_or_damaged_leaves_nothing(
    tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    archive = make(tmp_path / "a.tar.gz")
    with pytest.raises(PythonNotFound, match="is refused"):
        unpack(archive, tmp_path / "target", bounds=ArchiveBounds(bytes=1_000_000, files=50))
    assert [path.name for path in tmp_path.iterdir()] == ["a.tar.gz"]


def test_an_honest_archive_keeps_its_files_links_and_what_may_run(tmp_path: Path) -> None:
    members = (
        ("d", tarfile.DIRTYPE, "", ""),
        _file("d/one", "first"),
        _link("d/two", "one"),
        _link("three", "d/one"),
        _second_name("four", "d/one"),
    )
    unpack(_archive(tmp_path / "a.tar.gz", *members), tmp_path / "target")
    target = tmp_path / "target"
    assert {name: (target / name).read_text() for name in ("d/two", "three", "four")} == {
        "d/two": "first",
        "three": "first",
        "four": "first",
    }
    assert (target / "d" / "one").stat().st_mode & 0o7777 == 0o755
    assert (target / "four").stat().st_ino != (target / "d" / "one").stat().st_ino
