"""Address files: by which other programs of the same person find the hosts that run.

Each is a file of the state folder that only its owner reads, named after the host's process.
"""

import json
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from lineshaft.files import private_folder, state_folder, write_whole
from lineshaft.values import DecodeError, decode

_FOLDER = "editors"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostAddress:
    """A host that runs."""

    url: str
    """`http://127.0.0.1:PORT`."""

    token: str
    """What clients must show."""

    pid: int
    """Its process."""

    root: str
    """The folder that is open in the window, on this machine."""

    version: str
    """Of Lineshaft."""


@contextmanager
def published(address: HostAddress) -> Generator[Path]:
    """Keep an address file as long as the block lasts.

    Raises:
        ConfigError: The state folder cannot be made.
    """
    folder = private_folder(state_folder() / _FOLDER)
    file = folder / f"{address.pid}.json"
    write_whole(file, json.dumps(asdict(address)).encode(), 0o600)
    try:
        yield file
    finally:
        with suppress(OSError):
            file.unlink()


def addresses() -> tuple[HostAddress, ...]:
    """Return the hosts that run; files of hosts that were killed are deleted."""
    found: list[HostAddress] = []
    folder = state_folder() / _FOLDER
    for file in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        with suppress(OSError, ValueError, DecodeError):
            address = decode(HostAddress, json.loads(file.read_bytes()))
            if _runs(address.pid):
                found.append(address)
            else:
                file.unlink()
    return tuple(found)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
