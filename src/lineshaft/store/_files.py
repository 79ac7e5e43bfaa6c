"""Files that are whole as soon as they have their name."""

import os
from contextlib import suppress
from pathlib import Path


def publish(draft: Path, path: Path) -> None:
    """Give a finished file its name for good; a file that has the name already stays.

    Raises:
        OSError: The file cannot be renamed.
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
