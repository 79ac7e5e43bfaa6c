"""The event loop of a script: calls, time, tasks, loops in loops, and what can never come."""

import pytest

from engines.guest.conftest import Guest

VALUES: dict[str, tuple[str, object]] = {
    "gather": ("await asyncio.gather(*[give(n) for n in range(50)])", list(range(50))),
    "a task group": (
        (
            "async with asyncio.TaskGroup() as g:\n    a = g.create_task(give(1))\n"
            "    b = g.create_task(give(2))\n[a.result(), b.result()]"
        ),
        [1, 2],
    ),
    "a time-out": (
        (
            "try:\n    async with asyncio.timeout(5):\n        await hold()\n"
            "except TimeoutError:\n    r = 'late'\nr"
        ),
        "late",
    ),
    "wait_for": (
        "try:\n    await asyncio.wait_for(hold(), 5)\nexcept asyncio.TimeoutError:\n    r = 1\nr",
        1,
    ),
    "workers of a queue": (
        (
            "q = asyncio.Queue()\nout = []\nasync def work():\n    while True:\n"
            "        out.append(await give(await q.get()))\n        q.task_done()\n"
            "ws = [asyncio.create_task(work()) for _ in range(3)]\n"
            "for n in range(9): q.put_nowait(n)\nawait q.join()\nsorted(out)"
        ),
        list(range(9)),
    ),
    "the order of time": (
        (
            "out = []\nasync def one(n):\n    await slow(n)\n    out.append(n)\n"
            "await asyncio.gather(one(3), one(1), one(2))\nout"
        ),
        [1, 2, 3],
    ),
    "as completed": (
        "[await c for c in asyncio.as_completed([slow(3), slow(1)])]",
        [1, 3],
    ),
    "asyncio.run in a loop": (
        (
            "async def f(): return await give(1)\nasync def g(): return asyncio.run(f())\n"
            "await asyncio.gather(g(), g())"
        ),
        [1, 1],
    ),
    "a runner": (
        (
            "async def f(n): return await give(n)\nwith asyncio.Runner() as r:\n"
            "    v = [r.run(f(1)), r.run(f(2))]\nv"
        ),
        [1, 2],
    ),
    "the loop by its name": (
        "loop = asyncio.get_event_loop()\nr = loop.run_until_complete(give(1))\nloop.close()\nr",
        1,
    ),
    "a new loop": (
        (
            "loop = asyncio.new_event_loop()\ntry:\n"
            "    r = loop.run_until_complete(asyncio.wait_for(give(3), 1))\n"
            "finally:\n    loop.close()\nr"
        ),
        3,
    ),
    "a package that lets loops nest": ("import nest_asyncio\nnest_asyncio.apply()\n1", 1),
    "the value of asyncio.run": ("async def f(): return await give(1)\nasyncio.run(f())", 1),
    "a loop around a main function": (
        (
            "import asyncio\nasync def main(): print(await give(1))\n"
            "if __name__ == '__main__':\n    asyncio.run(main())"
        ),
        None,
    ),
    "debugging": (
        (
            "async def f():\n    asyncio.get_running_loop().call_soon(print, 1)\n"
            "    return await give(1)\nasyncio.run(f(), debug=True)"
        ),
        1,
    ),
    "eager tasks": (
        (
            "loop = asyncio.get_running_loop()\n"
            "if hasattr(asyncio, 'eager_task_factory'):\n"
            "    loop.set_task_factory(asyncio.eager_task_factory)\n"
            "async def f(): return await give(2)\nawait asyncio.create_task(f())"
        ),
        2,
    ),
    "context variables": (
        (
            "import contextvars\nv = contextvars.ContextVar('v', default=0)\n"
            "async def f(n):\n    v.set(n)\n    await give(n)\n    return v.get()\n"
            "[await asyncio.gather(f(1), f(2)), v.get()]"
        ),
        [[1, 2], 0],
    ),
    "names of tasks": (
        (
            "async def f(): return asyncio.current_task().get_name()\n"
            "[asyncio.current_task().get_name(), await asyncio.create_task(f())]"
        ),
        ["Task-1", "Task-2"],
    ),
    "threads that are none": (
        (
            "[await asyncio.to_thread(pow, 2, 3), "
            "await asyncio.get_running_loop().run_in_executor(None, pow, 2, 2)]"
        ),
        [8, 4],
    ),
    "executors": (
        (
            "from concurrent.futures import ThreadPoolExecutor, as_completed\n"
            "with ThreadPoolExecutor(4) as pool:\n    fs = [pool.submit(pow, 2, n) "
            "for n in range(3)]\n"
            "    r = sorted(f.result() for f in as_completed(fs))\n"
            "    s = list(pool.map(lambda n: asyncio.run(give(n)), [7, 8]))\n[r, s]"
        ),
        [[1, 2, 4], [7, 8]],
    ),
    "a pool": ("from multiprocessing import Pool\nwith Pool(4) as p: r = p.map(abs, [-1])\nr", [1]),
}


@pytest.mark.parametrize(("source", "value"), VALUES.values(), ids=VALUES)
def test_a_script_uses_all_of_asyncio(guest: Guest, source: str, value: object) -> None:
    assert guest(source).value == value


def test_a_generator_that_is_left_is_closed_at_the_end(guest: Guest) -> None:
    source = """
async def numbers():
    try:
        yield 1
    finally:
        print("closing")
        await asyncio.sleep(0)
        print("closed")
left = numbers()
await anext(left)
"""
    assert guest(source).stdout == "closing\nclosed\n"


def test_sleeping_holds_all_tasks(guest: Guest) -> None:
    source = """
import time
task = asyncio.ensure_future(slow(1))
await asyncio.sleep(0)
time.sleep(5)
seen = task.done()
await task
seen
"""
    ran = guest(source)
    assert ran.value is False
    assert {"sleep": True} in ran.requests


def test_time_passes_only_where_a_script_waits(guest: Guest) -> None:
    ran = guest("import time\nt = time.monotonic()\nawait asyncio.sleep(7)\ntime.monotonic() - t")
    assert ran.value == pytest.approx(7, abs=0.01)


NEVER: dict[str, tuple[str, int]] = {
    "an event": ("e = asyncio.Event()\nawait e.wait()", 2),
    "a future": ("\nawait asyncio.get_running_loop().create_future()", 2),
    "in a function": (
        "q = asyncio.Queue()\nasync def f():\n    await q.get()\n\nawait asyncio.gather(f(), f())",
        3,
    ),
    "in a loop of its own": (
        "async def f():\n    await asyncio.Event().wait()\n\nasyncio.run(f())",
        2,
    ),
    "a lock": ("import threading\nl = threading.Lock()\nl.acquire()\nl.acquire()", 4),
    "a queue": ("import queue\n\nqueue.Queue().get()", 3),
    "a simple queue": ("import queue\nqueue.SimpleQueue().get()", 2),
    "a condition": ("import threading\nthreading.Event().wait()", 2),
}


@pytest.mark.parametrize(("source", "line"), NEVER.values(), ids=NEVER)
def test_what_can_never_come_is_an_error_at_its_line(guest: Guest, source: str, line: int) -> None:
    error = guest(source).error
    assert error["kind"] == "RuntimeError"
    assert "can never come" in error["message"]
    assert f"line {line}" in error["message"]


def test_what_can_never_come_is_told_of_every_task_and_can_be_caught(guest: Guest) -> None:
    source = """
e = asyncio.Event()
async def f():
    await e.wait()
asyncio.create_task(f())
await asyncio.sleep(0)
try:
    await asyncio.Event().wait()
except RuntimeError as error:
    message = str(error)
message
"""
    message = guest(source).value
    assert message.endswith("line 8: await asyncio.Event().wait(); line 4: await e.wait()")


def test_a_script_that_never_takes_it_is_ended(guest: Guest) -> None:
    source = """
while True:
    try:
        await asyncio.Event().wait()
    except RuntimeError:
        pass
"""
    assert guest(source).error["kind"] == "RuntimeError"


def test_waits_with_a_time_end_in_time(guest: Guest) -> None:
    source = """
import queue, threading
lock = threading.Lock()
lock.acquire()
taken = [lock.acquire(timeout=1), threading.Event().wait(2)]
try:
    queue.Queue().get(timeout=3)
except queue.Empty:
    taken.append("empty")
taken
"""
    assert guest(source).value == [False, False, "empty"]


def test_what_is_left_is_ended_as_python_ends_it(guest: Guest) -> None:
    source = """
import atexit
atexit.register(print, "bye")
async def f():
    try:
        await hold()
    finally:
        print("cancelled")
asyncio.create_task(f())
await asyncio.sleep(0)
"end"
"""
    ran = guest(source)
    assert ran.value == "end"
    assert ran.stdout == "cancelled\nbye\n"


def test_an_error_that_nothing_awaits_is_told_on_stderr(guest: Guest) -> None:
    source = """
import gc
async def f(): raise ValueError("unseen")
task = asyncio.create_task(f())
await asyncio.sleep(0)
del task
gc.collect()
"""
    ran = guest(source + "None")
    assert "Task exception was never retrieved" in ran.stderr
    assert "ValueError: unseen" in ran.stderr
    assert "lineshaft" not in ran.stderr


UNFINISHED: dict[str, tuple[str, list[str]]] = {
    "a function that calls a tool": (
        "async def f():\n    await hold()\nasyncio.create_task(f())\n'end'",
        ["f() (line 2: await hold())"],
    ),
    "a call": ("asyncio.create_task(hold())\n'end'", ["hold()"]),
    "a function that waits a while": (
        "async def f():\n    await asyncio.sleep(9)\nt = asyncio.create_task(f())\n'end'",
        ["f() (line 2: await asyncio.sleep(9))"],
    ),
    "calls at once": (
        "async def f():\n    await asyncio.gather(hold())\nasyncio.create_task(f())\n'end'",
        ["f() (line 2: await asyncio.gather(hold()))", "hold()"],
    ),
    "in a loop of the script's own": (
        (
            "async def f():\n    await hold()\n"
            "async def g():\n    asyncio.create_task(f())\n    return 'end'\nasyncio.run(g())"
        ),
        ["f() (line 2: await hold())"],
    ),
    "one that is done": ("async def f(): pass\nasyncio.create_task(f())\n'end'", []),
    "one that the script cancelled": ("asyncio.create_task(hold()).cancel()\n'end'", []),
    "one that nothing would wake": (
        "async def f(): await asyncio.Queue().get()\nasyncio.create_task(f())\n'end'",
        [],
    ),
}


@pytest.mark.parametrize(("source", "tasks"), UNFINISHED.values(), ids=UNFINISHED)
def test_a_task_that_is_cancelled_at_the_end_is_told_on_stderr(
    guest: Guest, source: str, tasks: list[str]
) -> None:
    ran = guest(source)
    assert ran.value == "end"
    head = "a task was cancelled before it was done: "
    assert ran.stderr.splitlines() == [f"{head}{task}; await it" for task in tasks]


def test_of_many_tasks_that_are_cancelled_some_are_told(guest: Guest) -> None:
    ran = guest("for n in range(9): asyncio.create_task(hold())\n'end'")
    assert ran.stderr.count("hold(); await it") == 5
    assert ran.stderr.endswith("and 4 more\n")


def test_where_a_script_fails_nothing_is_told_of_its_tasks(guest: Guest) -> None:
    ran = guest("asyncio.create_task(hold())\nawait asyncio.sleep(0)\n1 / 0")
    assert ran.error["kind"] == "ZeroDivisionError"
    assert ran.stderr == ""
