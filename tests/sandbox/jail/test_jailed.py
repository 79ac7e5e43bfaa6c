"""What is started inside gets what its spec says, and ends whole."""

import json
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from lineshaft.errors import EngineError, NoBoundary
from lineshaft.sandbox.jail import SandboxSpec, best_jail
from lineshaft.sandbox.jail._scratch import make_scratch
from sandbox.jail.inside import SECONDS, Inside, read_all, read_line

pytestmark = pytest.mark.usefixtures("own_temporary_folder")

ESCAPE = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print("loose", flush=True)
        time.sleep(600)
    os._exit(0)
os.wait()
"""
STAY = ESCAPE + "time.sleep(600)"
HEADLESS = """
import ctypes, os, sys, threading
libc = ctypes.CDLL(None)
def work():
    libc.pthread_join(ctypes.c_void_p(threading.main_thread().ident), None)
    held = b"x" * int(sys.argv[1])
    print("loose", flush=True)
    threading.Event().wait()
for _ in range(int(sys.argv[2])):
    if os.fork():
        continue
    os.setsid()
    threading.Thread(target=work).start()
    libc.syscall(60 if os.uname().machine == "x86_64" else 93, 0)  # of one thread
os.wait()
"""

HOST = """
import json, os, sys, time
from pathlib import Path
from lineshaft.sandbox.jail import SandboxSpec
from lineshaft.sandbox.jail._choose import JAILS
name, argv, readable = json.loads(sys.argv[1])
null = os.open(os.devnull, os.O_RDONLY)
spec = SandboxSpec(readable=tuple(map(Path, readable)))
jailed = JAILS[name]().start(argv, spec=spec, stdin=null, stdout=1, stderr=null)
os.close(1)
time.sleep(600)
"""


def _gone(processes: list[psutil.Process]) -> bool:
    """Return whether some processes end."""
    return not psutil.wait_procs(processes, timeout=SECONDS)[1]


def _children(pid: int | None = None) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


def _scratch_folders() -> set[Path]:
    scratch = make_scratch()
    scratch.release()
    return set(scratch.path.parent.glob("jail-*")) - {scratch.path}


def _supervisor_of(pid: int) -> psutil.Process:
    parents = psutil.Process(pid).parents()
    return next(parent for parent in parents if "_supervisor.py" in " ".join(parent.cmdline()))


@pytest.mark.parametrize(("end", "code"), [("sys.exit(0)", 0), ("sys.exit(3)", 3), ("1/0", 1)])
def test_the_exit_code_is_the_real_one(inside: Inside, end: str, code: int) -> None:
    assert inside.run(f"import sys; {end}").code == code


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
def test_a_program_ended_by_a_signal_says_which(inside: Inside, number: signal.Signals) -> None:
    ran = inside.run(f"import os; os.kill(os.getpid(), {number})")
    assert ran.code == -number


def test_arguments_arrive_as_they_were_given(inside: Inside) -> None:
    words = ["two words", "ä€𝄞", "", "'\"\\$(x)", "--", "-c", "{info}", "{0}", "x" * 100_000]
    code = "import json, sys; print(json.dumps(sys.argv[1:]))"
    assert json.loads(inside.run(code, *words).out) == words


def test_the_environment_is_what_was_given_and_a_scratch_folder(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINESHAFT_SECRET", "x")
    spec = SandboxSpec(readable=(), env={"LANG": "C.UTF-8", "WORDS": "a b=ä"})
    code = "import json, os; print(json.dumps([dict(os.environ), os.getcwd()]))"
    env, cwd = json.loads(inside.run(code, spec=spec).out)
    assert env.pop("PWD", cwd) == cwd
    assert env == {"LANG": "C.UTF-8", "WORDS": "a b=ä", "HOME": cwd, "TMPDIR": cwd}


def test_the_scratch_folder_is_written_and_nobody_elses(inside: Inside) -> None:
    code = """
import os, tempfile
with tempfile.NamedTemporaryFile() as file:
    print(os.path.dirname(file.name) == os.getcwd(), sorted(os.listdir()) != [])
"""
    assert inside.run(code).out == "True True\n"
    assert inside.run("import os; print(os.listdir())").out == "[]\n"


def test_only_the_three_streams_get_inside(inside: Inside, tmp_path: Path) -> None:
    with (tmp_path / "leak").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        code = """
import os
open_ones = []
for fd in range(256):
    try:
        os.fstat(fd)
    except OSError:
        continue
    open_ones.append(fd)
print(open_ones)
"""
        assert inside.run(code).out == "[0, 1, 2]\n"


def test_the_first_stream_may_be_a_socket_over_which_others_come(
    inside: Inside, tmp_path: Path
) -> None:
    code = """
import os, socket
control = socket.socket(fileno=0)
message, fds, _, _ = socket.recv_fds(control, 100, 1)
os.write(fds[0], b"through it: " + message)
control.send(b"done")
"""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    null = os.open(os.devnull, os.O_RDWR)
    with here, (tmp_path / "file").open("wb") as file:
        jailed = inside.jail.start(
            inside.argv(code), spec=inside.spec(), stdin=there.fileno(), stdout=null, stderr=null
        )
        there.close()
        here.settimeout(SECONDS)
        socket.send_fds(here, [b"hello"], [file.fileno()])
        assert here.recv(100) == b"done"
        assert jailed.wait(SECONDS) == 0
        assert here.recv(100) == b""
    os.close(null)
    assert (tmp_path / "file").read_bytes() == b"through it: hello"


def test_what_left_its_session_ends_when_the_first_process_ends(inside: Inside) -> None:
    with inside.started(ESCAPE + "print('first ends')") as (jailed, out):
        assert jailed.wait(SECONDS) == 0
        assert sorted(read_all(out).split("\n")) == ["", "first ends", "loose"]


def test_kill_ends_what_left_its_session_and_ignores_signals(inside: Inside) -> None:
    with inside.started(STAY) as (jailed, out):
        assert read_line(out) == "loose"
        assert jailed.wait(0) is None
        jailed.kill()
        assert jailed.wait(0) == -signal.SIGKILL
        assert read_all(out, 1.0) == ""
        jailed.kill()


def test_kill_ends_what_goes_on_without_its_first_thread(inside: Inside) -> None:
    with inside.started(HEADLESS, "1", "1") as (jailed, out):
        assert read_line(out) == "loose"
        assert jailed.wait(0) is None
        jailed.kill()
        assert jailed.wait(0) == -signal.SIGKILL
        assert read_all(out, 1.0) == ""


def test_memory_counts_where_a_first_thread_has_ended(inside: Inside) -> None:
    spec = SandboxSpec(readable=(), memory_mb=256)
    with inside.started(HEADLESS, "120_000_000", "3", spec=spec) as (jailed, out):
        read_all(out)
        assert jailed.wait(SECONDS) is not None


def test_kill_ends_a_fork_bomb(inside: Inside) -> None:
    code = """
import os
print("off", flush=True)
while True:
    try:
        os.fork()
    except OSError:
        pass
"""
    with inside.started(code, spec=SandboxSpec(readable=(), processes=12)) as (jailed, out):
        assert read_line(out) == "off"
        jailed.kill()
        assert "Traceback" not in read_all(out)


def _hosted(inside: Inside) -> "subprocess.Popen[bytes]":
    """Start another host with a jail of which something got loose."""
    about = [inside.jail.name, inside.argv(STAY), [str(p) for p in inside.interpreter.readable]]
    return subprocess.Popen([sys.executable, "-c", HOST, json.dumps(about)], stdout=subprocess.PIPE)


def test_the_inside_ends_with_a_host_that_is_killed(inside: Inside) -> None:
    before = _scratch_folders()
    with _hosted(inside) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == b"loose\n"
        inner = _children(host.pid)
        assert len(inner) >= 3
        host.kill()
        assert read_all(host.stdout.fileno()) == ""
        assert _gone(inner)
    assert _scratch_folders() == before


def test_the_inside_ends_with_a_supervisor_that_is_killed(inside: Inside) -> None:
    others = _children()  # engines of other tests
    with inside.started(STAY) as (jailed, out):
        assert read_line(out) == "loose"
        inner = [each for each in _children() if each not in others]
        assert len(inner) >= 3
        _supervisor_of(jailed.pid).kill()
        assert read_all(out) == ""
        assert jailed.wait(SECONDS) == -signal.SIGKILL
        assert _gone(inner)


def test_the_inside_ends_with_the_process_that_put_up_the_boundary(inside: Inside) -> None:
    others = _children()  # engines of other tests
    with inside.started(STAY) as (jailed, out):
        assert read_line(out) == "loose"
        inner = [each for each in _children() if each not in others]
        assert len(inner) >= 3
        boundary = _supervisor_of(jailed.pid).children()[0]
        boundary.kill()
        assert read_all(out) == ""
        assert jailed.wait(SECONDS) is not None
        assert _gone(inner)


def test_nothing_is_left_after_any_end(inside: Inside) -> None:
    before, mounts = _scratch_folders(), Path("/proc/self/mounts").read_text()
    others = _children()  # engines of other tests
    inside.run("open('file', 'w').write('x')")
    inside.run("import sys; sys.exit(1)")
    with inside.started(STAY) as (_, out):
        read_line(out)
    with pytest.raises(EngineError):
        inside.jail.start(["/nowhere"], spec=inside.spec(), stdin=0, stdout=1, stderr=2)
    assert [each for each in _children() if each not in others] == []
    assert _scratch_folders() == before
    assert Path("/proc/self/mounts").read_text() == mounts


def test_jails_at_once_do_not_see_each_other(inside: Inside) -> None:
    code = """
import os, sys, time
open("mine", "w").write(sys.argv[1])
time.sleep(0.3)
above = os.path.dirname(os.getcwd())
try:
    others = os.listdir(above) if above != "/" else []
except OSError:
    others = []
print(sys.argv[1], open("mine").read(), others)
"""
    with ThreadPoolExecutor(6) as pool:
        jobs = [pool.submit(inside.run, code, str(number)) for number in range(6)]
        assert [job.result().out for job in jobs] == [f"{n} {n} []\n" for n in range(6)]


def test_walls_open_what_they_name_and_nothing_beside(inside: Inside, tmp_path: Path) -> None:
    names = ("readable", "writable", "hidden", "other")
    tmp_path.chmod(0o755)
    for name in names:
        (tmp_path / name).mkdir()
    for name in ("readable", "hidden", "other"):
        (tmp_path / name / "file").write_text(name)
    (tmp_path / "readable" / "secret").write_text("secret")
    (tmp_path / "readable" / "closed").mkdir()
    (tmp_path / "readable" / "closed" / "file").write_text("secret")
    (tmp_path / "single").write_text("single")
    spec = SandboxSpec(
        readable=(tmp_path / "readable", tmp_path / "single", tmp_path / "missing"),
        writable=(tmp_path / "writable",),
        hidden=(tmp_path / "readable" / "secret", tmp_path / "readable" / "closed"),
        cwd=tmp_path / "readable",
    )
    code = """
import os, sys
os.umask(0)
top = sys.argv[1]
def see(name):
    try:
        with open(f"{top}/{name}") as file:
            return bool(file.read())
    except OSError:
        return False
def write(name):
    try:
        with open(f"{top}/{name}", "w") as file:
            return file.write("new")
    except OSError:
        return None
print(os.getcwd() == f"{top}/readable")
print([see(name) for name in ("readable/file", "single", "readable/secret", "readable/closed/file",
    "other/file", "hidden/file")])
print([write(name) for name in ("writable/made", "readable/made", "single", "other/made")])
"""
    ran = inside.run(code, str(tmp_path), spec=spec)
    assert ran.out == ("True\n[True, True, False, False, False, False]\n[3, None, None, None]\n")
    assert (tmp_path / "writable" / "made").read_text() == "new"


@pytest.mark.parametrize("argv", [[], ["python3"], ["/nowhere/python3"], ["/bin/sh", "a\0b"]])
def test_what_cannot_be_started_is_refused(inside: Inside, argv: list[str]) -> None:
    with pytest.raises(EngineError):
        inside.jail.start(argv, spec=inside.spec(), stdin=0, stdout=1, stderr=2)


def test_a_program_that_cannot_be_read_inside_does_not_start(inside: Inside) -> None:
    spec = SandboxSpec(readable=inside.interpreter.readable)
    null = os.open(os.devnull, os.O_RDWR)
    try:
        jailed = inside.jail.start(
            ["/usr/bin/env"], spec=spec, stdin=null, stdout=null, stderr=null
        )
        code = jailed.wait(SECONDS)
    except NoBoundary:
        code = 1
    finally:
        os.close(null)
    assert code != 0


def test_changes_are_asked_for_where_a_folder_is_kept_apart(inside: Inside) -> None:
    with inside.started("pass") as (jailed, _):
        jailed.wait(SECONDS)
        with pytest.raises(EngineError, match="no folder was kept apart"):
            jailed.changes()


def test_a_boundary_that_nobody_knows_is_refused() -> None:
    with pytest.raises(NoBoundary, match="no boundary 'wall'") as caught:
        best_jail("wall")
    assert "sandlock" in caught.value.hint


def test_the_best_boundary_is_one_that_works(inside: Inside) -> None:
    assert best_jail(inside.jail.name).name == inside.jail.name
    assert best_jail().name in ("sandlock", "bubblewrap")


def test_where_no_boundary_works_the_reasons_are_given(inside: Inside) -> None:
    code = f"""
import sys
sys.modules["sandlock"] = None
import os
os.environ["PATH"] = "/nowhere"
from lineshaft.sandbox.jail import best_jail
from lineshaft.errors import NoBoundary
try:
    best_jail({inside.jail.name!r})
except NoBoundary as error:
    print(error.message)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"{inside.jail.name}: " in said.stdout
    assert "not installed" in said.stdout


def test_folders_that_a_crash_left_are_swept_and_those_in_use_are_not() -> None:
    used = make_scratch()
    stale = used.path.with_name("jail-stale")
    (stale / "deep").mkdir(parents=True)
    another = make_scratch()
    assert not stale.exists()
    assert used.path.is_dir()
    for scratch in (used, another):
        scratch.release()
    make_scratch().release()
    assert not used.path.exists()


def test_a_folder_of_somebody_else_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"lineshaft-{os.geteuid()}").symlink_to("elsewhere")
    with pytest.raises(NoBoundary, match="another user"):
        make_scratch()


def test_a_folder_that_others_can_write_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    home = tmp_path / f"lineshaft-{os.geteuid()}"
    home.mkdir()
    home.chmod(0o777)
    with pytest.raises(NoBoundary, match="another user"):
        make_scratch()
