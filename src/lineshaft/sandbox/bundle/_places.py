"""Folders of bundles and packages."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from lineshaft import files
from lineshaft.errors import ConfigError, PythonNotFound
from lineshaft.files import lock_file

__all__ = ["building", "cache_folder", "installed_folder", "lock_file"]


def installed_folder() -> Path:
    """Return the folder of the bundles that a person built or installed."""
    return _found(files.data_folder) / "python"


def cache_folder() -> Path:
    """Return the folder of files that can be made again at any time."""
    return _found(files.cache_folder)


@contextmanager
def building(target: Path) -> Generator[None]:
    """Hold the right to make a folder; others wait until it is there.

    What processes that were killed had made of it goes first.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with files.locked(target.with_name(f".{target.name}.lock")):
        for draft in list(target.parent.iterdir()):
            name, _, process = draft.name.rpartition(".")
            if name == f".{target.name}" and process.isdecimal():
                files.remove_tree(draft)
        yield


def _found(place: Callable[[], Path]) -> Path:
    try:
        return place()
    except ConfigError as error:
        raise PythonNotFound(error.message) from error
