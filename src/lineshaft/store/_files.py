"""Files that are whole from the moment they have their name."""

import os
from contextlib import suppress
from pathlib import Path


def publish(draft: Path, path: Path) -> None:
    """Give a finished file its name for good; where the name is taken, that file holds.

    Raises:
        OSError: It cannot be done.
    """
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        return
    except OSError:  # a file system without links
        if not path.exists():
            draft.rename(path)
    _sync(path.parent)


def _sync(folder: Path) -> None:
    with suppress(OSError):  # not every system can
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
