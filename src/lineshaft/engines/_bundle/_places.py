"""Where bundles and packages are kept."""

import fcntl
import os
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
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _folder(variable: str, fallback: str) -> Path:
    given = os.environ.get(variable, "")
    if Path(given).is_absolute():
        return Path(given) / "lineshaft"
    try:
        return Path.home() / fallback / "lineshaft"
    except RuntimeError as error:
        message = f"neither {variable} nor HOME names a folder; set one of them"
        raise PythonNotFound(message) from error
