"""A person at a shell: a workspace, own folders, and the real command."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Lineshaft = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Return variables in which nobody's settings are found."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LINESHAFT_")}
    folders = {f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("CONFIG", "STATE")}
    return kept | folders | {"HOME": str(tmp_path), "TERM": "xterm-256color"}


@pytest.fixture
def lineshaft(workspace: Path, environ: dict[str, str]) -> Lineshaft:
    """Return a function that runs the real command in the workspace."""

    def run(
        *words: str, stdin: str | bytes = "", variables: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        data = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [sys.executable, "-m", "lineshaft", *words],
            input=data,
            cwd=workspace,
            env=environ | dict(variables or {}),
            capture_output=True,
            timeout=60,
            check=False,
        )
        return subprocess.CompletedProcess(
            done.args,
            done.returncode,
            done.stdout.decode("utf-8", "replace"),
            done.stderr.decode("utf-8", "replace"),
        )

    return run
