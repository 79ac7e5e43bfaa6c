"""What a run staged and did not land is told as such, wherever the run is told."""

import json
from pathlib import Path

import pytest

from forked.programs import Programs
from lineshaft import Limits, Policy, tool
from support import Make

pytestmark = pytest.mark.behaviour("F28")

WRITES = "await write_file('a.txt', 'x')\nawait write_file('b.txt', 'y')\n"
FAILS = f"{WRITES}raise ValueError('no')\n"
UNCHANGED = "2 staged changes dropped; the disk is unchanged"


async def test_a_failed_run_says_that_its_writes_were_dropped(make: Make, folder: Path) -> None:
    async with make() as session:
        result = await session.run(FAILS)
        told = await session.handle("run_script", {"code": FAILS})
    assert (result.changes, result.landed) == ((), False)
    assert [(c.path, c.kind) for c in result.dropped] == [
        ("a.txt", "created"),
        ("b.txt", "created"),
    ]
    assert f"[{UNCHANGED}]" in told.text
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("script", "status"),
    [
        (f"{WRITES}while True: pass", "timeout"),
        (f"{WRITES}return object()", "error"),
        (f"{WRITES}for i in range(200): await read_file('a.txt')", "error"),
        (f"{WRITES}await write_file('c.py', '<<<<<<< a')", "error"),
    ],
)
async def test_a_run_that_is_ended_or_refused_says_so_too(
    make: Make, script: str, status: str
) -> None:
    async with make(limits=Limits(seconds=2, calls=50)) as session:
        result = await session.run(script)
        told = await session.handle("run_script", {"code": script})
    assert result.status == status
    assert len(result.dropped) in (2, 3)
    assert "staged changes dropped; the disk is unchanged]" in told.text


async def test_what_had_landed_and_what_may_have_acted_is_told(make: Make) -> None:
    script = f"{WRITES}await run_command('true')\nawait write_file('c.txt', 'z')\nraise KeyError(1)"
    async with make(policy=Policy(mode="open")) as session:
        result = await session.run(script)
        told = await session.handle("run_script", {"code": script.replace("'x'", "'new'")})
    assert [change.path for change in result.changes] == ["a.txt", "b.txt"]
    assert [change.path for change in result.dropped] == ["c.txt"]
    expected = "1 staged change dropped; stage 1 (1 file) had landed; `run_command` may have"
    assert expected in told.text


async def test_a_tool_that_writes_by_itself_may_have_changed_more(make: Make, folder: Path) -> None:
    @tool(effect="write")
    async def note() -> None:
        """Write a note past the view of the run."""
        (folder / "note.txt").write_text("x")

    async with make(note) as session:
        told = await session.handle("run_script", {"code": f"{WRITES}await note()\nraise KeyError"})
    assert "[2 staged changes dropped; `note` may have changed more]" in told.text


@pytest.mark.parametrize("fails", ["edit_file('a.txt', 'no', 'z')", "read_file('none.txt')"])
async def test_a_change_that_failed_has_changed_nothing(make: Make, fails: str) -> None:
    async with make() as session:
        result = await session.run(f"{WRITES}await {fails}")
        told = await session.handle("run_script", {"code": f"{WRITES}await {fails}"})
    assert result.calls[-1].status == "failed"
    assert "[2 staged changes dropped; the disk is unchanged]" in told.text


async def test_a_run_that_lands_tells_what_changed_and_what_guards_found(make: Make) -> None:
    async with make() as session:
        told = await session.handle("run_script", {"code": f"{WRITES}return 7"})
        plain = await session.handle("run_script", {"code": "return 7"})
    assert told.text == "7\n[2 files changed: a.txt created +1 -0, b.txt created +1 -0]"
    assert plain.text == "7"


async def test_a_preview_drops_what_it_staged(make: Make, folder: Path) -> None:
    async with make() as session:
        preview = await session.preview(WRITES)
    assert len(preview.run.dropped) == len(preview.run.changes) == 2
    assert not list(folder.iterdir())


def test_the_command_line_says_so_in_lines_end_and_record(folder: Path, programs: Programs) -> None:
    (folder / "s.py").write_text(FAILS)
    run = programs.lineshaft("run", "s.py", cwd=folder)
    shown = programs.lineshaft("show", cwd=folder)
    record = json.loads(programs.lineshaft("show", "--json", cwd=folder).stdout)
    as_json = json.loads(programs.lineshaft("run", "s.py", "--json", cwd=folder).stdout)
    preview = programs.lineshaft("preview", "s.py", cwd=folder)
    assert [line[:21] for line in run.stderr.splitlines()[:2]] == ["staged    write_file "] * 2
    assert UNCHANGED in run.stderr.splitlines()[-1]
    assert UNCHANGED in shown.stdout
    assert shown.stdout.count("(dropped: not on the disk)") == 2
    assert [each["path"] for each in as_json["dropped"]] == ["a.txt", "b.txt"]
    assert record["dropped"] == as_json["dropped"]
    assert UNCHANGED in preview.stdout


def test_a_preview_on_the_command_line_says_that_the_disk_is_unchanged(
    folder: Path, programs: Programs
) -> None:
    (folder / "s.py").write_text(WRITES)
    preview = programs.lineshaft("preview", "s.py", cwd=folder)
    assert "2 files would change; the disk is unchanged" in preview.stdout


def test_a_paused_run_says_what_is_staged(folder: Path, programs: Programs) -> None:
    (folder / "s.py").write_text(f"{WRITES}await run_command('true')\n")
    run = programs.lineshaft("run", "s.py", cwd=folder)
    assert run.returncode == 5
    assert "2 changes staged" in run.stderr.splitlines()[-1]
    assert "changed" not in run.stderr.splitlines()[-1]
