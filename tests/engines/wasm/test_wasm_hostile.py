"""Guests that speak to their host directly: it believes nothing, and holds."""

import resource
import sys

import pytest

from engines.play import LIMITS, Play, fresh
from lineshaft.values import (
    Crashed,
    Exceeded,
    Limits,
    Outcome,
    Raised,
    ReplayInputs,
    Returned,
    Value,
)

WIRE = """
import sys
frame = sys._getframe()
while "wire" not in frame.f_locals:
    frame = frame.f_back
wire = frame.f_locals["wire"]
"""
"""Finds the functions of the host, as a script may that looks into its interpreter."""

BROKEN: dict[str, str] = {
    "no JSON": "wire.turn(0.0, 'nonsense')",
    "nothing": "wire.turn(0.0, '')",
    "an object": "wire.turn(0.0, '{}')",
    "numbers": "wire.turn(0.0, '[1, 2]')",
    "a null byte": "wire.turn(0.0, '[\\0]')",
    "an unknown kind": "wire.turn(0.0, '[{\"what\": 1}]')",
    "a call without a tool": "wire.turn(0.0, '[{\"call\": 1}]')",
    "a number that is a text": 'wire.turn(0.0, \'[{"call": "1", "tool": "give"}]\')',
    "a number that is true": 'wire.turn(0.0, \'[{"call": true, "tool": "give"}]\')',
    "a number that is not whole": 'wire.turn(0.0, \'[{"call": 1.0, "tool": "give"}]\')',
    "a negative number": 'wire.turn(0.0, \'[{"call": -1, "tool": "give"}]\')',
    "a number that is not the next": 'wire.turn(0.0, \'[{"call": 2, "tool": "give"}]\')',
    "a huge number": "wire.turn(0.0, '[{\"call\": 1' + '0' * 5000 + ', \"tool\": \"give\"}]')",
    "a tool that is no text": 'wire.turn(0.0, \'[{"call": 1, "tool": ["give"]}]\')',
    "a long name": "wire.turn(0.0, '[{\"call\": 1, \"tool\": \"' + 'x' * 10**6 + '\"}]')",
    "arguments that are a list": (
        'wire.turn(0.0, \'[{"call": 1, "tool": "give", "arguments": []}]\')'
    ),
    "positional that is an object": (
        'wire.turn(0.0, \'[{"call": 1, "tool": "give", "positional": {}}]\')'
    ),
    "infinity": 'wire.turn(0.0, \'[{"call": 1, "tool": "give", "positional": [1e999]}]\')',
    "NaN": 'wire.turn(0.0, \'[{"call": 1, "tool": "give", "positional": [NaN]}]\')',
    "deep": "wire.turn(0.0, '[' * 100_000 + ']' * 100_000)",
    "deep arguments": (
        'wire.turn(0.0, \'[{"call": 1, "tool": "give", "positional": \''
        " + '[' * 300 + ']' * 300 + '}]')"
    ),
    "many lists": "wire.turn(0.0, '[' + '[],' * 1_000_001 + '[]]')",
    "the end of no call": "wire.turn(0.0, '[{\"cancel\": 99}]')",
    "a rest of nothing": "wire.turn(0.0, '[{\"rest\": true}]')",
    "a piece among calls": 'wire.turn(0.0, \'[{"part": "[]", "more": false}, {"cancel": 1}]\')',
    "pieces that do not end": (
        "piece = '[{\"part\": \"' + 'x' * 10**7 + '\", \"more\": true}]'\n"
        "while True: wire.turn(0.0, piece)"
    ),
    "a turn among pieces": (
        "wire.turn(0.0, '[{\"part\": \"' + ' ' * 10**6 + '\", \"more\": true}]')\n"
        "wire.turn(0.0, '[]')"
    ),
    "tiny pieces": ('while True: wire.turn(0.0, \'[{"part": "ab", "more": true}]\')'),
    "a piece of a piece": (
        """wire.turn(0.0, r'[{"part": "[{\\"rest\\": true}]", "more": false}]')"""
    ),
    "an unknown stream": "wire.write('\\x1b[2J' * 1000, 'x')",
    "a long request": "wire.package('x' * 10**6)",
    "a request that is no JSON": "wire.package('nonsense')",
}


async def _direct(play: Play, source: str, limits: Limits = LIMITS) -> Outcome:
    return await play(f"{WIRE}\n{source}\nawait give('after')", limits=limits)


@pytest.mark.parametrize("source", BROKEN.values(), ids=BROKEN)
async def test_a_guest_that_breaks_the_protocol_is_ended(play: Play, source: str) -> None:
    outcome = await _direct(play, source)
    assert isinstance(outcome, Crashed), outcome
    assert "did not keep the protocol" in outcome.message
    assert play.calls == []
    assert await play.value("1") == 1


async def test_a_number_that_was_used_before_ends_the_run(play: Play) -> None:
    again = 'wire.turn(-1.0, \'[{"call": 1, "tool": "give"}]\')'
    outcome = await _direct(play, f"await give(1)\n{again}")
    assert isinstance(outcome, Crashed), outcome
    assert play.tools == ["give"]


@pytest.mark.parametrize("seconds", ["-1.0", "float('nan')", "float('inf')", "-1e308", "1e308"])
async def test_a_turn_that_nothing_can_end_ends_the_run(play: Play, seconds: str) -> None:
    outcome = await _direct(play, f"wire.turn({seconds}, '[]')")
    assert isinstance(outcome, Raised), outcome
    assert outcome.kind == "RuntimeError"
    assert play.calls == []


async def test_a_completion_that_was_stolen_leaves_nothing_to_wait_for(play: Play) -> None:
    source = """
task = asyncio.ensure_future(give(1))
await asyncio.sleep(0)
wire.turn(-1.0, "[]")
await task
"""
    outcome = await _direct(play, source)
    assert isinstance(outcome, Raised | Crashed), outcome
    assert "after" not in [call.positional for call in play.calls]


async def test_calls_beyond_all_bounds_end_the_run(play: Play) -> None:
    source = 'for n in range(100_000): wire.turn(0.0, \'[{"call": %d, "tool": "give"}]\' % (n + 1))'
    outcome = await _direct(play, source, Limits(seconds=60, calls=10))
    assert isinstance(outcome, Exceeded), outcome
    assert outcome.limit == "calls"
    assert len(play.calls) <= 1_040


async def test_half_characters_that_a_guest_writes_as_escapes_do_not_cross(play: Play) -> None:
    source = r"""wire.turn(-1.0, '[{"call": 1, "tool": "give", "positional": ["a\\ud800b"]}]')"""
    outcome = await play(f"{WIRE}\n{source}")
    assert isinstance(outcome, Returned), outcome
    assert play.calls[0].positional == ("a?b",)


@pytest.mark.parametrize("function", ["wire.write('stdout', {})", "wire.turn(0.0, {})"])
async def test_a_half_character_ends_a_run_at_most(play: Play, function: str) -> None:
    await _direct(play, function.format("'\\ud800'"))
    assert await play.value("1") == 1


LONG: dict[str, str] = {
    "ASCII to print": "wire.write('stdout', 'x' * 100_000_000)",
    "emoji to print": "wire.write('stderr', '\U0001f600' * 25_000_000)",
    "ASCII as requests": "wire.turn(0.0, 'x' * 100_000_000)",
    "ASCII and an emoji as requests": "wire.turn(0.0, 'x' * 99_999_999 + '\U0001f600')",
    "for a package": "wire.package('x' * 100_000_000)",
}


@pytest.mark.parametrize("source", LONG.values(), ids=LONG)
async def test_a_hundred_megabytes_do_not_cross(play: Play, source: str) -> None:
    before = _peak_bytes()
    outcome = await _direct(play, source, Limits(seconds=20, memory_mb=600))
    assert isinstance(outcome, Crashed | Exceeded), outcome
    assert _peak_bytes() - before < 700_000_000  # what the guest itself may hold, and little more
    assert await play.value("1") == 1


def _peak_bytes() -> int:
    factor = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * factor


@pytest.mark.long
async def test_large_arguments_are_not_held_without_bound(play: Play) -> None:
    """The host holds what calls under way were given, no more of it than the script may hold."""
    source = """
data = "x" * 10_000_000
tasks = [asyncio.ensure_future(hold(data, n)) for n in range(40)]
for _ in range(200): await asyncio.sleep(0)
"""
    outcome = await play(source, limits=Limits(seconds=60, memory_mb=128))
    assert isinstance(outcome, Exceeded)
    assert (outcome.limit, "await some" in outcome.message) == ("memory_mb", True)
    assert len(play.calls) == 12


@pytest.mark.long
async def test_arguments_of_calls_that_ended_are_not_counted(play: Play) -> None:
    source = """
data = "x" * 10_000_000
for n in range(20): await give(data)
return "all"
"""
    outcome = await play(source, limits=Limits(seconds=60, memory_mb=128))
    assert isinstance(outcome, Returned)
    assert outcome.value == "all"


async def test_a_record_that_names_calls_that_were_never_made_diverges(play: Play) -> None:
    for turns in ([7], [1, 1], [-1], [2], [0], [1, 0]):
        replay = ReplayInputs(seed=fresh().seed, turns=turns)
        play.past = {"1": Value(1)}
        outcome = await play("await give(1)\nawait hold()", replay=replay)
        assert type(outcome).__name__ == "Diverged", (turns, outcome)


async def test_readings_that_are_garbage_diverge(play: Play) -> None:
    for readings in (b"\xff" * 100, b"\x01\x02", b"\x80", b"\x00" * 3):
        replay = ReplayInputs(seed=fresh().seed, readings=readings, turns=[1])
        play.past = {"1": Value(1)}
        outcome = await play("import time\ntime.time()\nawait give(1)\n", replay=replay)
        assert type(outcome).__name__ in ("Diverged", "Returned"), (readings, outcome)


TRICKS: dict[str, tuple[str, str]] = {
    "a regular expression without end": ("import re\nre.match('(a+)+b', 'a' * 60)", "Exceeded"),
    "a number of a million digits": (
        "import sys\nsys.set_int_max_str_digits(0)\nstr(3**3000000)",
        "Exceeded",
    ),
    "a power of powers": ("9**9**9", "Exceeded"),
    "recursion without a limit": (
        "import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()\nf()",
        "Exceeded Raised",
    ),
    "brackets": ("eval('(' * 300_000)", "Raised"),
    "a long sleep": ("import time\ntime.sleep(1e9)", "Exceeded"),
    "a lock taken twice": (
        "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()",
        "Raised",
    ),
    "the interpreter's own lock taken twice": (
        "import _thread\nlock = _thread.allocate_lock()\nlock.acquire()\nlock.acquire()",
        "Raised",
    ),
    "an empty queue": ("import queue\nqueue.Queue().get()", "Raised"),
    "an end of the process": ("import os\nos._exit(7)", "Raised Crashed"),
    "an abort": ("import os\nos.abort()", "Raised Crashed"),
    "a wait for nothing": ("await asyncio.Event().wait()", "Raised"),
    "corrupt code": (
        (
            "f = lambda: 0\n"
            "f.__code__ = f.__code__.replace(co_code=b'\\x64\\xff' * 50, co_stacksize=1)\nf()"
        ),
        "Crashed Raised Exceeded",
    ),
    "code of random bytes": (
        (
            "import random\nmade = random.Random(5)\nwhile True:\n"
            "    f = lambda: 0\n"
            "    code = bytes(made.randrange(256) for _ in range(30)) * 2\n"
            "    f.__code__ = f.__code__.replace(co_code=code, co_stacksize=40)\n"
            "    try: f()\n"
            "    except Exception: pass"
        ),
        "Crashed Raised Exceeded",
    ),
    "a module of changed bytes": (
        (
            "import marshal, random\nmade = random.Random(7)\n"
            "good = marshal.dumps(compile('f = lambda a: [*range(a)]\\nf(3)', 'm', 'exec'))\n"
            "while True:\n"
            "    bad = bytearray(good)\n"
            "    for _ in range(2): bad[made.randrange(len(bad))] = made.randrange(256)\n"
            "    try: exec(marshal.loads(bytes(bad)), {})\n"
            "    except BaseException: pass"
        ),
        "Crashed Raised Exceeded",
    ),
    "a fault of its own": ("import faulthandler\nfaulthandler._sigsegv()", "Crashed Raised"),
    "a signal to itself": ("import signal\nsignal.raise_signal(9)", "Crashed Raised"),
    "iterators in iterators": (
        "x = iter([1])\nfor _ in range(200_000): x = map(int, x)\nlist(x)\nraise ValueError('ok')",
        "Crashed Raised Exceeded",
    ),
    "a list in lists that goes at once": (
        "x = []\nfor _ in range(2_000_000): x = [x]\ndel x\nraise ValueError('ok')",
        "Crashed Raised Exceeded",
    ),
    "text in text in text": (
        (
            "import xml.etree.ElementTree as tree\n"
            "tree.fromstring('<a>' * 200_000 + '</a>' * 200_000)\nraise ValueError('ok')"
        ),
        "Crashed Raised Exceeded",
    ),
    "all the memory in classes": (
        "held = []\nwhile True: held.append(type('A', (), {}))",
        "Crashed Raised Exceeded",
    ),
    "the runtime's own calls": (
        (
            "import componentize_py_runtime as below\n"
            "for number in (*range(40), 2**31 - 1, -1):\n"
            "    for given in ((), ('x',), (1,), (1.0, '[]'), ('x',) * 9):\n"
            "        try: below.call_import(number, list(given), 1)\n"
            "        except Exception: pass\n"
            "raise ValueError('ok')"
        ),
        "Crashed Raised Exceeded",
    ),
}


@pytest.mark.parametrize(("source", "ends"), TRICKS.values(), ids=TRICKS)
async def test_what_would_hang_or_break_an_interpreter_ends_with_a_name(
    play: Play, source: str, ends: str
) -> None:
    outcome = await play(source, limits=Limits(seconds=1))
    assert type(outcome).__name__ in ends.split(), outcome
    assert getattr(outcome, "message", "")
    assert await play.value("return await give(1)") == 1
