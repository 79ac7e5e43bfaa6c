"""What the doctor makes of what was found at the boundaries."""

import pytest

from lineshaft.cli.commands.doctor.boundaries import attack, table
from lineshaft.cli.commands.doctor.boundaries import checks as told
from lineshaft.sandbox.jail import AttackResult, Boundary
from lineshaft.values import PythonOptions

READ = "read a file outside"
DISK = "read a disk"


def boundary(name: str, *, held: bool = True, usable: bool = True) -> Boundary:
    attacks = (
        AttackResult(attack=READ, held=held, how="ENOENT" if held else "came through"),
        AttackResult(attack=DISK, held=True, how="EPERM", counts=False),
    )
    return Boundary(
        name=name,
        usable=usable,
        reasons=() if usable else ("the kernel is old",),
        attacks=attacks if usable else (),
        changes="copy",
    )


def test_a_table_says_what_held_what_did_not_and_what_proves_nothing() -> None:
    lines = list(table([boundary("first"), boundary("second", held=False)]))
    assert [line.split()[-2:] for line in lines[:3]] == [
        ["first", "second"],
        ["held", "OPEN"],
        ["-", "-"],
    ]


def test_there_is_no_table_where_nothing_works() -> None:
    assert list(table([boundary("first", usable=False)])) == []


@pytest.mark.parametrize(
    ("found", "wanted", "states"),
    [
        ([boundary("a"), boundary("b")], None, ["ok", "ok"]),
        ([boundary("a", held=False), boundary("b")], None, ["fail", "ok"]),
        ([boundary("a"), boundary("b", held=False)], None, ["ok", "note"]),
        ([boundary("a"), boundary("b", held=False)], "b", ["ok", "fail"]),
        ([boundary("a", usable=False), boundary("b")], None, ["note", "ok"]),
        ([boundary("a", usable=False)], None, ["note", "note"]),
        ([boundary("a")], "none", ["ok", "note"]),
        ([boundary("a")], "wasm", ["ok", "note"]),
        ([boundary("a"), boundary("b", usable=False)], "b", ["ok", "note", "note"]),
    ],
)
def test_only_an_opening_in_the_boundary_that_is_used_is_a_failure(
    found: list[Boundary], wanted: str | None, states: list[str]
) -> None:
    assert [check.state for check in told(found, wanted)] == states


def test_where_webassembly_is_asked_for_no_boundary_is_missed() -> None:
    *_, last = told([boundary("a")], "wasm")
    assert last.text.startswith("wasm, by python.boundary")


def test_only_what_could_have_come_through_is_counted() -> None:
    [check] = told([boundary("a")], None)
    assert "1 of 1 attacks held" in check.text
    [check] = told([boundary("a", held=False)], None)
    assert "0 of 1 attacks held" in check.text
    assert f"{READ} (came through)" in check.hint


def test_without_a_python_there_is_nothing_to_attack_with() -> None:
    found, [check] = attack(PythonOptions(path="/nowhere"))
    assert (found, check.state) == ((), "note")
    assert "/nowhere" in check.text
