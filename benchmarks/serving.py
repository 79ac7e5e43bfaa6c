"""MCP servers used directly with the SDK's client, and through Lineshaft, turn by turn."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, TextIO, cast

import anyio
from engine_figures import Figure, Table
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from lineshaft import Limits, Policy, Session
from lineshaft.mcp import server as mcp_server

UPSTREAM = str(Path(__file__).with_name("upstream.py"))
COUNTS = (1, 10, 100)
SERVERS = ("one", "two", "three")

OPENING = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}


def script(count: int) -> str:
    """Return a script of so many calls, each after the other."""
    return f"n = 0\nfor i in range({count}):\n    n = await up.add(a=n, b=1)\nreturn n"


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """Return how many milliseconds it took."""
    start = time.perf_counter()
    await work()
    return (time.perf_counter() - start) * 1000


async def calls(turns: int) -> dict[tuple[str, int], float]:
    """Return medians: calls made one by one by a bare client, and by one script."""
    found: dict[tuple[str, int], list[float]] = {}
    server = mcp_server([sys.executable, UPSTREAM], name="up", trust=True)
    session = Session([server], policy=Policy(mode="read"), limits=Limits(seconds=600), store=False)
    bare = Client(StdioServerParameters(command=sys.executable, args=[UPSTREAM]))
    async with bare, session:

        async def one_by_one(count: int) -> None:
            for number in range(count):
                await bare.call_tool("add", {"a": number, "b": 1})

        async def scripted(count: int) -> None:
            (await session.run(script(count))).raise_for_status()

        for turn in range(turns + 1):
            for count in COUNTS:
                for name, work in (("bare", one_by_one), ("script", scripted)):
                    took = await timed(lambda work=work, count=count: work(count))
                    if turn:  # the first one warms up
                        found.setdefault((name, count), []).append(took)
    return {key: statistics.median(times) for key, times in found.items()}


async def starts(turns: int) -> dict[str, float]:
    """Return medians: until three servers have listed their tools, without and with a front."""
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        environ = _configured(Path(folder))

        async def listed() -> None:
            command = StdioServerParameters(command=sys.executable, args=[UPSTREAM])
            async with Client(command) as client:
                await client.list_tools()

        async def alone() -> None:
            async with anyio.create_task_group() as group:
                for _ in SERVERS:
                    group.start_soon(listed)

        async def fronted(words: Sequence[str]) -> None:
            command = StdioServerParameters(
                command=sys.executable,
                args=["-m", "lineshaft", "serve", "--workspace", folder],
                env=environ,
            )
            with _nowhere() as errors:
                await heard(command, errors, words)

        async def heard(
            command: StdioServerParameters, errors: TextIO, words: Sequence[str]
        ) -> None:
            async with Client(stdio_client(command, errlog=errors)) as client:
                await client.list_tools()
                for each in words:
                    await client.call_tool("search", {"words": "add", "namespace": each})

        works: dict[str, Callable[[], Awaitable[None]]] = {
            "alone": alone,
            "first": lambda: fronted(()),
            "all": lambda: fronted(SERVERS),
        }
        for turn in range(turns + 1):
            for name, work in works.items():
                took = await timed(work)
                if turn:
                    found.setdefault(name, []).append(took)
    return {name: statistics.median(times) for name, times in found.items()}


def first_answers(turns: int) -> dict[str, float]:
    """Return medians: milliseconds of CPU of a server until `initialize` is answered."""
    found: dict[str, list[float]] = {}
    serve = [sys.executable, "-m", "lineshaft", "serve", "--workspace"]
    with tempfile.TemporaryDirectory() as folder:
        configured = _configured(Path(folder))
        unset = {**configured, "XDG_CONFIG_HOME": str(Path(folder) / "nothing")}
        works = {
            "bare": ([sys.executable, UPSTREAM], unset),
            "none": ([*serve, folder], unset),
            "three": ([*serve, folder], configured),
        }
        for turn in range(turns + 1):
            for name, (command, environ) in works.items():
                took = _until_answered(command, environ)
                if turn:  # the first one warms up
                    found.setdefault(name, []).append(took)
    return {name: statistics.median(times) for name, times in found.items()}


def _until_answered(command: Sequence[str], environ: Mapping[str, str]) -> float:
    """Return the CPU of a server, in milliseconds; it is killed once it has answered."""
    quiet = subprocess.DEVNULL
    opening = json.dumps(OPENING).encode() + b"\n"
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=quiet, env=environ, bufsize=0
    ) as process:
        stdin, stdout = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        stdin.write(opening)
        answer = json.loads(stdout.readline())
        process.kill()
        _, status, spent = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if "result" not in answer:
        raise RuntimeError(f"the server did not answer: {answer}")
    return (spent.ru_utime + spent.ru_stime) * 1000


def _configured(folder: Path) -> dict[str, str]:
    """Write a person's settings with three servers; return the environment that has them."""
    told = "".join(
        f"[mcp.servers.{name}]\ncommand = {json.dumps(sys.executable)}\n"
        f"args = [{json.dumps(UPSTREAM)}]\n"
        for name in SERVERS
    )
    home = folder / "config" / "lineshaft"
    home.mkdir(parents=True)
    (home / "lineshaft.toml").write_text(told)
    return {
        **os.environ,
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_STATE_HOME": str(folder / "state"),
    }


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


async def show(turns: int) -> None:
    """Print the tables."""
    found = await calls(turns)
    for count in COUNTS:
        figures = [
            Figure("one by one, the SDK's client alone", found["bare", count]),
            Figure("one script", found["script", count]),
        ]
        print(f"\n{Table(f'{count} calls of an MCP server, ms', figures)}", flush=True)
    many, few = COUNTS[-1], COUNTS[0]
    bare, ours = (
        (found[name, many] - found[name, few]) / (many - few) for name in ("bare", "script")
    )
    figures = [
        Figure("the SDK's client alone", bare),
        Figure("through Lineshaft", ours),
        Figure("what Lineshaft adds", ours - bare),
    ]
    print(f"\n{Table('a further call of it, ms', figures)}", flush=True)
    begun = await starts(max(turns // 4, 2))
    figures = [
        Figure("the SDK's client alone, all at once", begun["alone"]),
        Figure("lineshaft serve: its own first listing", begun["first"]),
        Figure("lineshaft serve: the tools of all three", begun["all"]),
    ]
    print(f"\n{Table('until three servers have listed their tools, ms', figures)}", flush=True)
    answered = first_answers(max(turns // 2, 3))
    figures = [
        Figure("a server of the SDK alone", answered["bare"]),
        Figure("lineshaft serve, no servers configured", answered["none"]),
        Figure("lineshaft serve, three servers configured", answered["three"]),
    ]
    print(f"\n{Table('CPU until `initialize` is answered, ms', figures)}", flush=True)
