"""The boundary `bubblewrap`: namespaces, a filter of system calls, and resource limits.

An ordinary user gets a user namespace. Root does not: limits on processes do not count for root, so
the inside runs as a user of its own, who owns no file on this machine.
"""

import os
import random
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from lineshaft.errors import NoBoundary
from lineshaft.sandbox.bundle import needed_libraries, system_files
from lineshaft.sandbox.jail._copy import copy_apart
from lineshaft.sandbox.jail._running import RunningJail, check_program
from lineshaft.sandbox.jail._sandlock import hidden_paths, laid_walls, rlimits
from lineshaft.sandbox.jail._scratch import make_scratch
from lineshaft.sandbox.jail._seccomp import filter_program, known_machine
from lineshaft.sandbox.jail._spec import SandboxSpec
from lineshaft.sandbox.jail._views import in_sight
from lineshaft.values import Struct

_HOME = "/scratch"
_MEGABYTE = 1 << 20
_SCRATCH_MB = 256
_USERS = range(2_000_000_000, 2_100_000_000)
"""User ids without an account; each jail takes one, so that its processes are counted alone."""

_SYSTEM_PROCESSES = 1
"""Bubblewrap's own, which counts as one of the inside."""


class _Tools(Struct, frozen=True):
    """Programs of the machine."""

    bwrap: str
    setpriv: str | None
    """Changes the user, inside; needed by root."""


class BubblewrapJail:
    """Starts programs in jails of bubblewrap."""

    @property
    def name(self) -> str:
        """Name in configuration and results."""
        return "bubblewrap"

    @property
    def keeps_apart(self) -> str:
        """The inside works on a copy, without what is hidden, at the folder's own path."""
        return "copy"

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
        tools = _tools()
        user = random.choice(_USERS) if _is_root() else None  # noqa: S311  no secret
        apart = None if apart is None else apart.resolve()
        scratch = make_scratch()
        try:
            read = None
            if apart is not None:
                copied = copy_apart(apart, scratch.path / "copy", spec=spec, user=user)
                read = copied.changes
            order = _order(tools, argv, spec, scratch.path, apart=apart, user=user)
            return RunningJail(order, (stdin, stdout, stderr), scratch=scratch, changes=read)
        except BaseException:
            scratch.discard()
            raise


def _order(
    tools: _Tools,
    argv: Sequence[str],
    spec: SandboxSpec,
    scratch: Path,
    *,
    apart: Path | None,
    user: int | None,
) -> dict[str, object]:
    limits = rlimits(spec)
    limits["RLIMIT_AS"] = spec.memory_mb * _MEGABYTE
    limits["RLIMIT_NOFILE"] = spec.open_files
    limits["RLIMIT_NPROC"] = spec.processes + (0 if user else _SYSTEM_PROCESSES)
    mounts = _mounts(spec, apart, scratch / "copy", user=user)
    settings = [*_settings(spec, apart, user), *mounts, *_change_user(tools, user)]
    return {
        "exec": [tools.bwrap, *_FIXED, "--args", "{0}", "--", *_command(tools, user)],
        "argv": list(argv),
        "texts": [
            b"".join(os.fsencode(word) + b"\0" for word in settings).hex(),
            filter_program().hex(),
        ],
        "limits": limits,
        "fixed_addresses": spec.fixed_addresses,
        "memory_mb": spec.memory_mb,
        "remove": [str(scratch)],
        "stay": apart is not None,
    }


_FIXED = (
    *("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"),
    *("--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"),
    *("--info-fd", "{info}", "--block-fd", "{block}", "--seccomp", "{1}"),
)


def _tools() -> _Tools:
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise NoBoundary("bubblewrap is not installed", hint="install the package bubblewrap")
    if not known_machine():
        raise NoBoundary("bubblewrap is used on x86_64 and aarch64 only")
    setpriv = shutil.which("setpriv") if _is_root() else None
    if setpriv is None and _is_root():
        raise NoBoundary(
            "bubblewrap started by root needs setpriv, to be another user inside",
            hint="install util-linux, or run as an ordinary user",
        )
    return _Tools(bwrap, setpriv)


def _is_root() -> bool:
    if sys.platform == "win32":
        return False
    return os.geteuid() == 0


def _settings(spec: SandboxSpec, apart: Path | None, user: int | None) -> Iterator[str]:
    if user is None:
        yield from ("--unshare-user", "--disable-userns")
    else:
        yield from ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
    yield from ("--hostname", "jail")
    for name, value in {**spec.env, "HOME": _HOME, "TMPDIR": _HOME}.items():
        yield from ("--setenv", name, value)
    yield from ("--chdir", str(spec.cwd or apart or _HOME))


def _mounts(
    spec: SandboxSpec, apart: Path | None, copy: Path, *, user: int | None
) -> Iterator[str]:
    # A mount covers what was mounted below it before, so the shorter paths come first.
    readable = sorted({path for path in spec.readable if os.access(path, os.R_OK)})
    writable = sorted(set(spec.writable))
    if spec.proc:
        yield from ("--proc", "/proc")
    yield from ("--dev", "/dev")
    yield from ("--perms", "1777", "--size", str(_SCRATCH_MB * _MEGABYTE), "--tmpfs", _HOME)
    yield from _parents([*readable, *writable, *([] if apart is None else [apart])])
    for path in readable:
        yield from ("--ro-bind", str(path), str(path))
    for path in writable:
        _hand_over(path, user)
        yield from ("--bind", str(path), str(path))
    if apart is not None:
        yield from ("--bind", str(copy), str(apart))
    for path in in_sight(spec.readonly, spec.writable):
        yield from ("--ro-bind", str(path), str(path))
    for path in hidden_paths(spec, None):
        yield from _cover(path)
    yield from ("--remount-ro", "/dev")
    walls = [] if apart is None else in_sight(spec.readonly, [apart])
    for path in (*walls, *laid_walls(spec, apart)):
        source = copy / path.relative_to(apart or path)
        if source.exists() and not source.is_symlink():
            yield from ("--ro-bind", str(source), str(path))


def _parents(paths: Iterable[Path]) -> Iterator[str]:
    """Make the folders above, open to all: left to itself bubblewrap closes some of them."""
    above = {folder for path in paths for folder in path.parents} - set(Path(_HOME).parents)
    for folder in sorted(above - {Path(_HOME)}):
        yield from ("--perms", "0755", "--dir", str(folder))


def _cover(path: Path) -> Iterator[str]:
    if path.is_symlink() or not path.exists():
        return
    if path.is_dir():
        yield from ("--perms", "0000", "--tmpfs", str(path), "--remount-ro", str(path))
    else:
        yield from ("--ro-bind", "/dev/null", str(path))


def _hand_over(path: Path, user: int | None) -> None:
    """Let the jail's own user write a folder that is empty, and refuse one that is not."""
    if user is None or sys.platform == "win32":
        return
    if any(path.iterdir()):
        raise NoBoundary(
            f"bubblewrap started by root cannot let the inside write {str(path)!r}: the inside is "
            "another user",
            hint="run as an ordinary user, or keep the folder apart",
        )
    os.chown(path, user, user)


def _change_user(tools: _Tools, user: int | None) -> Iterator[str]:
    """Make the program that changes the user usable inside, with its libraries."""
    if user is None or tools.setpriv is None:
        return
    program = Path(tools.setpriv).resolve()
    libraries = needed_libraries([program], prefix=Path("/usr"))
    for path in (program, *libraries.values(), *system_files([program, *libraries.values()])):
        yield from ("--ro-bind", str(path), str(path))


def _command(tools: _Tools, user: int | None) -> Iterator[str]:
    if user is not None and tools.setpriv is not None:
        yield str(Path(tools.setpriv).resolve())
        yield from (f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs")
        yield from ("--inh-caps=-all", "--ambient-caps=-all", "--")
