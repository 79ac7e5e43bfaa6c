"""Filters of the system calls that namespaces, or Landlock, leave open.

Deny lists, in the kernel's classic filter code. Refused calls fail with `EPERM`, and `clone3`
with `ENOSYS`, whose flags a filter cannot read, so that the C library uses `clone`.
"""

import platform
import struct
from collections.abc import Iterator, Mapping

_LOAD, _JUMP_EQUAL, _JUMP_ANY_BIT, _JUMP_GREATER, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_EPERM, _ENOSYS = 1, 38
_NUMBER, _ARCHITECTURE = 0, 4
_FIRST_ARGUMENT, _SECOND_ARGUMENT = 16, 24
_X32 = 0x40000000
_NEW_NAMESPACES = 0x7E020080
_TERMINAL_INPUT = (0x5412, 0x541C)
"""`TIOCSTI` and `TIOCLINUX`: typing into another user's terminal."""

_FIXED_ADDRESSES, _ASKED_ONLY = 0x40000, 0xFFFFFFFF
"""Of `personality`: the flags that a replay needs, and the query."""

_Instruction = tuple[int, int, int, int]

_COMMON: Mapping[str, int] = {
    "memfd_secret": 447,
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "pidfd_getfd": 438,
    "mount_setattr": 442,
}
_MACHINES: Mapping[str, tuple[int, Mapping[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            "clone": 56,
            "clone3": 435,
            "ioctl": 16,
            "shmget": 29,
            "msgget": 68,
            "memfd_create": 319,
            "ptrace": 101,
            "syslog": 103,
            "personality": 135,
            "pivot_root": 155,
            "chroot": 161,
            "acct": 163,
            "mount": 165,
            "umount2": 166,
            "swapon": 167,
            "swapoff": 168,
            "reboot": 169,
            "iopl": 172,
            "ioperm": 173,
            "init_module": 175,
            "delete_module": 176,
            "quotactl": 179,
            "lookup_dcookie": 212,
            "mbind": 237,
            "set_mempolicy": 238,
            "kexec_load": 246,
            "add_key": 248,
            "request_key": 249,
            "keyctl": 250,
            "migrate_pages": 256,
            "unshare": 272,
            "move_pages": 279,
            "perf_event_open": 298,
            "name_to_handle_at": 303,
            "open_by_handle_at": 304,
            "setns": 308,
            "process_vm_readv": 310,
            "process_vm_writev": 311,
            "kcmp": 312,
            "finit_module": 313,
            "kexec_file_load": 320,
            "bpf": 321,
            "userfaultfd": 323,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "clone": 220,
            "clone3": 435,
            "ioctl": 29,
            "shmget": 194,
            "msgget": 186,
            "memfd_create": 279,
            "ptrace": 117,
            "syslog": 116,
            "personality": 92,
            "pivot_root": 41,
            "chroot": 51,
            "acct": 89,
            "mount": 40,
            "umount2": 39,
            "swapon": 224,
            "swapoff": 225,
            "reboot": 142,
            "init_module": 105,
            "delete_module": 106,
            "quotactl": 60,
            "lookup_dcookie": 18,
            "mbind": 235,
            "set_mempolicy": 237,
            "kexec_load": 104,
            "add_key": 217,
            "request_key": 218,
            "keyctl": 219,
            "migrate_pages": 238,
            "unshare": 97,
            "move_pages": 239,
            "perf_event_open": 241,
            "name_to_handle_at": 264,
            "open_by_handle_at": 265,
            "setns": 268,
            "process_vm_readv": 270,
            "process_vm_writev": 271,
            "kcmp": 272,
            "finit_module": 273,
            "kexec_file_load": 294,
            "bpf": 280,
            "userfaultfd": 282,
        },
    ),
}

_OF_OTHERS: Mapping[str, tuple[tuple[int, int], ...]] = {
    # prlimit64, setpriority, ioprio_set, sched_: setparam, setscheduler, setaffinity, setattr
    "x86_64": ((302, 16), (141, 24), (251, 24), (142, 16), (144, 16), (203, 16), (314, 16)),
    "aarch64": ((261, 16), (140, 24), (30, 24), (118, 16), (119, 16), (122, 16), (274, 16)),
}
"""Number of each call, and the place of the argument that names a process."""


def known_machine() -> bool:
    """Return whether there is a filter for this machine."""
    return platform.machine() in _MACHINES


def filter_program(machine: str | None = None) -> bytes:
    """Return the filter as the kernel takes it.

    Args:
        machine: Such as `x86_64`; None: this one.
    """
    return b"".join(struct.pack("<HBBI", *one) for one in _instructions(machine))


_SOCKET: Mapping[str, int] = {"x86_64": 41, "aarch64": 198}
_UNIX = 1


def gap_filter(machine: str | None = None) -> bytes:
    """Return a filter of the calls that Landlock leaves open.

    It forbids changing limits and priorities of other processes, and sockets other than those of
    one machine: Landlock controls `connect` over TCP, but not fast open, other ways or datagrams.
    Memory that no process has mapped counts for no limit, so it is forbidden too.

    Args:
        machine: Such as `x86_64`; None: this one.
    """
    name = machine or platform.machine()
    code = list(_begin(_MACHINES[name][0]))
    for number, argument in _OF_OTHERS[name]:
        code += [
            (_JUMP_EQUAL, 0, 4, number),
            (_LOAD, 0, 0, argument),
            # Zero stands for the caller itself.
            (_JUMP_EQUAL, 1, 0, 0),
            (_RETURN, 0, 0, _REFUSE | _EPERM),
            (_RETURN, 0, 0, _ALLOW),
        ]
    numbers = _MACHINES[name][1]
    for number in (numbers["msgget"], _COMMON["memfd_secret"]):
        code += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE | _EPERM)]
    code += [
        (_JUMP_EQUAL, 0, 3, _SOCKET[name]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_JUMP_EQUAL, 1, 0, _UNIX),
        (_RETURN, 0, 0, _REFUSE | _EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("<HBBI", *one) for one in code)


def _begin(architecture: int) -> Iterator[_Instruction]:
    yield _LOAD, 0, 0, _ARCHITECTURE
    yield _JUMP_EQUAL, 1, 0, architecture
    yield _RETURN, 0, 0, _KILL
    yield _LOAD, 0, 0, _NUMBER
    # The same kernel has a second table of calls with other numbers.
    yield _JUMP_GREATER, 0, 1, _X32
    yield _RETURN, 0, 0, _REFUSE | _ENOSYS


def _instructions(machine: str | None) -> Iterator[_Instruction]:
    architecture, numbers = _MACHINES[machine or platform.machine()]
    yield from _begin(architecture)
    yield _JUMP_EQUAL, 0, 1, numbers["clone3"]
    yield _RETURN, 0, 0, _REFUSE | _ENOSYS
    yield from _unless(numbers["clone"], _FIRST_ARGUMENT, ((_JUMP_ANY_BIT, _NEW_NAMESPACES),))
    yield from _unless(
        numbers["ioctl"], _SECOND_ARGUMENT, tuple((_JUMP_EQUAL, n) for n in _TERMINAL_INPUT)
    )
    yield _JUMP_EQUAL, 0, 4, numbers["personality"]
    yield _LOAD, 0, 0, _FIRST_ARGUMENT
    yield _JUMP_EQUAL, 1, 0, _FIXED_ADDRESSES
    yield _JUMP_EQUAL, 0, 1, _ASKED_ONLY
    yield _RETURN, 0, 0, _ALLOW
    for name, number in {**numbers, **_COMMON}.items():
        if name not in ("clone", "clone3", "ioctl"):
            yield _JUMP_EQUAL, 0, 1, number
            yield _RETURN, 0, 0, _REFUSE | _EPERM
    yield _RETURN, 0, 0, _ALLOW


def _unless(
    number: int, argument: int, tests: tuple[tuple[int, int], ...]
) -> Iterator[_Instruction]:
    """Refuse one call where the low half of an argument meets a test; allow it otherwise."""
    yield _JUMP_EQUAL, 0, 2 + 2 * len(tests), number
    yield _LOAD, 0, 0, argument
    for test, value in tests:
        yield test, 0, 1, value
        yield _RETURN, 0, 0, _REFUSE | _EPERM
    yield _RETURN, 0, 0, _ALLOW
