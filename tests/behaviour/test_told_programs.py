"""A program that a model calls directly is told as a terminal shows it; numbers said are heard."""

from pathlib import Path

import pytest

from lineshaft import Limits, Policy, Session, kit
from support import Make

OPEN = Policy(mode="open")


@pytest.mark.behaviour("H31")
async def test_a_programs_exit_output_and_errors_are_told_as_text(make: Make) -> None:
    code = "import sys; print('out'); print('problem', file=sys.stderr); sys.exit(2)"
    async with make(policy=OPEN) as session:
        program = await session.handle("python_run", {"code": code})
        command = await session.handle("run_command", {"command": "sh", "args": ["-c", "exit 3"]})
        fine = await session.handle("run_command", {"command": "echo", "args": ["hi"]})
    assert program.text == "exit code 2\nout\nstderr:\nproblem"
    assert (command.text, fine.text) == ("exit code 3", "exit code 0\nhi")
    assert [each.is_error for each in (program, command, fine)] == [False] * 3


@pytest.mark.behaviour("H31")
async def test_the_error_in_the_middle_of_long_output_is_kept(make: Make) -> None:
    script = "seq 1 3000; echo 'Error: the middle' ; seq 3000 6000; exit 1"
    async with make(policy=OPEN) as session:
        told = await session.handle("run_command", {"command": "sh", "args": ["-c", script]})
    assert told.text.startswith("exit code 1\n1\n2\n")
    assert "Error: the middle" in told.text
    assert len(told.text) <= 4_000


@pytest.mark.behaviour("H31")
async def test_a_program_that_could_not_run_is_an_error(make: Make) -> None:
    async with make(policy=OPEN) as session:
        told = await session.handle("python_run", {"file": "missing.py"})
    assert told.is_error
    assert told.text.startswith(("E_", "PYTHON_"))
    assert "missing.py" in told.text
    assert "{" not in told.text.split("\n")[0]


READS = "for i in range(60): await list_files()\nreturn 'all'"


@pytest.mark.long
@pytest.mark.behaviour("A3")
@pytest.mark.parametrize(
    ("limits", "comes_through"),
    [
        (None, False),
        (Limits(seconds=30), False),
        (Limits(calls=1_000), True),
        (Limits(calls=70), True),
    ],
)
async def test_a_number_of_calls_that_is_said_holds_for_a_model_too(
    tmp_path: Path, limits: Limits | None, comes_through: bool
) -> None:
    tools = kit.tools("list_files").values()
    async with Session(tools, workspace=tmp_path, limits=limits) as session:
        told = await session.handle("run_script", {"code": READS})
        own = await session.run(READS)
    assert (told.text == "all", own.value) == (comes_through, "all")
