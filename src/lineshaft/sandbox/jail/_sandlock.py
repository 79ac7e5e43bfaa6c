"""The boundary `sandlock`: Landlock and seccomp, without namespaces, root or set-uid programs."""

import importlib.util
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from lineshaft.errors import NoBoundary
from lineshaft.sandbox.jail._copy import copy_apart
from lineshaft.sandbox.jail._differences import from_overlay
from lineshaft.sandbox.jail._laying import NO_OVERLAY, lay_in_upper, states_as_json, visible
from lineshaft.sandbox.jail._running import RunningJail, check_program
from lineshaft.sandbox.jail._scratch import make_scratch
from lineshaft.sandbox.jail._seccomp import gap_filter
from lineshaft.sandbox.jail._spec import SandboxSpec
from lineshaft.sandbox.jail._views import in_sight, other_names

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_MEGABYTE = 1 << 20
_UNCOUNTED_CALLS = ("memfd_create", "shmget")
"""Calls that keep memory outside every limit, and that sandlock itself needs outside."""


class SandlockJail:
    """Starts programs in jails of sandlock."""

    @property
    def name(self) -> str:
        """Name in configuration and results."""
        return "sandlock"

    @property
    def keeps_apart(self) -> str:
        """The kernel redirects writes; where it cannot, the inside works on a copy."""
        return "copy-on-write"

    def start(
        self,
        argv: Sequence[str],
        *,
        spec: SandboxSpec,
        stdin: int,
        stdout: int,
        stderr: int,
        apart: Path | None = None,
    ) -> RunningJail:
        """Start a program inside; see `Jail.start`."""
        check_program(argv)
        apart = None if apart is None else apart.resolve()
        try:
            copied = apart is not None and _is_staged_in_mounts(spec, apart)
            return _start(argv, spec, (stdin, stdout, stderr), apart=apart, copied=copied)
        except NoBoundary as error:
            if apart is None or NO_OVERLAY not in error.message:
                raise
        return _start(argv, spec, (stdin, stdout, stderr), apart=apart, copied=True)


def _start(
    argv: Sequence[str],
    spec: SandboxSpec,
    stdio: Sequence[int],
    *,
    apart: Path | None,
    copied: bool,
) -> RunningJail:
    place = _package_folder()
    scratch = make_scratch()
    try:
        order = {
            "argv": list(argv),
            "path": [str(Path(__file__).parent), str(place)],
            "sandbox": options(spec, scratch.path / "home", apart),
            "plan": _plan(spec, scratch.path, apart, copied=copied),
            "beside": _unwritten(spec),
            "filter": gap_filter().hex(),
            "limits": rlimits(spec),
            "fixed_addresses": spec.fixed_addresses,
            "remove": [str(scratch.path)],
            "stay": apart is not None,
        }
        read = None
        if apart is not None and copied:
            read = copy_apart(apart, scratch.path / "copy", spec=spec, user=None).changes
        elif apart is not None:
            _lay(spec, apart, scratch.path)
            read = partial(from_overlay, scratch.path / "changes.json", apart, spec)
        return RunningJail(order, stdio, scratch=scratch, changes=read)
    except BaseException:
        scratch.discard()
        raise


def _lay(spec: SandboxSpec, apart: Path, scratch: Path) -> None:
    """Put staged changes into the upper layer, and tell the broker's accountant of them."""
    over = visible(spec, apart)
    if over:
        laid = lay_in_upper(over, scratch / "upper", apart)
        told = json.dumps(states_as_json(laid))
        (scratch / "laid.json").write_text(told, encoding="utf-8")


def _plan(
    spec: SandboxSpec, scratch: Path, apart: Path | None, *, copied: bool
) -> dict[str, object]:
    """Return the paths of the new root, and make the folders that it is built from."""
    for name in ("home", "root", "upper", "spare"):
        (scratch / name).mkdir()
    nothing = scratch / "nothing"
    nothing.touch(mode=0o000)
    overlay = apart is not None and not copied
    kept = [] if apart is None else [apart]
    return {
        "readable": [*_there(spec.readable), *_there(map(Path, DEVICES[1:]))],
        "writable": [*_there(spec.writable), str(scratch / "home"), "/dev/null"],
        "hidden": [str(path) for path in hidden_paths(spec, apart)],
        "readonly": [
            *(str(path) for path in in_sight(spec.readonly, [*spec.writable, *kept])),
            *(str(path) for path in laid_walls(spec, apart)),
        ],
        "apart": None if apart is None else str(apart),
        "mounted": [str(path) for path in mounted_in(apart)] if overlay and apart else [],
        "upper": str(scratch / "upper") if overlay else None,
        "spare": str(scratch / "spare") if overlay else None,
        "copy": str(scratch / "copy") if copied else None,
        "work": str(scratch / "root"),
        "nothing": str(nothing),
    }


def mounted_in(folder: Path) -> list[Path]:
    """Return the outermost mount points below a folder: an overlay does not show what they hold."""
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return []
    found: list[Path] = []
    for place in sorted({Path(os.fsdecode(_unescaped(line.split()[4]))) for line in lines}):
        if folder in place.parents and not any(other in place.parents for other in found):
            found.append(place)
    return found


def _unescaped(word: bytes) -> bytes:
    return re.sub(rb"\\([0-7]{3})", lambda code: bytes([int(code[1], 8)]), word)


def _is_staged_in_mounts(spec: SandboxSpec, apart: Path) -> bool:
    """Return whether staged changes concern a mount point, which would cover them."""
    over = visible(spec, apart)
    if not over:
        return False
    mounted = [path.relative_to(apart).as_posix() for path in mounted_in(apart)]
    return any(
        f"{name}/".startswith(f"{place}/")
        or (file.kind != "folder" and f"{place}/".startswith(f"{name}/"))
        for name, file in over.items()
        for place in mounted
    )


def hidden_paths(spec: SandboxSpec, apart: Path | None) -> list[Path]:
    """Return every path inside by which a hidden file could be read."""
    trees = [*spec.readable, *spec.writable, *([] if apart is None else [apart])]
    hidden = in_sight(spec.hidden, trees)
    around = [tree for tree in trees if any(tree in path.parents for path in hidden)]
    return list(dict.fromkeys([*hidden, *other_names(spec.hidden, around)]))


def laid_walls(spec: SandboxSpec, apart: Path | None) -> list[Path]:
    """Return the read-only paths that are not on the disk, and laid over it."""
    over = {} if apart is None else visible(spec, apart)
    laid = {Path(file.real) for file in over.values() if file.kind != "missing"}
    return [path for path in spec.readonly if path in laid and not os.path.lexists(path)]


def options(spec: SandboxSpec, home: Path, apart: Path | None) -> dict[str, object]:
    """Return the arguments for sandlock."""
    kept = [] if apart is None else [str(apart)]
    return {
        "fs_readable": [*_there(spec.readable), *_there(map(Path, DEVICES[1:]))],
        "fs_writable": [*_there(spec.writable), str(home), "/dev/null", *kept],
        "max_memory": spec.memory_mb * _MEGABYTE,
        "max_processes": spec.processes,
        "max_open_files": spec.open_files,
        "extra_deny_syscalls": list(_UNCOUNTED_CALLS),
        "clean_env": True,
        "env": environment(spec.env, home),
        "cwd": str(spec.cwd or apart or home),
        "no_coredump": True,
    }


def _unwritten(spec: SandboxSpec) -> list[str]:
    """Return the paths that Landlock can hide without a new root: none below writable folders."""
    real = [path.resolve() for path in spec.writable]
    return [
        str(path)
        for path in map(Path.resolve, spec.hidden)
        if path.exists() and not any(folder in path.parents for folder in real)
    ]


def environment(env: Mapping[str, str], home: Path) -> dict[str, str]:
    """Return the whole environment of the inside."""
    return {**env, "HOME": str(home), "TMPDIR": str(home)}


def rlimits(spec: SandboxSpec) -> dict[str, int]:
    """Return the limits of each process, by their names in `resource`."""
    limits = {"RLIMIT_FSIZE": spec.file_mb * _MEGABYTE, "RLIMIT_CORE": 0}
    if spec.cpu_seconds is not None:
        limits["RLIMIT_CPU"] = spec.cpu_seconds
    return limits


def _there(paths: Iterable[Path]) -> list[str]:
    """Return the paths that can be opened: one that cannot be fails the whole start."""
    return [str(path) for path in paths if os.access(path, os.R_OK)]


def _package_folder() -> Path:
    found = importlib.util.find_spec("sandlock")
    if found is None or found.origin is None:
        raise NoBoundary("the package sandlock is not installed", hint="pip install sandlock")
    return Path(found.origin).parent.parent
