"""The boundary `sandlock`: Landlock and seccomp, without namespaces, root or set-uid programs."""

import importlib.util
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from lineshaft.errors import NoBoundary
from lineshaft.sandbox.jail._apart import from_overlay
from lineshaft.sandbox.jail._copy import copy_apart
from lineshaft.sandbox.jail._kept import KeptJail, check_program
from lineshaft.sandbox.jail._scratch import make_scratch
from lineshaft.sandbox.jail._seccomp import gap_filter
from lineshaft.sandbox.jail._views import in_sight, other_names
from lineshaft.sandbox.jail._walls import Walls

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_MEGABYTE = 1 << 20
_NO_OVERLAY = "NoOverlay"
_UNCOUNTED_CALLS = ("memfd_create", "shmget")
"""Calls that keep memory outside every limit, and that sandlock itself needs outside."""


class SandlockJail:
    """Starts programs in jails of sandlock."""

    @property
    def name(self) -> str:
        """Name in configuration and results."""
        return "sandlock"

    @property
    def pid_namespace(self) -> bool:
        """Process ids inside are those of the host."""
        return False

    @property
    def keeps_apart(self) -> str:
        """The kernel redirects writes; where it cannot, the inside works on a copy."""
        return "copy-on-write"

    def start(
        self,
        argv: Sequence[str],
        *,
        walls: Walls,
        stdin: int,
        stdout: int,
        stderr: int,
        apart: Path | None = None,
    ) -> KeptJail:
        """Start a program inside; see `Jail.start`."""
        check_program(argv)
        apart = None if apart is None else apart.resolve()
        try:
            return _start(argv, walls, (stdin, stdout, stderr), apart=apart, copied=False)
        except NoBoundary as error:
            if apart is None or _NO_OVERLAY not in error.message:
                raise
        return _start(argv, walls, (stdin, stdout, stderr), apart=apart, copied=True)


def _start(
    argv: Sequence[str], walls: Walls, stdio: Sequence[int], *, apart: Path | None, copied: bool
) -> KeptJail:
    place = _package_folder()
    scratch = make_scratch()
    try:
        order = {
            "argv": list(argv),
            "path": [str(Path(__file__).parent), str(place)],
            "sandbox": options(walls, scratch.path / "home", apart),
            "plan": _plan(walls, scratch.path, apart, copied=copied),
            "beside": _unwritten(walls),
            "filter": gap_filter().hex(),
            "limits": rlimits(walls),
            "fixed_addresses": walls.fixed_addresses,
            "remove": [str(scratch.path)],
            "stay": apart is not None,
        }
        read = None
        if apart is not None and copied:
            read = copy_apart(apart, scratch.path / "copy", walls=walls, user=None).changes
        elif apart is not None:
            read = partial(from_overlay, scratch.path / "changes.json", apart, walls)
        return KeptJail(order, stdio, scratch=scratch, changes=read)
    except BaseException:
        scratch.discard()
        raise


def _plan(walls: Walls, scratch: Path, apart: Path | None, *, copied: bool) -> dict[str, object]:
    """Return the paths of the new root, and make the folders that it is built from."""
    for name in ("home", "root", "upper", "spare"):
        (scratch / name).mkdir()
    nothing = scratch / "nothing"
    nothing.touch(mode=0o000)
    overlay = apart is not None and not copied
    kept = [] if apart is None else [apart]
    return {
        "readable": [*_there(walls.readable), *_there(map(Path, DEVICES[1:]))],
        "writable": [*_there(walls.writable), str(scratch / "home"), "/dev/null"],
        "hidden": [str(path) for path in hidden_paths(walls, apart)],
        "readonly": [str(path) for path in in_sight(walls.readonly, [*walls.writable, *kept])],
        "apart": None if apart is None else str(apart),
        "upper": str(scratch / "upper") if overlay else None,
        "spare": str(scratch / "spare") if overlay else None,
        "copy": str(scratch / "copy") if copied else None,
        "work": str(scratch / "root"),
        "nothing": str(nothing),
    }


def hidden_paths(walls: Walls, apart: Path | None) -> list[Path]:
    """Return every path inside by which a hidden file could be read."""
    trees = [*walls.readable, *walls.writable, *([] if apart is None else [apart])]
    hidden = in_sight(walls.hidden, trees)
    around = [tree for tree in trees if any(tree in path.parents for path in hidden)]
    return list(dict.fromkeys([*hidden, *other_names(walls.hidden, around)]))


def options(walls: Walls, home: Path, apart: Path | None) -> dict[str, object]:
    """Return the arguments for sandlock."""
    kept = [] if apart is None else [str(apart)]
    return {
        "fs_readable": [*_there(walls.readable), *_there(map(Path, DEVICES[1:]))],
        "fs_writable": [*_there(walls.writable), str(home), "/dev/null", *kept],
        "max_memory": walls.memory_mb * _MEGABYTE,
        "max_processes": walls.processes,
        "max_open_files": walls.open_files,
        "extra_deny_syscalls": list(_UNCOUNTED_CALLS),
        "clean_env": True,
        "env": environment(walls.env, home),
        "cwd": str(walls.cwd or apart or home),
        "no_coredump": True,
    }


def _unwritten(walls: Walls) -> list[str]:
    """Return the paths that Landlock can hide without a new root: none below writable folders."""
    real = [path.resolve() for path in walls.writable]
    return [
        str(path)
        for path in map(Path.resolve, walls.hidden)
        if path.exists() and not any(folder in path.parents for folder in real)
    ]


def environment(env: Mapping[str, str], home: Path) -> dict[str, str]:
    """Return the whole environment of the inside."""
    return {**env, "HOME": str(home), "TMPDIR": str(home)}


def rlimits(walls: Walls) -> dict[str, int]:
    """Return the limits of each process, by their names in `resource`."""
    limits = {"RLIMIT_FSIZE": walls.file_mb * _MEGABYTE, "RLIMIT_CORE": 0}
    if walls.cpu_seconds is not None:
        limits["RLIMIT_CPU"] = walls.cpu_seconds
    return limits


def _there(paths: Iterable[Path]) -> list[str]:
    """Return the paths that can be opened: one that cannot be fails the whole start."""
    return [str(path) for path in paths if os.access(path, os.R_OK)]


def _package_folder() -> Path:
    found = importlib.util.find_spec("sandlock")
    if found is None or found.origin is None:
        raise NoBoundary("the package sandlock is not installed", hint="pip install sandlock")
    return Path(found.origin).parent.parent
