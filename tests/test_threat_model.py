"""Each line of the page on threats names tests and attacks that there are."""

import ast
import re
from pathlib import Path

from lineshaft.engines._jail._attacks._program import ROOMS

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(?P<file>test_\w+)(?:::(?P<test>test_\w+))?`")
ROWS = [
    [cell.strip() for cell in row.strip("|").split("|")]
    for row in re.findall(r"^\|(?! *---)(.*)\|$", PAGE, re.MULTILINE)
]


def _tests() -> set[tuple[str, str]]:
    return {
        (path.stem, node.name)
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def _table(head: str) -> list[list[str]]:
    """Return the rows below a head, up to the next head."""
    start = next(n for n, row in enumerate(ROWS) if row[-1] == head and row[0] == "attack") + 1
    rows = ROWS[start:]
    end = next((n for n, row in enumerate(rows) if row[0] == "attack"), len(rows))
    return rows[:end]


def test_every_test_that_the_page_names_is_there() -> None:
    named = {(found["file"], found["test"] or "") for found in NAMED.finditer(PAGE)}
    assert len(named) >= 40
    assert named - _tests() == set()


def test_every_attack_on_the_jail_has_attacks_or_a_test_and_all_attacks_are_on_the_page() -> None:
    rows = _table("beyond that, tested by")
    rooms = {room.__name__.rpartition(".")[2] for room in ROOMS}
    named = {word for row in rows for word in re.findall(r"`(_\w+)`", row[1])}
    assert named == rooms
    assert [row[0] for row in rows if not (row[1] or NAMED.search(row[2]))] == []


def test_every_attack_on_micropython_has_a_test() -> None:
    rows = _table("tested by")
    assert len(rows) >= 8
    assert [row[0] for row in rows if not NAMED.search(row[1])] == []
