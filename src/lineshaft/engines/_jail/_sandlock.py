"""The boundary `sandlock`: Landlock and seccomp, without namespaces, root or set-uid programs."""

import importlib.util
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import cast

from lineshaft.engines._jail._apart import from_branch
from lineshaft.engines._jail._kept import Kept, check_program
from lineshaft.engines._jail._scratch import make_scratch
from lineshaft.engines._jail._seccomp import pid_filter
from lineshaft.engines._jail._walls import Walls
from lineshaft.errors import NoBoundary

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_MEGABYTE = 1 << 20


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
        """Changes are redirected file by file."""
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
    ) -> Kept:
        """Start a program inside; see `Jail.start`."""
        check_program(argv)
        place = _package_folder()
        scratch = make_scratch()
        sandbox = options(walls, scratch.path, apart)
        report, work = scratch.path / "changes.json", scratch.path / "root"
        work.mkdir()
        order = {
            "argv": list(argv),
            "path": [str(Path(__file__).parent), str(place)],
            "sandbox": sandbox,
            "readable": [
                *_strings(sandbox["fs_readable"]),
                *([] if apart is None else [str(apart)]),
            ],
            "writable": [*_there(walls.writable), "/dev/null", str(scratch.path)],
            "work": str(work),
            "filter": pid_filter().hex(),
            "hidden": _out_of_reach(walls),
            "limits": rlimits(walls),
            "remove": [str(scratch.path)],
            "stay": apart is not None,
            "changes": str(report),
        }
        read = None if apart is None else partial(from_branch, report, apart, walls)
        return Kept(order, (stdin, stdout, stderr), scratch=scratch, changes=read)


def options(walls: Walls, scratch: Path, apart: Path | None) -> dict[str, object]:
    """Return what sandlock is told."""
    home = scratch / "home"
    home.mkdir()
    chosen: dict[str, object] = {
        "fs_readable": [*_there(walls.readable), *_there(map(Path, DEVICES[1:]))],
        "fs_writable": [*_there(walls.writable), str(home), "/dev/null"],
        "fs_denied": _there(walls.hidden),
        "max_memory": walls.memory_mb * _MEGABYTE,
        "max_processes": walls.processes,
        "max_open_files": walls.open_files,
        "clean_env": True,
        "env": environment(walls.env, home),
        "cwd": str(walls.cwd or apart or home),
        "no_coredump": True,
    }
    if apart is not None:
        upper = scratch / "upper"
        upper.mkdir()
        chosen["workdir"], chosen["fs_storage"] = str(apart), str(upper)
        chosen["fs_writable"] = [*_there(walls.writable), str(home), "/dev/null", str(apart)]
    return chosen


def _out_of_reach(walls: Walls) -> list[str]:
    """Return what the kernel shall hide; below folders written for real, sandlock alone does."""
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


def _strings(words: object) -> list[str]:
    return cast("list[str]", words)


def _there(paths: Iterable[Path]) -> list[str]:
    """Return what can be opened: one path that cannot fails the whole start."""
    return [str(path) for path in paths if os.access(path, os.R_OK)]


def _package_folder() -> Path:
    found = importlib.util.find_spec("sandlock")
    if found is None or found.origin is None:
        raise NoBoundary("the package sandlock is not installed", hint="pip install sandlock")
    return Path(found.origin).parent.parent
