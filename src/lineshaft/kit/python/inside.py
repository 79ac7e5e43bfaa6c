"""The first program inside: it becomes the one that `python_run` was given.

It imports nothing of Lineshaft and is started with `-E -s -B -X utf8`. Its arguments: the
program's name, its place, folders for `sys.path`, then the program's own. The program's source is
standard input, a memory file: all of it is read, `_STARTED` written in its place, and standard
input is empty from then on. With a source as the fourth argument there is nothing to read, and no
jail.
"""

import errno
import linecache
import os
import stat
import sys
import traceback
from collections.abc import Callable
from functools import wraps
from types import CodeType, ModuleType, TracebackType

_STARTED = b"started\n"
Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]


def _source(given: str) -> bytes:
    if given:
        return given.encode()
    with os.fdopen(os.dup(0), "rb") as file:
        source = file.read()
    os.lseek(0, 0, os.SEEK_SET)
    os.write(0, _STARTED)
    return source


def _close_input() -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)


def _show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print what the program did not catch, without the frames of this file."""
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    traceback.print_exception(kind, error, trace)


def _piece_by_piece(rename: Callable[..., None]) -> Callable[..., None]:
    """Return `os.rename` for a workspace in which the kernel renames no folder.

    What an ordinary user keeps apart by an overlay is such a one: `EXDEV`, as between file systems.
    Only the program sees the workspace, so a folder may as well be moved file by file.
    """

    @wraps(rename)
    def renamed(
        src: Path, dst: Path, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None
    ) -> None:
        try:
            rename(src, dst, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        except OSError as error:
            if error.errno != errno.EXDEV or (src_dir_fd, dst_dir_fd) != (None, None):
                raise
            if not _move_folder(os.fsdecode(src), os.fsdecode(dst)):
                raise

    return renamed


def _move_folder(src: str, dst: str) -> bool:
    """Move a folder to a place on the same file system; return False for anything else."""
    found, above = os.lstat(src), os.path.dirname(os.path.abspath(dst))  # noqa: PTH100, PTH120  pathlib is not imported here
    if not stat.S_ISDIR(found.st_mode) or found.st_dev != os.stat(above).st_dev:  # noqa: PTH116  as above
        return False
    if os.path.lexists(dst):
        os.rmdir(dst)  # noqa: PTH106  as above; what is there must be an empty folder, as ever
    import shutil  # noqa: PLC0415  hardly ever needed

    try:
        shutil.copytree(src, dst, symlinks=True)
    except OSError:
        shutil.rmtree(dst, ignore_errors=True)
        raise
    shutil.rmtree(src)
    return True


def main() -> None:
    """Run the program."""
    name, place, folders, given, *args = sys.argv[1:]
    source = _source(given)
    if not given:
        os.rename, os.replace = _piece_by_piece(os.rename), _piece_by_piece(os.replace)
    _close_input()
    sys.argv = [name, *args]
    sys.path[:1] = [folder for folder in folders.split(os.pathsep) if folder]
    sys.excepthook = _show
    for stream in (sys.stdout, sys.stderr):
        # What was printed before a time-out should be seen.
        stream.reconfigure(line_buffering=True)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]  a TextIOWrapper
    text = source.decode("utf-8", "replace")
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    code: CodeType = compile(source, name, "exec", dont_inherit=True)
    program = ModuleType("__main__")
    program.__dict__.update(__file__=place, __builtins__=__builtins__)
    sys.modules["__main__"] = program
    exec(code, program.__dict__)  # noqa: S102  this is what the file is for


if __name__ == "__main__":
    main()
