"""The protocol's own conformance suite, in two versions, against our way in."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from measuring import unmeasured
from upstreams.real import ROOT, node, npm_package

HERE = ROOT / "tests" / "mcp" / "conformance"


@pytest.mark.skipif(
    os.environ.get("DEV_TEST_ALL") != "1", reason="the whole suites are run by ./dev test --all"
)
@pytest.mark.parametrize(
    ("suite", "baseline"),
    [("conformance", "client-0.1.16.yml"), ("conformance-next", "client-0.2.0.yml")],
)
def test_the_client_part_of_the_suite_passes(suite: str, baseline: str, tmp_path: Path) -> None:
    command = [
        node(),
        str(npm_package(suite)),
        "client",
        *("--command", f"{sys.executable} {HERE / 'client.py'}"),
        *("--suite", "all"),
        *("--timeout", "500000"),  # all scenarios start at once, on however few cores
        *("--expected-failures", str(HERE / baseline)),
    ]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=unmeasured(),
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    told = [line for line in done.stdout.splitlines() if line.startswith(("✗", "Total"))]
    assert done.returncode == 0, "\n".join([*told, done.stdout[-3000:]])
    assert "Total" in done.stdout
