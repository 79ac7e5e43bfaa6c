"""Choice of the boundary: the best that was seen to work here, or the requested one."""

import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

from lineshaft.errors import NoBoundary
from lineshaft.sandbox.bundle import system_files
from lineshaft.sandbox.jail._bubblewrap import BubblewrapJail
from lineshaft.sandbox.jail._sandlock import SandlockJail
from lineshaft.sandbox.jail._spec import Jail, SandboxSpec
from lineshaft.values import WASM_BOUNDARY

JAILS: Mapping[str, type[Jail]] = {"sandlock": SandlockJail, "bubblewrap": BubblewrapJail}
"""Best first."""

_NEED = "a full Python needs sandlock (Linux 6.12 or newer) or bubblewrap with user namespaces"
_LOCK = threading.Lock()
_TRIED: dict[str, str] = {}
"""By name: the reason why it does not work here; empty where it does."""

_SECONDS = 20.0


def best_jail(wanted: str | None = None) -> Jail:
    """Return the jail to use. Each kind is tried once in the life of this process.

    Args:
        wanted: Name of a boundary; None: the best that works.

    Raises:
        NoBoundary: None works, or not the one that was asked for.
    """
    if wanted == WASM_BOUNDARY:
        raise NoBoundary(
            "the boundary 'wasm' holds programs of python_run, and no full Python",
            hint="Use the engine wasm, or leave out python.boundary.",
        )
    names = [wanted] if wanted is not None else list(JAILS)
    reasons: list[str] = []
    for name in names:
        if name not in JAILS:
            known = ", ".join(sorted(JAILS))
            raise NoBoundary(f"there is no boundary {name!r}", hint=f"there are: {known}")
        reason = unusable(name)
        if not reason:
            return JAILS[name]()
        reasons.append(f"{name}: {reason}")
    said = "; ".join(reasons)
    raise NoBoundary(f"no boundary that holds full Python works here ({said})", hint=_NEED)


def unusable(name: str) -> str:
    """Return why a boundary does not work here, or nothing if it does."""
    with _LOCK:
        if name not in _TRIED:
            _TRIED[name] = _try(JAILS[name]())
        return _TRIED[name]


def _try(jail: Jail) -> str:
    """Start the smallest program there is inside, with the fewest paths."""
    if not sys.platform.startswith("linux"):
        return f"it needs Linux, not {sys.platform!r}"
    program = Path(shutil.which("true") or "/bin/true").resolve()
    spec = SandboxSpec(readable=(program, *system_files([program])))
    with tempfile.TemporaryFile() as said:
        null = os.open(os.devnull, os.O_RDWR)
        try:
            code = jail.start(
                [str(program)], spec=spec, stdin=null, stdout=null, stderr=said.fileno()
            ).wait(_SECONDS)
        except NoBoundary as error:
            return error.message
        finally:
            os.close(null)
        said.seek(0)
        words = said.read().decode(errors="replace").strip()
    return "" if code == 0 else words or f"a program inside ended with {code!r}"
