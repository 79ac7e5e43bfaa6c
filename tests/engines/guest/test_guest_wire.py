"""What crosses the wire: requests in their turns, long messages in pieces, output."""

import pytest

from engines.guest.conftest import Guest


def test_calls_are_numbered_in_order_and_carry_their_arguments(guest: Guest) -> None:
    ran = guest("await give(1, more=[1, (2,)])\nawait github.give(*[3])")
    assert ran.requests == [
        {"call": 1, "tool": "give", "positional": [1], "arguments": {"more": [1, [2]]}},
        {"call": 2, "tool": "github.give", "positional": [3], "arguments": {}},
    ]
    assert [seconds for seconds, _ in ran.turns] == [-1.0, -1.0]


def test_calls_at_once_go_in_one_turn_and_are_completed_one_a_turn(guest: Guest) -> None:
    ran = guest("await asyncio.gather(give(1), give(2), give(3))")
    assert [text.count("call") for _, text in ran.turns] == [3, 0, 0]


def test_a_busy_script_asks_now_and_again(guest: Guest) -> None:
    source = """
task = asyncio.create_task(give(1))
rounds = 0
while not task.done():
    await asyncio.sleep(0)
    rounds += 1
rounds < 100
"""
    ran = guest(source)
    assert ran.value is True
    assert {seconds for seconds, _ in ran.turns} == {0.0}


def test_a_script_without_calls_takes_no_turn(guest: Guest) -> None:
    assert guest("sum(range(10))").turns == []


GIVEN_UP: dict[str, str] = {
    "by a time-out": (
        "try:\n    async with asyncio.timeout(1): await hold()\nexcept TimeoutError: pass"
    ),
    "by a group": (
        "try:\n    async with asyncio.TaskGroup() as g:\n        g.create_task(hold())\n"
        "        g.create_task(fail('E_X', 'no'))\nexcept* ToolError: pass"
    ),
    "by hand": (
        "t = asyncio.create_task(hold())\nawait asyncio.sleep(0)\nt.cancel()\n"
        "await asyncio.wait([t])"
    ),
    "at the end": "t = asyncio.create_task(hold())\nawait asyncio.sleep(0)",
}


@pytest.mark.parametrize("source", GIVEN_UP.values(), ids=GIVEN_UP)
def test_a_call_that_is_given_up_is_told(guest: Guest, source: str) -> None:
    ran = guest(source + "\nNone")
    assert ran.value is None
    assert {"cancel": 1} in ran.requests


NOT_AWAITED: dict[str, tuple[str, int]] = {
    "as a statement": ("x = 1\ngive(1)\nx", 2),
    "kept": ("a = give(1)\n\nb = give(2)\nawait a", 3),
    "in a list": ("jobs = [give(n) for n in range(3)]\nawait give(9)", 1),
    "of a namespace": ("\n\ngithub.give(1)", 3),
}


@pytest.mark.parametrize(("source", "line"), NOT_AWAITED.values(), ids=NOT_AWAITED)
def test_a_call_that_is_never_awaited_fails_the_run_and_is_not_made(
    guest: Guest, source: str, line: int
) -> None:
    ran = guest(source)
    assert (ran.error["code"], ran.error["line"]) == ("E_NOT_AWAITED", line)
    assert len(ran.calls) == source.count("await")


def test_a_call_that_was_cancelled_before_it_began_is_not_missed(guest: Guest) -> None:
    assert guest("t = asyncio.create_task(give(1))\nt.cancel()\nawait asyncio.wait([t])\n1").value


ARGUMENTS: dict[str, tuple[str, str]] = {
    "a set": ("await give({1})", "give: argument 1 is not JSON: it is a set"),
    "by name": ("await give(x=[{2}])", "give: x[0] is not JSON: it is a set"),
    "a tool": ("await give(hold)", "give: argument 1 is not JSON: it is a Tool"),
    "no number": (
        "await give(float('inf'))",
        "give: argument 1 is not JSON: it is the float inf",
    ),
    "a long number": (
        "await give(10**5000)",
        "give: argument 1 is not JSON: it is an int of too many digits",
    ),
    "a long number in a dict": (
        "await give(x={'a': [1, 10**5000]})",
        "give: x['a'][1] is not JSON: it is an int of too many digits",
    ),
    "a long number that the script may write": (
        "import sys\nsys.set_int_max_str_digits(0)\nawait give([10**4300])",
        "give: argument 1[0] is not JSON: it is an int of too many digits",
    ),
}


@pytest.mark.parametrize(("source", "message"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_an_argument_that_is_not_json_is_refused_at_the_call(
    guest: Guest, source: str, message: str
) -> None:
    ran = guest(source)
    assert (ran.error["kind"], ran.error["code"]) == ("ToolError", "E_INVALID_ARGS")
    assert ran.error["message"].startswith(message)
    assert ran.error["tool"] == "give"
    assert ran.calls == []


def test_a_long_number_that_the_script_may_write_is_no_value(guest: Guest) -> None:
    lifted = "import sys\nsys.set_int_max_str_digits(0)\n"
    error = guest(f"{lifted}print(len(str(10**5000)))\nreturn {{'n': -(10**4300)}}").error
    assert error["code"] == "E_NOT_JSON"
    assert error["message"].startswith("the script's value['n'] is not JSON: it is an int of too")
    assert guest(f"{lifted}return ['1' * 5000, 10**4299]").value == ["1" * 5000, 10**4299]


def test_a_failed_call_is_a_tool_error_with_its_parts(guest: Guest) -> None:
    source = """
try:
    await fail("E_X", "no")
except ToolError as e:
    r = [e.code, e.tool, e.message, e.hint, str(e), repr(e)]
r
"""
    assert guest(source).value == ["E_X", "fail", "no", "try", "no", "ToolError('no')"]
    error = guest("\nawait fail('E_X', 'no')").error
    assert (error["kind"], error["code"], error["tool"], error["line"]) == (
        "ToolError",
        "E_X",
        "fail",
        2,
    )


def test_what_is_long_crosses_in_pieces(guest: Guest) -> None:
    source = "x = 'é\"\\n😀' * 1_000_000\ny = await give(x)\n[x == y, len(y)]"
    assert guest(source).value == [True, 4_000_000]


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ("'a\\ud800b'", "argument 1"),
        ("1, value='a\\ud800'", "value"),
        ("value={'a': ['é', '\\udfff']}", "value['a'][1]"),
        ("value=[{'\\ud800': 1}]", "value[0]"),
    ],
)
def test_half_a_character_is_refused_in_an_argument_by_its_place(
    guest: Guest, arguments: str, place: str
) -> None:
    source = (
        f"try:\n    await give({arguments})\nexcept ToolError as e:\n    x = [e.code, e.message]\nx"
    )
    code, message = guest(source).value
    assert code == "E_INVALID_ARGS"
    assert message.startswith(f"give: {place} is not JSON: it is ")
    assert message.endswith("text with half a character (a lone surrogate)")


def test_output_is_handed_over_line_by_line_before_what_follows_it(guest: Guest) -> None:
    ran = guest("print('a')\nprint('b', end='')\nawait give(1)\nprint('c')")
    assert ran.stdout == "a\nbc\n"
    assert ran.writes == ["stdout"] * 3


PRINTED: dict[str, tuple[str, str]] = {
    "half a character": ("print('\\ud800')", "\\ud800\n"),
    "bytes": ("import sys\nsys.stdout.buffer.write('é'.encode())\nNone", "é"),
    "a descriptor": ("import os\nos.write(1, b'x')", "x"),
    "a split character": (
        (
            "import sys\nb = '€'.encode()\nfor n in range(3):\n"
            "    sys.stdout.buffer.write(b[n:n + 1])\n    sys.stdout.flush()\nNone"
        ),
        "€",
    ),
    "in another's place": (
        (
            "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) "
            "as f: print('x')\n"
            "print(f.getvalue().upper())"
        ),
        "X\n\n",
    ),
    "much": ("print('x' * 4_000_000)", "x" * 4_000_000 + "\n"),
}


@pytest.mark.parametrize(("source", "text"), PRINTED.values(), ids=PRINTED)
def test_all_that_is_printed_arrives(guest: Guest, source: str, text: str) -> None:
    assert guest(source).stdout == text


def test_stderr_is_apart(guest: Guest) -> None:
    ran = guest("import sys, logging\nprint('a', file=sys.stderr)\nlogging.warning('w')")
    assert (ran.stdout, ran.stderr) == ("", "a\nWARNING:root:w\n")
