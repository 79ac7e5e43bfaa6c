"""A host that is killed: nothing that it started computes on, whatever that is in the middle of."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from textwrap import dedent

import anyio
import psutil
import pytest

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="platform: untried elsewhere")

HOST = """
import asyncio, sys
from pathlib import Path
from lineshaft import Policy, Session, kit, mcp
from lineshaft.values import PythonOptions

COMPUTE = "while True: pass"
DEAF = "trap '' TERM HUP INT; while :; do :; done"
DAEMON = f"(setsid sh -c \\"{DEAF}\\" &) ; {DEAF}"

def session(tools=(), **python):
    policy = Policy.from_dict({"mode": "open"})
    options = PythonOptions(**python)
    return Session([kit.tools(), *tools], policy=policy, python=options, store=False)

async def script_in_jail():
    async with Session(engine="cpython", store=False) as session:
        print(await session.run(COMPUTE))

async def program(boundary):
    async with session(boundary=boundary) as each:
        print(await each.call("python_run", {"code": COMPUTE}))

async def command():
    async with session() as each:
        print(await each.call("run_command", {"command": "sh", "args": ["-c", DAEMON]}))

async def server():
    async with session([mcp.server(["sh", "-c", DAEMON], name="s")]) as each:
        print(await each.run("return await s.nothing()"))

async def installer():
    async with session(packages=("a-package",)) as each:
        print(await each.run("import a_package"))

kind, _, boundary = sys.argv[1].partition(" ")
asyncio.run(program(boundary or None) if kind == "program" else globals()[kind]())
"""

INSTALLER = """#!/bin/sh
trap '' TERM
while :; do :; done
"""
"""Stands where `uv` is looked for, and computes for ever."""


@contextlib.contextmanager
def host(kind: str, folder: Path) -> Generator["subprocess.Popen[bytes]"]:
    """Start a host of its own that has something computed for ever."""
    programs = folder / "programs"
    programs.mkdir()
    (programs / "uv").write_text(INSTALLER)
    (programs / "uv").chmod(0o755)
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    argv = [sys.executable, "-c", dedent(HOST), kind]
    workspace = folder / "workspace"
    workspace.mkdir()
    with subprocess.Popen(argv, cwd=workspace, env={**os.environ, "PATH": path}) as process:
        try:
            yield process
        finally:
            process.kill()


def used(process: psutil.Process) -> float:
    """Return the time that a process has computed, in seconds."""
    with contextlib.suppress(psutil.Error):
        return float(process.cpu_times().user)
    return 0.0


def lives(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return bool(process.is_running()) and process.status() != psutil.STATUS_ZOMBIE
    return False


@needs_linux
@pytest.mark.parametrize(
    "kind",
    ["script_in_jail", "program", "program wasm", "program none", "command", "server", "installer"],
)
async def test_nothing_computes_on_after_its_host_was_killed(kind: str, tmp_path: Path) -> None:
    with host(kind, tmp_path) as process:
        family: list[psutil.Process] = []
        with anyio.fail_after(60):
            while not any(used(member) > 1 for member in family):
                assert process.poll() is None, "the host ended by itself"
                await anyio.sleep(0.05)
                family = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGKILL)
        process.wait()
        try:
            with anyio.fail_after(5):
                while any(lives(member) for member in family):
                    await anyio.sleep(0.01)
        finally:
            for member in family:
                with contextlib.suppress(psutil.Error):
                    member.kill()
