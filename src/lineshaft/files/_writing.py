"""Private folders, and files that are written whole or not at all."""

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from lineshaft.errors import ConfigError
from lineshaft.files._locks import locked


def private_folder(path: Path) -> Path:
    """Make a folder that only its owner may enter, and those above it that are missing.

    Raises:
        ConfigError: It cannot be made.
    """
    try:
        return made_private(path)
    except OSError as error:
        message = f"the folder {str(path)!r} cannot be made: {error.strerror}"
        hint = "set XDG_STATE_HOME to a folder you can write"
        raise ConfigError(message, hint=hint) from error


def made_private(path: Path, mode: int = 0o700) -> Path:
    """Make a folder and those above it that are missing, each with the mode.

    Raises:
        OSError: It cannot be made, or a file stands there.
    """
    for missing in reversed([each for each in (path, *path.parents) if not each.exists()]):
        missing.mkdir(mode=mode, exist_ok=True)
    if not path.is_dir():
        raise NotADirectoryError(20, "it is not a folder", str(path))
    return path


@contextmanager
def only_writer(path: Path) -> Generator[None]:
    """Keep other threads and processes from changing a file inside the block.

    What writers left that were killed is removed: it may hold what the file holds.

    Args:
        path: The file, which each of its writers changes in such a block; its folder exists.

    Raises:
        OSError: It cannot be locked.
    """
    lock = path.with_name(f".{path.name}.lock")
    with locked(lock):
        for left in path.parent.iterdir():
            if left.name.startswith(f".{path.name}.") and left != lock:
                with suppress(OSError):
                    left.unlink()
        yield


def write_whole(
    path: Path, data: bytes | bytearray | memoryview, mode: int = 0o600, *, sync: bool = False
) -> None:
    """Put a file in its place in one step: readers see the old one or the whole new one.

    Args:
        path: The file; its folder exists.
        data: Its new content.
        mode: What its owner and others may do with it.
        sync: Whether the content is on the medium before the file has its name.

    Raises:
        OSError: It cannot be written; nothing is left behind.
    """
    fd, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
