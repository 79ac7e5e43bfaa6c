"""The boundary `sandlock`: Landlock and seccomp, without namespaces, root or set-uid programs."""

import importlib.util
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from lineshaft.engines._jail._kept import Kept
from lineshaft.engines._jail._scratch import make_scratch
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

    def start(
        self, argv: Sequence[str], *, walls: Walls, stdin: int, stdout: int, stderr: int
    ) -> Kept:
        """Start a program inside; see `Jail.start`."""
        place = _package_folder()
        scratch = make_scratch()
        try:
            order = {
                "argv": list(argv),
                "path": [str(Path(__file__).parent), str(place)],
                "sandbox": options(walls, scratch.path),
                "limits": rlimits(walls),
                "remove": [str(scratch.path)],
            }
            return Kept(order, (stdin, stdout, stderr), scratch=scratch)
        except NoBoundary as error:
            error.hint = error.hint or "`lineshaft doctor` shows what this machine can hold"
            raise


def options(walls: Walls, scratch: Path) -> dict[str, object]:
    """Return what sandlock is told."""
    return {
        "fs_readable": [*_there(walls.readable), *_there(map(Path, DEVICES[1:]))],
        "fs_writable": [*_there(walls.writable), str(scratch), "/dev/null"],
        "fs_denied": _there(walls.hidden),
        "max_memory": walls.memory_mb * _MEGABYTE,
        "max_processes": walls.processes,
        "max_open_files": walls.open_files,
        "clean_env": True,
        "env": environment(walls.env, scratch),
        "cwd": str(walls.cwd or scratch),
        "no_coredump": True,
    }


def environment(env: Mapping[str, str], scratch: Path) -> dict[str, str]:
    """Return the whole environment of the inside."""
    return {**env, "HOME": str(scratch), "TMPDIR": str(scratch)}


def rlimits(walls: Walls) -> dict[str, int]:
    """Return the limits of each process, by their names in `resource`."""
    limits = {"RLIMIT_FSIZE": walls.file_mb * _MEGABYTE, "RLIMIT_CORE": 0}
    if walls.cpu_seconds is not None:
        limits["RLIMIT_CPU"] = walls.cpu_seconds
    return limits


def _there(paths: Iterable[Path]) -> list[str]:
    """Return what can be opened: one path that cannot fails the whole start."""
    return [str(path) for path in paths if os.access(path, os.R_OK)]


def _package_folder() -> Path:
    found = importlib.util.find_spec("sandlock")
    if found is None or found.origin is None:
        raise NoBoundary("the package sandlock is not installed", hint="pip install sandlock")
    return Path(found.origin).parent.parent
