"""Printing of an error that a program did not catch."""

import os
import traceback
from collections.abc import Iterable
from types import TracebackType

from ..private import is_own
from .closed import NO_PROGRAMS

_NO_PROCESSES = frozenset(
    (
        "fork",
        "forkpty",
        "kill",
        "killpg",
        "pipe",
        "pipe2",
        "popen",
        "posix_spawn",
        "wait",
        "waitpid",
    )
)
_NO_USERS = frozenset(("getuid", "geteuid", "getgid", "getegid", "getlogin", "chown"))


class Teller:
    """Prints an error without the frames of the guest, and with hints for this platform.

    Args:
        root: The workspace's folder.
        closed: Paths in it that policy closes to programs.
    """

    def __init__(self, root: str, closed: Iterable[str]) -> None:
        self._root = root
        self._closed = tuple(f"{root}/{path}" for path in closed)

    def __call__(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        """Print it, as `sys.excepthook`."""
        note = self._note(error)
        if note:
            error.add_note(f"({note})")
        seen: set[int] = set()
        waiting: list[BaseException | None] = [error]
        while waiting:
            each = waiting.pop()
            if each is None or id(each) in seen:
                continue
            seen.add(id(each))
            each.__traceback__ = _cleaned(each.__traceback__)
            waiting += (each.__cause__, each.__context__)
        traceback.print_exception(kind, error, error.__traceback__ if trace else None)

    def _note(self, error: BaseException) -> str:
        if isinstance(error, AttributeError) and getattr(error.obj, "__name__", "") == "os":
            if error.name in _NO_PROCESSES:
                return NO_PROGRAMS
            if error.name in _NO_USERS:
                return "a program in WebAssembly has no users or groups"
        if isinstance(error, OSError) and isinstance(error.filename, str):
            return self._note_of_path(error)
        return ""

    def _note_of_path(self, error: OSError) -> str:
        path = os.path.normpath(os.path.join(os.getcwd(), error.filename))
        if isinstance(error, FileNotFoundError):
            if any(path == each or path.startswith(f"{each}/") for each in self._closed):
                return "policy closes this path to programs"
            if not path.startswith((f"{self._root}/", "/packages/", "/tmp/")):  # noqa: S108  the guest's own
                return f"a program sees no other folder than the workspace, which is {self._root}"
        if isinstance(error, PermissionError) and not path.startswith("/packages/"):
            return "a path that leads out of the workspace, by a symlink or `..`, cannot be opened"
        return ""


def _cleaned(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the guest's own frames."""
    while trace is not None and is_own(trace.tb_frame.f_code):
        trace = trace.tb_next
    at = trace
    while at is not None:
        following = at.tb_next
        while following is not None and is_own(following.tb_frame.f_code):
            following = following.tb_next
        at.tb_next = following
        at = following
    return trace
