"""What a script that knows how it is run can do to its host: nothing but what scripts may.

Such a script gets at the interpreter's own modules through `sys.modules`. It may then say to the
host whatever it likes, and write all over the memory that it lives in.
"""

import os
import tracemalloc

import pytest

from engines.play import Play
from lineshaft.values import Crashed, Exceeded, Limits, Raised, Returned

INSIDE = "b = getattr(__import__('sys'), 'modules')['boot']\n"
ASK = INSIDE + "ask = b.host.call\n"

OUT_OF_REACH: dict[str, str] = {
    "files": "open('/etc/passwd')",
    "files of the interpreter": INSIDE + "b.io.open('/etc/passwd')",
    "files to write": INSIDE + "b.io.open('/tmp/from_the_inside', 'w')",
    "files by import": INSIDE + "b.sys.path.append('/usr/lib/python3')\nimport antigravity",
    "folders": INSIDE + "b._import_native('os').listdir('/')",
    "a mount": INSIDE + "v = b._import_native('vfs')\nv.VfsPosix('/').open('/etc/passwd', 'r')",
    "processes": INSIDE + "b._import_native('os').system('true')",
    "sockets": INSIDE + "b._import_native('socket')",
    "native code": INSIDE + "b._import_native('ffi')",
    "another module": INSIDE + "b._import('../../_plain')",
    "the compiled boot anew": INSIDE + "b._import('start')",
}


@pytest.mark.parametrize("source", OUT_OF_REACH.values(), ids=OUT_OF_REACH)
async def test_what_is_outside_is_out_of_reach(play: Play, source: str) -> None:
    assert isinstance(await play(source), Raised)


async def test_the_interpreter_is_reached_from_the_inside(play: Play) -> None:
    # Else the tests of this file would show nothing.
    assert await play.value(ASK + "return type(ask).__name__") == "function"


async def test_the_environment_is_empty(play: Play) -> None:
    os.environ["LINESHAFT_TEST_HIDDEN"] = "42"
    try:
        source = INSIDE + "o = b._import_native('os')\nreturn o.getenv('%s')"
        assert await play.value(source % "LINESHAFT_TEST_HIDDEN") is None
        assert await play.value(source % "HOME") is None
    finally:
        del os.environ["LINESHAFT_TEST_HIDDEN"]


FORGED: dict[str, str] = {
    "nothing that is known": "ask('nothing', '')",
    "a second start": "ask('start', '')\nask('return', '5')\nask('return', '6')",
    "no JSON": "ask('wait', 'x')",
    "another shape": "ask('wait', '{}')",
    "numbers of nobody": "ask('wait', '[[99], []]')",
    "a number twice": """ask('wait', '[[1], [[1, "give", [], []], [1, "give", [], []]]]')""",
    "a number below": """ask('wait', '[[1], [[0, "give", [], []]]]')""",
    "no number": """ask('wait', '[[1], [["a", "give", [], []]]]')""",
    "an unknown tool": """ask('wait', '[[1], [[1, "secret", [], []]]]')""",
    "a tool of no namespace": """ask('wait', '[[1], [[1, "os.give", [], []]]]')""",
    "half an argument": """ask('wait', '[[1], [[1, "give", [], ["a"]]]]')""",
    "arguments that are none": """ask('wait', '[[1], [[1, "give", 5, {"d": 1}]]]')""",
    "a value that is none": "ask('return', '{\"d\": [1]}')",
    "a number that is none": "ask('return', 'NaN')",
    "a float that is none": """ask('return', '{"f": "000000000000f87f"}')""",
    "deep JSON": "ask('return', '[' * 5000 + ']' * 5000)",
    "deep JSON, deeper": "ask('return', '[' * 200000)",
    "an error that is none": "ask('raise', '[]')",
    "a place that is none": """ask('lost', 'x')""",
    "many numbers": "ask('return', '1' * 5000)",
}


@pytest.mark.parametrize("source", FORGED.values(), ids=FORGED)
async def test_a_forged_message_ends_the_run_at_most(play: Play, source: str) -> None:
    outcome = await play(ASK + source + "\nawait give('late')")
    assert isinstance(outcome, Crashed | Raised | Returned | Exceeded)
    assert all(call.tool in ("give",) for call in play.calls)
    assert ("late",) not in [call.positional for call in play.calls]
    assert await Play(play.engine).value("1") == 1


async def test_a_forged_call_is_a_call_like_any_other(play: Play) -> None:
    source = ASK + """ask('wait', '[[7], [[7, "give", [1], ["a", 2]]]]')\nreturn 1"""
    assert await play.value(source) == 1
    (call,) = play.calls
    assert (call.tool, call.positional, dict(call.arguments)) == ("give", (1,), {"a": 2})


async def test_a_forged_end_is_the_end(play: Play) -> None:
    source = ASK + "try:\n    ask('return', '5')\nfinally:\n    await give(1)"
    assert await play.value(source) == 5
    assert play.calls == []


async def test_prints_that_look_like_messages_are_prints(play: Play) -> None:
    source = (
        "print('return', '6')\nimport sys\nsys.stdout.write('.5\\n+\\x00{\"d\": []}\\n')\nreturn 1"
    )
    assert await play.value(source) == 1
    assert play.printed == 'return 6\n.5\n+\x00{"d": []}\n'


WILD: dict[str, str] = {
    "the stack's bound": "u.bytearray_at(66776, 4)[:] = b'\\xff\\xff\\xff\\x7f'\ndef f(): f()\nf()",
    "all of the data": "b = u.bytearray_at(1024, 60000)\nfor i in range(60000): b[i] = 255",
    "behind the end": "u.bytearray_at(2 ** 31 - 10, 4)[0] = 1",
    "before the beginning": "u.bytearray_at(-8, 4)[0] = 1",
    "a text that is longer than memory": (
        "s = bytes(16)\nu.bytearray_at(id(s) + 8, 4)[:] = b'\\xff\\xff\\xff\\x7f'\n"
        "b.host.call('return', s)"
    ),
    "a text from elsewhere": (
        "s = bytes(16)\nu.bytearray_at(id(s) + 12, 4)[:] = b'\\xf0\\xff\\xff\\xff'\n"
        "b.host.call('return', s)"
    ),
    "a module into nowhere": (
        "s = bytes(16)\nu.bytearray_at(id(s) + 8, 8)[:] = b'\\xff\\xff\\xff\\x7f' * 2\n"
        "b.host.call('fill boot', s)"
    ),
    "a type": "u.bytearray_at(id([]), 4)[:] = b'\\x01\\x02\\x03\\x04'\n[].append([])",
}


@pytest.mark.parametrize("source", WILD.values(), ids=WILD)
async def test_writing_all_over_its_memory_harms_the_script_alone(play: Play, source: str) -> None:
    outcome = await play(INSIDE + "u = b.uctypes\n" + source, limits=Limits(seconds=5))
    assert isinstance(outcome, Crashed | Raised | Returned | Exceeded)
    assert play.calls == []
    assert await play.value("1") == 1


async def test_exits_of_the_interpreter_end_only_it(play: Play) -> None:
    for source in ("import sys\nsys.exit(3)", "raise SystemExit(1)"):
        assert (await play.error(source)).kind == "SystemExit"
    assert await play.value("1") == 1


async def test_what_scripts_say_at_once_takes_a_bounded_amount_of_memory(play: Play) -> None:
    tracemalloc.start()
    try:
        source = ASK + "ask('return', '[' + '[],' * 5000000 + '1]')"
        outcome = await play(source, limits=Limits(seconds=20))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(outcome, Exceeded)
    assert peak < 150_000_000
