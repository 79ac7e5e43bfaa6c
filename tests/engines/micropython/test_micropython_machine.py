"""What leads out of the WebAssembly machine, and what bounds it whatever it computes."""

# pyright: reportPrivateUsage=false
# What is imported is seen from nowhere else.

from lineshaft.engines._micropython._artifact import compiled, new_engine
from lineshaft.engines._micropython._machine import Machine

HEAP = 1 << 20
LEADING_OUT = {
    "host_call", "host_result_cap",  # our questions
    "fd_write",  # standard output and error
    "clock_time_get",
    "args_sizes_get", "args_get",
}  # fmt: skip  # words, not one a line
LEADING_NOWHERE = {
    "environ_sizes_get", "environ_get",  # an empty environment
    "fd_fdstat_get", "fd_prestat_get", "fd_close",  # of the three streams: there are no files
    "sched_yield", "proc_exit",
}  # fmt: skip  # words, not one a line


class Guest:
    """Takes what is printed, and is asked nothing."""

    def __init__(self) -> None:
        self.printed = b""
        self.asked: list[bytes] = []

    def ask(self, what: bytes, text: bytes) -> bytes:
        """Take note."""
        self.asked.append(what)
        return b""

    def module(self, name: str) -> bytes:
        """There is none."""
        return b""

    def write(self, handle: int, data: bytes) -> None:
        """Take note."""
        self.printed += data


def _run(source: str, *, fuel: int) -> tuple[str, bytes]:
    guest = Guest()
    arguments = ["micropython", "-X", "heapsize=1M", "-c", source]
    stopped_by = Machine(compiled()).run(guest, arguments, heap=HEAP, fuel=fuel)
    return stopped_by, guest.printed


def test_of_what_the_interpreter_asks_for_only_this_is_there() -> None:
    asked = {wanted.name for wanted in compiled().load(new_engine()).imports}
    given = set(Machine(compiled())._functions())
    assert asked & given == LEADING_OUT | LEADING_NOWHERE
    assert {"path_open", "fd_read", "path_unlink_file", "poll_oneoff"} <= asked - given


def test_computing_ends_with_its_fuel_though_no_clock_is_looked_at() -> None:
    stopped_by, printed = _run("print('begun')\nwhile True: pass", fuel=500_000_000)
    assert "all fuel consumed" in stopped_by
    assert printed == b"begun\n"


def test_memory_ends_where_the_machine_says() -> None:
    stopped_by, printed = _run("x = []\nwhile True: x.append('a' * 10_000 + 'b')", fuel=10**12)
    assert b"MemoryError" in printed
    assert "fuel" not in stopped_by
