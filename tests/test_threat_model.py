"""The page on threats: its functions are those of the guest, its tests and attacks exist."""

import ast
import re
from pathlib import Path

from lineshaft.sandbox.jail._attacks._program import ROOMS
from lineshaft.sandbox.webassembly import GUEST_IMPORTS
from lineshaft.sandbox.webassembly._runtime import component_imports, linker_definitions

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(?P<file>test_\w+)(?:::(?P<test>test_\w+))?`")
TABLES = [
    [
        [cell.strip() for cell in row.strip("|").split("|")]
        for row in block.splitlines()
        if not row.startswith("| ---")
    ]
    for block in re.findall(r"(?:^\|.*\|\n)+", PAGE, re.MULTILINE)
]


def _tests() -> set[tuple[str, str]]:
    return {
        (path.stem, node.name)
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def _table(head: str) -> list[list[str]]:
    """Return the rows of the table that has a head."""
    [table] = [found for found in TABLES if found[0][0] == head]
    return table[1:]


def test_every_test_that_the_page_names_is_there() -> None:
    named = {(found["file"], found["test"] or "") for found in NAMED.finditer(PAGE)}
    assert len(named) >= 40
    assert named - _tests() == set()


def test_every_attack_on_the_jail_has_attacks_or_a_test_and_all_attacks_are_on_the_page() -> None:
    rows = _table("attack on the jail")
    rooms = {room.__name__.rpartition(".")[2] for room in ROOMS}
    named = {word for row in rows for word in re.findall(r"`(_\w+)`", row[1])}
    assert named == rooms
    assert [row[0] for row in rows if not (row[1] or NAMED.search(row[2]))] == []


def test_every_attack_on_webassembly_and_by_a_server_has_a_test() -> None:
    rows = [*_table("attack on WebAssembly"), *_table("attack of a server")]
    assert len(rows) >= 20
    assert [row[0] for row in rows if not NAMED.search(row[-1])] == []


def test_the_page_lists_every_function_that_a_guest_may_call_and_no_other() -> None:
    listed = [row[0].strip("`") for row in _table("function")]
    assert sorted(listed) == sorted(GUEST_IMPORTS) == sorted(linker_definitions())
    assert set(listed) < set(component_imports())
