"""`lineshaft editor`: a host that another program starts, finds and ends."""

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from lineshaft.remote.host import addresses
from native import own_state

TOKEN = "a-token-that-is-long-enough"  # noqa: S105  of these tests alone
COMMAND = [sys.executable, "-m", "lineshaft", "editor"]


@contextmanager
def started(root: Path) -> Generator[tuple["subprocess.Popen[str]", dict[str, Any]]]:
    process = subprocess.Popen(
        [*COMMAND, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(f"{TOKEN}\n")
            process.stdin.flush()
            yield process, json.loads(process.stdout.readline())
        finally:
            process.kill()


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    own_state(tmp_path / "state", monkeypatch)
    return tmp_path / "state"


def known() -> dict[str, str]:
    return {"Authorization": f"Bearer {TOKEN}"}


def test_a_host_is_found_by_its_address_file_and_ends_with_who_started_it(tmp_path: Path) -> None:
    with started(tmp_path) as (process, told):
        assert told["pid"] == process.pid
        file = Path(told["address_file"])
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        (address,) = addresses()
        assert (address.url, address.token) == (told["url"], TOKEN)
        assert address.root == str(tmp_path.resolve())
        at = f"{address.url}/api/conversations"
        assert httpx2.post(at, headers=known(), timeout=60).json()["protocol"] == told["protocol"]
        assert httpx2.post(at, timeout=60).status_code == 401
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=60) == 0
        assert not file.exists()
        assert addresses() == ()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_host_that_is_told_to_end_removes_its_address(tmp_path: Path, number: int) -> None:
    with started(tmp_path) as (process, told):
        process.send_signal(number)
        process.wait(timeout=60)
        assert not Path(told["address_file"]).exists()


def test_the_address_of_a_host_that_was_killed_is_swept(tmp_path: Path) -> None:
    with started(tmp_path) as (process, told):
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # its number is still taken
        file = Path(told["address_file"])
        assert file.exists()
        assert addresses() == ()
        assert list(file.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "token", "said"),
    [
        ([], "", "the token needs at least 16"),
        ([], "short\n", "the token needs at least 16"),
        (["/nonexistent/folder"], f"{TOKEN}\n", "there is no folder"),
    ],
)
def test_what_cannot_be_served_is_said(arguments: list[str], token: str, said: str) -> None:
    done = subprocess.run(
        [*COMMAND, *arguments], input=token, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert os.linesep not in done.stdout


def test_the_address_of_a_host_that_was_killed_is_removed_by_the_next(tmp_path: Path) -> None:
    with started(tmp_path) as (process, told):
        process.kill()
        process.wait(timeout=60)
        left = Path(told["address_file"])
        assert left.exists()
    with started(tmp_path) as (_, told):
        assert not left.exists()
        assert Path(told["address_file"]).exists()
