"""Programs over a private copy: what they have, what they lack, and what holds them."""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from lineshaft.sandbox.jail import SandboxSpec
from lineshaft.sandbox.webassembly import child as room
from lineshaft.sandbox.webassembly import native_code
from lineshaft.sandbox.webassembly.program import (
    Bounds,
    ProgramEnd,
    ProgramOrder,
    WorkspaceCopy,
    run_program,
)

CHILD = str(Path(room.__file__).with_name("_child.py"))
SMALL = Bounds(files=200, written=4 << 20, file=1 << 20)

Run = Callable[..., Coroutine[Any, Any, ProgramEnd]]


@pytest.fixture(scope="module", autouse=True)
def ready() -> None:
    """Have the native code made before a program's time runs."""
    native_code()


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[WorkspaceCopy]:
    """The copy of a workspace, with small bounds."""
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "tool").write_text("#!/bin/sh\n")
    (root / "tool").chmod(0o755)
    (tmp_path / "secret").write_text("hush")
    copy = WorkspaceCopy(root, SMALL)
    copy.refresh(SandboxSpec(readable=()))
    yield copy
    copy.close()


@pytest.fixture
def run(copy: WorkspaceCopy) -> Run:
    """Run a program on the copy."""

    async def run(code: str, **options: object) -> ProgramEnd:
        order = ProgramOrder(
            name="<program>",
            place="<program>",
            source=code.encode(),
            **options,  # pyright: ignore[reportArgumentType]  as an order takes them
        )
        return await run_program(copy, order)

    return run


def left(copy: WorkspaceCopy, ended: ProgramEnd) -> dict[str, tuple[str, int | None]]:
    """Return what a program did to each path, and its mode."""
    return {each.path: (each.how, each.mode) for each in copy.changes(ended.modes).files}


async def test_files_are_real_ones_with_permissions(run: Run, copy: WorkspaceCopy) -> None:
    ended = await run("""
import os, shutil, zipfile
os.makedirs("sub/deep")
os.chdir("sub/deep"); os.chdir(".."); print(os.getcwd()); os.chdir("..")
print([oct(os.stat(path).st_mode) for path in ("tool", "sub")], os.stat("tool").st_mtime > 1e9)
shutil.copy2("tool", "sub/copied")
with open("new", "w") as file:
    os.fchmod(file.fileno(), 0o600)
os.rename("new", "sub/renamed")
open("reused", "w").close(); os.chmod("reused", 0o777); os.remove("reused")
open("plain", "w").close()
with zipfile.ZipFile("sub/z.zip", "w") as archive:
    archive.write("tool")
print(oct(zipfile.ZipFile("sub/z.zip").infolist()[0].external_attr >> 16))
""")

    assert ended.exit.stdout.splitlines() == [
        "/ws/sub",
        "['0o100755', '0o40755'] True",
        "0o100755",
    ]
    assert left(copy, ended) == {
        "sub": ("folder", 0o755),
        "sub/deep": ("folder", 0o755),
        "sub/copied": ("written", 0o755),
        "sub/renamed": ("written", 0o600),
        "sub/z.zip": ("written", 0o644),
        "plain": ("written", 0o644),
    }


async def test_what_was_left_open_is_written_and_exit_handlers_run(
    run: Run, copy: WorkspaceCopy
) -> None:
    ended = await run("""
import atexit, sys
file = open("open", "w")
file.write("not closed")
atexit.register(lambda: print("bye"))
print("no line break", end="")
sys.exit("because")
""")

    assert (ended.exit.exit_code, ended.exit.stdout) == (1, "no line breakbye\n")
    assert ended.exit.stderr == "because\n"
    assert (copy.folder / "open").read_text() == "not closed"


async def test_a_program_that_ends_at_once_tells_its_code_and_flushes_nothing(
    run: Run, copy: WorkspaceCopy
) -> None:
    ended = await run("""
import os
open("made", "w").close(); os.chmod("made", 0o711)
print("line"); print("rest", end="")
os._exit(7)
""")

    assert (ended.exit.exit_code, ended.exit.stdout, ended.began) == (7, "line\n", True)
    assert left(copy, ended) == {"made": ("written", 0o711)}


async def test_tasks_sleep_and_executors_work_at_once(run: Run) -> None:
    ended = await run("""
import asyncio, time, zoneinfo, tempfile, os
from concurrent.futures import ThreadPoolExecutor
async def main():
    started = time.monotonic()
    found = await asyncio.gather(asyncio.sleep(0.05, 1), asyncio.to_thread(abs, -2))
    async with asyncio.timeout(5):
        await asyncio.sleep(0)
    return found, time.monotonic() - started >= 0.05
print(asyncio.run(main()))
with ThreadPoolExecutor() as pool:
    print(list(pool.map(abs, (-1, -2))))
print(zoneinfo.ZoneInfo("Europe/Berlin"), os.path.expanduser("~"), tempfile.gettempdir())
async def never():
    await asyncio.Future()
try:
    asyncio.run(never())
except RuntimeError as error:
    print(error)
""")

    assert ended.exit.stderr == ""
    assert ended.exit.stdout.splitlines() == [
        "([1, 2], True)",
        "[1, 2]",
        "Europe/Berlin /tmp /tmp",
        "the program waits for what never comes: every task waits, and nothing is scheduled",
    ]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import subprocess; subprocess.run(['ls'])", "the tool `run_command` starts some"),
        ("import os; os.system('ls')", "the tool `run_command` starts some"),
        ("import os; os.fork()", "the tool `run_command` starts some"),
        ("import multiprocessing as m; m.Process(target=print).start()", "cannot be started"),
        ("import threading; threading.Thread(target=print).start()", "do their work at once"),
        ("import ssl", "No module named 'ssl' (there is no network)"),
        ("import ctypes", "No module named 'ctypes' (it is native code"),
        ("open('/etc/passwd')", "a program sees no other folder than the workspace"),
        ("open('../secret')", "a path that leads out of the workspace"),
        ("open('.env')", "policy closes this path to programs"),
        ("import os; os.getuid()", "no users or groups"),
    ],
)
async def test_what_is_not_there_says_what_to_do(run: Run, code: str, said: str) -> None:
    ended = await run(code, closed=(".env",))

    assert ended.exit.exit_code == 1
    assert said in ended.exit.stderr
    assert "<lineshaft>" not in ended.exit.stderr
    assert 'File "<program>", line 1, in <module>' in ended.exit.stderr


async def test_packages_are_read_only_and_compiled_ones_say_so(run: Run, tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    (packages / "pure").mkdir(parents=True)
    (packages / "pure" / "__init__.py").write_text("import bz2\nNAME = __file__\n")
    (packages / "pure" / "data.txt").write_text("data")
    (packages / "fast.cpython-314-x86_64-linux-gnu.so").write_bytes(b"\x7fELF")

    ended = await run(
        """
import importlib.resources, pure
print(pure.NAME, importlib.resources.files(pure).joinpath("data.txt").read_text())
for attempt in (lambda: open("/packages/x", "w"), lambda: __import__("fast")):
    try:
        attempt()
    except (OSError, ImportError) as error:
        print(type(error).__name__, error)
""",
        packages=packages,
    )

    name, written, compiled = ended.exit.stdout.splitlines()
    assert name == "/packages/pure/__init__.py data"
    assert written.startswith("PermissionError")
    assert "compiled code, which does not run in WebAssembly" in compiled
    assert sorted(path.name for path in packages.iterdir()) == [
        "fast.cpython-314-x86_64-linux-gnu.so",
        "pure",
    ]


OUTWARDS = """
import os
attempts = {
    "up": lambda: open("../../../secret").read(),
    "twice": lambda: open("sub/../../../secret").read(),
    "absolute": lambda: open("/etc/passwd").read(),
    "absolute link": lambda: os.symlink("/etc", "abs"),
    "link": lambda: (os.symlink("../../../secret", "out"), open("out").read()),
    "write by link": lambda: open("out", "w"),
    "folder link": lambda: (os.symlink("../../..", "above"), os.listdir("above")),
    "list by link": lambda: os.scandir("above"),
    "write below link": lambda: open("above/made", "w"),
    "hard link": lambda: os.link("../../../secret", "hard"),
    "hard link by link": lambda: os.link("above/secret", "hard"),
    "rename out": lambda: os.rename("tool", "../../tool"),
    "rename by link": lambda: os.rename("tool", "above/tool"),
    "up from temporary files": lambda: os.listdir("/tmp/.."),
    "out of temporary files": lambda: open("/tmp/../order").read(),
    "root": lambda: os.listdir("/"),
    "descriptor": lambda: os.open("..", os.O_RDONLY),
    "proc": lambda: open("/proc/self/environ"),
    "chdir": lambda: (os.chdir(".."), os.listdir(".")),
}
os.mkdir("sub")
for name, attempt in attempts.items():
    try:
        print(name, "HELD NOT", attempt())
    except OSError:
        pass
os.chdir("/ws")
"""


async def test_no_path_leads_out(run: Run, copy: WorkspaceCopy, tmp_path: Path) -> None:
    ended = await run(OUTWARDS)

    assert (ended.exit.stdout, ended.exit.stderr) == ("", "")
    assert (tmp_path / "secret").read_text() == "hush"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret", "workspace"]
    assert left(copy, ended) == {
        "sub": ("folder", 0o755),
        "out": ("symlink", None),
        "above": ("symlink", None),
    }


async def test_one_file_has_a_bound_and_a_sparse_one_too(run: Run, copy: WorkspaceCopy) -> None:
    ended = await run("""
for attempt in (lambda f: f.write(bytes(2 << 20)), lambda f: f.truncate(10**12)):
    try:
        with open("large", "wb") as file:
            attempt(file)
    except OSError:
        print("held")
""")

    assert ended.exit.stdout.splitlines() == ["held", "held"]
    assert (copy.folder / "large").stat().st_size <= SMALL.file


@pytest.mark.parametrize("place", ["", "/tmp/"])  # noqa: S108  the guest's own
async def test_a_program_that_fills_the_disk_is_ended(run: Run, place: str) -> None:
    ended = await run(f"""
print("begun")
number = 0
while True:
    with open(f"{place}n{{number % 100}}", "ab") as file:
        file.write(bytes(100_000))
    number += 1
    if number % 900 == 0:
        number = 0
""")

    assert "wrote more than 4 MB" in ended.refusal
    assert ended.exit.stdout == "begun\n"


async def test_a_program_that_makes_too_many_files_is_ended(run: Run) -> None:
    ended = await run("""
import os, time
for number in range(1_000):
    os.mkdir(f"n{number}")
while True:
    time.sleep(1)
""")

    assert "200 files" in ended.refusal


async def test_memory_is_bounded_and_recursion_is_pythons_own(run: Run) -> None:
    code = """
kept = []
try:
    while True:
        kept.append(bytearray(1 << 20))
except MemoryError:
    kept.clear()
    print("MemoryError")
def deeper():
    return deeper()
try:
    deeper()
except RecursionError:
    print("RecursionError")
"""

    ended = await run(code, memory_mb=64)

    assert ended.exit.stdout.splitlines() == ["MemoryError", "RecursionError"]


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.abort()",
        "import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()",
        "import wit_world",
        "import _lineshaft",
    ],
)
async def test_an_interpreter_that_breaks_off_harms_nothing_else(run: Run, code: str) -> None:
    broken = await run(f"print('begun')\n{code}")
    well = await run("print('well')")

    assert broken.exit.stdout == "begun\n"
    assert broken.exit.exit_code in (1, -6)
    assert broken.exit.stderr
    assert well.exit.stdout == "well\n"


@pytest.mark.long
async def test_time_ends_what_sleeps_and_what_computes(run: Run) -> None:
    for code in ("import time; time.sleep(1e6)", "while True: pass"):
        ended = await run(f"print('begun')\n{code}", seconds=5)
        assert (ended.exit.timed_out, ended.exit.stdout) == (True, "begun\n")
    assert not children(os.getpid())


async def test_a_cancelled_program_is_ended(run: Run) -> None:
    task = asyncio.create_task(run("while True: pass", seconds=60))
    while not children(os.getpid()):
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert not children(os.getpid())


HOST = """
import asyncio, sys
from pathlib import Path
from lineshaft.sandbox.webassembly.program import ProgramOrder, WorkspaceCopy, run_program
from lineshaft.sandbox.jail import SandboxSpec

async def main():
    copy = WorkspaceCopy(Path(sys.argv[1]))
    copy.refresh(SandboxSpec(readable=()))
    source = b"print('x')\\nwhile True: pass"
    await run_program(copy, ProgramOrder(name="p", place="p", source=source, seconds=100))

asyncio.run(main())
"""


async def test_a_program_ends_with_its_host(tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    root.mkdir()
    argv = (sys.executable, "-c", HOST, str(root))
    host = await asyncio.create_subprocess_exec(*argv, start_new_session=True)
    try:
        async with asyncio.timeout(60):
            while not (found := children(host.pid)):
                await asyncio.sleep(0.02)
    finally:
        host.kill()
        await host.wait()

    _, alive = psutil.wait_procs(found, timeout=10)
    assert alive == []


def children(pid: int) -> list[psutil.Process]:
    """Return the processes that run programs of a host."""
    found: list[psutil.Process] = []
    for process in psutil.Process(pid).children(recursive=True):
        try:
            if process.status() != psutil.STATUS_ZOMBIE and CHILD in process.cmdline():
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found
