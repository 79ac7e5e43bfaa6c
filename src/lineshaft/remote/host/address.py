"""Address files: by which other programs of the same person find the hosts that run.

Each is a file of the state folder that only its owner reads. The host keeps a lock beside it, which
ends with its process, however that ends: a file whose lock is free is that of a host that is gone.
"""

import json
import os
import re
import secrets
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from lineshaft.files import lock_file, private_folder, state_folder, write_whole
from lineshaft.values import DecodeError, Struct, decode

_LOCK = ".lock"
_LOOPBACK = re.compile(r"http://(?:127\.0\.0\.1|\[::1\]):[0-9]{1,5}", re.ASCII)
_NOT_INHERITED = getattr(os, "O_CLOEXEC", 0)


class HostAddress(Struct, frozen=True, kw_only=True):
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


def address_folder() -> Path:
    """Return the folder of the address files; it need not exist."""
    return state_folder() / "editors"


@contextmanager
def published(address: HostAddress) -> Generator[Path]:
    """Keep an address file as long as the block lasts.

    Raises:
        ConfigError: The state folder cannot be made.
    """
    folder = private_folder(address_folder())
    file = folder / f"{address.pid}-{secrets.token_hex(8)}.json"
    lock = file.with_suffix(_LOCK)
    fd = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NOT_INHERITED, 0o600)
    try:
        lock_file(fd)
        write_whole(file, json.dumps(asdict(address)).encode(), 0o600)
        yield file
    finally:
        _forget(file)
        os.close(fd)
        _forget(lock)


def addresses() -> tuple[HostAddress, ...]:
    """Return the hosts that run; files of hosts that were killed are deleted.

    A file counts that this user owns, that no other may read or write, and that names a port of
    this machine's loopback: another one could have a run's questions and contents sent elsewhere.
    """
    found: list[HostAddress] = []
    folder = address_folder()
    for file in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        with suppress(OSError, ValueError, DecodeError):
            if not _is_private(file):
                continue
            if _is_held(file.with_suffix(_LOCK)):
                address = decode(HostAddress, json.loads(file.read_bytes()))
                found += [address] if _LOOPBACK.fullmatch(address.url) else []
            else:
                _forget(file)
                _forget(file.with_suffix(_LOCK))
    return tuple(found)


def _is_private(file: Path) -> bool:
    """Return whether a file is this user's own and closed to others; Windows has no such modes."""
    if sys.platform == "win32":
        return True
    known = file.lstat()
    return (
        stat.S_ISREG(known.st_mode) and known.st_uid == os.geteuid() and not known.st_mode & 0o077
    )


def _is_held(lock: Path) -> bool:
    """Return whether another process has a lock."""
    try:
        fd = os.open(lock, os.O_RDWR | _NOT_INHERITED)
    except FileNotFoundError:
        return False
    try:
        lock_file(fd, wait=False, shared=True)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(fd)


def _forget(file: Path) -> None:
    with suppress(OSError):
        file.unlink()
