"""Folders in which `ty` finds the stubs and settings of scripts; private, removed at the end."""

import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path

from lineshaft.files import lock_file, remove_tree
from lineshaft.values import PythonTarget, Stubs

_PREFIX = "lineshaft-checker-"
_LOCK = "lock"
_YOUNG_SECONDS = 60.0
"""A folder may be this young without its lock being held yet."""


class ProjectFolders:
    """A private folder with one project for each set of stubs and each Python.

    Its lock is held as long as this process lives, so that a later one can recognise the folders of
    a killed one, and remove them. The folder itself is locked too, where folders can be: programs
    that clean the temporary folder leave it then.
    """

    def __init__(self) -> None:
        self.top = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
        self._numbers = count(1)
        self._pythons: dict[PythonTarget, Path] = {}
        self._locks = [os.open(self.top / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)]
        lock_file(self._locks[0])
        if sys.platform != "win32":
            self._locks.append(os.open(self.top, os.O_RDONLY | os.O_DIRECTORY))
            lock_file(self._locks[1])

    @property
    def are_gone(self) -> bool:
        """Whether the files were removed by somebody else."""
        return not (self.top / _LOCK).exists()

    def add(self, stubs: Stubs, target: PythonTarget) -> Path:
        """Write a project; return its folder."""
        folder = self.top / f"project-{next(self._numbers)}"
        folder.mkdir()
        (folder / "ty.toml").write_text(_settings(target, self._python(target)), encoding="utf-8")
        # Its names are found after those of the script and before Python's own.
        _write(folder / "__builtins__.pyi", stubs.main)
        for path, text in _files(stubs.modules).items():
            _write(folder / path, text)
        return folder

    def remove(self, folder: Path) -> None:
        """Remove a project."""
        remove_tree(folder)

    def close(self) -> None:
        """Remove everything."""
        self.abandon()
        remove_tree(self.top)

    def abandon(self) -> None:
        """Release the locks, in a forked child, without removing the parent's files."""
        for lock in self._locks:
            with contextlib.suppress(OSError):
                os.close(lock)

    def _python(self, target: PythonTarget) -> Path:
        """Return an environment that holds a target's packages and no others.

        Without one `ty` takes the packages of the environment it was itself installed in.
        """
        if target not in self._pythons:
            prefix = self.top / f"python-{next(self._numbers)}"
            inner = ("Lib",) if sys.platform == "win32" else ("lib", f"python{target.version}")
            packages = prefix.joinpath(*inner, "site-packages")
            packages.mkdir(parents=True)
            _write(prefix / "pyvenv.cfg", f"home = {prefix}\nversion_info = {target.version}\n")
            _write(packages / "packages.pth", "".join(f"{each}\n" for each in target.packages))
            self._pythons[target] = prefix
        return self._pythons[target]


def sweep() -> None:
    """Remove the folders of processes that were killed before they could do it."""
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        found = [Path(each.path) for each in entries if each.name.startswith(_PREFIX)]
        for folder in found:
            with contextlib.suppress(OSError):
                if _is_left_over(folder):
                    remove_tree(folder)


def _is_left_over(folder: Path) -> bool:
    status = folder.lstat()
    is_own = sys.platform == "win32" or status.st_uid == os.geteuid()
    if not is_own or folder.is_symlink() or time.time() - status.st_mtime < _YOUNG_SECONDS:
        return False
    try:
        fd = os.open(folder / _LOCK, os.O_RDWR)
    except FileNotFoundError:
        return True
    try:
        lock_file(fd, wait=False)
    except OSError:
        return False
    finally:
        os.close(fd)
    return True


def _settings(target: PythonTarget, python: Path) -> str:
    values = {
        "python-version": target.version,
        "python-platform": target.platform,
        "python": str(python),
    }
    # A TOML text in double quotes is written like one of JSON.
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    return "\n".join(("[environment]", 'root = ["."]', *lines, ""))


def _files(modules: Mapping[str, str]) -> dict[Path, str]:
    """Return the stub files of modules; those of dotted names stand in packages."""
    tree: dict[str, dict[str, None]] = {}
    for name in modules:
        parts = name.split(".")
        for length in range(1, len(parts) + 1):
            inner = tree.setdefault(".".join(parts[:length]), {})
            if length < len(parts):
                inner[parts[length]] = None
    files: dict[Path, str] = {}
    for name, inner in tree.items():
        path = Path(*name.split("."))
        imports = "".join(f"from . import {part} as {part}\n" for part in inner)
        place = path / "__init__.pyi" if inner else path.with_suffix(".pyi")
        files[place] = imports + modules.get(name, "")
    return files


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="replace")
