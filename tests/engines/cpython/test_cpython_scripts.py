"""What a script is in full Python: a module of its own, that may await and return."""

from typing import cast

import pytest

from engines.play import Play
from lineshaft.values import Crashed, Exceeded, Limits, Raised, Returned

VALUES: dict[str, tuple[str, object]] = {
    "a generator": ("def g():\n    yield 1\n    yield 2\nlist(g())", [1, 2]),
    "an async generator": (
        (
            "async def g():\n    for n in range(3):\n        yield await give(n)\n"
            "return [n async for n in g()]"
        ),
        [0, 1, 2],
    ),
    "an exception of its own": (
        "class E(Exception):\n    pass\ntry:\n    raise E('x')\nexcept E as e:\n    v = str(e)\nv",
        "x",
    ),
    "a star import": ("from math import *\nreturn floor(2.5)", 2),
    "a star import in a block": (
        "try:\n    from math import *\nexcept ImportError:\n    pass\nsqrt(4)",
        2.0,
    ),
    "annotations": ("x: int = 3\ny: str\nreturn x", 3),
    "annotations of the future": (
        "from __future__ import annotations\nx: Nothing = 1\nreturn x",
        1,
    ),
    "exec": ("exec('z = 4')\nreturn z", 4),
    "locals are globals": ("a = 1\nreturn [locals() is globals(), locals()['a']]", [True, 1]),
    "names of classes": (
        "class A:\n    def f(self): pass\nreturn [A.__qualname__, A.f.__qualname__]",
        ["A", "A.f"],
    ),
    "the main module": (
        ("import sys\nx = 1\nreturn [__name__, sys.modules['__main__'].x, __file__, sys.argv]"),
        ["__main__", 1, "script.py", ["script.py"]],
    ),
    "a walrus in a comprehension": ("[last := n for n in range(3)]\nlast", 2),
    "a comprehension's own name": ("n = 7\n[n for n in range(3)]\nn", 7),
    "match": (
        "match {'a': 1, 'b': 2}:\n    case {'a': x, **rest}: pass\nreturn [x, rest]",
        [1, {"b": 2}],
    ),
    "del": ("x = 1\ndel x\nreturn 'x' in globals()", False),
    "global in a function": ("def f():\n    global x\n    x = 2\nf()\nx", 2),
    "a return in finally": ("try:\n    1 / 0\nfinally:\n    return 5", 5),
    "a return in with": (
        (
            "seen = []\nclass A:\n    def __enter__(self): return self\n"
            "    def __exit__(self, kind, *rest): seen.append(kind)\n"
            "with A():\n    return seen"
        ),
        [None],
    ),
    "pickle": ("import pickle\nclass P: pass\ntype(pickle.loads(pickle.dumps(P()))).__name__", "P"),
    "a dataclass": (
        (
            "from dataclasses import dataclass, asdict\n"
            "@dataclass\nclass P:\n    x: int\n    y: list[int]\nasdict(P(1, [2]))"
        ),
        {"x": 1, "y": [2]},
    ),
    "a source that can be looked up": (
        "import inspect\ndef f():\n    return 1\ninspect.getsource(f)",
        "def f():\n    return 1\n",
    ),
    "the names in scope are functions": (
        "return [type(x).__name__ for x in (give, retry, github.give, tools, github)]",
        ["function", "function", "function", "module", "module"],
    ),
    "a tool is a coroutine function": (
        (
            "import inspect\nc = give(1)\n"
            "return [asyncio.iscoroutinefunction(give), inspect.iscoroutine(c), await c]"
        ),
        [True, True, 1],
    ),
    "asyncio.run inside a running loop": (
        (
            "a = await give(1)\nasync def main():\n"
            "    return await asyncio.gather(give(2), give(3))\nreturn [a, *asyncio.run(main())]"
        ),
        [1, 2, 3],
    ),
    "asyncio.run of a call": ("def f():\n    return asyncio.run(give(5))\nf()", 5),
    "two loops, one after the other": (
        (
            "async def f(n):\n    return await asyncio.gather(give(n), give(n))\n"
            "[asyncio.run(f(1)), asyncio.run(f(2))]"
        ),
        [[1, 1], [2, 2]],
    ),
    "sys.exit": ("import sys\nsys.exit()", None),
    "sys.exit(0)": ("import sys\nsys.exit(0)\n5", None),
    "exit": ("exit()", None),
    "a signal handler": (
        (
            "import signal, os\nseen = []\n"
            "signal.signal(signal.SIGUSR1, lambda *a: seen.append(1))\n"
            "os.kill(os.getpid(), signal.SIGUSR1)\nseen"
        ),
        [1],
    ),
    "a private folder": (
        "import os\nopen('x', 'w').write('a')\n[open('x').read(), os.listdir('.')]",
        ["a", ["x"]],
    ),
    "a temporary file": (
        (
            "import tempfile\nwith tempfile.NamedTemporaryFile('w+') as f:\n"
            "    f.write('a')\n    f.seek(0)\n    v = f.read()\nv"
        ),
        "a",
    ),
    "a subprocess": (
        (
            "import subprocess, sys\n"
            "subprocess.run([sys.executable, '-c', 'print(1)'], stdout=-1, text=True).stdout"
        ),
        "1\n",
    ),
    "a pipe to a coroutine": (
        (
            "import sys\np = await asyncio.create_subprocess_exec("
            "sys.executable, '-c', 'print(2)', stdout=asyncio.subprocess.PIPE)\n"
            "out, _ = await p.communicate()\nreturn [out.decode(), await give(1)]"
        ),
        ["2\n", 1],
    ),
}


@pytest.mark.parametrize(("source", "expected"), VALUES.values(), ids=VALUES)
async def test_a_script_gives_what_python_says(held: Play, source: str, expected: object) -> None:
    assert await held.value(source) == expected


RAISED: dict[str, tuple[str, str, str, int | None]] = {
    "sys.exit with a code": ("import sys\nsys.exit(3)", "SystemExit", "3", 2),
    "sys.exit with a text": ("import sys\nsys.exit('bad')", "SystemExit", "bad", 2),
    "input": ("x = 1\ninput()", "EOFError", "EOF when reading a line", 2),
    "an interrupt": ("\nraise KeyboardInterrupt", "KeyboardInterrupt", "", 2),
    "our own package": (
        "import lineshaft",
        "ModuleNotFoundError",
        "No module named 'lineshaft'",
        1,
    ),
    "yield": ("x = 1\nyield 2", "SyntaxError", "'yield' outside function", 2),
    "indentation": (
        "def f():\nreturn 1",
        "SyntaxError",
        "expected an indented block after function definition on line 1",
        2,
    ),
    "an error whose text fails": (
        "class E(Exception):\n    def __str__(self): 1 / 0\nraise E()",
        "E",
        "<ZeroDivisionError in its __str__>",
        3,
    ),
    "a group": (
        "\nasync with asyncio.TaskGroup() as g:\n    g.create_task(fail('E_STALE', 'no'))",
        "ExceptionGroup",
        "unhandled errors in a TaskGroup (1 sub-exception): ToolError: no",
        2,
    ),
    "text that exec runs": (
        "x = 1\nexec('\\n\\n1 / 0')",
        "ZeroDivisionError",
        "division by zero",
        2,
    ),
    "an awaited call again": (
        "c = give(1)\nawait c\nawait c",
        "RuntimeError",
        "cannot reuse already awaited coroutine",
        3,
    ),
}


@pytest.mark.parametrize(("source", "kind", "message", "line"), RAISED.values(), ids=RAISED)
async def test_an_error_is_told_in_the_scripts_terms(
    play: Play, source: str, kind: str, message: str, line: int | None
) -> None:
    error = await play.error(source)
    assert (error.kind, error.message, error.line) == (kind, message, line)


NOT_JSON: dict[str, tuple[str, str]] = {
    "an instance": (
        "class P: pass\nreturn [P()]",
        "the script's value[0] is not JSON: it is an instance of the class P",
    ),
    "a set": ("{1}", "the script's value is not JSON: it is a set"),
    "a circle": (
        "x = []\nx.append(x)\nx",
        "the script's value is not JSON: it is nested too deeply",
    ),
    "a nest": (
        "x = []\nfor _ in range(300): x = [x]\nx",
        "the script's value is not JSON: it is nested more than 200 deep",
    ),
}


@pytest.mark.parametrize(("source", "message"), NOT_JSON.values(), ids=NOT_JSON)
async def test_a_value_that_is_not_json_has_a_code_of_its_own(
    play: Play, source: str, message: str
) -> None:
    error = await play.error(source)
    assert (error.kind, error.code, error.message) == ("TypeError", "E_NOT_JSON", message)


async def test_five_megabytes_cross_and_more_is_refused(play: Play) -> None:
    big = "é" * 2_500_000
    assert await play.value("return await give(x)", x=big) == big
    error = await play.error("return 'x' * 9_000_000")
    assert error.code == "E_TOO_LARGE"
    error = await play.error("await give('x' * 9_000_000)")
    assert (error.code, error.line) == ("E_TOO_LARGE", 1)
    assert [call.tool for call in play.calls] == ["give"]


async def test_an_error_keeps_the_hint_of_its_call(play: Play) -> None:
    source = "e = ToolError('E_X', 'm', hint='h')\nvars(e)"
    assert await play.value(source) == {"code": "E_X", "tool": "", "hint": "h", "message": "m"}


async def test_each_run_has_a_state_of_its_own(play: Play) -> None:
    first = (
        "import builtins, json, random, sys, os\nbuiltins.mark = json.mark = 1\n"
        "os.environ['MARK'] = '1'\nopen('mark', 'w').close()\nrandom.random()"
    )
    second = (
        "import builtins, json, random, sys, os\nreturn [hasattr(builtins, 'mark'),"
        " hasattr(json, 'mark'), sorted(os.environ), os.listdir('.'), random.random()]"
    )
    numbers = [await play.value(first) for _ in range(2)]
    seen = cast("list[object]", await play.value(second))
    assert seen[:4] == [False, False, ["TMPDIR"], []]
    assert len({*numbers, seen[4]}) == 3


async def test_memory_may_run_out_and_be_caught(held: Play) -> None:
    source = """
seen = []
for size in (10**12, 10**9, 60 * 10**6):
    for _ in range(5):
        try:
            x = bytearray(size)
        except MemoryError:
            seen.append(size)
return [seen, await give(1)]
"""
    outcome = await held(source, limits=Limits(seconds=10, memory_mb=40))
    assert outcome == Returned(value=[[10**12] * 5 + [10**9] * 5 + [60 * 10**6] * 5, 1])


async def test_memory_that_runs_out_uncaught_is_a_limit_at_its_line(held: Play) -> None:
    outcome = await held(
        "x = []\nwhile True:\n    x.append('a' * 10**6)", limits=Limits(memory_mb=40)
    )
    assert isinstance(outcome, Exceeded)
    assert (outcome.limit, outcome.line) == ("memory_mb", 3)
    assert outcome.message == "the script used more than 40 MB of memory"


async def test_what_is_used_up_by_a_thread_of_machine_code_ends_the_run(held: Play) -> None:
    source = "import ctypes\nctypes.CDLL(None).sleep(100)"
    outcome = await held(source, limits=Limits(seconds=0.3))
    assert isinstance(outcome, Exceeded)
    assert outcome.limit == "seconds"


async def test_threads_that_are_left_are_waited_for_and_what_is_registered_is_called(
    play: Play,
) -> None:
    source = """
import atexit, threading
atexit.register(print, "registered")
def late():
    ready.wait()
    print("late")
ready = threading.Event()
threading.Thread(target=late).start()
ready.set()
return 1
"""
    assert await play.value(source) == 1
    assert play.printed == "late\nregistered\n"


async def test_tasks_that_are_left_are_cancelled_as_asyncio_run_does(play: Play) -> None:
    source = """
async def left():
    try:
        await hold()
    finally:
        print("cleaned")
task = asyncio.create_task(left())
await give(1)
return 2
"""
    assert await play.value(source) == 2
    assert play.printed == "cleaned\n"
    assert play.cancelled == [call.id for call in play.calls if call.tool == "hold"]


CRASHES: dict[str, tuple[str, str]] = {
    "os._exit": ("import os\nos._exit(5)", "ended with exit code 5"),
    "os._exit(0)": ("import os\nprint('x', flush=True)\nos._exit(0)", "ended with exit code 0"),
    "a fault": ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "was ended by SIGSEGV"),
    "a kill": ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "was ended by SIGKILL"),
    "at a call": (
        "import os\nasync def f(): os._exit(1)\nawait asyncio.gather(hold(), f())",
        "code 1",
    ),
}


@pytest.mark.parametrize(("source", "part"), CRASHES.values(), ids=CRASHES)
async def test_a_process_that_ends_without_a_result_is_a_crash(
    held: Play, source: str, part: str
) -> None:
    outcome = await held(source)
    assert isinstance(outcome, Crashed)
    assert part in outcome.message
    assert held.cancelled == [call.id for call in held.calls]
    assert await held.value("1") == 1


async def test_a_forked_copy_makes_no_calls_and_gives_no_result(play: Play) -> None:
    source = """
import os
pid = os.fork()
if pid == 0:
    try:
        await give("copy")
    except RuntimeError as e:
        print(e)
else:
    os.waitpid(pid, 0)
return [await give(1)] if pid else "copy"
"""
    outcome = await play(source)
    assert outcome == Returned(value=[1])
    assert play.printed == "give: a forked process cannot make calls\n"
    assert len(play.calls) == 1


async def test_a_result_too_deep_or_too_odd_fails_its_call(play: Play) -> None:
    nest: list[object] = []
    for _ in range(300):
        nest = [nest]
    for odd in (nest, float("nan"), 10**5000, object()):
        play.gives = odd
        error = await play.error("await give()")
        assert (error.kind, error.code) == ("ToolError", "E_INVALID_RESULT")


async def test_inputs_that_cannot_be_sent_start_nothing(play: Play) -> None:
    outcome = await play("1", inputs={"x": object()})
    assert isinstance(outcome, Raised)
    assert outcome.message.startswith("the inputs cannot be sent")
