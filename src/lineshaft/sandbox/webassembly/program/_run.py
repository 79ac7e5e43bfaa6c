"""One program of `python_run` in WebAssembly, from its order to its changes.

Above: the kit. Below: the processes room, which starts and ends the child (`child/_child.py`).
"""

import base64
import hashlib
import json
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from anyio import to_thread
from msgspec import field
from msgspec.structs import replace

from lineshaft.errors import EngineError
from lineshaft.files import remove_tree
from lineshaft.processes import start
from lineshaft.sandbox.webassembly._native import native_code
from lineshaft.sandbox.webassembly.child._lending import lent
from lineshaft.sandbox.webassembly.program._copy import Bounds, WorkspaceCopy
from lineshaft.values import NO_SECRETS, Command, Exit, SecretFinder, Struct

WORKSPACE = "/ws"
"""The workspace's folder, as a program sees it."""

PACKAGES = "/packages"
"""The read-only folder of packages, as it sees it."""

_SCRATCH = "/tmp"  # noqa: S108  the guest's own
_CHILD = Path(__file__).parent.with_name("child") / "_child.py"
_MEMORY_MB = 512
_OPEN_FILES = 256
_MOST_CLOSED = 1_000
_ABORTED = -6
"""The exit code of a process whose interpreter gave up."""

_ENVIRONMENT = ("XDG_CACHE_HOME", "XDG_STATE_HOME")
"""The place where the child looks for the native code."""


class ProgramOrder(Struct, frozen=True, kw_only=True):
    """The program to run."""

    name: str
    """In `sys.argv[0]` and tracebacks."""

    place: str
    """In `__file__`: a path below `WORKSPACE`, or a name."""

    source: bytes
    args: tuple[str, ...] = ()
    folders: tuple[str, ...] = (WORKSPACE,)
    """First on `sys.path`, as the program names them."""

    packages: Path | None = None
    """A folder of packages, read only."""

    closed: tuple[str, ...] = ()
    """Paths of the workspace that policy hides, for the errors that name them."""

    seconds: float = 60
    stdout_bytes: int = 50_000
    stderr_bytes: int = 10_000
    memory_mb: int = _MEMORY_MB


class ProgramEnd(Struct, frozen=True, kw_only=True):
    """How a program ended."""

    exit: Exit
    began: bool
    """Whether the program itself was reached."""

    refusal: str = ""
    """The reason why the host ended it; empty where it did not."""

    modes: Mapping[str, int] = field(default_factory=dict[str, int])
    """Permission bits that it set, by path."""


async def run_program(
    copy: WorkspaceCopy, order: ProgramOrder, *, known: SecretFinder = NO_SECRETS
) -> ProgramEnd:
    """Run a program on a copy that is up to date, to its end or until its time is up.

    Cancelling ends the program first.

    Args:
        copy: Where it works.
        order: What is to be run.
        known: What is not cut in two where its output is.

    Raises:
        WorkspaceError: Its process could not be started.
        EngineError: Its files could not be written.
    """
    place = copy.place / f"run-{secrets.token_hex(8)}"
    try:
        digest = await to_thread.run_sync(_prepare, copy, order, place)
    except OSError as error:
        raise EngineError(f"a program cannot be prepared: {error.strerror}") from error
    try:
        argv = (sys.executable, "-I", "-S", "-B", str(_CHILD), str(place / "order"), digest)
        command = Command(
            argv=argv,
            seconds=order.seconds,
            stdout_bytes=order.stdout_bytes,
            stderr_bytes=order.stderr_bytes,
        )
        process = await start(command, cwd=place, allow_env=_ENVIRONMENT, secrets=known)
        ended = await process.wait()
        return _end(ended, _report(place), copy.bounds)
    finally:
        await to_thread.run_sync(remove_tree, place)


def _prepare(copy: WorkspaceCopy, order: ProgramOrder, place: Path) -> str:
    """Write the child's order, and return the digest by which the child recognises it."""
    scratch = place / "scratch"
    scratch.mkdir(parents=True, mode=0o700)
    folders = [
        {"place": str(copy.folder), "name": WORKSPACE, "writable": True},
        {"place": str(scratch), "name": _SCRATCH, "writable": True},
    ]
    if order.packages is not None:
        folders.append({"place": str(order.packages), "name": PACKAGES, "writable": False})
    bounds = copy.bounds
    told = {
        "path": [folder for folder in sys.path if Path(folder).is_absolute()],
        "report": str(place / "report"),
        "native": lent(native_code().handle),
        "open_files": _OPEN_FILES,
        "memory_mb": order.memory_mb,
        "folders": folders,
        "disk": {
            "folders": [str(copy.folder), str(scratch)],
            "files": bounds.files,
            "size": bounds.written,
            "file": bounds.file,
        },
        "order": json.dumps(_guests_order(copy, order)),
    }
    data = json.dumps(told).encode()
    (place / "order").write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def _guests_order(copy: WorkspaceCopy, order: ProgramOrder) -> dict[str, Any]:
    packages = () if order.packages is None else (PACKAGES,)
    return {
        "do": "program",
        "name": order.name,
        "place": order.place,
        "source": base64.b64encode(order.source).decode(),
        "args": list(order.args),
        "root": WORKSPACE,
        "folders": [*order.folders, *packages],
        "packages": bool(packages),
        "environment": {"HOME": _SCRATCH, "TMPDIR": _SCRATCH, "LANG": "C.UTF-8", "PATH": ""},
        "modes": copy.modes(),
        "closed": list(order.closed[:_MOST_CLOSED]),
    }


def _report(place: Path) -> dict[str, Any]:
    try:
        return cast("dict[str, Any]", json.loads((place / "report").read_bytes()))
    except (OSError, ValueError):
        return {}


def _end(ended: Exit, report: Mapping[str, Any], bounds: Bounds) -> ProgramEnd:
    end = report.get("ended")
    if end == "trapped":
        ended = replace(ended, exit_code=_ABORTED)
    most = bounds.written >> 20
    return ProgramEnd(
        exit=ended,
        began=bool(report.get("began")),
        refusal=(
            f"the program was ended because it wrote more than {most:,} MB or {bounds.files:,}"
            " files; none of its changes were kept"
            if end == "disk"
            else ""
        ),
        modes=cast("Mapping[str, int]", report.get("modes", {})),
    )
