"""The engine takes every Python that a machine has: 3.11 to 3.14."""

import asyncio
from collections.abc import Iterator

import pytest

from engines.cpython.conftest import made
from engines.cpython.raw import RAW
from engines.interpreters import VERSIONS, found
from engines.play import Play, fresh
from lineshaft.engines.cpython import CPythonEngine
from lineshaft.values import Exceeded, Limits, PythonOptions, Returned


@pytest.fixture(scope="module", params=VERSIONS)
def versioned(request: pytest.FixtureRequest) -> Iterator[tuple[str, CPythonEngine]]:
    """Return the engine with each Python in turn."""
    path = found(request.param)
    if path is None:
        pytest.skip(f"platform: there is no interpreter of Python {request.param}")
    engine = made(None, PythonOptions(path=path))
    yield request.param, engine
    asyncio.run(engine.aclose())


NATURAL = """
import dataclasses, datetime, enum, functools, itertools, json, math, random, re, statistics, sys
import time, uuid, decimal, collections, textwrap, string, hashlib, base64, contextlib

class Colour(enum.Enum):
    RED = 1

@dataclasses.dataclass
class Point:
    x: int
    y: int = 2

async def one(n):
    await asyncio.sleep(0.001)
    return await give(n)

async with asyncio.TaskGroup() as group:
    tasks = [group.create_task(one(n)) for n in range(5)]
async with asyncio.timeout(5):
    more = await asyncio.gather(*[one(n) for n in range(3)])
try:
    await fail("E_X", "no")
except ToolError as error:
    caught = error.code
match Point(1):
    case Point(x=1):
        matched = True
return {
    "version": "%d.%d" % sys.version_info[:2], "tasks": [t.result() for t in tasks], "more": more,
    "caught": caught, "matched": matched, "colour": Colour.RED.name,
    "numbers": [0 <= random.random() < 1, len(str(uuid.uuid4())), time.time() > 1e9],
    "day": datetime.datetime.now(datetime.UTC).year > 2020,
    "hash": hashlib.sha256(b"").hexdigest()[:4],
}
"""


async def test_a_natural_script_runs(versioned: tuple[str, CPythonEngine]) -> None:
    version, engine = versioned
    assert await Play(engine).value(NATURAL) == {
        "version": version,
        "tasks": [0, 1, 2, 3, 4],
        "more": [0, 1, 2],
        "caught": "E_X",
        "matched": True,
        "colour": "RED",
        "numbers": [True, 36, True],
        "day": True,
        "hash": "e3b0",
    }
    assert engine.identity["python"].startswith(f"{version}.")


async def test_an_error_has_the_line_of_the_script(versioned: tuple[str, CPythonEngine]) -> None:
    error = await Play(versioned[1]).error("x = 1\ndef f():\n    return x / 0\nf()")
    assert (error.kind, error.line) == ("ZeroDivisionError", 4) or error.line == 3
    assert "return x / 0" in error.traceback


async def test_chance_and_clocks_are_those_of_the_record(
    versioned: tuple[str, CPythonEngine],
) -> None:
    play, replay = Play(versioned[1]), fresh()
    source = """
import random, secrets, time, datetime, uuid
said = [random.random(), secrets.token_hex(4), time.time(), str(datetime.datetime.now()),
        str(uuid.uuid4()), id(object()), list({str(n) for n in range(20)})]
await hold()
return said
"""
    await play.suspend(f"{source}", replay)
    play.release()
    first = await play(source, replay=replay)
    assert isinstance(first, Returned)
    assert await play(source, replay=replay) == first


async def test_a_limit_ends_a_script(versioned: tuple[str, CPythonEngine]) -> None:
    play = Play(versioned[1])
    outcome = await play("x = []\nwhile True: x.append('a' * 1000)", limits=Limits(memory_mb=64))
    assert isinstance(outcome, Exceeded)
    assert outcome.limit == "memory_mb"
    outcome = await play("while True: pass", limits=Limits(seconds=0.2))
    assert isinstance(outcome, Exceeded)
    assert outcome.limit == "seconds"


async def test_no_script_starts_a_process(versioned: tuple[str, CPythonEngine]) -> None:
    source = f"{RAW}\nreturn [raw('clone', 17, 0, 0, 0, 0), raw('kill', os.getppid(), 0)]"
    assert await Play(versioned[1]).value(source) == [1, 1]
