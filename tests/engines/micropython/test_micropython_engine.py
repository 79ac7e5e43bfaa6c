"""The engine `micropython` in what it does otherwise than the others, or more than they."""

import asyncio

import anyio
import pytest

from engines.play import Play
from lineshaft.engines._micropython import MicroPythonEngine
from lineshaft.errors import ConfigError
from lineshaft.values import Crashed, Exceeded, Limits, Raised, Returned


async def test_a_run_is_refused_a_pause_with_the_tool_that_waits(play: Play) -> None:
    play.says = lambda ids: "suspend"
    error = await play.error("print('x')\nawait hold()\nawait give(1)")
    assert (error.kind, error.code, error.tool) == ("ToolError", "E_NO_PAUSE", "hold")
    assert "cannot pause" in error.message
    assert play.printed == "x\n"
    assert play.cancelled == ["1"]


async def test_a_refused_pause_cannot_be_caught(play: Play) -> None:
    play.says = lambda ids: "suspend"
    source = "try:\n    await hold()\nexcept BaseException:\n    pass\nfinally:\n    print('f')"
    assert (await play.error(source)).code == "E_NO_PAUSE"
    assert play.printed == ""


async def test_there_is_no_state_to_go_on_from(play: Play) -> None:
    assert isinstance(await play("1", resume=b"{}"), Crashed)


async def test_a_closed_engine_runs_nothing() -> None:
    engine = MicroPythonEngine()
    play = Play(engine)
    assert await play.value("1") == 1
    await engine.aclose()
    with pytest.raises(ConfigError, match="closed"):
        await play("1")


async def test_closing_ends_what_runs() -> None:
    engine = MicroPythonEngine()
    play = Play(engine)
    tasks = [asyncio.create_task(play(text)) for text in ("while True: pass", "await hold()")]
    await play.held.wait()
    with anyio.fail_after(5):
        await engine.aclose()
        assert all(isinstance(outcome, Crashed) for outcome in await asyncio.gather(*tasks))


async def test_each_run_has_an_interpreter_of_its_own(play: Play) -> None:
    assert await play.value("math.mine = 3\nx = 5\nmath.mine + x") == 8
    source = "try:\n    x\nexcept NameError:\n    x = 0\nreturn [x, hasattr(math, 'mine')]"
    assert await play.value(source) == [0, False]


async def test_many_runs_at_once_do_not_cross(play: Play) -> None:
    async def one(number: int) -> object:
        other = Play(play.engine)
        source = "print(n)\nx = await give(n)\nfor _ in range(2000): x += 1\nawait give(x)"
        value = await other.value(source, n=number)
        return [value, other.printed, [call.positional for call in other.calls]]

    found = await asyncio.gather(*[one(number) for number in range(12)])
    assert found == [[n + 2000, f"{n}\n", [(n,), (n + 2000,)]] for n in range(12)]


async def test_many_scripts_are_read_at_once(play: Play) -> None:
    async def one(number: int) -> object:
        lines = [f"x{n} = [i for i in range({n})]" for n in range(20)]
        return await Play(play.engine).value("\n".join([*lines, f"return {number}"]))

    assert await asyncio.gather(*[one(number) for number in range(60)]) == list(range(60))


HEAVY: dict[str, tuple[str, str]] = {
    "large numbers": ("x = 3\nwhile True: x = x * x % (10 ** 4000 + 1)", "seconds"),
    "one large power": ("x = 3 ** (10 ** 7)", "seconds"),
    "a pattern that goes back and forth": ("re.match('(a|aa)+$', 'a' * 60 + 'b')", "seconds"),
    "sorting": ("x = sorted([(i * 7919) % 10007 for i in range(400000)], key=str)", "seconds"),
    "the parser": ("eval('(' * 90000)", "seconds"),
    "text repeated": ("x = 'a' * (10 ** 9)", "memory_mb"),
    "text repeated, caught": (
        (
            "try:\n    x = 'a' * (10 ** 9)\nexcept MemoryError:\n    await give(1)\n"
            "finally:\n    await give(2)"
        ),
        "memory_mb",
    ),
    "memory in a block that would clean up": (
        (
            "class C:\n    def __enter__(self): pass\n    def __exit__(self, *a):\n"
            "        give(1)\nwith C():\n    x = 'a' * (10 ** 9)"
        ),
        "memory_mb",
    ),
    "memory in gather": (
        (
            "async def f(): return 'a' * (10 ** 9)\n"
            "await asyncio.gather(f(), return_exceptions=True)\nawait give(1)"
        ),
        "memory_mb",
    ),
    "JSON that grows": ("json.loads('[' + '{},' * 2000000 + '{}]')", "memory_mb"),
}


@pytest.mark.parametrize(("source", "limit"), HEAVY.values(), ids=HEAVY)
async def test_heavy_scripts_end_by_their_limits(play: Play, source: str, limit: str) -> None:
    seconds = 0.5 if limit == "seconds" else 20
    outcome = await play(source, limits=Limits(seconds=seconds, memory_mb=64))
    assert isinstance(outcome, Exceeded), outcome
    assert outcome.limit == limit
    assert play.calls == []
    assert await play("1") == Returned(value=1)


async def test_recursion_goes_as_deep_as_the_limit_says(play: Play) -> None:
    source = (
        "def f(n):\n    try:\n        return f(n + 1)\n"
        "    except RecursionError:\n        return n\n"
        "f(0)"
    )
    for limit in (100, 400, 1000):
        outcome = await play(source, limits=Limits(seconds=20, recursion=limit))
        assert isinstance(outcome, Returned)
        assert isinstance(outcome.value, int)
        assert limit * 0.8 < outcome.value <= limit * 1.05


async def test_what_is_printed_before_a_limit_is_seen(play: Play) -> None:
    await play("print('a')\nprint('b', end='')\nwhile True: pass", limits=Limits(seconds=0.2))
    assert play.printed == "a\nb"


async def test_lines_are_those_of_the_script_where_it_was_rewritten(play: Play) -> None:
    source = """
match {"a": [1, 2]}:
    case {"a": [x, *rest]} if rest:
        y = f"{x:>{3}}"
        values = [await give(n)
                  for n in rest]
        with_more = [*values, *rest]
        @print
        def f():
            pass
        1 / 0
"""
    error = await play.error(source)
    assert (error.kind, error.line) == ("ZeroDivisionError", 11)


ASYNC: dict[str, tuple[str, object]] = {
    "tasks": ("t = asyncio.create_task(give(1))\nx = await give(2)\nreturn [x, await t]", [2, 1]),
    "a group of tasks": (
        (
            "async with asyncio.TaskGroup() as g:\n    a = g.create_task(give(1))\n"
            "    b = g.create_task(give(2))\nreturn [a.result(), b.result()]"
        ),
        [1, 2],
    ),
    "a semaphore": (
        (
            "s = asyncio.Semaphore(2)\nnow = []\nmost = []\nasync def f(n):\n"
            "    async with s:\n        now.append(n)\n        most.append(len(now))\n"
            "        await give(n)\n        now.remove(n)\n"
            "await asyncio.gather(*[f(n) for n in range(6)])\nreturn max(most)"
        ),
        2,
    ),
    "errors kept": (
        (
            "r = await asyncio.gather(give(1), fail('E', 'm'), return_exceptions=True)\n"
            "return [r[0], r[1].code]"
        ),
        [1, "E"],
    ),
    "a time-out": (
        "try:\n    await asyncio.wait_for(hold(), 0.01)\nexcept TimeoutError:\n    return 'late'",
        "late",
    ),
    "in time": ("return await asyncio.wait_for(give(3), 5)", 3),
    "a queue": (
        (
            "q = asyncio.Queue()\nasync def put():\n    for n in range(3): await q.put(n)\n"
            "async def get(): return [await q.get() for _ in range(3)]\n"
            "r = await asyncio.gather(get(), put())\nreturn r[0]"
        ),
        [0, 1, 2],
    ),
    "as completed": (
        (
            "async def f(n):\n    await asyncio.sleep(n / 100)\n    return n\n"
            "return [await x for x in asyncio.as_completed([f(2), f(0), f(1)])]"
        ),
        [0, 1, 2],
    ),
    "an event": (
        (
            "e = asyncio.Event()\nasync def wait():\n    await e.wait()\n    return 1\n"
            "async def set():\n    await give(0)\n    e.set()\n"
            "return (await asyncio.gather(wait(), set()))[0]"
        ),
        1,
    ),
}  # fmt: skip  # words, not one a line


@pytest.mark.parametrize(("source", "expected"), ASYNC.values(), ids=ASYNC)
async def test_asyncio_does_what_python_does(play: Play, source: str, expected: object) -> None:
    assert await play.value(source) == expected


async def test_waiting_for_nothing_is_an_error_and_no_hang(play: Play) -> None:
    outcome = await play("await asyncio.Event().wait()")
    assert isinstance(outcome, Raised)
    assert "can ever happen" in outcome.message
