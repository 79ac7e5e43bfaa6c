"""Each promise on the page of guarantees names tests that there are."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(test_\w+)::(test_\w+)`")
ROWS = [
    [cell.strip() for cell in row.split(" | ")]
    for row in re.findall(r"^\| (?!promise|---)(.*) \|$", PAGE, re.MULTILINE)
]


def _tests() -> set[tuple[str, str]]:
    return {
        (path.stem, node.name)
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_every_test_that_the_page_names_is_there() -> None:
    named = set(NAMED.findall(PAGE))
    assert len(named) >= 50
    assert sorted(named - _tests()) == []


def test_every_promise_has_a_test() -> None:
    assert len(ROWS) >= 30
    assert [row[0] for row in ROWS if len(row) != 2 or not NAMED.search(row[1])] == []


def test_every_part_says_what_is_not_promised() -> None:
    parts = PAGE.split("\n## ")[1:]
    silent = [part.split("\n")[0] for part in parts if "Not promised:" not in part]
    assert silent == ["One door"]
