"""Starting programs: what they get, what they return, and what happens when they cannot start."""

import gc
import sys
from pathlib import Path

import pytest

from lineshaft.errors import FileMissing, WorkspaceError
from lineshaft.processes import start
from lineshaft.values import Command, Exit


async def run(*argv: str, cwd: Path, seconds: float = 20) -> Exit:
    process = await start(Command(argv=argv, seconds=seconds), cwd=cwd)
    return await process.wait()


def open_files() -> int:
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_output_and_exit_code_come_back(tmp_path: Path) -> None:
    done = await run("sh", "-c", "echo out; echo err >&2; exit 3", cwd=tmp_path)

    assert (done.exit_code, done.stdout, done.stderr) == (3, "out\n", "err\n")
    assert (done.stdout_bytes, done.stderr_bytes) == (4, 4)
    assert not done.stdout_truncated
    assert not done.timed_out
    assert done.duration_ms > 0


async def test_a_signal_shows_as_a_negative_exit_code(tmp_path: Path) -> None:
    done = await run("sh", "-c", "kill -KILL $$", cwd=tmp_path)

    assert done.exit_code == -9


async def test_it_runs_in_the_folder_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "here").touch()

    assert (await run("ls", cwd=tmp_path)).stdout == "here\n"


async def test_a_program_is_found_relative_to_its_folder(tmp_path: Path) -> None:
    program = tmp_path / "hello"
    program.write_text("#!/bin/sh\necho hello $1\n")
    program.chmod(0o755)

    assert (await run("./hello", "you", cwd=tmp_path)).stdout == "hello you\n"


async def test_standard_input_is_at_its_end(tmp_path: Path) -> None:
    assert (await run("cat", cwd=tmp_path)).exit_code == 0


async def test_it_leads_a_session_of_its_own(tmp_path: Path) -> None:
    code = "import os; print(os.getsid(0) == os.getpid() == os.getpgid(0))"

    assert (await run(sys.executable, "-c", code, cwd=tmp_path)).stdout == "True\n"


async def test_signals_and_descriptors_are_as_a_shell_would_give_them(tmp_path: Path) -> None:
    code = (
        "import os, signal\n"
        "print([s.name for s in signal.Signals if s not in (signal.SIGKILL, signal.SIGSTOP)"
        " and signal.getsignal(s) is signal.SIG_IGN and s.name not in ('SIGPIPE', 'SIGXFSZ')])\n"
        "print(signal.pthread_sigmask(signal.SIG_BLOCK, ()))\n"
        "print(sorted(int(n) for n in os.listdir('/proc/self/fd'))[:4])\n"
    )
    done = await run(sys.executable, "-c", code, cwd=tmp_path)

    # The fourth descriptor is that of the listing.
    assert done.stdout.splitlines() == ["[]", "set()", "[0, 1, 2, 3]"]


async def test_a_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileMissing, match=r"there is no program 'no-such-program' on the PATH"):
        await run("no-such-program", cwd=tmp_path)


async def test_a_file_that_is_not_executable_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("text")

    with pytest.raises(WorkspaceError, match=r"'./notes' could not be started: Permission denied"):
        await run("./notes", cwd=tmp_path)


async def test_a_text_file_without_a_first_line_is_no_program(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.write_text("text")
    notes.chmod(0o755)

    with pytest.raises(WorkspaceError, match="is not a program") as caught:
        await run("./notes", cwd=tmp_path)
    assert "interpreter" in caught.value.hint


async def test_a_folder_that_is_gone_is_said_without_its_path(tmp_path: Path) -> None:
    with pytest.raises(FileMissing, match="working folder is gone") as caught:
        await run("true", cwd=tmp_path / "gone")
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ((), "empty"),
        (("",), "empty"),
        (("echo", "a\0b"), "NUL"),
        (("echo", "\ud800"), "could not be started"),
        (("echo", "x" * 3_000_000), "could not be started: Argument list too long"),
    ],
)
async def test_a_command_that_cannot_be_is_refused(
    argv: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    with pytest.raises(WorkspaceError, match=words):
        await run(*argv, cwd=tmp_path)


async def test_starts_that_fail_leave_no_descriptors_behind(tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        await run("no-such-program", cwd=tmp_path)
    before = open_files()
    for _ in range(5):
        with pytest.raises(FileMissing):
            await run("no-such-program", cwd=tmp_path)
        with pytest.raises(FileMissing):
            await run("true", cwd=tmp_path / "gone")
        await run("true", cwd=tmp_path)

    assert open_files() == before


async def test_only_chosen_variables_are_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CI_JOB", "CI_OTHER", "GITHUB_TOKEN", "LC_TOKEN", "LC_X"):
        monkeypatch.setenv(name, "x")
    command = Command(argv=("env",), env={"ADDED": "1"})

    process = await start(command, cwd=tmp_path, allow_env=("CI_JOB", "GITHUB_TOKEN"))
    names = {line.partition("=")[0] for line in (await process.wait()).stdout.splitlines()}

    assert {"PATH", "ADDED", "CI_JOB", "GITHUB_TOKEN", "LC_X"} <= names
    assert not {"CI_OTHER", "LC_TOKEN"} & names
