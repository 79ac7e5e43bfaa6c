"""The type checker of scripts, with its real worker processes."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import psutil
import pytest

from lineshaft.engines import MontyChecker
from lineshaft.values import Diagnostic, Stubs

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


@pytest.fixture
async def checker() -> AsyncIterator[MontyChecker]:
    checker = MontyChecker()
    yield checker
    await checker.aclose()


async def found(checker: MontyChecker, source: str, **inputs: str) -> list[tuple[str, int, int]]:
    """Return code and position of each finding."""
    with anyio.fail_after(30):
        said = await checker.check(source, stubs=STUBS, inputs=inputs)
    return [(one.code, one.line, one.column) for one in said]


def workers() -> list[psutil.Process]:
    return [p for p in psutil.Process().children() if p.status() != psutil.STATUS_ZOMBIE]


async def test_top_level_return_and_await_are_fine(checker: MontyChecker) -> None:
    assert await found(checker, "text = await read_file('a')\nreturn text['content']") == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("await read_file()", ("missing-argument", 1, 7)),
        ("\n\nawait read_file(pth='a')", ("unknown-argument", 3, 17)),
        ("é = 'ü€𝄞'; await read_file(1)", ("invalid-argument-type", 1, 28)),
        ("if 1:\n\tawait read_file(1)", ("invalid-argument-type", 2, 18)),
        ("x = 1\r\nawait read_file(1)\r\n", ("invalid-argument-type", 2, 17)),
        ("\ufeffawait read_file(1)", ("invalid-argument-type", 1, 17)),
        ("\fawait read_file(1)", ("invalid-argument-type", 1, 18)),
        ("s = '''\n  a\n'''\nawait read_file(1)", ("invalid-argument-type", 4, 17)),
        ("await tools.nope()", ("unresolved-attribute", 1, 7)),
        ("await github.list_issues(repo=4)", ("invalid-argument-type", 1, 26)),
        ("await deep.er.dig('x')", ("invalid-argument-type", 1, 19)),
        ("from github import *\nawait list_issues()", ("missing-argument", 2, 7)),
        ("from tools import *\nawait read_file()", ("missing-argument", 2, 7)),
        ("return nope", ("unresolved-reference", 1, 8)),
        ("t = read_file('a')\nreturn t['content']", ("not-subscriptable", 2, 8)),
    ],
)
async def test_a_mistake_is_found_where_it_stands(
    checker: MontyChecker, source: str, expected: tuple[str, int, int]
) -> None:
    assert expected in await found(checker, source)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "# nothing but a comment",
        "def add():\n    global total\n    total = 1\ntotal = 0\nadd()\nreturn total",
        "from __future__ import annotations\nreturn 1",
        "from somewhere_else import *\n",
        "from github import *\nawait list_issues(repo='a')",
        "async def inner():\n    return await read_file('a')\nreturn await inner()",
    ],
)
async def test_what_a_function_may_not_hold_but_a_script_may(
    checker: MontyChecker, source: str
) -> None:
    assert await found(checker, source) == []


async def test_inputs_are_typed(checker: MontyChecker) -> None:
    assert await found(checker, "return city + 1", city="str") == [("unsupported-operator", 1, 8)]
    assert await found(checker, "return rows[0]['n'] + 1", rows="list[dict[str, Any]]") == []
    assert await found(checker, "return city", rows="int") == [("unresolved-reference", 1, 8)]


async def test_a_script_leaves_nothing_behind_for_the_next(checker: MontyChecker) -> None:
    assert await found(checker, "secret = 1\nglobal shared\nshared = 2") == []
    assert await found(checker, "return secret") == [("unresolved-reference", 1, 8)]
    assert await found(checker, "return shared") == [("unresolved-reference", 1, 8)]


async def test_nothing_of_a_script_is_executed(checker: MontyChecker) -> None:
    with anyio.fail_after(5):
        assert await found(checker, "while True:\n    pass") == []


async def test_stubs_are_kept_apart_and_few_workers_stay() -> None:
    checker = MontyChecker(kept=2)
    before = len(workers())
    for number in range(5):
        stubs = Stubs(main=f"async def only_{number}() -> int: ...\n")
        good = await checker.check(f"await only_{number}()", stubs=stubs, inputs={})
        bad = await checker.check("await only_9()", stubs=stubs, inputs={})
        assert (good, bad[0].code) == ((), "unresolved-reference")
    with anyio.fail_after(5):
        while len(workers()) > before + 2:
            await anyio.lowlevel.checkpoint()
    await checker.aclose()
    assert len(workers()) == before


async def test_many_checks_at_once_get_their_own_answers(checker: MontyChecker) -> None:
    answers: dict[int, list[tuple[str, int, int]]] = {}

    async def one(number: int) -> None:
        answers[number] = await found(checker, "\n" * number + "await read_file()")

    async with anyio.create_task_group() as tasks:
        for number in range(50):
            tasks.start_soon(one, number)
    assert answers == {n: [("missing-argument", n + 1, 7)] for n in range(50)}


async def test_a_worker_that_died_is_replaced(checker: MontyChecker) -> None:
    before = {p.pid for p in workers()}
    assert await found(checker, "return 1") == []
    (worker,) = [p for p in workers() if p.pid not in before]
    worker.kill()
    assert await found(checker, "return nope") == [("unresolved-reference", 1, 8)]


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGSTOP")
async def test_a_worker_that_hangs_is_ended_and_replaced() -> None:
    checker = MontyChecker(seconds=0.5)
    before = {p.pid for p in workers()}
    assert await found(checker, "return 1") == []
    (worker,) = [p for p in workers() if p.pid not in before]
    os.kill(worker.pid, signal.SIGSTOP)
    assert await found(checker, "return nope") == [("checker-failed", 1, 1)]
    assert await found(checker, "return nope") == [("unresolved-reference", 1, 8)]
    await checker.aclose()


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGSTOP")
async def test_a_cancelled_check_ends_at_once_and_harms_no_other() -> None:
    checker = MontyChecker()
    before = {p.pid for p in workers()}
    assert await found(checker, "return 1") == []
    (worker,) = [p for p in workers() if p.pid not in before]
    os.kill(worker.pid, signal.SIGSTOP)
    with anyio.move_on_after(0.05) as scope:
        await checker.check("return 1", stubs=STUBS, inputs={})
    assert scope.cancelled_caught
    os.kill(worker.pid, signal.SIGCONT)
    assert await found(checker, "return nope") == [("unresolved-reference", 1, 8)]
    await checker.aclose()


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGSTOP")
async def test_closing_ends_a_check_under_way() -> None:
    checker = MontyChecker()
    before = {p.pid for p in workers()}
    assert await found(checker, "return 1") == []
    (worker,) = [p for p in workers() if p.pid not in before]
    os.kill(worker.pid, signal.SIGSTOP)
    answers: list[tuple[Diagnostic, ...]] = []

    async def ask() -> None:
        answers.append(await checker.check("return 1", stubs=STUBS, inputs={}))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            await checker.aclose()
    assert [found[0].code for found in answers] == ["checker-failed"]
    assert {p.pid for p in workers()} == before


async def test_a_closed_checker_says_so() -> None:
    checker = MontyChecker()
    await checker.aclose()
    await checker.aclose()
    (said,) = await checker.check("return 1", stubs=STUBS, inputs={})
    assert (said.code, said.message) == ("checker-failed", "the type checker is closed")


@pytest.mark.parametrize(
    "source",
    [
        "x = " + "-" * 50_000 + "1",
        "x = " + "[" * 5_000,
        "x = a" + ".b" * 50_000,
        "x = f(" * 5_000,
        "if 1:\n" + "".join(" " * n + "if 1:\n" for n in range(1, 200)),
        "x = " + "1" * 5_000,
        "global while, x y, 3\n",
        "return '\ud800'",
        "return '\0'",
    ],
)
async def test_what_no_checker_likes_ends_in_an_answer(checker: MontyChecker, source: str) -> None:
    await found(checker, source)
    assert await found(checker, "return nope") == [("unresolved-reference", 1, 8)]


async def test_bad_stubs_are_a_finding(checker: MontyChecker) -> None:
    stubs = Stubs(main="async def (", modules={"class": ""})
    with anyio.fail_after(10):
        said = await checker.check("return 1", stubs=stubs, inputs={})
    assert said[0].code == "checker-failed"


def test_a_program_that_forgets_to_close_ends_by_itself(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import asyncio\n"
        "from lineshaft.engines import MontyChecker\n"
        "from lineshaft.values import Stubs\n"
        "checker = MontyChecker()\n"
        "async def main():\n"
        "    print(await checker.check('return 1', stubs=Stubs(main=''), inputs={}))\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "()\n", "")


def test_nothing_heavy_is_imported_before_the_first_check() -> None:
    code = "import sys, lineshaft.engines; print('pydantic_monty' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout == "False\n"
