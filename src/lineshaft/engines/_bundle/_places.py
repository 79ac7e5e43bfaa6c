"""Where bundles and packages are kept."""

import importlib
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from lineshaft.errors import PythonNotFound


def installed_folder() -> Path:
    """Return the folder of the bundles that a person built or installed."""
    return _folder("XDG_DATA_HOME", ".local/share") / "python"


def cache_folder() -> Path:
    """Return the folder of what can be made again at any time."""
    return _folder("XDG_CACHE_HOME", ".cache")


@contextmanager
def building(target: Path) -> Generator[None]:
    """Hold the right to make a folder; others wait until it is there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.with_name(f".{target.name}.lock").open("ab") as file:
        lock_file(file.fileno())
        yield


def lock_file(fd: int, *, wait: bool = True) -> None:
    """Lock an open file against other processes that ask; it ends with the descriptor.

    Args:
        fd: The file.
        wait: Until it is free; otherwise an `OSError` says that it is not.
    """
    if sys.platform == "win32":
        return
    fcntl = importlib.import_module("fcntl")
    fcntl.flock(fd, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def _folder(variable: str, fallback: str) -> Path:
    given = os.environ.get(variable, "")
    if Path(given).is_absolute():
        return Path(given) / "lineshaft"
    try:
        return Path.home() / fallback / "lineshaft"
    except RuntimeError as error:
        message = f"neither {variable} nor HOME names a folder; set one of them"
        raise PythonNotFound(message) from error
