"""Every attack that works without a boundary is held by each, for root and for others."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

import lineshaft
from lineshaft.sandbox.bundle import Interpreter
from lineshaft.sandbox.jail._attacks._program import ROOMS
from lineshaft.sandbox.jail._seccomp import filter_program, gap_filter
from users import said_by

NOBODY = 65_534
ENOUGH = 55
"""So many attacks work without a boundary, even for an ordinary user."""

SIZES = "see that a file outside exists, by its size"
EVERYTHING = ["deleted a.txt", "deleted d", "deleted d/x", "written b.txt", "written made"]

Report = dict[str, object]
Attack = dict[str, object]


def _report(interpreter: Interpreter, *, user: int | None, words: tuple[str, ...] = ()) -> Report:
    """Run the attacks in a process of some user."""
    program = Path(__file__).with_name("as_user.py")
    said = said_by(program, interpreter, str(interpreter.root), *words, user=user)
    return cast("Report", json.loads(said))


@pytest.fixture(scope="session")
def ours(interpreter: Interpreter) -> Report:
    """Return what holds for the user of these tests."""
    return _report(interpreter, user=None)


@pytest.fixture(scope="session")
def ordinary(interpreter: Interpreter) -> Report:
    """Return what holds for an ordinary user."""
    return _report(interpreter, user=NOBODY if os.geteuid() == 0 else None)


@pytest.fixture(scope="session")
def without_mounts(interpreter: Interpreter) -> Report:
    """Return what holds where nobody may leave a namespace."""
    return _report(interpreter, user=None, words=("without-mounts",))


def _boundary(report: Report, name: str) -> dict[str, object]:
    boundaries = cast("list[dict[str, object]]", report["boundaries"])
    (found,) = [one for one in boundaries if one["name"] == name]
    if not found["usable"]:
        pytest.skip(f"needs the boundary {name!r}: {found['reasons']}")
    return found


def _open(boundary: dict[str, object]) -> list[str]:
    attacks = cast("list[Attack]", boundary["attacks"])
    assert len([one for one in attacks if one["counts"]]) >= ENOUGH
    return [f"{one['attack']}: {one['how']}" for one in attacks if not one["held"]]


@pytest.mark.parametrize("name", ["sandlock", "bubblewrap"])
def test_every_attack_is_held(ours: Report, name: str) -> None:
    assert _open(_boundary(ours, name)) == []


@pytest.mark.parametrize("name", ["sandlock", "bubblewrap"])
def test_every_attack_is_held_for_an_ordinary_user(ordinary: Report, name: str) -> None:
    assert ordinary["user"] != 0
    assert _open(_boundary(ordinary, name)) == []


def test_without_mount_namespaces_only_sizes_are_seen(without_mounts: Report) -> None:
    boundary = _boundary(without_mounts, "sandlock")
    assert [one.split(":")[0] for one in _open(boundary)] == [SIZES]
    assert any(SIZES in reason for reason in cast("list[str]", boundary["reasons"]))


@pytest.mark.parametrize("name", ["sandlock", "bubblewrap"])
def test_an_ordinary_user_keeps_a_folder_apart(ordinary: Report, name: str) -> None:
    _boundary(ordinary, name)
    found = cast("dict[str, list[str]]", ordinary["apart"])[name]
    assert [line for line in EVERYTHING if line not in found] == []
    assert [line for line in found if line.endswith(("e/x", "f/x"))] != []


def test_without_mount_namespaces_sandlock_keeps_no_folder_apart(without_mounts: Report) -> None:
    _boundary(without_mounts, "sandlock")
    said = cast("dict[str, object]", without_mounts["apart"])["sandlock"]
    assert "only where mounts are allowed" in str(said)


def test_each_attack_is_tried_once() -> None:
    assert len({room.__name__ for room in ROOMS}) == len(ROOMS)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_filters_are_whole_programs_that_end(machine: str) -> None:
    for program in (filter_program(machine), gap_filter(machine)):
        assert len(program) % 8 == 0
        rows = [program[place : place + 8] for place in range(0, len(program), 8)]
        for place, row in enumerate(rows):
            if row[0] & 0x07 == 0x05:
                assert place + 1 + max(row[2], row[3]) < len(rows)
        assert rows[-1][0] == 0x06


def test_the_programs_of_the_jail_start_without_lineshaft() -> None:
    folder = Path(lineshaft.__file__).parent / "sandbox" / "jail"
    for name in ("_supervisor", "_syscall_broker", "_landlock", "_newroot", "_account"):
        code = f"import sys; sys.path.append({str(folder)!r}); import {name}"
        subprocess.run([sys.executable, "-I", "-S", "-B", "-c", code], check=True)
