"""What a script may use, and what becomes of one that uses more."""

import asyncio
from dataclasses import replace

import pytest

from engines.play import Play
from lineshaft.values import Exceeded, Limits, Raised, Returned

TIGHT = Limits(seconds=20, memory_mb=30, stdout_bytes=100, stderr_bytes=100, recursion=100)
SHORT = replace(TIGHT, seconds=0.3)
"""For what nothing but the clock ends; everything else has time to come to its own end."""

BOMBS: dict[str, tuple[str, str]] = {
    "an endless loop": ("while True: pass", "seconds"),
    "an endless loop that catches all": (
        "while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass",
        "seconds",
    ),
    "an endless loop after a call": ("await give(1)\nwhile True: pass", "seconds"),
    "sleep": ("import time\nwhile True:\n    time.sleep(0.1)", "seconds"),
    "one long sleep": ("await asyncio.sleep(10 ** 6)", "seconds"),
    "sleeps at once": ("await asyncio.gather(*[asyncio.sleep(1000)] * 5)", "seconds"),
    "a growing list": ("x = []\nwhile True: x.append('a' * 1000)", "memory_mb"),
    "growing text": ("x = 'a'\nwhile True: x += x", "memory_mb"),
    "one big object": ("x = [0] * 10 ** 8", "memory_mb"),
    "one big number": ("x = 1 << 10 ** 9", "memory_mb"),
    "a flood of output": ("while True: print('x' * 100)", "stdout_bytes"),
    "a flood without line ends": ("while True: print('x', end='')", "stdout_bytes"),
    "a flood of errors": (
        "import sys\nwhile True: print('x' * 100, file=sys.stderr)",
        "stderr_bytes",
    ),
}


@pytest.mark.parametrize(("source", "limit"), BOMBS.values(), ids=BOMBS)
async def test_a_script_that_uses_too_much_is_ended(play: Play, source: str, limit: str) -> None:
    outcome = await play(source, limits=SHORT if limit == "seconds" else TIGHT)
    assert isinstance(outcome, Exceeded), outcome
    assert outcome.limit == limit
    assert outcome.message


async def test_want_of_memory_may_be_caught_and_its_bound_stays(play: Play) -> None:
    source = """
for _ in range(3):
    try:
        x = []
        while True: x.append("a" * 100_000)
    except MemoryError:
        held = len(x)
        del x
        await give(held)
"""
    assert await play(source, limits=TIGHT) == Returned(value=None)
    held = [call.positional[0] for call in play.calls]
    assert all(isinstance(count, int) and 10 < count < 400 for count in held), held


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
async def test_a_flood_of_output_is_ended_by_itself(play: Play, stream: str) -> None:
    source = f"import sys\nwhile True: print('x' * 1000, file=sys.{stream})"
    outcome = await play(source, limits=Limits(seconds=1000))
    assert isinstance(outcome, Exceeded)
    assert outcome.limit == f"{stream}_bytes"
    assert await play.value("1") == 1


async def test_the_engine_goes_on_after_a_bomb(play: Play) -> None:
    await play("while True: pass", limits=Limits(seconds=0.1))
    assert await play("1", limits=TIGHT) == Returned(value=1)


async def test_output_within_bounds_is_let_through(play: Play) -> None:
    limits = Limits(seconds=20, stdout_bytes=100)
    outcome = await play("for _ in range(190): print('x' * 99)", limits=limits)
    assert outcome == Returned(value=None)
    assert len(play.printed) == 19_000


async def test_recursion_is_bounded_and_may_be_caught(play: Play) -> None:
    source = """
def depth(n):
    try:
        return depth(n + 1)
    except RecursionError:
        return n
depth(0)
"""
    outcome = await play(source, limits=TIGHT)
    assert isinstance(outcome, Returned)
    assert isinstance(outcome.value, int)
    assert 50 < outcome.value <= 100


async def test_an_error_of_ones_own_is_not_a_limit(play: Play) -> None:
    for error in ("TimeoutError", "MemoryError"):
        outcome = await play(f"raise {error}('x')")
        assert isinstance(outcome, Raised)
        assert outcome.kind == error


async def test_waiting_for_calls_takes_no_time_of_the_script(play: Play) -> None:
    asyncio.get_running_loop().call_later(1.5, play.release)
    outcome = await play("for _ in range(30): await hold()\n'done'", limits=Limits(seconds=1))
    assert outcome == Returned(value="done")


async def test_sleep_takes_place(play: Play) -> None:
    source = """
import time
a = time.monotonic()
time.sleep(0.02)
await asyncio.gather(asyncio.sleep(0.02), asyncio.sleep(0.02), asyncio.sleep(0.02))
return time.monotonic() - a
"""
    value = await play.value(source)
    assert isinstance(value, float)
    assert value >= 0.04


async def test_printed_text_comes_in_order_and_before_the_call_that_follows(play: Play) -> None:
    source = """
import sys
print("a", end="")
print("b")
await give(1)
print("c", file=sys.stderr)
print("d")
await give(2)
print("é€")
"""
    await play(source)
    assert play.printed == "ab\nd\né€\n"
    assert "".join(text for stream, text in play.output if stream == "stderr") == "c\n"
    assert play.printed_at_calls == ["ab\n", "ab\nd\n"]
