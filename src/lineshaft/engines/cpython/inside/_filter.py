"""The filter of system calls of one run: the calls that a script's process may make.

An allow list, in the kernel's classic filter code: memory, threads of its own, files for reading,
pipes that it has, clocks, and itself. No call in it starts a process, names another one, makes a
socket, writes a file, or keeps memory outside the bounded address space. Other calls fail with
`EPERM`, and calls newer than the table with `ENOSYS`, after which the C library takes the older
way.

Above: `_wall.py`. Standard library alone; it does no I/O.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

_LOAD, _RETURN = 0x20, 0x06
_EQUAL, _ABOVE, _ANY_BIT = 0x15, 0x25, 0x45
_NOT_BELOW = 0x35
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_EPERM, _ENOMEM, _EACCES, _ENOSYS = 1, 12, 13, 38
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_X32 = 0x40000000
_FIRST_NEW = 403
"""From here on every machine has the same numbers."""

_THREAD = 0x10000
_NEW_NAMESPACES = 0x7E020080
_WRITES = 0o3 | 0o100 | 0o1000 | 0o20000000
"""`O_WRONLY`, `O_RDWR`, `O_CREAT`, `O_TRUNC`, `O_TMPFILE`."""

_FILE_COMMANDS = (0, 1, 2, 3, 4, 1030)
"""Of `fcntl`: duplicate, and the flags of a descriptor. Not its owner, size, lease or locks."""

_DEVICE_COMMANDS = (0x541B, 0x5401, 0x5413, 0x5421, 0x5450, 0x5451)
"""Of `ioctl`: how much can be read, what terminal it is, and the flags of a descriptor."""

_SELF_COMMANDS = (15, 16, 3, 21, 22, 23, 38, 39, 0x53564D41)
"""Of `prctl`: names of threads and mappings, more filters for itself, and questions."""

_Step = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Machine:
    """System calls of one kind of machine."""

    architecture: int
    plain: frozenset[int]
    """Allowed with any arguments."""

    numbers: Mapping[str, int]
    """Calls that are allowed by their arguments; some machines lack some."""


_COMMON = frozenset((436, 439, 441, 449))
"""close_range, faccessat2, epoll_pwait2, futex_waitv."""

MACHINES: Mapping[str, Machine] = {
    "x86_64": Machine(
        0xC000003E,
        _COMMON
        | {
            # read, write, close, stat, fstat, lstat, poll, lseek, mprotect, munmap
            *(0, 1, 3, 4, 5, 6, 7, 8, 10, 11),
            # Handlers and masks of signals, then pread64, readv, writev, access, pipe
            *(13, 14, 15, 17, 19, 20, 21, 22),
            # select, sched_yield, msync, mincore, madvise, dup, dup2, pause, nanosleep
            *(23, 24, 26, 27, 28, 32, 33, 34, 35),
            # getitimer, alarm, setitimer, getpid, exit, wait4, uname, getdents, getcwd, chdir
            *(36, 37, 38, 39, 60, 61, 63, 78, 79, 80),
            # fchdir, readlink, umask, gettimeofday, getrlimit, getrusage, sysinfo, times
            *(81, 89, 95, 96, 97, 98, 99, 100),
            # getuid, getgid, geteuid, getegid, getppid, getpgrp, getgroups, getresuid, getresgid
            *(102, 104, 107, 108, 110, 111, 115, 118, 120),
            # getpgid, getsid, rt_sigpending, rt_sigtimedwait, rt_sigsuspend, sigaltstack
            *(121, 124, 127, 128, 130, 131),
            # statfs, fstatfs, getpriority, sched_getparam, sched_getscheduler, limits of priority
            *(137, 138, 140, 143, 145, 146, 147),
            # arch_prctl, setrlimit, gettid, time, futex, sched_getaffinity, epoll_create
            *(158, 160, 186, 201, 202, 204, 213),
            # getdents64, set_tid_address, restart_syscall, fadvise64, clock_gettime, clock_getres
            *(217, 218, 219, 221, 228, 229),
            # clock_nanosleep, exit_group, epoll_wait, epoll_ctl, waitid, newfstatat, readlinkat
            *(230, 231, 232, 233, 247, 262, 267),
            # faccessat, pselect6, ppoll, set_robust_list, epoll_pwait, eventfd2, epoll_create1
            *(269, 270, 271, 273, 281, 290, 291),
            # dup3, pipe2, preadv, getcpu, getrandom, membarrier, statx, rseq
            *(292, 293, 295, 309, 318, 324, 332, 334),
        },
        {
            "open": 2,
            "openat": 257,
            "mmap": 9,
            "mremap": 25,
            "brk": 12,
            "clone": 56,
            "ioctl": 16,
            "fcntl": 72,
            "prctl": 157,
            "kill": 62,
            "tgkill": 234,
            "prlimit64": 302,
            "sched_setscheduler": 144,
            "sched_setaffinity": 203,
        },
    ),
    "aarch64": Machine(
        0xC00000B7,
        _COMMON
        | {
            # getcwd, eventfd2, epoll_create1, epoll_ctl, epoll_pwait, dup, dup3, statfs, fstatfs
            *(17, 19, 20, 21, 22, 23, 24, 43, 44),
            # faccessat, chdir, fchdir, close, pipe2, getdents64, lseek, read, write, readv, writev
            *(48, 49, 50, 57, 59, 61, 62, 63, 64, 65, 66),
            # pread64, preadv, pselect6, ppoll, readlinkat, newfstatat, fstat, exit, exit_group
            *(67, 69, 72, 73, 78, 79, 80, 93, 94),
            # waitid, set_tid_address, futex, set_robust_list, nanosleep, getitimer, setitimer
            *(95, 96, 98, 99, 101, 102, 103),
            # clock_gettime, clock_getres, clock_nanosleep, sched_getscheduler, sched_getparam
            *(113, 114, 115, 120, 121),
            # sched_getaffinity, sched_yield, limits of priority, restart_syscall, sigaltstack
            *(123, 124, 125, 126, 128, 132),
            # rt_sigsuspend, rt_sigaction, rt_sigprocmask, rt_sigpending, rt_sigtimedwait
            *(133, 134, 135, 136, 137),
            # The end of a handler, getpriority, getresuid, getresgid, times, getpgid, getsid,
            # getgroups
            *(139, 141, 148, 150, 153, 155, 156, 158),
            # uname, getrlimit, setrlimit, getrusage, umask, getcpu, gettimeofday, getpid, getppid
            *(160, 163, 164, 165, 166, 168, 169, 172, 173),
            # getuid, geteuid, getgid, getegid, gettid, sysinfo, munmap, fadvise64, mprotect, msync
            *(174, 175, 176, 177, 178, 179, 215, 223, 226, 227),
            # mincore, madvise, wait4, getrandom, membarrier, statx, rseq
            *(232, 233, 260, 278, 283, 291, 293),
        },
        {
            "openat": 56,
            "mmap": 222,
            "mremap": 216,
            "brk": 214,
            "clone": 220,
            "ioctl": 29,
            "fcntl": 25,
            "prctl": 167,
            "kill": 129,
            "tgkill": 131,
            "prlimit64": 261,
            "sched_setscheduler": 119,
            "sched_setaffinity": 122,
        },
    ),
}


_OWN_PID = 0x7FFF_4C53
"""Stands in a filter for the process that it is for; no process has this number."""


@dataclass(frozen=True, slots=True)
class Room:
    """The most memory that may be requested at once.

    `RLIMIT_AS` would refuse more too, but a boundary that counts the memory of a whole jail sees
    the request first, and ends the process. With this bound it is a `MemoryError`, as it should be.
    """

    most: int
    """Bytes."""

    heap: int
    """Where the heap ends now, as `sbrk` says."""


def run_filter(machine: Machine, *, threads: bool) -> bytes:
    """Return the filter of every run; `for_process` makes it that of one.

    Args:
        machine: Where it runs.
        threads: Whether native code may start threads.
    """
    numbers = machine.numbers
    steps = [*_begin(machine.architecture)]
    steps += _judged(numbers["openat"], [*_refuse_bits(2, _WRITES, _EACCES)])
    if "open" in numbers:
        steps += _judged(numbers["open"], [*_refuse_bits(1, _WRITES, _EACCES)])
    steps += _judged(numbers["clone"], _thread_only() if threads else [_refused(_EPERM)])
    for name, place, values in (
        ("ioctl", 1, _DEVICE_COMMANDS),
        ("fcntl", 1, _FILE_COMMANDS),
        ("prctl", 0, _SELF_COMMANDS),
        ("kill", 0, (_OWN_PID,)),
        ("tgkill", 0, (_OWN_PID,)),
        ("prlimit64", 0, (0, _OWN_PID)),
        ("sched_setscheduler", 0, (0, _OWN_PID)),
        ("sched_setaffinity", 0, (0, _OWN_PID)),
    ):
        steps += _judged(numbers[name], [*_allow_values(place, values)])
    allowed = {*machine.plain, *(numbers[name] for name in ("mmap", "mremap", "brk"))}
    return _packed([*steps, *_among(_ranges(sorted(allowed)))])


def for_process(text: bytes, pid: int) -> bytes:
    """Return a filter of `run_filter` for one process.

    Args:
        text: The filter.
        pid: The process, as it sees itself.
    """
    return text.replace(struct.pack("I", _OWN_PID), struct.pack("I", pid))


def size_filter(machine: Machine, room: Room) -> bytes:
    """Return a filter that refuses single requests for too much memory, and nothing else.

    Args:
        machine: Where it runs.
        room: The most that may be requested.
    """
    steps = [*_begin(machine.architecture), *_sizes(machine, room)]
    return _packed([*steps, (_RETURN, 0, 0, _ALLOW)])


def _sizes(machine: Machine, room: Room) -> Iterator[_Step]:
    # A refused `brk` must look like the kernel's own refusal, which returns the old end.
    for name, place, most, error in (
        ("mmap", 1, room.most, _ENOMEM),
        ("mremap", 2, room.most, _ENOMEM),
        ("brk", 0, room.heap + room.most, 0),
    ):
        yield from _judged(machine.numbers[name], [*_refuse_above(place, most, error)])


def _begin(architecture: int) -> Iterator[_Step]:
    yield _LOAD, 0, 0, _ARCHITECTURE
    yield _EQUAL, 1, 0, architecture
    yield _RETURN, 0, 0, _KILL
    yield _LOAD, 0, 0, _NUMBER
    # The same kernel has a second table of calls with other numbers.
    yield _NOT_BELOW, 0, 1, _X32
    yield _refused(_ENOSYS)


def _ranges(numbers: Iterable[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def _among(ranges: list[tuple[int, int]]) -> list[_Step]:
    """Allow some ranges of numbers and refuse the rest: a search tree.

    The kernel walks through a filter for each number that there is, when it is set.
    """
    if len(ranges) == 1:
        [(first, last)] = ranges
        return [
            (_NOT_BELOW, 0, 2, first),
            (_ABOVE, 1, 0, last),
            (_RETURN, 0, 0, _ALLOW),
            (_NOT_BELOW, 0, 1, _FIRST_NEW),
            _refused(_ENOSYS),
            _refused(_EPERM),
        ]
    middle = len(ranges) // 2
    below = _among(ranges[:middle])
    return [(_NOT_BELOW, len(below), 0, ranges[middle][0]), *below, *_among(ranges[middle:])]


def _judged(number: int, steps: list[_Step]) -> list[_Step]:
    """Have some steps decide about one call; they end by a return."""
    return [(_EQUAL, 0, len(steps), number), *steps]


def _refuse_bits(place: int, bits: int, error: int) -> Iterator[_Step]:
    yield _load(place)
    yield _ANY_BIT, 0, 1, bits
    yield _refused(error)
    yield _RETURN, 0, 0, _ALLOW


def _thread_only() -> list[_Step]:
    return [
        _load(0),
        (_ANY_BIT, 0, 2, _THREAD),
        (_ANY_BIT, 1, 0, _NEW_NAMESPACES),
        (_RETURN, 0, 0, _ALLOW),
        _refused(_EPERM),
    ]


def _allow_values(place: int, values: Iterable[int]) -> Iterator[_Step]:
    """Allow a call where the low half of an argument, all that the kernel takes, is one of some."""
    yield _load(place)
    for value in values:
        yield _EQUAL, 0, 1, value
        yield _RETURN, 0, 0, _ALLOW
    yield _refused(_EPERM)


def _refuse_above(place: int, most: int, error: int) -> Iterator[_Step]:
    high, low = most >> 32, most & 0xFFFFFFFF
    yield _load(place, 4)
    yield _ABOVE, 3, 0, high
    yield _NOT_BELOW, 0, 3, high
    yield _load(place)
    yield _ABOVE, 0, 1, low
    yield _refused(error)
    yield _RETURN, 0, 0, _ALLOW


def _load(place: int, half: int = 0) -> _Step:
    return _LOAD, 0, 0, _ARGUMENTS + 8 * place + half


def _refused(error: int) -> _Step:
    return _RETURN, 0, 0, _REFUSE | error


def _packed(steps: Iterable[_Step]) -> bytes:
    return b"".join(struct.pack("<HBBI", *step) for step in steps)
