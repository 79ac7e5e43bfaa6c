"""An agent as a program of its own: its end is seen, and nothing of it is left."""

import sys
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import psutil
import pytest
from anyio.abc import Process

from lineshaft.cli._agent_program import run_agent
from lineshaft.remote.protocol import PersonMessage
from lineshaft.values import Event

MESSAGE = PersonMessage(agent="sort", content="sort it")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="platform: groups of processes")


async def ignored(event: Event) -> None:
    """Hear nothing."""


def program(folder: Path, text: str) -> str:
    """Return a program that stands for Python."""
    file = folder / "program"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return str(file)


async def test_a_process_that_keeps_its_pipes_is_not_waited_for_and_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tmp_path / "left"
    says = f'sleep 1000 & echo $! >{left}\necho \'{{"value": "done"}}\''
    monkeypatch.setattr(sys, "executable", program(tmp_path, says))
    with anyio.fail_after(60):
        end = await run_agent(tmp_path, MESSAGE, ignored)
    assert (end.state, end.text) == ("finished", "done")
    await gone(int(left.read_text()))


async def test_stop_ends_what_ignores_it_and_what_that_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lineshaft.cli._agent_program._SETTLES_SECONDS", 0.2)
    left = tmp_path / "left"
    says = f"trap '' TERM\nsleep 1000 & echo $! >{left}.half\nmv {left}.half {left}\nwait"
    monkeypatch.setattr(sys, "executable", program(tmp_path, says))
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(run_agent, tmp_path, MESSAGE, ignored)
            while not left.exists():
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()
    await gone(int(left.read_text()))


async def test_stop_while_it_is_being_started_leaves_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, open_process = tmp_path / "left", anyio.open_process
    says = f"sleep 1000 & echo $! >{left}.half\nmv {left}.half {left}\nwait"
    monkeypatch.setattr(sys, "executable", program(tmp_path, says))

    async def slowly(*words: Any, **options: Any) -> Process:
        process = await open_process(*words, **options)
        while not left.exists():
            await anyio.sleep(0.01)
        group.cancel_scope.cancel()
        await anyio.lowlevel.checkpoint()
        return process

    monkeypatch.setattr("anyio.open_process", slowly)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(run_agent, tmp_path, MESSAGE, ignored)
    await gone(int(left.read_text()))


async def gone(pid: int) -> None:
    """Wait until a process has ended; one that waits for its parent has."""
    with anyio.fail_after(30):
        while True:
            try:
                if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                    return
            except psutil.NoSuchProcess:
                return
            await anyio.sleep(0.01)
