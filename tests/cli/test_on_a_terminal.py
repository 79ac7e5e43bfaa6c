"""The command line on a real (pseudo) terminal, with a person who reads and types."""

import re
import sys
from pathlib import Path

import pytest

from cli.person import COLOUR, CURSOR_HIDDEN, CURSOR_SHOWN, Sit

if sys.platform == "win32":
    pytest.skip("there are no pseudo terminals", allow_module_level=True)

STUBBORN = '''
import asyncio, os
from lineshaft import tool

@tool(effect="read")
async def stubborn() -> None:
    """Never end."""
    os.write(2, b"started")
    while True:
        try:
            await asyncio.sleep(3_600)
        except asyncio.CancelledError:
            os.write(2, b"told")
'''

ASKING = '''
from lineshaft import Context, tool

@tool(effect="read")
async def pay(context: Context, words: int) -> object:
    """Ask before it pays."""
    said = await context.elicit("word " * words + "pay 9?", {"type": "object", "properties": {}})
    return "paid" if said == {} else "not paid"
'''


def test_calls_are_drawn_while_they_run_and_the_value_comes_last(sit: Sit) -> None:
    with sit("run", "-", script="await list_files()\nreturn 'the end'") as person:
        shown = person.ends_with(0)
    plain = COLOUR.sub("", shown)
    assert "✓ list_files" in plain
    assert plain.index("✓ list_files") < plain.index("the end") < plain.index("success in")
    assert COLOUR.search(shown)


def test_no_color_leaves_colours_out(sit: Sit) -> None:
    script = "await list_files()\nraise ValueError"
    with sit("run", "-", script=script, variables={"NO_COLOR": "1"}) as person:
        shown = person.ends_with(1)
    assert "list_files" in shown
    assert not re.search(r"\x1b\[[0-9;]*3[0-7][0-9;]*m", shown)


def test_escapes_of_a_script_are_shown_and_not_obeyed(sit: Sit) -> None:
    script = "print('\\x1b]0;mine\\x07')\nreturn '\\x1b[2J'"
    with sit("run", "-", "-q", script=script) as person:
        shown = person.ends_with(0)
    assert "\\x1b]0;mine\\x07" in shown
    assert "\\x1b[2J" in shown
    assert "\x1b" not in shown


ASKS = "return (await run_command(command='echo done-it'))['stdout']"


@pytest.mark.parametrize(
    ("typed", "code", "says"),
    [("y\r", 0, "done-it\r\n"), ("n not today\r", 3, "not today"), ("what\ry\r", 0, "y: yes")],
)
def test_a_person_is_asked_and_answers(sit: Sit, typed: str, code: int, says: str) -> None:
    with sit("run", "-", script=ASKS) as person:
        question = person.read_until("Allow?")
        assert "command: echo done-it" in question
        person.type(typed)
        assert says in person.ends_with(code)


def test_a_terminal_that_cannot_draw_is_asked_on_in_plain_text(sit: Sit) -> None:
    with sit("run", "-", script=ASKS, variables={"TERM": "dumb"}) as person:
        person.read_until("Allow?")
        person.type("y\r")
        shown = person.ends_with(0)
    assert "done-it\r\n" in shown
    assert "\x1b" not in shown


def test_what_was_typed_before_the_question_is_no_answer(sit: Sit, workspace: Path) -> None:
    (workspace / "s.py").write_text(ASKS)
    with sit("run", "s.py") as person:
        person.type("y\r")
        person.read_until("Allow?")
        person.type("n\r")
        person.ends_with(3)


def test_yes_for_the_rest_of_the_run_asks_once(sit: Sit) -> None:
    script = "for _ in range(3):\n    await run_command(command='true')"
    with sit("run", "-", script=script) as person:
        person.read_until("Allow?")
        person.type("r\r")
        shown = person.ends_with(0)
    assert shown.count("Allow?") == 1


def test_ctrl_c_cancels_the_run(sit: Sit) -> None:
    with sit("run", "-", script="await list_files()\nwhile True: pass") as person:
        person.read_until("list_files")
        person.type("\x03")
        shown = person.ends_with(130)
    assert "cancelled" in shown
    assert "Traceback" not in shown


def test_whoever_leaves_twice_gets_the_terminal_back(sit: Sit, workspace: Path) -> None:
    (workspace / "own.py").write_text(STUBBORN)
    with sit("run", "-", "--tools", "own.py", script="await stubborn()") as person:
        for expected in ("started", "told"):
            person.read_until(expected)
            person.type("\x03")
        shown = person.ends_with(130)
    assert "left before the run was settled" in shown
    assert shown.rindex(CURSOR_SHOWN) > shown.rindex(CURSOR_HIDDEN)


def test_ctrl_c_at_a_question_cancels_too(sit: Sit) -> None:
    with sit("run", "-", script=ASKS) as person:
        person.read_until("Allow?")
        person.type("\x03")
        person.ends_with(130)


def test_a_projects_module_is_asked_about_once(sit: Sit, workspace: Path) -> None:
    (workspace / "tools.py").write_text(
        "from lineshaft import tool\n\n@tool(effect='read')\ndef one() -> int:\n"
        '    """Return one."""\n    return 1\n'
    )
    (workspace / "lineshaft.toml").write_text('[tools]\nmodules = ["./tools.py"]')
    with sit("call", "one") as person:
        assert "with your rights" in person.read_until("Trust it")
        person.type("y\r")
        person.ends_with(0)
    with sit("call", "one") as person:
        assert "Trust it" not in person.ends_with(0)


@pytest.mark.parametrize(("words", "says"), [(1_000, "pay 9?"), (3_000, "more of 15,011 char")])
def test_what_a_tool_asks_is_seen_to_its_end_or_told_as_cut(
    sit: Sit, workspace: Path, words: int, says: str
) -> None:
    (workspace / "paying.py").write_text(ASKING, encoding="utf-8")
    with sit("run", "-", "--tools", "paying.py", script=f"return await pay({words})") as person:
        assert says in person.read_until("Answer?")
        person.type("y\r")
        assert "paid" in person.ends_with(0)
