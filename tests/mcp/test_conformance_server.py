"""The protocol's own conformance suite, in two versions, against a front."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from upstreams.addresses import end
from upstreams.real import ROOT, node, npm_package

HERE = ROOT / "tests" / "mcp" / "conformance"
TOKEN = "a-token-that-is-long-enough"  # noqa: S105  of this test alone


@pytest.mark.parametrize(
    ("suite", "baseline"),
    [("conformance", "server-0.1.16.yml"), ("conformance-next", "server-0.2.0.yml")],
)
def test_the_server_part_of_the_suite_passes(suite: str, baseline: str, tmp_path: Path) -> None:
    environ = {**os.environ, "LINESHAFT_SERVE_TOKEN": TOKEN}
    program = npm_package(suite)
    front = subprocess.Popen(
        [sys.executable, str(HERE / "front.py")],
        cwd=tmp_path,
        env=environ,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert front.stderr is not None
        command = [
            *(node(), "--import", str(HERE / "token.mjs"), str(program), "server"),
            *("--url", front.stderr.readline().strip(), "--suite", "all"),
            *("--expected-failures", str(HERE / baseline)),
        ]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
    finally:
        end(front)
    told = [line for line in done.stdout.splitlines() if line.startswith(("✗", "Total"))]
    assert done.returncode == 0, "\n".join([*told, done.stdout[-3000:]])
    assert "Total" in done.stdout
