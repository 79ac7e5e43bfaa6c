"""Tools to check scripts against, and the processes that do it."""

import anyio
import anyio.lowlevel
import psutil

from lineshaft.checker import TyChecker
from lineshaft.values import PythonTarget, Stubs

MAIN = """
import asyncio as asyncio, json as json, tools as tools, github as github, deep as deep
from typing import TypedDict
class Text(TypedDict):
    content: str
async def read_file(path: str, start: int = 1) -> Text: ...
"""
TOOLS = """
from typing import TypedDict
class Text(TypedDict):
    content: str
async def read_file(path: str, start: int = 1) -> Text: ...
"""
GITHUB = "async def list_issues(repo: str) -> list[str]: ...\n"
STUBS = Stubs(
    main=MAIN,
    modules={"tools": TOOLS, "github": GITHUB, "deep.er": "async def dig(depth: int) -> int: ..."},
)
PYTHON = PythonTarget()

Found = list[tuple[str, int, int]]


async def found(
    checker: TyChecker, source: str, *, target: PythonTarget = PYTHON, **inputs: str
) -> Found:
    """Return code and position of each finding."""
    with anyio.fail_after(60):
        said = await checker.check(source, stubs=STUBS, inputs=inputs, target=target)
    return [(one.code, one.line, one.column) for one in said]


def servers() -> list[psutil.Process]:
    """Return the running servers of this process."""
    children = [p for p in psutil.Process().children() if p.status() != psutil.STATUS_ZOMBIE]
    return [p for p in children if p.name() in ("ty", "ty.exe")]


async def stop(server: psutil.Process) -> None:
    """Stop a server, which takes effect some time after it was told."""
    server.suspend()
    with anyio.fail_after(30):
        while server.status() != psutil.STATUS_STOPPED:
            await anyio.lowlevel.checkpoint()
