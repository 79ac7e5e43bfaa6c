"""The runner of `./dev bench peers`: its own parts, with the peers that need no installation."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
RUN = ROOT / "benchmarks" / "peers" / "run.py"


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(RUN), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    done = _run("--quick", "--json", "--only", "lineshaft wasm,direct")
    assert done.returncode == 0, done.stderr
    return {each["name"]: each for each in json.loads(done.stdout)}


def test_every_workload_is_measured_with_the_right_values(measured: dict[str, Any]) -> None:
    labels = ["1 calls", "10 calls", "100 calls", "1,000 calls", "1 KB", "100 KB", "5 MB"]
    for figures in measured.values():
        assert figures["faults"] == []
        assert figures["missing"] == ""
        assert list(figures["ms"]) == [*labels, "computing", "10 at once"]
        assert all(figures["ms"].values())
        assert figures["memory_mb"]["most"] >= figures["memory_mb"]["open"] > 0
    assert list(measured["lineshaft wasm"]["tokens"]) == ["5", "50", "500"]
    assert measured["direct"]["tokens"] == {}


def test_lineshaft_holds_where_the_host_itself_does_not(measured: dict[str, Any]) -> None:
    ours, plain = (measured[name]["trials"] for name in ("lineshaft wasm", "direct"))
    assert ours["refused call"].startswith("the tool did not run; caught: policy refused")
    assert plain["refused call"].startswith("the tool ran; caught: this is not permitted")
    assert "the run took longer than 2 s" in ours["hang"]
    assert plain["hang"].startswith("no answer in 15 s: its process was killed")
    assert "more than 128 MB of memory" in ours["memory bomb"]
    assert plain["memory bomb"].startswith("value 600")
    assert ours["hidden tool"].startswith("the tool did not run; ends: ToolError: policy refused")
    assert (ours["write, then error"], plain["write, then error"]) == (
        "the file is not there",
        "the file is there",
    )


def test_a_peer_that_is_none_is_refused_and_one_that_is_not_there_is_told() -> None:
    refused = _run("--only", "nothing")
    assert refused.returncode == 2
    assert "there is no peer 'nothing'" in refused.stderr


def test_requirements_of_peers_are_exact() -> None:
    for path in (RUN.parent / "requirements").glob("*.txt"):
        lines = path.read_text(encoding="utf-8").split()
        assert lines
        assert [line for line in lines if line.count("==") != 1] == [], path.name
