"""The process of one run: set up ahead, behind its wall before it reads its script, then gone."""

import resource
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lineshaft.engines.cpython.inside import _wall
from lineshaft.engines.cpython.inside._clocks import ProcessClocks
from lineshaft.engines.cpython.inside._entropy import Entropy
from lineshaft.engines.cpython.inside._link import HostLink
from lineshaft.engines.cpython.inside._system import system as os

assert sys.platform == "linux"  # noqa: S101  it runs in a jail

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)
_MEGABYTE = 1_000_000
_HEADROOM = 32 * _MEGABYTE
"""Bytes for reporting a lack of memory."""

_WIRE = 3
REHEARSAL = '{"do": "rehearse"}'
"""An order to the guest; in the parent it loads what is made at first use, in each process it makes
private memory ahead."""

Guest = Callable[[str, object], str]


@dataclass(frozen=True, slots=True)
class ChildSetting:
    """The settings that every process gets beside its descriptors."""

    wall: _wall.Wall
    guest: Guest
    """Carries out an order."""

    clocks: ProcessClocks
    entropy: Entropy


def live(given: Sequence[int], parent: int, setting: ChildSetting) -> None:
    """Be the process of one run: all that does not need the script first, then the script.

    Args:
        given: Descriptors of the wire, of standard output and standard error.
        parent: The parent's id.
        setting: The settings of every process.
    """
    _own_signals()
    setting.wall.die_with(parent)
    os.chdir("/")  # where no file can be written
    setting.wall.put_up()
    _own_descriptors(given)
    link = HostLink(_WIRE, setting.clocks)
    setting.guest(REHEARSAL, link)
    link.greet()
    settings, order = link.order()
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    setting.entropy.begin(settings.seed)
    setting.wall.refuse_requests_over(settings.request_bytes)
    bound = settings.memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (bound, bound + _HEADROOM))
    link.finish(setting.guest(order, link))


def relax() -> None:
    """Leave room to report the error."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _own_signals() -> None:
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)


def _own_descriptors(given: Sequence[int]) -> None:
    """Have the wire as 3, a standard input at its end, the two streams, and nothing else."""
    ended, writing = os.pipe()
    os.close(writing)
    wire, *streams = given
    high = [os.dup(fd) if fd <= _WIRE else fd for fd in (ended, *streams, wire)]
    for target, fd in enumerate(high):
        os.dup2(fd, target, inheritable=False)
    os.closerange(_WIRE + 1, os.sysconf("SC_OPEN_MAX"))
