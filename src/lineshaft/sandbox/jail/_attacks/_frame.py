"""The frame of attacks: their registration, their system calls, the process of each.

Every attack runs in a process of its own, so an attack that is killed counts as held.
"""

import ctypes
import errno
import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

Targets = dict[str, str]
Attack = Callable[[Targets], object]

ATTACKS: dict[str, Attack] = {}
"""By what each tries, in words."""

LIBC = ctypes.CDLL(None, use_errno=True)
MEGABYTE = 1 << 20
_ARM = sys.platform == "linux" and os.uname().machine == "aarch64"
_SECONDS = 6
_SEEN = 300


class NothingCame(Exception):
    """The attack was not refused, and yet nothing came through."""


def attack(words: str) -> Callable[[Attack], Attack]:
    """Add an attack under the words that say what it tries."""

    def add(function: Attack) -> Attack:
        ATTACKS[words] = function
        return function

    return add


def held(how: str) -> NoReturn:
    """Report that nothing came through."""
    raise NothingCame(how)


def call(x86: int, arm: int, *arguments: object) -> int:
    """Make a system call by number, or raise the error of its failure."""
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result = LIBC.syscall(arm if _ARM else x86, *words)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def read(path: str) -> str:
    """Return the beginning of a file."""
    with open(path, "rb") as file:  # noqa: PTH123  pathlib is not needed inside
        return file.read(200).decode(errors="replace")


def attempt(function: Attack, targets: Targets) -> tuple[bool, str]:
    """Run one attack in a process of its own; return whether it came through, and its output."""
    assert sys.platform == "linux"  # noqa: S101  it runs in a jail
    out, into = os.pipe()
    try:
        child = os.fork()
    except OSError:
        os.close(out)
        os.close(into)
        raise
    if child == 0:
        signal.alarm(_SECONDS)
        os.write(into, _outcome(function, targets).encode()[:_SEEN])
        os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as file:
        seen = file.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    if not seen:
        return False, f"ended by signal {os.WTERMSIG(status)}"
    return seen[0] == "+", seen[1:]


def _outcome(function: Attack, targets: Targets) -> str:
    try:
        return f"+{function(targets)!r}"
    except NothingCame as error:
        return f"-{error}"
    except OSError as error:
        return f"-{errno.errorcode.get(error.errno or 0, str(error))}"
    except BaseException as error:  # noqa: BLE001  any exception means that it was stopped
        return f"-{error!r}"
