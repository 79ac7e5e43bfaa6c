"""What the check of a script finds, and what it lets pass."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Literal, cast

import pytest

from lineshaft.engines import MontyChecker
from lineshaft.scripts import check, prepare
from lineshaft.scripts._check_types import certainly_wrong
from lineshaft.values import Checker, Diagnostic, Stubs, ToolSpec

Specs = tuple[ToolSpec, ...]

INPUTS = {"city": "Oslo", "rows": [{"n": 1}], "count": 3}


def samples(name: str) -> list[tuple[str, str]]:
    """Return the samples of a file with their titles."""
    text = (Path(__file__).parent / "samples" / name).read_text("utf-8")
    titled = (part.split("\n", 1) for part in text.split("=== ")[1:])
    return [(title, body.removesuffix("\n")) for title, body in titled]


GOOD = samples("check_good.txt")
BAD = samples("check_bad.txt")
"""Titles: the code, and what the hint holds; a mark stands before the place."""


@pytest.fixture(scope="module")
async def checker() -> AsyncIterator[MontyChecker]:
    checker = MontyChecker()
    yield checker
    await checker.aclose()


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize(("title", "source"), GOOD, ids=[title for title, _ in GOOD])
async def test_a_good_script_is_not_blocked(
    title: str, source: str, specs: Specs, checker: MontyChecker
) -> None:
    prepared = prepare(source, specs=specs)
    found = await check(prepared, checker=checker, inputs=INPUTS)
    assert [f for f in found if f.level == "error" or f.code == "checker-failed"] == [], title


@pytest.mark.parametrize(
    ("title", "marked"), BAD, ids=[f"{n} {title}" for n, (title, _) in enumerate(BAD)]
)
async def test_a_bad_script_is_blocked_at_its_place(
    title: str, marked: str, specs: Specs, checker: MontyChecker
) -> None:
    code, *words = title.split(" ", 1)
    before, _, after = marked.partition("«")
    line, column = before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1
    prepared = prepare(before + after, specs=specs)
    found = await check(prepared, checker=checker, inputs=INPUTS)
    first = found[0]
    assert (first.level, first.code, first.line, first.column) == ("error", code, line, column)
    assert "".join(words) in first.hint


async def found(
    source: str, specs: Specs, checker: Checker, **named: object
) -> list[tuple[str, str, int | None]]:
    """Return level, code and line of each finding."""
    prepared = prepare(source, specs=specs)
    level = cast("Literal['error', 'warn', 'off']", named.get("level", "error"))
    said = await check(prepared, checker=checker, inputs=INPUTS, level=level)
    return [(f.level, f.code, f.line) for f in said]


async def test_what_informs_the_choice_of_engine_is_told(
    specs: Specs, checker: MontyChecker
) -> None:
    source = "import statistics\ntext = await read_file('a')\nprint(text['contents'])"
    assert await found(source, specs, checker) == [
        ("warning", "invalid-key", 3),
        ("info", "unresolved-import", 1),
    ]
    prepared = prepare("import statistics\nimport pandas", specs=specs)
    said = await check(prepared, checker=checker, inputs={})
    assert [f.message for f in said] == [
        "`statistics` needs full Python",
        "`pandas` is no module of Python's own",
    ]


async def test_all_that_is_wrong_is_found_at_once_errors_first(
    specs: Specs, checker: MontyChecker
) -> None:
    source = "import statistics\nawait read_file()\nawait nope.x()\nawait read_file(1, 2)\nnope"
    assert await found(source, specs, checker) == [
        ("error", "missing-argument", 2),
        ("error", "undefined-name", 3),
        ("error", "wrong-argument", 4),
        ("error", "too-many-arguments", 4),
        ("info", "unresolved-import", 1),
    ]


async def test_with_warn_nothing_blocks_and_with_off_nothing_is_said(
    specs: Specs, checker: MontyChecker
) -> None:
    source = "await read_file()\nx = sorted([], key=read_file)\nreturn nope"
    warned = await found(source, specs, checker, level="warn")
    assert [level for level, _, _ in warned] == ["warning"] * 3
    assert await found(source, specs, checker, level="off") == []


@pytest.mark.parametrize("level", ["error", "warn", "off"])
async def test_what_nobody_can_read_blocks_at_every_level(
    level: str, specs: Specs, checker: MontyChecker
) -> None:
    assert await found("x = (", specs, checker, level=level) == [("error", "syntax-error", 1)]
    prepared = prepare(5, specs=specs)
    (said,) = await check(prepared, checker=checker, inputs={}, level="off")
    assert said.code == "E_INVALID_ARGS"


async def test_a_name_is_reported_once(specs: Specs, checker: MontyChecker) -> None:
    source = "nope\nnope\ntools.gone('a')\ntools.gone('b')"
    assert await found(source, specs, checker) == [
        ("error", "undefined-name", 1),
        ("error", "unknown-tool", 3),
    ]


async def test_no_more_than_twenty_findings(specs: Specs, checker: MontyChecker) -> None:
    source = "\n".join(f"nope{n}" for n in range(50))
    assert len(await found(source, specs, checker)) == 20


async def test_a_tool_that_scripts_may_not_call_is_unknown(checker: MontyChecker) -> None:
    specs = (ToolSpec(name="install", scriptable=False), ToolSpec(name="read_file"))
    assert await found("await install()", specs, checker) == [("error", "undefined-name", 1)]
    assert await found("await tools.install()", specs, checker) == [("error", "unknown-tool", 1)]


async def test_without_tools_the_names_are_still_checked(checker: MontyChecker) -> None:
    assert await found("return math.pi + len(rows)", (), checker) == []
    assert await found("return read_file('a')", (), checker) == [("error", "undefined-name", 1)]


class Failing:
    """A checker that cannot check."""

    async def check(
        self, source: str, *, stubs: Stubs, inputs: Mapping[str, str]
    ) -> tuple[Diagnostic, ...]:
        """Say so."""
        return (Diagnostic(code="checker-failed", message="it ended", line=1, column=1),)

    async def aclose(self) -> None:
        """Do nothing."""


async def test_without_the_type_checker_a_script_is_only_read(specs: Specs) -> None:
    assert await found("await read_file()\nreturn nope", specs, Failing()) == [
        ("error", "undefined-name", 2),
        ("info", "checker-failed", 1),
    ]


@pytest.mark.parametrize(
    ("given", "expected", "wrong"),
    [
        ("Literal[1]", "str", True),
        ("str", "int | None", True),
        ("None", "str", True),
        ("str | None", "str", False),
        ("str | int", "str", False),
        ("bool", "int", False),
        ("float*", "str", True),
        ("float", "int", False),
        ("list[int]", "list[str] | tuple[str, ...]", False),
        ("list[int]", "Sequence[str]", True),
        ("list[str | int]", "Sequence[str]", False),
        ("list[Unknown]", "Sequence[str]", False),
        ("list[dict[str, str]]", "Sequence[Edit] | Sequence[Mapping[str, str]]", False),
        ("list[str]", "Sequence[Edit]", True),
        ("dict[str, str]", "Edit", False),
        ("Edit", "Mapping[str, Any]", False),
        ("Edit", "str", True),
        ("Path", "str", False),
        ("def len(obj: Sized, /) -> int", "str", True),
        ("(x) -> Unknown", "str | None", True),
        ("<class 'str'>", "str", True),
        ("<class 'str'>", "Any", False),
        ('Literal["a"]', 'Literal["b", "c"]', True),
        ('Literal["b"]', 'Literal["b", "c"]', False),
        ("str", 'Literal["b", "c"]', False),
        ("Literal[3]", 'Literal["b"]', True),
        ("T@f", "str", False),
        ("tuple[int, int]", "str", True),
        ("what is this", "str", False),
    ],
)
def test_only_what_can_never_be_right_is_certainly_wrong(
    given: str, expected: str, wrong: bool
) -> None:
    assert certainly_wrong(given, expected, records={"Edit"}) == wrong
