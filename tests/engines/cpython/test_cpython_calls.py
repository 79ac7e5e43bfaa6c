"""Calls from tasks and threads, and what a script can do with the wire that carries them."""

import asyncio
import json
import struct
from collections.abc import Collection
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.play import Play
from lineshaft.values import Crashed, Exceeded, Limits, Returned, Suspended

AT_ONCE: dict[str, str] = {
    "in a task group": (
        "async with asyncio.TaskGroup() as group:\n"
        "    for _ in range(3): group.create_task(meet(3))"
    ),
    "in tasks": (
        "tasks = [asyncio.create_task(meet(3)) for _ in range(3)]\nfor t in tasks: await t"
    ),
    "with a time limit": (
        "await asyncio.gather(*[asyncio.wait_for(meet(3), 20) for _ in range(3)])"
    ),
    "in threads of a pool": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(3) as pool:\n    list(pool.map(meet, [3, 3, 3]))"
    ),
    "in plain functions in threads": (
        "from concurrent.futures import ThreadPoolExecutor\ndef f(n):\n    meet(n)\n"
        "with ThreadPoolExecutor(3) as pool:\n    list(pool.map(f, [3, 3, 3]))"
    ),
    "in loops in threads": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def f(n):\n    return asyncio.run(meet(n))\n"
        "with ThreadPoolExecutor(3) as pool:\n    list(pool.map(f, [3, 3, 3]))"
    ),
    "in threads beside tasks": (
        "def f(n):\n    meet(n)\n"
        "await asyncio.gather(asyncio.to_thread(f, 3), asyncio.to_thread(meet, 3), meet(3))"
    ),
    "in bare threads": (
        "import threading\nts = [threading.Thread(target=meet, args=(3,)) for _ in range(3)]\n"
        "for t in ts: t.start()\nfor t in ts: t.join()"
    ),
}


@pytest.mark.parametrize("source", AT_ONCE.values(), ids=AT_ONCE)
async def test_calls_of_tasks_and_threads_run_at_once(held: Play, source: str) -> None:
    await held.value(source)
    assert held.tools == ["meet"] * 3


async def test_each_thread_gets_its_own_answer(play: Play) -> None:
    source = """
from concurrent.futures import ThreadPoolExecutor
def f(n):
    return [give(n)["n"] for n in [{"n": n + k} for k in range(20)]]
with ThreadPoolExecutor(8) as pool:
    return list(pool.map(f, range(40)))
"""
    assert await play.value(source) == [[n + k for k in range(20)] for n in range(40)]
    assert sorted(call.id for call in play.calls) == sorted(str(n + 1) for n in range(800))


async def test_an_error_of_a_call_reaches_its_thread(play: Play) -> None:
    source = """
def f():
    try:
        fail("E_STALE", "x")
    except ToolError as e:
        return [e.code, e.tool]
return await asyncio.to_thread(f)
"""
    assert await play.value(source) == ["E_STALE", "fail"]


TOO_LATE: dict[str, str] = {
    "by wait_for": "try:\n    await asyncio.wait_for(hold(), 0.01)\nexcept TimeoutError:\n    pass",
    "by a time limit": (
        "try:\n    async with asyncio.timeout(0.01):\n        await hold()\n"
        "except TimeoutError:\n    pass"
    ),
    "by a cancelled task": (
        "t = asyncio.create_task(hold())\nawait asyncio.sleep(0.01)\nt.cancel()\n"
        "await asyncio.wait([t])"
    ),
    "by a failed group": (
        "try:\n    async with asyncio.TaskGroup() as g:\n        g.create_task(hold())\n"
        "        g.create_task(fail('E_STALE', 'x'))\nexcept ExceptionGroup:\n    pass"
    ),
}


@pytest.mark.parametrize("source", TOO_LATE.values(), ids=TOO_LATE)
async def test_a_call_that_nobody_waits_for_any_more_is_cancelled(play: Play, source: str) -> None:
    assert await play.value(f"{source}\nreturn await give(1)") == 1
    assert play.cancelled == [call.id for call in play.calls if call.tool == "hold"]


WAITS: dict[str, tuple[str, int]] = {
    "a call": ("await hold()", 1),
    "a call in a plain function": ("def f():\n    hold()\nf()", 1),
    "calls at once": ("await asyncio.gather(hold(), hold())", 2),
    "calls in threads": (
        "await asyncio.gather(asyncio.to_thread(hold), asyncio.to_thread(hold))",
        2,
    ),
    "a call in a thread and one in the loop": (
        "await asyncio.gather(asyncio.to_thread(hold), hold())",
        2,
    ),
    "a call in a loop in a thread": (
        "def f():\n    return asyncio.run(hold())\nawait asyncio.to_thread(f)",
        1,
    ),
    "a call in a nested run": (
        "await give(1)\nasync def f():\n    await hold()\nasyncio.run(f())",
        1,
    ),
    "a call, while threads are idle": ("await asyncio.to_thread(len, 'x')\nawait hold()", 1),
    "a call that others wait for": (
        (
            "done = asyncio.Event()\nasync def f():\n    await done.wait()\n"
            "t = asyncio.create_task(f())\nawait hold()"
        ),
        1,
    ),
}


@pytest.mark.parametrize(("source", "count"), WAITS.values(), ids=WAITS)
async def test_waiting_is_asked_when_only_calls_can_go_on(
    held: Play, source: str, count: int
) -> None:
    def says(ids: Collection[str]) -> Literal["wait", "suspend"]:
        return "suspend" if len(ids) == count else "wait"

    held.says = says
    assert await held(source) == Suspended(state=None)
    assert held.cancelled == [call.id for call in held.calls if call.tool == "hold"]
    assert {len(ids) for ids in held.asked} >= {count}


GOING_ON: dict[str, str] = {
    "a thread computes": (
        "import threading\nstop = []\n"
        "def f():\n    while not stop: pass\nt = threading.Thread(target=f)\nt.start()\n"
        "await hold()\nstop.append(1)"
    ),
    "a thread sleeps": (
        "import time\nt = asyncio.create_task(asyncio.to_thread(time.sleep, 5))\nawait hold()"
    ),
    "a time limit runs": "async with asyncio.timeout(5):\n    await hold()",
}


@pytest.mark.parametrize("source", GOING_ON.values(), ids=GOING_ON)
async def test_waiting_is_not_asked_while_something_goes_on(play: Play, source: str) -> None:
    task = asyncio.create_task(play(source))
    await play.held.wait()
    await asyncio.sleep(0.05)
    asked = list(play.asked)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asked == []


FIND_WIRE = """
import os, stat, struct, json
def is_socket(fd):
    try:
        return stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError:
        return False
wires = [fd for fd in range(3, 64) if is_socket(fd)]
def frame(message):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return struct.pack("!I", len(body)) + body
def forge(data):
    for fd in wires:
        try:
            os.write(fd, data)
        except OSError:
            pass
"""

BREAKS: dict[str, str] = {
    "junk": "forge(b'\\xff' * 100)",
    "a head that says too much": "forge(struct.pack('!I', 2**31))",
    "text": "forge(frame(b'hello'))",
    "a message of the host": "forge(frame({'type': 'execute', 'source': '1'}))",
    "a second greeting": "forge(frame({'type': 'hello', 'version': 1}))",
    "a nest": "forge(frame(b'[' * 100_000))",
    "an id twice": "forge(frame({'type': 'tool_call', 'id': 'x', 'tool': 'give'}) * 2)",
    "a long id": "forge(frame({'type': 'tool_call', 'id': 'x' * 100, 'tool': 'give'}))",
}


@pytest.mark.parametrize("source", BREAKS.values(), ids=BREAKS)
async def test_a_script_that_writes_junk_spoils_its_own_run_only(held: Play, source: str) -> None:
    other = Play(held.engine)
    beside = asyncio.create_task(other("return [await hold(), await give(1)]"))
    await other.held.wait()
    outcome = await held(f"{FIND_WIRE}\n{source}\nwhile True: await hold()")
    assert isinstance(outcome, Crashed), outcome
    assert "protocol" in outcome.message
    other.release()
    assert await beside == Returned(value=["1", 1])


async def test_a_forged_call_is_the_runs_own(held: Play) -> None:
    source = f"""{FIND_WIRE}
forge(frame({{"type": "tool_call", "id": "forged", "tool": "give", "arguments": {{"a": 1}}}}))
forge(frame({{"type": "tool_call", "id": "odd", "tool": 5}}))
forge(frame({{"type": "tool_call", "id": "unknown", "tool": "secret"}}))
forge(frame({{"type": "tool_call_cancel", "id": "never"}}))
forge(frame({{"type": "waiting", "ids": ["never"]}}))
return await give(2)
"""
    assert await held.value(source) == 2
    assert [(c.id, c.tool, c.origin) for c in held.calls] == [
        ("forged", "give", "script"),
        ("unknown", "secret", "script"),
        ("1", "give", "script"),
    ]
    assert held.asked == []


async def test_a_forged_result_ends_the_run_and_nothing_comes_after_it(held: Play) -> None:
    source = f"""{FIND_WIRE}
forge(frame({{"type": "result", "how": "returned", "value": "forged"}}))
while True: await give(1)
"""
    assert await held(source) == Returned(value="forged")
    before = len(held.calls)
    await asyncio.sleep(0.02)
    assert len(held.calls) == before


async def test_a_flood_of_forged_calls_is_held_up(held: Play) -> None:
    source = f"""{FIND_WIRE}
big = "x" * 1_000_000
for n in range(100):
    forge(frame({{"type": "tool_call", "id": f"{{n}}", "tool": "hold", "positional": [big]}}))
"""
    outcome = await held(source, limits=Limits(seconds=1))
    assert isinstance(outcome, Exceeded)
    assert len(held.calls) < 15


async def test_printed_frames_are_text(play: Play) -> None:
    source = f"""{FIND_WIRE}
import sys
text = frame({{"type": "tool_call", "id": "p", "tool": "give"}}).decode("latin-1")
print(text, end="", flush=True)
print(text, end="", file=sys.stderr)
os.write(1, b'{{"type": "result"}}')
return await give(1)
"""
    assert await play.value(source) == 1
    assert len(play.calls) == 1
    frame = {"type": "tool_call", "id": "p", "tool": "give"}
    body = json.dumps(frame).encode()
    text = (struct.pack("!I", len(body)) + body).decode()
    assert play.printed == text + '{"type": "result"}'


async def test_what_a_subprocess_prints_is_the_scripts(play: Play) -> None:
    source = """
import subprocess, sys
print("before")
subprocess.run([sys.executable, "-c", "print('inner')"])
print("after")
"""
    await play.value(source)
    assert play.printed == "before\ninner\nafter\n"


async def test_output_comes_while_the_script_runs(play: Play) -> None:
    task = asyncio.create_task(play("print('first')\nwhile True: pass"))
    while not play.printed:
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert play.printed == "first\n"


@settings(
    max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(junk=st.binary(min_size=1, max_size=64))
async def test_no_bytes_of_a_script_disturb_the_host(play: Play, junk: bytes) -> None:
    play.calls.clear()
    outcome = await play(
        f"{FIND_WIRE}\nforge({junk!r})\nreturn await give(1)", limits=Limits(seconds=0.5)
    )
    assert isinstance(outcome, Crashed | Exceeded | Returned)
    assert await play.value("return 1") == 1
