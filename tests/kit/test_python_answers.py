"""What is answered where a program did not begin, or a file cannot be one."""

from pathlib import Path

import pytest

from lineshaft import Policy, Session, kit
from lineshaft.errors import NoBoundary
from lineshaft.kit.jailed.process import ProgramOutcome
from lineshaft.kit.python.native import answer_of
from lineshaft.processes import Capture
from lineshaft.sandbox.jail import Changes, best_jail
from lineshaft.values import Context, PythonOptions


class Empty:
    """A jail that has ended and changed nothing."""

    pid = 1

    def kill(self) -> None: ...

    def close(self) -> None: ...

    def wait(self, timeout: float | None = None) -> int | None:
        del timeout
        return 0

    def changes(self) -> Changes:
        return Changes(files=())


async def test_an_interpreter_that_failed_before_the_program_is_no_result(call: Context) -> None:
    stderr = Capture(100)
    stderr.add("libcrypt is missing")
    ended = ProgramOutcome(
        exit_code=127,
        started=False,
        seconds=1,
        stdout=Capture(100),
        stderr=stderr,
        milliseconds=1,
        jailed=Empty(),
    )

    answer = await answer_of(call, ended, boundary="a jail")

    assert answer["ok"] is False
    assert answer["error"]["code"] == "PYTHON_EXEC_FAILED"
    assert answer["error"]["details"]["stderr"] == "libcrypt is missing"


async def test_places_of_this_machine_are_not_told(tmp_path: Path) -> None:
    missing = str(Path.home() / "nowhere-python")
    options = PythonOptions(path=missing, boundary="none")
    policy = Policy(mode="open")
    async with Session(kit.tools(), workspace=tmp_path, policy=policy, python=options) as session:
        result = await session.handle("python_run", {"code": "1"})
    assert "~/nowhere-python" in result.text
    assert str(Path.home()) not in result.text


@pytest.mark.parametrize(
    "source",
    [b"# -*- coding: latin-1 -*-\nprint('\xe9')", b"\xef\xbb\xbfprint('\xc3\xa9')"],
)
async def test_a_file_may_be_written_in_what_python_reads(tmp_path: Path, source: bytes) -> None:
    try:
        best_jail()
    except NoBoundary as error:
        pytest.skip(f"needs a boundary: {error.message}")
    (tmp_path / "p.py").write_bytes(source)
    async with Session(kit.tools(), workspace=tmp_path) as session:
        done = await session.call("python_run", {"file": "p.py"})
    assert done.error is None
    assert done.value["stdout"] == "\u00e9\n"


async def test_a_file_that_is_no_program_fails_as_python_says(tmp_path: Path) -> None:
    try:
        best_jail()
    except NoBoundary as error:
        pytest.skip(f"needs a boundary: {error.message}")
    (tmp_path / "p.py").write_bytes(b"print(\x00)")
    async with Session(kit.tools(), workspace=tmp_path) as session:
        done = await session.call("python_run", {"file": "p.py"})
    assert done.value["exitCode"] == 1
    assert "null bytes" in done.value["stderr"]
