"""The synchronous door, where an event loop runs already: in a notebook."""

import asyncio
import signal
import subprocess
import sys
from contextvars import ContextVar
from pathlib import Path
from textwrap import dedent

import pytest

from lineshaft import run_sync, tool
from lineshaft.errors import ConfigError

INTERRUPTED = dedent("""
    import asyncio
    from lineshaft import Limits, run_sync, tool

    @tool(effect="read")
    async def say() -> None:
        print("begun", flush=True)

    async def cell():
        try:
            run_sync(
                "await say()\\nwhile True:\\n    pass",
                tools=[say],
                limits=Limits(seconds=600),
            )
        except KeyboardInterrupt:
            print("interrupted", flush=True)

    asyncio.new_event_loop().run_until_complete(cell())
""")


async def test_a_script_runs_where_a_loop_runs() -> None:
    near: ContextVar[str] = ContextVar("near", default="apart")

    @tool(effect="read")
    async def place() -> str:
        return near.get()

    near.set("near")
    result = run_sync("return await place()", tools=[place])
    assert (result.status, result.value) == ("success", "apart")
    assert asyncio.get_running_loop().is_running()


async def test_what_cannot_be_used_is_said_there_too() -> None:
    with pytest.raises(ConfigError, match="is no tool"):
        run_sync("return 1", tools=[1])


@pytest.mark.skipif(sys.platform == "win32", reason="platform: there is no such signal to send")
def test_an_interrupt_of_a_notebook_ends_the_script(tmp_path: Path) -> None:

    with subprocess.Popen(
        (sys.executable, "-c", INTERRUPTED),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=120)  # its own limit is 600 s
    assert (said, process.returncode) == ("interrupted\n", 0)
