"""What is closed is found under every path by which it is in sight."""

import itertools
import os
import shutil
import tempfile
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from lineshaft.errors import EngineError, NoBoundary
from lineshaft.sandbox.jail import SandboxSpec
from lineshaft.sandbox.jail._copy import copy_apart
from lineshaft.sandbox.jail._landlock import beside
from lineshaft.sandbox.jail._scratch import make_scratch
from lineshaft.sandbox.jail._views import in_sight, other_names
from sandbox.jail.inside import SECONDS, Inside, read_all

pytestmark = pytest.mark.usefixtures("own_temporary_folder")

LOOK = """
import sys
for path in sys.argv[1:]:
    try:
        print(bool(open(path).read()))
    except OSError:
        print(False)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a secret, and with a link to the folder beside it."""
    tmp_path.chmod(0o755)
    root = tmp_path / "real"
    (root / "d").mkdir(parents=True)
    for name in ("open", "secret", "d/secret"):
        (root / name).write_text(name)
    (tmp_path / "link").symlink_to("real")
    return root


def test_a_closed_file_is_in_sight_under_the_names_of_open_folders(folder: Path) -> None:
    link = folder.parent / "link"
    assert in_sight([folder / "secret"], [link]) == [link / "secret"]
    assert in_sight([link / "secret"], [folder]) == [folder / "secret"]
    assert set(in_sight([folder / "secret"], [folder, link])) == {
        folder / "secret",
        link / "secret",
    }
    assert in_sight([folder / "secret"], [folder / "d"]) == []
    assert in_sight([folder / "nothing"], [folder]) == []
    assert in_sight([folder / "secret"], [folder / "secret"]) == [folder / "secret"]


def test_other_names_of_a_closed_file_are_found(folder: Path) -> None:
    (folder / "d" / "second").hardlink_to(folder / "secret")
    assert set(other_names([folder / "secret"], [folder])) == {
        folder / "secret",
        folder / "d" / "second",
    }
    assert other_names([folder / "open"], [folder]) == []


def test_everything_beside_what_is_closed_stays_open(tmp_path: Path, folder: Path) -> None:
    found = set(beside([str(folder / "secret")]))
    assert {str(folder / "open"), str(folder / "d")} <= found
    above = {str(parent) for parent in folder.parents} | {str(folder), str(folder / "secret")}
    assert found & above == set()


@pytest.mark.parametrize("opened", ["real", "link"])
@pytest.mark.parametrize("named", ["real", "link"])
def test_a_link_to_a_folder_opens_nothing_closed(
    inside: Inside, folder: Path, opened: str, named: str
) -> None:
    top = folder.parent
    spec = SandboxSpec(
        readable=(top / opened,), hidden=(top / named / "secret", top / named / "d" / "secret")
    )
    names = [str(top / tree / name) for tree in ("real", "link") for name in ("secret", "d/secret")]
    ran = inside.run(LOOK, str(top / opened / "open"), *names, spec=spec)
    assert ran.out.split() == ["True", "False", "False", "False", "False"]


def test_a_folder_named_by_a_link_is_kept_apart_all_the_same(inside: Inside, folder: Path) -> None:
    link = folder.parent / "link"
    code = """
import os, sys
open("made", "w").write("x")
print(os.getcwd() == sys.argv[1])
try:
    print(open("secret").read())
except OSError:
    print("closed")
"""
    spec = SandboxSpec(readable=(), hidden=(link / "secret",))
    with inside.started(code, str(folder), spec=spec, apart=link) as (jailed, out):
        assert read_all(out).split() == ["True", "closed"]
        jailed.wait(SECONDS)
        assert [change.path for change in jailed.changes().files] == ["made"]
    assert not (folder / "made").exists()


def test_a_folder_that_is_too_large_is_not_copied_and_leaves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lineshaft.sandbox.jail._copy.MOST_FILES", 2)
    scratch = make_scratch()
    with pytest.raises(NoBoundary, match="too large"):
        copy_apart(folder, scratch.path / "copy", spec=SandboxSpec(readable=()), user=None)
    assert list(scratch.path.iterdir()) == []
    scratch.discard()
    scratch.discard()
    assert not scratch.path.exists()


def test_a_folder_in_which_others_work_is_copied_all_the_same(folder: Path, tmp_path: Path) -> None:
    """What is taken away between the look at a folder and the copy of it was not there."""
    (folder / "stays").write_text("x")
    tired = threading.Event()

    def work() -> None:
        for number in itertools.count():
            if tired.is_set():
                return
            temporary = folder / f".{number}.tmp"
            temporary.write_text("x")
            temporary.rename(folder / f"named-{number % 3}")
            (folder / "box" / "inner").mkdir(parents=True)
            (folder / "box" / "inner" / "file").write_text("x")
            shutil.rmtree(folder / "box")

    with ThreadPoolExecutor(1) as others:
        working = others.submit(work)
        try:
            for number in range(100):
                copied = copy_apart(
                    folder, tmp_path / str(number), spec=SandboxSpec(readable=()), user=None
                )
                assert copied.before["stays"].kind == "file"
                assert not copied.changes().files
        finally:
            tired.set()
            working.result()


def test_nothing_of_outside_is_copied_where_a_symlink_comes_meanwhile(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside"
    (outside / "inner").mkdir(parents=True)
    for path in (outside / "file", outside / "inner" / "file"):
        path.write_text("hush")
    shutil.copytree(outside, folder / "box")
    (folder / "single").write_text("x")
    swaps = {folder / "box": outside, folder / "single": outside / "file"}

    def swap(path: Path) -> bool:
        """Do what others may, once a path is listed and before it is opened."""
        if path in swaps:
            path.rename(tmp_path / path.name)
            path.symlink_to(swaps[path])
        return False

    monkeypatch.setattr("lineshaft.sandbox.jail._copy._special", swap)
    copied = copy_apart(folder, tmp_path / "copy", spec=SandboxSpec(readable=()), user=None)

    assert not {name for name in copied.before if name.startswith("box/")}
    assert copied.before["single"].kind == "symlink"


@contextmanager
def somebody() -> Generator[None]:
    """Have no more rights than any user of the machine."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_what_the_user_may_not_read_is_left_out_and_stays_as_it_is() -> None:
    top = Path(tempfile.mkdtemp(prefix="lineshaft-test-", dir="/tmp"))
    top.chmod(0o777)
    work = top / "work"
    try:
        with somebody():
            (work / "shut").mkdir(parents=True)
            for name in ("open.txt", "closed.txt", "shut/inside.txt"):
                (work / name).write_text("x")
            (work / "closed.txt").chmod(0)
            (work / "shut").chmod(0)
            copied = copy_apart(work, top / "copy", spec=SandboxSpec(readable=()), user=None)
            assert list(copied.before) == ["open.txt"]
            (top / "copy" / "closed.txt").write_text("taken")
            (top / "copy" / "new.txt").write_text("x")
            changes = copied.changes()
            (work / "shut").chmod(0o700)
    finally:
        shutil.rmtree(top)
    assert [change.path for change in changes.files] == ["new.txt"]
    assert changes.refused == ("closed.txt",)


def test_a_folder_that_cannot_be_read_is_not_copied_in_part(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="cannot be copied"):
        copy_apart(folder / "no", tmp_path / "copy", spec=SandboxSpec(readable=()), user=None)
