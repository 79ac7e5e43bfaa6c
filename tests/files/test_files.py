"""Lineshaft's own files: where they lie, who may touch them, how they are written."""

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from lineshaft.errors import ConfigError
from lineshaft.files import (
    cache_folder,
    config_folder,
    data_folder,
    lock_file,
    locked,
    made_private,
    only_writer,
    others_cannot_write,
    private_folder,
    state_folder,
    trusted,
    write_whole,
)

unix = pytest.mark.skipif(sys.platform == "win32", reason="platform: owners and modes")

PLACES = {
    cache_folder: ("XDG_CACHE_HOME", ".cache"),
    state_folder: ("XDG_STATE_HOME", ".local/state"),
    data_folder: ("XDG_DATA_HOME", ".local/share"),
    config_folder: ("XDG_CONFIG_HOME", ".config"),
}


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_each_folder_is_named_by_its_variable_or_lies_in_the_home_folder(
    place: Callable[[Mapping[str, str]], Path],
) -> None:
    variable, below_home = PLACES[place]  # type: ignore[index]  functions are what it is kept by
    assert place({variable: "/given", "HOME": "/home/me"}) == Path("/given/lineshaft")
    assert place({"HOME": "/home/me"}) == Path("/home/me", below_home, "lineshaft")
    assert place({variable: "relative", "HOME": "/h"}) == Path("/h", below_home, "lineshaft")
    with pytest.raises(ConfigError, match=variable):
        place({"HOME": "relative"})


@unix
def test_a_private_folder_is_private_and_so_are_those_above_that_were_missing(
    tmp_path: Path,
) -> None:
    made = private_folder(tmp_path / "a" / "b")
    for folder in (made, made.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert made_private(made) == made


def test_a_file_in_the_way_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be made") as caught:
        private_folder(tmp_path / "file" / "folder")
    assert "XDG_STATE_HOME" in caught.value.hint


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")
    write_whole(path, memoryview(b"new"))
    assert path.read_bytes() == b"new"
    with pytest.raises(TypeError):
        write_whole(path, "text")  # type: ignore[arg-type]  what is wrong with it
    assert path.read_bytes() == b"new"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


@unix
def test_only_the_owner_reads_what_is_written_unless_it_is_said(tmp_path: Path) -> None:
    write_whole(tmp_path / "own", b"")
    write_whole(tmp_path / "shared", b"", 0o644)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("own", "shared")]
    assert modes == [0o600, 0o644]


@unix
@pytest.mark.parametrize(
    ("mode", "judged"), [(0o600, "own"), (0o644, "own"), (0o620, "no"), (0o602, "no")]
)
def test_a_file_that_others_can_write_is_not_trusted(
    mode: int, judged: str, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_text("")
    path.chmod(mode)
    assert trusted(path.stat()) == judged


@unix
def test_a_path_below_a_folder_that_others_can_write_can_be_replaced(tmp_path: Path) -> None:
    file = tmp_path / "open" / "inner" / "file"
    file.parent.mkdir(parents=True)
    file.write_text("")
    assert others_cannot_write(file)
    file.parent.parent.chmod(0o777)
    assert not others_cannot_write(file)
    file.parent.parent.chmod(0o1777)
    assert others_cannot_write(file)
    assert not others_cannot_write(tmp_path / "missing" / "file")


def test_a_lock_holds_out_another_descriptor_until_it_is_given_back(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    order: list[str] = []
    waiting = threading.Event()

    def second() -> None:
        waiting.set()
        with locked(path):
            order.append("second")

    with locked(path):
        other = os.open(path, os.O_RDWR)
        with pytest.raises(BlockingIOError):
            lock_file(other, wait=False)
        os.close(other)
        thread = threading.Thread(target=second)
        thread.start()
        assert waiting.wait(10)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    program = """
import os, sys
from pathlib import Path
from lineshaft.files import locked
with locked(Path(sys.argv[1])):
    os._exit(0)
"""
    path = tmp_path / "lock"
    subprocess.run([sys.executable, "-c", program, str(path)], check=True, timeout=60)
    with locked(path):
        assert path.is_file()


def test_the_only_writer_of_a_file_removes_what_killed_ones_left(tmp_path: Path) -> None:
    file = tmp_path / "secrets.json"
    write_whole(file, b"old")
    left, others = tmp_path / ".secrets.json.x1y2", tmp_path / ".secrets.jsonl.x1y2"
    for each in (left, others):
        each.write_bytes(b"old")
    with only_writer(file):
        write_whole(file, b"new")
    assert not left.exists()
    assert others.exists()
    assert file.read_bytes() == b"new"
