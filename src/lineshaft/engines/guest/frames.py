"""Owner of a frame's code: the script, a package, the standard library, the guest."""

import os.path
import re
import sys
from types import CodeType, FrameType

from .current import current
from .private import is_own

# pyright: reportPrivateUsage=false

WORKSPACE = "/workspace/"
"""Folder that modules of the workspace give as their place."""

_LIBRARY = tuple({os.path.dirname(os.__file__) + "/", "<frozen ", "/python/"})
_ASKERS = re.compile(
    r"\b(?:pathlib|genericpath|posixpath|shutil|tempfile|glob|os)\b[^/]*(?:/\w+\.py)?>?$"
)
_PACKAGES = ("/site-packages/", "/dist-packages/")


def owns(frame: FrameType) -> bool:
    """Return whether a frame executes the script's own text."""
    run = current.maybe
    return run is not None and frame.f_code.co_filename == run.name and frame.f_globals is run.names


def is_library(code: CodeType) -> bool:
    """Return whether code is the standard library's."""
    name = code.co_filename
    return name.startswith(_LIBRARY) and not any(part in name for part in _PACKAGES)


def by_script() -> bool:
    """Return whether the script made the current call, itself or through the library."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001  there is no public way
    while frame is not None and (is_own(frame.f_code) or is_library(frame.f_code)):
        frame = frame.f_back
    run = current.maybe
    return run is not None and frame is not None and frame.f_code.co_filename == run.name


def asked_by_script() -> bool:
    """Return whether the script asked about a path, itself or through `pathlib`.

    Other parts of the library ask such questions for themselves.
    """
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001  there is no public way
    while frame is not None and (is_own(frame.f_code) or _asks_for_others(frame.f_code)):
        frame = frame.f_back
    run = current.maybe
    return run is not None and frame is not None and frame.f_code.co_filename == run.name


def _asks_for_others(code: CodeType) -> bool:
    return is_library(code) and _ASKERS.search(code.co_filename) is not None


def script_line() -> int | None:
    """Return the line of the script that is being executed."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001  there is no public way
    while frame is not None and not owns(frame):
        frame = frame.f_back
    return None if frame is None else frame.f_lineno


def depth() -> int:
    """Return how deep the caller's calls are nested."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001  there is no public way
    count = 0
    while frame is not None:
        count, frame = count + 1, frame.f_back
    return count
