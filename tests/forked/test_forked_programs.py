"""A forked program is as one that was started anew: words, folder, variables, streams and end."""

import json
import os
import subprocess
import sys
from pathlib import Path

from forked.programs import Programs

TELLS = """
import json, os, sys
told = [sys.argv[1:], os.getcwd(), os.environ.get("TOLD"), "HOME" in os.environ, sys.stdin.read()]
streams = [[s.encoding, s.errors, s.line_buffering, s.isatty()] for s in (sys.stdout, sys.stderr)]
opened = sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1]
print(json.dumps([*told, streams, opened, sys.path[0], __name__]))
print("aside", file=sys.stderr)
sys.exit(7)
"""
DIES = "import os; os.kill(os.getpid(), 9)"
FAILS = "print('so far'); raise ValueError('no')"


def test_a_program_sees_and_tells_what_one_does_that_is_started(
    tmp_path: Path, programs: Programs
) -> None:
    file = tmp_path / "tells.py"
    file.write_text(TELLS, encoding="utf-8")
    env = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    env |= {"TOLD": "ä"}
    data = "some\nlines ö\n".encode()
    started = subprocess.run(
        [sys.executable, str(file), "a", "b c"],
        input=data,
        cwd=tmp_path,
        env=env,
        capture_output=True,
        check=False,
    )
    forked = programs.run("", str(file), "a", "b c", cwd=tmp_path, env=env, data=data)
    assert json.loads(forked.stdout) == json.loads(started.stdout)
    assert (forked.returncode, forked.stderr) == (started.returncode, started.stderr)
    assert forked.returncode == 7


def test_how_it_ends_is_told(tmp_path: Path, programs: Programs) -> None:
    file = tmp_path / "ends.py"
    file.write_text(DIES, encoding="utf-8")
    assert programs.run("", str(file), cwd=tmp_path, env={}).returncode == -9
    file.write_text(FAILS, encoding="utf-8")
    failed = programs.run("", str(file), cwd=tmp_path, env={})
    assert (failed.returncode, failed.stdout) == (1, b"so far\n")
    assert failed.stderr.endswith(b"ValueError: no\n")


def test_one_that_takes_too_long_is_killed(tmp_path: Path, programs: Programs) -> None:
    file = tmp_path / "hangs.py"
    file.write_text("import time; time.sleep(600)", encoding="utf-8")
    assert programs.run("", str(file), cwd=tmp_path, env={}, seconds=0.5).returncode == -9


def test_what_python_reads_at_its_start_is_heeded(tmp_path: Path, programs: Programs) -> None:
    file = tmp_path / "tells.py"
    file.write_text("import sys; print(sys.flags.utf8_mode, sys.argv[1:])", encoding="utf-8")
    for mode in ("0", "1"):
        env = {"PYTHONUTF8": mode}
        done = programs.run("", str(file), "a", cwd=tmp_path, env=env)
        assert done.stdout == f"{mode} ['a']\n".encode()
