"""What is told of an error, and what a script sees of its own errors: its lines, and no others."""

import pytest

from engines.guest.conftest import Guest

TRACEBACKS: dict[str, tuple[str, str]] = {
    "plain": (
        "def f(x):\n    return 1 / x\n\nf(0)",
        (
            'Traceback (most recent call last):\n  File "script.py", line 4, in '
            "<module>\n    f(0)\n"
            '  File "script.py", line 2, in f\n    return 1 / x\nZeroDivisionError: '
            "division by zero"
        ),
    ),
    "through the library": (
        "import functools\nfunctools.reduce(lambda a, b: a / b, [1, 0])",
        (
            'Traceback (most recent call last):\n  File "script.py", line 2, in <module>\n'
            "    functools.reduce(lambda a, b: a / b, [1, 0])\n"
            '  File "script.py", line 2, in <lambda>\n'
            "    functools.reduce(lambda a, b: a / b, [1, 0])\nZeroDivisionError: division by zero"
        ),
    ),
    "through asyncio": (
        "async def f():\n    await fail('E_X', 'no')\n\nasyncio.run(f())",
        (
            'Traceback (most recent call last):\n  File "script.py", line 4, in <module>\n'
            '    asyncio.run(f())\n  File "script.py", line 2, in f\n    await '
            "fail('E_X', 'no')\n"
            "ToolError: no"
        ),
    ),
    "a group": (
        (
            "async def f(n):\n    raise ValueError(n)\nasync with asyncio.TaskGroup() as g:\n"
            "    g.create_task(f(1))"
        ),
        (
            'Traceback (most recent call last):\n  File "script.py", line 3, in <module>\n'
            "    async with asyncio.TaskGroup() as g:\n"
            '  File "script.py", line 2, in f\n    raise ValueError(n)\n'
            "ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception): ValueError: 1"
        ),
    ),
    "a cause": (
        (
            "try:\n    await fail('E_X', 'no')\nexcept ToolError as e:\n"
            "    raise RuntimeError('gave up') from e"
        ),
        (
            "ToolError: no (line 2)\n\n"
            "The above exception was the direct cause of the following exception:\n\n"
            'Traceback (most recent call last):\n  File "script.py", line 4, in <module>\n'
            "    raise RuntimeError('gave up') from e\nRuntimeError: gave up"
        ),
    ),
    "a cause that was not raised": (
        (
            "a, = await asyncio.gather(fail('E_X', 'no'), return_exceptions=True)\n"
            "raise RuntimeError('gave up') from a"
        ),
        (
            "ToolError: no\n\n"
            "The above exception was the direct cause of the following exception:\n\n"
            'Traceback (most recent call last):\n  File "script.py", line 2, in <module>\n'
            "    raise RuntimeError('gave up') from a\nRuntimeError: gave up"
        ),
    ),
    "two before it": (
        (
            "try:\n    try:\n        1 / 0\n    except ZeroDivisionError:\n        {}['a']\n"
            "except KeyError:\n    int('b')"
        ),
        (
            "ZeroDivisionError: division by zero (line 3)\n\n"
            "During handling of the above exception, another exception occurred:\n\n"
            "KeyError: 'a' (line 5)\n\n"
            "During handling of the above exception, another exception occurred:\n\n"
            'Traceback (most recent call last):\n  File "script.py", line 7, in <module>\n'
            "    int('b')\nValueError: invalid literal for int() with base 10: 'b'"
        ),
    ),
    "a long one before it": (
        "try:\n    raise ValueError('a' * 2000)\nexcept ValueError:\n    {}['a']",
        (
            "ValueError (line 2)\n\n"
            "During handling of the above exception, another exception occurred:\n\n"
            'Traceback (most recent call last):\n  File "script.py", line 4, in <module>\n'
            "    {}['a']\nKeyError: 'a'"
        ),
    ),
    "none before it": (
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise KeyError('a') from None",
        (
            'Traceback (most recent call last):\n  File "script.py", line 4, in <module>\n'
            "    raise KeyError('a') from None\nKeyError: 'a'"
        ),
    ),
    "a circle": (
        "a, b = ValueError('a'), ValueError('b')\na.__context__, b.__context__ = b, a\nraise a",
        (
            'Traceback (most recent call last):\n  File "script.py", line 3, in <module>\n'
            "    raise a\nValueError: a"
        ),
    ),
    "a time-out": (
        "async with asyncio.timeout(0):\n    await asyncio.sleep(1)",
        (
            'Traceback (most recent call last):\n  File "script.py", line 1, in <module>\n'
            "    async with asyncio.timeout(0):\nTimeoutError"
        ),
    ),
    "syntax": (
        "x = 1\nif x = 2: pass",
        (
            'Traceback (most recent call last):\n  File "script.py", line 2, in <module>\n'
            "    if x = 2: pass\nSyntaxError: invalid syntax. Maybe you meant '==' "
            "or ':=' instead of"
            " '='?"
        ),
    ),
    "syntax that the compiler sees": (
        "def f():\n    await give(1)",
        (
            'Traceback (most recent call last):\n  File "script.py", line 2, in <module>\n'
            "    await give(1)\nSyntaxError: 'await' outside async function"
        ),
    ),
}


@pytest.mark.parametrize(("source", "text"), TRACEBACKS.values(), ids=TRACEBACKS)
def test_an_error_is_told_in_the_lines_of_the_script(guest: Guest, source: str, text: str) -> None:
    assert guest(source).error["traceback"] == text


KINDS: dict[str, tuple[str, tuple[str, str, int | None]]] = {
    "an exit": ("import sys\nsys.exit(3)", ("SystemExit", "3", 2)),
    "an exit with words": ("import sys\nsys.exit('bad')", ("SystemExit", "bad", 2)),
    "an exit in a task": (
        "async def f(): quit(2)\nawait asyncio.gather(f(), give(1))",
        ("SystemExit", "2", 1),
    ),
    "an interrupt": ("raise KeyboardInterrupt", ("KeyboardInterrupt", "", 1)),
    "a cancellation": ("raise asyncio.CancelledError('x')", ("CancelledError", "x", 1)),
    "one error in a group": (
        "raise ExceptionGroup('x', [ExceptionGroup('y', [ValueError('z')])])",
        ("ValueError", "z", 1),
    ),
    "many errors in a group": (
        "raise ExceptionGroup('x', [ValueError(n % 12) for n in range(100)])",
        (
            "ExceptionGroup",
            "x (100 sub-exceptions): "
            + "".join(f"ValueError: {n}; " for n in range(10))
            + "2 more",
            1,
        ),
    ),
    "an end of iteration": ("raise StopIteration(3)", ("StopIteration", "3", 1)),
    "an error without words": (
        "class E(Exception):\n    def __str__(self): 1 / 0\nraise E()",
        ("E", "<ZeroDivisionError in its __str__>", 3),
    ),
    "a top-level yield": ("yield 3", ("SyntaxError", "'yield' outside function", 1)),
    "a yield beside a return": (
        "if 1: return 2\nyield 3",
        ("SyntaxError", "'yield' outside function", 2),
    ),
    "a return in a class": (
        "class A:\n    return 1",
        ("SyntaxError", "'return' outside function", 2),
    ),
    "an empty character": (
        "x = '\0'",
        ("SyntaxError", "source code string cannot contain null bytes", None),
    ),
}


@pytest.mark.parametrize(("source", "told"), KINDS.values(), ids=KINDS)
def test_every_kind_of_end_is_told(
    guest: Guest, source: str, told: tuple[str, str, int | None]
) -> None:
    error = guest(source).error
    assert (error["kind"], error["message"], error["line"]) == told


def test_a_long_traceback_is_cut_in_its_middle(guest: Guest) -> None:
    error = guest("def f(n):\n    if n: return f(n - 1)\n    raise ValueError('deep')\nf(50)").error
    assert "  ... 32 more ..." in error["traceback"]
    assert error["line"] == 3


SEEN: dict[str, str] = {
    "format_exc": "import traceback\ntry: await fail('E_X', 'no')\n"
    "except ToolError: print(traceback.format_exc())",
    "a log": "import logging\ntry: await fail('E_X', 'no')\n"
    "except ToolError: logging.exception('x')",
    "a stack": "import traceback\ntraceback.print_stack()",
    "nested": "import traceback\nasync def f(): await fail('E_X', 'no')\ntry: asyncio.run(f())\n"
    "except ToolError: traceback.print_exc()",
    "a time-out": "import traceback\ntry: await asyncio.wait_for(hold(), 1)\n"
    "except TimeoutError: traceback.print_exc()",
}


@pytest.mark.parametrize("source", SEEN.values(), ids=SEEN)
def test_a_script_sees_no_frames_of_the_guest(guest: Guest, source: str) -> None:
    ran = guest(source)
    seen = ran.stdout + ran.stderr
    assert 'File "script.py"' in seen
    assert "lineshaft" not in seen


def test_memory_is_told_as_a_limit_and_an_error_of_the_script_as_its_own(guest: Guest) -> None:
    assert guest("raise MemoryError('mine')").error["message"] == "mine"
    if not guest.place.is_wasm:
        return  # elsewhere it is bounded by whatever runs the guest
    answer = guest("x = []\nwhile True: x.append('a' * 10**6)").answer
    assert (answer["how"], answer["limit"], answer["line"]) == ("exceeded", "memory_mb", 2)
    assert answer["message"] == "the script used more than 256 MB of memory"
