"""Expressions that give the same in the interpreter as in the Python that runs the tests."""

import ast
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.play import Play


def _listed() -> dict[str, list[str]]:
    """Return the lines of `same.txt` by the heading that they stand under."""
    groups: dict[str, list[str]] = {}
    group: list[str] = []
    for line in (Path(__file__).parent / "same.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and line.endswith("]") and line[1:-1].isidentifier():
            group = groups.setdefault(line[1:-1], [])
        elif line and not line.startswith("#"):
            group.append(line)
    return groups


LISTED = _listed()
PATTERNS: list[tuple[str, str]] = [ast.literal_eval(line) for line in LISTED.pop("patterns")]
CASES = {f"{group} {n}": text for group, texts in LISTED.items() for n, text in enumerate(texts)}


def _here(text: str) -> object:
    names = {name: __import__(name) for name in ("datetime", "json", "math", "re")}
    return eval(text, names)  # noqa: S307  our own text


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
async def test_an_expression_gives_what_python_gives(play: Play, text: str) -> None:
    value = await play.value(f"return repr({text})")
    assert value == repr(_here(text))


MATCHED = """
class Point:
    __match_args__ = ("x", "y")
    def __init__(self, x, y):
        self.x, self.y = x, y

def told(value):
    match value:
        case {"kind": "a", "n": int(n), **rest}:
            return ["a", n, rest]
        case {"kind": kind}:
            return ["kind", kind]
        case Point(0, y) | Point(y, 0):
            return ["on an axis", y]
        case Point(x=1, y=Point()):
            return "a point in a point"
        case Point():
            return "a point"
        case [first, *middle, last]:
            return [first, middle, last]
        case str(text) if text:
            return text
        case None | True:
            return "none or true"
        case 1 | 2.5 | -3 as number:
            return ["number", number]
        case _:
            return "else"

values = [
    {"kind": "a", "n": 1, "b": 2, "c": 3}, {"kind": "a", "n": "1"}, {"kind": []}, {}, Point(0, 5),
    Point(5, 0), Point(1, Point(2, 3)), Point(1, 1), [1, 2], (1, 2, 3), [1], "text", "", None, True,
    1, 2.5, -3, 4, b"x",
]
"""


async def test_patterns_of_match_find_what_they_find_in_python(play: Play) -> None:
    names: dict[str, object] = {}
    exec(MATCHED + "found = [told(value) for value in values]", names)  # noqa: S102  our own text
    assert await play.value(f"{MATCHED}return [told(value) for value in values]") == names["found"]


SHARED = [HealthCheck.function_scoped_fixture]
WHAT = (
    "[[m.group(), m.span(), list(m.groups()), m.groupdict()] for m in re.finditer(p, s)]"
    " + [re.findall(p, s), re.split(p, s), re.sub(p, r'<\\g<0>>', s), re.subn(p, '-', s, 1)]"
    " + [bool(re.fullmatch(p, s)), bool(re.match(p, s)), re.split(p, s, maxsplit=1)]"
    " + [re.sub(p, lambda m: m.group().upper(), s)]"
)


@pytest.mark.parametrize(("pattern", "text"), PATTERNS, ids=[p for p, _ in PATTERNS])
async def test_a_pattern_finds_what_python_finds(play: Play, pattern: str, text: str) -> None:
    found = await play.value(f"return repr({WHAT})", p=pattern, s=text)
    assert found == repr(eval(WHAT, {"re": re, "p": pattern, "s": text}))  # noqa: S307  our own


parts = st.sampled_from(
    ["a", "b", "[ab]", ".", "(a)", "(?:b|a)", "a*", "b+?", "(ab)?", "^", "$", "|", r"\w"]
)


@settings(max_examples=60, deadline=None, suppress_health_check=SHARED)
@given(pattern=st.lists(parts, max_size=5).map("".join), text=st.text("ab c", max_size=8))
async def test_any_simple_pattern_finds_what_python_finds(
    play: Play, pattern: str, text: str
) -> None:
    what = "[[m.group(), list(m.groups())] for m in re.finditer(p, s)]"
    found = await play.value(f"return repr({what})", p=pattern, s=text)
    assert found == repr(eval(what, {"re": re, "p": pattern, "s": text}))  # noqa: S307  our own


@settings(max_examples=100, deadline=None, suppress_health_check=SHARED)
@given(
    number=st.floats(allow_nan=False, allow_infinity=False),
    spec=st.sampled_from([".2f", ".0f", "10.3f", ",.1f", "+.4f", ".1%", "08.2f"]),
)
async def test_any_number_is_formatted_as_python_does(play: Play, number: float, spec: str) -> None:
    assert await play.value(f"return f'{{n:{spec}}}'", n=number) == f"{number:{spec}}"


@settings(max_examples=60, deadline=None, suppress_health_check=SHARED)
@given(number=st.floats(-1e15, 1e15), places=st.integers(-3, 6))
async def test_any_number_is_rounded_as_python_does(play: Play, number: float, places: int) -> None:
    assert await play.value("return round(n, p)", n=number, p=places) == round(number, places)


@settings(max_examples=60, deadline=None, suppress_health_check=SHARED)
@given(rows=st.lists(st.tuples(st.integers(0, 3), st.text("ab", max_size=2)), max_size=12))
async def test_sorting_keeps_the_order_of_equals(play: Play, rows: list[tuple[int, str]]) -> None:
    expected = [list(r) for r in sorted(rows, key=lambda r: r[0], reverse=True)]
    source = "rows.sort(key=lambda r: r[0], reverse=True)\nreturn rows"
    assert await play.value(source, rows=[list(r) for r in rows]) == expected
