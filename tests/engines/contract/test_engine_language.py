"""What a script is: its scope, its value, its errors' lines. The same on every engine."""

from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.play import Play
from lineshaft.values import Raised

VALUES: dict[str, tuple[str, object]] = {
    "a top-level return": ("return 1 + 1", 2),
    "a return in a branch": ("if True:\n    return 'yes'\nreturn 'no'", "yes"),
    "the last expression": ("x = 20\nx + 1", 21),
    "the last expression over lines": ("[\n    1,\n    2,\n]  # done", [1, 2]),
    "no value": ("x = 1", None),
    "an empty script": ("", None),
    "only a comment": ("# nothing", None),
    "a bare return": ("return", None),
    "a tuple is a list": ("return 1, (2, (3,))", [1, [2, [3]]]),
    "a starred tuple": ("return *[1, 2], 3", [1, 2, 3]),
    "a big integer": ("2 ** 100", 2**100),
    "text that looks like a function": (
        'return ["<a b>", "range(0, 3)"]',
        ["<a b>", "range(0, 3)"],
    ),
    "modules in scope": (
        "return [json.loads('1'), math.floor(2.5), re.match('a', 'ab').group(0)]",
        [1, 2, "a"],
    ),
    "dates in scope": ("return str(datetime.date(2026, 1, 2))", "2026-01-02"),
    "an import of one's own": ("import json\njson.dumps(1)", "1"),
    "an import that fails is caught": ("try:\n    import nope\nexcept ImportError:\n    7\n7", 7),
    "a bound name wins": ("json = 5\njson", 5),
    "a bound tool name wins": ("def give(x): return x + 1\ngive(1)", 2),
    "a parameter named like a tool wins": ("def f(give): return give + 1\nf(1)", 2),
    "a loop variable named like a module wins": ("for re in [1, 2]: pass\nre", 2),
    "a helper's name may be bound": ("table = [1]\ntable", [1]),
    "asyncio.run": ("async def main():\n    return 3\nasyncio.run(main())", 3),
    "windows line ends": ("x = 1\r\nreturn x", 1),
    "a byte-order mark": ("\ufeffreturn 1", 1),
    "text beyond ASCII": ("ü = 'ä'\nreturn f'{ü}€'", "ä€"),
}


@pytest.mark.parametrize(("source", "expected"), VALUES.values(), ids=VALUES)
async def test_the_value_is_what_python_says(play: Play, source: str, expected: object) -> None:
    assert await play.value(source) == expected
    assert play.calls == []


async def test_inputs_are_globals_and_win_over_everything(play: Play) -> None:
    value = await play.value("return [x, json, give]", x={"a": [1]}, json=2, give=3)
    assert value == [{"a": [1]}, 2, 3]


REFUSED: dict[str, tuple[str, str]] = {
    "a function": ("def f(): pass\nreturn {'a': [f]}", "['a'][0] is not JSON: it is a function"),
    "a tool": ("return give", "is not JSON: it is a "),
    "a tool of a module": ("return [github.give]", "[0] is not JSON: it is a "),
    "a set": ("return {1, 2}", "it is a set"),
    "bytes": ("return b'x'", "it is a bytes"),
    "a range": ("x = range(3)\nx", "it is a range"),
    "a number that JSON has not": ("return [float('nan')]", "[0] is not JSON: it is the float nan"),
    "a key": ("return {'a': {1: 2}}", "['a'] is not JSON: it is a dict with the key 1"),
    "an instance": ("class Point:\n    pass\nreturn Point()", "class Point"),
    "half a character": (
        "return ['a\\ud800']",
        "[0] is not JSON: it is text with half a character",
    ),
    "a key with one": (
        "return {'\\ud800': 1, '?': 2}",
        "it is a dict with the key '\\ud800', text",
    ),
    "a date": ("datetime.date(2026, 1, 2)", "it is a date"),
}


@pytest.mark.parametrize(("source", "part"), REFUSED.values(), ids=REFUSED)
async def test_a_value_that_is_not_json_is_an_error_that_names_it(
    play: Play, source: str, part: str
) -> None:
    error = await play.error(source)
    assert (error.kind, error.code) == ("TypeError", "E_NOT_JSON")
    assert error.message.startswith("the script's value")
    assert part in error.message


LINES: dict[str, tuple[str, str, int]] = {
    "at the top": ("x = 1\n\n1 / 0", "ZeroDivisionError", 3),
    "in a function": ("def f():\n    return 1 / 0\n\nf()", "ZeroDivisionError", 2),
    "after names in scope": ("json.dumps(1)\nretry\nToolError\nraise KeyError('k')", "KeyError", 4),
    "in a helper": ("x = 1\njson_parse('{')", "JSONDecodeError", 2),
    "syntax": ("x = 1\nx = = 2", "SyntaxError", 2),
    "an unknown name": ("x = 1\ny = z", "NameError", 2),
    "an unknown function": ("x = 1\nnope(x)", "NameError", 2),
    "an unknown tool of a namespace": ("\ngithub.nope()", "AttributeError", 2),
    "an unknown module": ("\nimport nope", "ModuleNotFoundError", 2),
    "too deep": ("def f():\n    return f()\nf()", "RecursionError", 2),
    "a condition": ("def f():\n    assert 1 == 2\n\n\nf()", "AssertionError", 2),
    "past an except": ("x = {}\ntry:\n    x[1]\nexcept ToolError:\n    pass", "KeyError", 3),
    "past two excepts": (
        (
            "try:\n    x = 1\n    try:\n        [][0]; x = 2\n    except KeyError:\n        pass\n"
            "except (ValueError, ToolError) as e:\n    pass"
        ),
        "IndexError",
        4,
    ),
    "in a condition past an except": (
        (
            "def f(x):\n    try:\n        y = 1\n        if (y and\n            x[1]): pass\n"
            "    except ToolError:\n        pass\nf([])"
        ),
        "IndexError",
        5,
    ),
    "in a loop past an except": (
        "try:\n    for x in [1, 0]:\n        y = 1\n        1 / x\nexcept ToolError:\n    pass",
        "ZeroDivisionError",
        4,
    ),
    "in a handler": ("try:\n    1 / 0\nexcept ZeroDivisionError:\n    [][0]", "IndexError", 4),
    "raised by itself": ("\nraise TimeoutError('feed me')", "TimeoutError", 2),
    "memory, by itself": ("\nraise MemoryError('mine')", "MemoryError", 2),
}


@pytest.mark.parametrize(("source", "kind", "line"), LINES.values(), ids=LINES)
async def test_an_error_has_its_kind_and_the_line_of_the_script(
    play: Play, source: str, kind: str, line: int
) -> None:
    error = await play.error(source, name="mine.py")
    assert (error.kind, error.line) == (kind, line)
    assert error.traceback.rstrip().splitlines()[-1].startswith(kind)


async def test_a_traceback_shows_the_script_and_nothing_else(play: Play) -> None:
    source = "def outer(xs):\n    return table(xs)\n\nouter([[1], 5, json])"
    error = await play.error(source, name="mine.py")
    lines = error.traceback.splitlines()
    assert lines[:-1] == [
        "Traceback (most recent call last):",
        '  File "mine.py", line 4, in <module>',
        "    outer([[1], 5, json])",
        '  File "mine.py", line 2, in outer',
        "    return table(xs)",
    ]


async def test_a_long_traceback_is_cut_in_the_middle(play: Play) -> None:
    error = await play.error("def f(n):\n    return f(n + 1)\nf(0)")
    assert len(error.traceback.splitlines()) < 60
    assert "more" in error.traceback


@pytest.mark.parametrize("source", ["x = '\ud800'", "x = 1\0", "(" * 5000, "é" * 10 + "\ud800"])
async def test_text_that_is_no_script_is_a_syntax_error(play: Play, source: str) -> None:
    error = await play.error(source)
    assert error.kind == "SyntaxError"
    assert error.message


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=20,
)  # fmt: skip  # one strategy


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=json_like)
async def test_json_like_values_cross_unchanged(play: Play, value: object) -> None:
    assert await play.value("return [given, await give(given)]", given=value) == [value, value]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(source=st.text(st.sampled_from("ab=1+()[]:\n\t '\"#{}.,\\éreturnawait "), max_size=60))
async def test_any_text_ends_in_a_value_or_an_error_within_its_lines(
    play: Play, source: str
) -> None:
    outcome = await play(source)
    if isinstance(outcome, Raised) and outcome.line is not None:
        assert 1 <= outcome.line <= source.count("\n") + 1


async def test_half_characters_become_question_marks_on_the_way_to_a_script(play: Play) -> None:
    value = await play.value("return [x, await give(x)]", x=["a\ud800b", {"\udc00": 1}])
    assert value == [["a?b", {"?": 1}], ["a?b", {"?": 1}]]
    source = "return [await give(1), *await asyncio.gather(give(2), give(3))]"
    play.gives = {"path\udcff": ["\ud800"]}
    assert await play.value(source) == [{"path?": ["?"]}] * 3


async def test_text_with_more_brackets_than_there_may_be_lists_crosses(play: Play) -> None:
    source = """
text = json.dumps([[1]] * 1_000_001) + "{\\\\" * 1_000_001
same = await give(text)
return [same == text, text]
"""
    text = "[" + "[1], " * 1_000_000 + "[1]]" + "{\\" * 1_000_001
    assert await play.value(source) == [True, text]


async def test_half_a_character_is_no_argument(play: Play) -> None:
    source = r"""
try:
    await give(x=["a", "b\ud800"])
except ToolError as error:
    return [error.code, error.message]
"""
    code, message = cast("list[str]", await play.value(source))
    assert code == "E_INVALID_ARGS"
    assert "x[1] is not JSON: it is text with half a character (a lone surrogate)" in message


@pytest.mark.parametrize("source", ["help(len)", "help(give)", "help('json')", "print(copyright)"])
async def test_builtins_of_the_interactive_python_are_there(play: Play, source: str) -> None:
    assert (
        await play.value(
            f"{source}\nreturn sorted({{'license', 'credits'}} - set(dir(__builtins__)))"
        )
        == []
    )
    assert play.printed.strip()
