"""Programs that are talked to."""

import importlib
import os
import secrets
import sys
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.lowlevel
import psutil
import pytest

from lineshaft.errors import FileMissing, WorkspaceError
from lineshaft.processes import Piped, piped


def running(*words: str) -> bool:
    """Return whether a process has all these words in its command line."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            line = process.cmdline()
            if all(word in line for word in words):
                return True
    return False


def descriptors() -> list[int]:
    """Return what this process has open."""
    return sorted(int(each.name) for each in Path("/proc/self/fd").iterdir())


async def test_bytes_go_in_and_come_out(tmp_path: Path) -> None:
    async with piped(["cat"], cwd=tmp_path) as process:
        await process.send(b"hello\n")
        assert await process.receive() == b"hello\n"
        assert process.exit_code is None
    assert process.exit_code == 0


@pytest.mark.skipif(sys.platform != "linux", reason="platform: needs /proc")
@pytest.mark.parametrize("room", range(10))
async def test_where_too_many_files_are_open_it_is_said_and_none_stays_open(
    tmp_path: Path, room: int
) -> None:
    resource = importlib.import_module("resource")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = descriptors()
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(before) + 20, limits[1]))
    taken: list[int] = []
    try:
        with suppress(OSError):
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))
        for _ in range(room):
            os.close(taken.pop())
        with pytest.raises(WorkspaceError, match="Too many open files"):
            async with piped(["true"], cwd=tmp_path):
                pass
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        for each in taken:
            os.close(each)
    assert descriptors() == before


async def test_more_than_a_pipe_holds_goes_through(tmp_path: Path) -> None:
    data = b"x" * 3_000_000
    found = b""
    async with piped(["cat"], cwd=tmp_path) as process, anyio.create_task_group() as tasks:
        tasks.start_soon(process.send, data)
        while len(found) < len(data):
            found += await process.receive()
    assert found == data


async def test_reading_can_be_cancelled_while_there_is_output_and_loses_none(
    tmp_path: Path,
) -> None:
    script = "echo said; echo so >&2; cat"
    async with piped(["sh", "-c", script], cwd=tmp_path) as process:
        with anyio.fail_after(30):
            while not process.stderr:
                await anyio.lowlevel.checkpoint()
        with anyio.CancelScope() as scope:
            scope.cancel()
            await process.receive()
        assert scope.cancelled_caught
        assert await process.receive() == b"said\n"


async def test_the_end_of_a_program_ends_its_output_whoever_holds_the_pipe(tmp_path: Path) -> None:
    seconds = str(200_000 + secrets.randbelow(100_000))
    script = f"sleep {seconds} & echo said; exit 3"
    async with piped(["sh", "-c", script], cwd=tmp_path) as process:
        found = b""
        with anyio.fail_after(10):
            while data := await process.receive():
                found += data
        assert (found, process.exit_code) == (b"said\n", 3)
    assert not running("sleep", seconds)


async def test_the_end_of_its_other_output_is_kept(tmp_path: Path) -> None:
    script = "head -c 100000 /dev/zero | tr '\\0' x >&2; echo last >&2; cat"
    async with piped(["sh", "-c", script], cwd=tmp_path, stderr_bytes=100) as process:
        await process.send(b"x\n")
        await process.receive()
    assert process.stderr == "x" * 95 + "last\n"


async def test_a_program_that_is_deaf_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    seconds = str(200_000 + secrets.randbelow(100_000))
    script = f"trap '' TERM; setsid sleep {seconds} & echo up; while :; do sleep 1; done"
    async with piped(["sh", "-c", script], cwd=tmp_path) as process:
        assert await process.receive() == b"up\n"
        with anyio.fail_after(10):  # it is begun beside the one that says so
            while not running("sleep", seconds):
                await anyio.sleep(0.01)
    assert not running("sleep", seconds)


async def test_writing_to_a_program_that_has_ended_is_told(tmp_path: Path) -> None:
    async with piped(["true"], cwd=tmp_path) as process:
        assert await process.receive() == b""
        with pytest.raises(BrokenPipeError):
            await _send_for_ever(process)  # its input is closed a moment after its output


async def _send_for_ever(process: Piped) -> None:
    while True:
        await process.send(b"x")


async def test_what_the_block_raises_goes_on_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="ours"):
        async with piped(["cat"], cwd=tmp_path):
            raise ValueError("ours")


async def test_a_program_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileMissing, match="no-such-program"):
        async with piped(["no-such-program"], cwd=tmp_path):
            pass
    with pytest.raises(FileMissing, match="folder is gone"):
        async with piped(["cat"], cwd=tmp_path / "gone"):
            pass


async def test_only_what_is_named_of_the_environment_is_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "secret")
    async with piped(["env"], cwd=tmp_path, env={"GIVEN": "1"}) as process:
        found = b""
        while data := await process.receive():
            found += data
    assert b"GIVEN=1\n" in found
    assert b"MY_TOKEN" not in found
