"""The small engine's processes: how many, who has them, and how they end."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NoReturn

import anyio
import psutil
import pytest

from engines.play import LIMITS, NAMESPACES, TOOLS, Play
from lineshaft.engines import MontyEngine
from lineshaft.errors import ConfigError
from lineshaft.values import (
    Call,
    Crashed,
    Done,
    Exceeded,
    Limits,
    Program,
    Returned,
    Suspended,
    Value,
)


@pytest.fixture
async def alone() -> AsyncIterator[MontyEngine]:
    """Return an engine with one worker."""
    engine = MontyEngine(max_workers=1)
    yield engine
    await engine.aclose()


def workers() -> set[int]:
    """Return the processes of all engines in this one."""
    children = psutil.Process().children()
    return {child.pid for child in children if child.name() == "monty"}


async def test_nothing_starts_before_the_first_run_and_nothing_is_left() -> None:
    before = workers(), threading.active_count()
    engine = MontyEngine()
    assert workers() == before[0]
    assert await Play(engine).value("1") == 1
    assert len(workers() - before[0]) == 1
    await engine.aclose()
    await engine.aclose()
    assert workers() == before[0]


async def test_a_closed_engine_says_so() -> None:
    engine = MontyEngine()
    await engine.aclose()
    with pytest.raises(ConfigError, match="closed"):
        await Play(engine)("1")


async def test_closing_ends_what_runs() -> None:
    engine = MontyEngine()
    plays = [Play(engine), Play(engine)]
    waiting = asyncio.create_task(plays[0]("await hold()"))
    computing = asyncio.create_task(plays[1]("await give(1)\nwhile True: pass"))
    await plays[0].held.wait()
    while not plays[1].calls:
        await asyncio.sleep(0.001)
    await engine.aclose()
    assert isinstance(await waiting, Crashed)
    assert isinstance(await computing, Crashed)


def test_a_number_of_workers_below_one_is_refused() -> None:
    with pytest.raises(ConfigError, match="at least 1, not 0"):
        MontyEngine(max_workers=0)


async def test_an_engine_that_cannot_start_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONTY_BIN", "/nowhere/monty")
    engine = MontyEngine()
    outcome = await Play(engine)("1")
    assert isinstance(outcome, Crashed)
    assert "cannot start" in outcome.message
    monkeypatch.undo()
    assert await Play(engine).value("1") == 1
    await engine.aclose()


async def test_an_engine_serves_one_event_loop_after_another() -> None:
    engine = MontyEngine()

    def elsewhere() -> object:
        return asyncio.run(Play(engine).value("return await give(1)"))

    assert await asyncio.to_thread(elsewhere) == 1
    assert await Play(engine).value("return await give(2)") == 2
    await engine.aclose()


async def test_a_worker_that_is_killed_ends_its_run_and_no_other(alone: MontyEngine) -> None:
    play = Play(alone)
    before = workers()
    task = asyncio.create_task(play("await hold()\nreturn [n for n in range(9)]"))
    await play.held.wait()
    (worker,) = workers() - before or workers()
    os.kill(worker, 9)
    play.release()
    outcome = await task
    assert isinstance(outcome, Crashed)
    assert "died" in outcome.message
    assert await play.value("1") == 1


async def test_more_runs_than_workers_are_under_way_at_once(alone: MontyEngine) -> None:
    plays = [Play(alone) for _ in range(20)]
    tasks = [asyncio.create_task(play("x = await hold()\nreturn x + 'y'")) for play in plays]
    for play in plays:
        await play.held.wait()
    for play in plays:
        play.release()
    assert await asyncio.gather(*tasks) == [Returned(value="1y")] * 20


async def test_a_nested_run_needs_no_worker_of_its_ancestors(alone: MontyEngine) -> None:
    deep = "return await give('deep')"
    for _ in range(4):
        deep = f"return await nest({deep!r}) + '.'"
    assert await Play(alone).value(deep) == "deep...."


async def test_many_runs_and_nested_runs_share_few_workers() -> None:
    engine = MontyEngine(max_workers=3)
    sources = [
        "x = await nest('return await give(1)')\nawait asyncio.gather(give(1), give(2))\nx"
        if number % 5 == 0
        else "for n in range(3): await give(n)\n1"
        for number in range(100)
    ]
    with anyio.fail_after(30):
        values = await asyncio.gather(*[Play(engine).value(source) for source in sources])
    assert values == [1] * 100
    await engine.aclose()


async def test_a_run_that_computes_keeps_its_worker_and_others_wait(alone: MontyEngine) -> None:
    play = Play(alone)
    source = "await hold()\nwhile True: pass"
    task = asyncio.create_task(play(source, limits=Limits(seconds=0.3)))
    await play.held.wait()
    play.release()
    assert await Play(alone).value("2") == 2
    assert isinstance(await task, Exceeded)


async def test_a_run_that_waits_for_a_worker_can_be_cancelled(alone: MontyEngine) -> None:
    computing = Play(alone)
    task = asyncio.create_task(computing("await give(1)\nwhile True: pass"))
    while not computing.calls:
        await asyncio.sleep(0.001)
    starving = asyncio.create_task(Play(alone)("1"))
    await asyncio.sleep(0.01)
    starving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starving
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await Play(alone).value("3") == 3


async def test_a_parked_run_can_be_cancelled_and_suspended(alone: MontyEngine) -> None:
    play, other = Play(alone), Play(alone)
    task = asyncio.create_task(play("await hold()"))
    await play.held.wait()
    assert await other.value("1") == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    play.says = lambda ids: "suspend" if other.calls else "wait"
    task = asyncio.create_task(play("return await hold()"))
    while len(play.calls) < 2:
        await asyncio.sleep(0.001)
    assert await other.value("return await give(1)") == 1
    outcome = await task
    assert isinstance(outcome, Suspended)
    play.says = lambda ids: "wait"
    play.release()
    assert await play("return await hold()", resume=outcome.state) == Returned(value="1")


@pytest.mark.parametrize("breaks", ["dispatch", "output", "waiting"])
async def test_what_the_host_raises_against_the_contract_reaches_it(
    alone: MontyEngine, breaks: str
) -> None:
    def broken(*_: object) -> NoReturn:
        raise LookupError(breaks)

    async def hold(call: Call) -> Done:
        await asyncio.sleep(1000 if breaks != "dispatch" else broken())
        return Value(None)

    program = Program(source="print(1)\nawait give(1)", tools=TOOLS)
    with anyio.fail_after(5), pytest.raises(LookupError, match=breaks):
        await alone.run(
            program,
            hold,
            limits=LIMITS,
            output=broken if breaks == "output" else lambda stream, text: None,
            waiting=broken if breaks == "waiting" else lambda ids: "wait",
        )
    assert await Play(alone).value("1") == 1


UNSUPPORTED: dict[str, tuple[str, str, int | None]] = {
    "a generator": ("\ndef f():\n    yield 1", "yield expressions", 3),
    "a class hierarchy": ("class A(Exception): pass", "class inheritance", 1),
    "del": ("x = 1\ndel x", "'del' statement", 2),
    "an option of gather": (
        "await asyncio.gather(give(1), return_exceptions=True)",
        "gather() does not yet support keyword arguments",
        1,
    ),
    "a star import": ("from github import *", "Wildcard imports", 1),
    "a call in a sort key": ("f = give\nsorted([1], key=lambda x: f(x))", "cannot suspend", 2),
    "an error's code in a sort key": (
        (
            "try:\n    await fail('E_X', 'm')\n"
            "except ToolError as e:\n    sorted([e], key=lambda x: x.code)"
        ),
        "reading the parts of an error",
        4,
    ),
    "an exception with two arguments": ("\nraise ValueError('a', 'b')", "zero or one string", None),
}


@pytest.mark.parametrize(("source", "part", "line"), UNSUPPORTED.values(), ids=UNSUPPORTED)
async def test_what_the_small_engine_lacks_is_called_unsupported(
    alone: MontyEngine, source: str, part: str, line: int | None
) -> None:
    error = await Play(alone).error(source)
    assert (error.kind, error.line) == ("Unsupported", line)
    assert error.message.startswith("the monty engine does not support this: ")
    assert part in error.message
    assert "_ls_" not in error.message


async def test_a_value_that_contains_itself_is_refused(alone: MontyEngine) -> None:
    error = await Play(alone).error("d = {}\nd['a'] = [d]\nreturn d")
    assert (
        error.message == "the script's value['a'][0] is not JSON: it is a dict that contains itself"
    )


async def test_ten_thousand_calls_leave_nothing_behind(alone: MontyEngine) -> None:
    async def dispatch(call: Call) -> Done:
        return Value(len(call.arguments))

    async def calls(number: int) -> int:
        source = f"for n in range({number}): await give(value=n)\nn"
        program = Program(source=source, tools=TOOLS)
        outcome = await alone.run(
            program,
            dispatch,
            limits=LIMITS,
            output=lambda stream, text: None,
            waiting=lambda ids: "wait",
        )
        assert outcome == Returned(value=number - 1)
        return psutil.Process().memory_info().rss

    before = await calls(2_000)
    assert await calls(10_000) - before < 3_000_000


async def test_a_flood_does_not_pile_up_in_the_host(alone: MontyEngine) -> None:
    sizes: list[int] = []
    limits = Limits(seconds=20, stdout_bytes=10**9, memory_mb=500)
    source = "for _ in range(300): print('x' * 100_000)"
    program = Program(source=source)
    before = psutil.Process().memory_info().rss
    outcome = await alone.run(
        program,
        Play(alone).dispatch,
        limits=limits,
        output=lambda stream, text: sizes.append(len(text)),
        waiting=lambda ids: "wait",
    )
    assert outcome == Returned(value=None)
    assert sum(sizes) == 300 * 100_001
    assert psutil.Process().memory_info().rss - before < 20_000_000


RESUME = """
import asyncio, sys
from pathlib import Path
from lineshaft.engines import MontyEngine
from lineshaft.values import Limits, Program, Value

async def dispatch(call):
    return Value([call.id, call.tool, call.positional])

async def main():
    engine = MontyEngine()
    program = Program(source={source!r}, tools=frozenset({tools!r}), namespaces={namespaces!r})
    outcome = await engine.run(
        program, dispatch, limits=Limits(), output=lambda s, t: print(t, end=""),
        waiting=lambda ids: "wait", resume=Path(sys.argv[1]).read_bytes(),
    )
    await engine.aclose()
    print(outcome.value)
asyncio.run(main())
"""


async def test_a_suspended_run_goes_on_in_another_process(
    alone: MontyEngine, tmp_path: Path
) -> None:
    source = (
        "import github\nkept = {'a': [1]}\nprint('before')\n"
        "def f(): return [hold('x'), kept]\nx = f()\nprint('after')\n"
        "return [x, await github.give('y'), json.dumps(kept)]"
    )
    state = await Play(alone).state(source)
    path = tmp_path / "state"
    path.write_bytes(state)
    text = RESUME.format(source=source, tools=set(TOOLS), namespaces=NAMESPACES)
    ended = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", text, path],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert ended.stderr == ""
    assert ended.stdout.splitlines() == [
        "after",
        str([[["1", "hold", ["x"]], {"a": [1]}], ["2", "github.give", ["y"]], '{"a": [1]}']),
    ]


async def test_a_state_that_does_not_fit_is_said_to_be_so(alone: MontyEngine) -> None:
    play = Play(alone)
    source = "return await hold()"
    state = await play.state(source)
    for damaged in (
        b"",
        b"{}",
        b"[]",
        b"junk\nmore",
        state[:-9],
        state.replace(b"1.4.0", b"1.3.0"),
    ):
        outcome = await play(source, resume=damaged)
        assert isinstance(outcome, Crashed), damaged[:50]
        assert "suspended run" in outcome.message
    outcome = await play(source + "\n", resume=state)
    assert isinstance(outcome, Crashed)
    assert "another script" in outcome.message
