"""What a program needs is read from its file, and where it looks for it can be changed."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.sandbox.bundle._elf import NotElf, read_elf, set_run_path
from lineshaft.sandbox.bundle._libraries import find_library, needed_libraries, system_files
from lineshaft.sandbox.bundle._subject import ask


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return a copy of a small program."""
    return Path(shutil.copy(shutil.which("true") or "/bin/true", tmp_path / "program"))


def test_what_the_loader_needs_is_what_the_file_says() -> None:
    executable = ask(Path(sys.executable)).executable
    elf = read_elf(executable)
    listed = subprocess.run(["ldd", str(executable)], capture_output=True, text=True, check=True)
    assert [name for name in elf.needed if name not in listed.stdout] == []
    assert elf.interpreter is not None
    assert elf.interpreter in listed.stdout


def test_a_program_with_another_run_path_runs_and_says_so(program: Path) -> None:
    set_run_path(program, "$ORIGIN/../lib")
    assert read_elf(program).run_path == ("$ORIGIN/../lib",)
    subprocess.run([str(program)], check=True)


def test_a_program_without_room_for_a_run_path_is_refused_and_left_as_it_is(program: Path) -> None:
    set_run_path(program, "/first")
    before = program.read_bytes()
    with pytest.raises(NotElf, match="give up its place"):
        set_run_path(program, "/second")
    assert program.read_bytes() == before
    subprocess.run([str(program)], check=True)


def test_a_library_is_looked_for_where_the_run_path_says(
    tmp_path: Path, require: Callable[[str], str]
) -> None:
    compiler = require("cc")
    (tmp_path / "lib").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "one.c").write_text("int one(void) { return 7; }\n")
    (tmp_path / "main.c").write_text("int one(void); int main(void) { return one(); }\n")
    library, program = tmp_path / "lib" / "libone.so", tmp_path / "bin" / "main"
    shared = [compiler, "-shared", "-fPIC", "-o", str(library), str(tmp_path / "one.c")]
    subprocess.run(shared, check=True)
    subprocess.run(
        [compiler, "-o", str(program), str(tmp_path / "main.c"), str(library)], check=True
    )
    set_run_path(program, "$ORIGIN/../lib")
    moved = library.rename(tmp_path / "lib" / "libone.so.moved")
    assert subprocess.run([str(program)], check=False, capture_output=True).returncode != 7
    moved.rename(library)
    assert subprocess.run([str(program)], check=False, env={}).returncode == 7


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for start in (b"", b"\x7fELF\x02\x01"):
        with tempfile.NamedTemporaryFile() as file:
            file.write(start + data)
            file.flush()
            with pytest.raises(NotElf):
                read_elf(Path(file.name))


def test_a_script_is_no_elf_file(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    with pytest.raises(NotElf):
        read_elf(script)


def test_the_c_library_stays_with_the_machine() -> None:
    executable = ask(Path(sys.executable)).executable
    names = needed_libraries([executable], prefix=executable.parent.parent)
    assert [name for name in names if name.startswith(("libc.", "libm.", "ld-linux"))] == []
    system = {path.name for path in system_files([executable, *names.values()])}
    assert "libc.so.6" in system
    assert find_library("libc.so.6") is not None


def test_a_library_that_is_nowhere_is_not_found(tmp_path: Path) -> None:
    assert find_library("libnowhere.so.9", [tmp_path]) is None


def test_a_library_for_another_processor_is_not_found() -> None:
    mine = read_elf(ask(Path(sys.executable)).executable).machine
    assert find_library("libc.so.6", machine=mine) is not None
    assert find_library("libc.so.6", machine=mine + 1) is None
