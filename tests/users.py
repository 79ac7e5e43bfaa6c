"""Tests for every user of a machine: a Python that all may read, and programs run as somebody."""

import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

import lineshaft
from lineshaft.sandbox.bundle import Interpreter, build, resolve
from lineshaft.values import PythonOptions
from native import give_native_code


@contextmanager
def as_nobody() -> Generator[Path]:
    """Give a folder to a user without privileges, who this process is in the block."""
    with tempfile.TemporaryDirectory() as name:
        was = os.geteuid()
        if was == 0:
            os.chown(name, 65_534, 65_534)
            os.seteuid(65_534)
        try:
            yield Path(name)
        finally:
            os.seteuid(was)


@contextmanager
def open_python() -> Generator[Interpreter]:
    """Make a bundle that every user of this machine may read."""
    folder = Path(tempfile.mkdtemp(prefix="lineshaft-test-python-"))
    folder.chmod(0o755)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
            python = resolve(PythonOptions(path=str(build(folder / "python").root)))
        yield python
    finally:
        shutil.rmtree(folder)


def said_by(program: Path, interpreter: Interpreter, *words: str, user: int | None = None) -> str:
    """Run a program in a process of some user, and return what it prints.

    Args:
        program: Its file; it may import Lineshaft and what the tests share.
        interpreter: What runs it.
        words: Its arguments.
        user: Number of a user and a group; None: whoever runs the tests.
    """
    folder = Path(tempfile.mkdtemp(prefix="lineshaft-test-user-"))
    folder.chmod(0o777)
    give_native_code(folder, user)
    packages = [str(Path(lineshaft.__file__).parents[1]), sysconfig.get_path("purelib")]
    try:
        done = subprocess.run(
            [str(interpreter.executable), "-B", str(program), *words],
            capture_output=True,
            text=True,
            cwd=folder,
            user=user,
            group=user,
            extra_groups=[] if user else None,
            env={
                "PATH": os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]]),
                "HOME": str(folder),
                "TMPDIR": str(folder),
                "PYTHONPATH": os.pathsep.join([*packages, str(Path(__file__).parent)]),
            },
            check=False,
        )
    finally:
        shutil.rmtree(folder)
    assert done.returncode == 0, done.stderr
    return done.stdout
