"""A person at a shell: a workspace, own folders, and the real command."""

import os
import subprocess
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from cli.person import Person, Sit, seated
from forked.programs import Programs
from lineshaft.cli._app import execute
from native import CACHE_HOME, vouch_for_native_code

Done = subprocess.CompletedProcess[str]
Lineshaft = Callable[..., Done]


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
    folders["XDG_CACHE_HOME"] = str(CACHE_HOME)
    vouch_for_native_code(tmp_path / "STATE")
    return kept | folders | {"HOME": str(tmp_path), "TERM": "xterm-256color"}


@pytest.fixture
def lineshaft(workspace: Path, environ: dict[str, str], programs: Programs) -> Lineshaft:
    """Return a function that runs the command in the workspace, in a process of its own."""

    def run(
        *words: str, stdin: str | bytes = "", variables: Mapping[str, str] | None = None
    ) -> Done:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        every = environ | dict(variables or {})
        done = programs.run("-m", "lineshaft", *words, cwd=workspace, env=every, data=data)
        return subprocess.CompletedProcess(
            done.args,
            done.returncode,
            done.stdout.decode("utf-8", "replace"),
            done.stderr.decode("utf-8", "replace"),
        )

    return run


@pytest.fixture
def here(
    workspace: Path,
    environ: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Lineshaft:
    """Return a function that runs the command in this process, which is faster.

    A script given by `script` becomes the file that the last word names.
    """
    monkeypatch.chdir(workspace)
    for name in set(os.environ) - set(environ):
        monkeypatch.delenv(name)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)

    def run(*words: str, script: str | None = None) -> Done:
        if script is not None:
            (workspace.parent / "s.py").write_text(script, encoding="utf-8")
            words = (*words, "../s.py")
        code = execute(words)
        printed = capsys.readouterr()
        return subprocess.CompletedProcess(words, code, printed.out, printed.err)

    return run


@pytest.fixture
def sit(workspace: Path, environ: dict[str, str]) -> Sit:
    """Return a context manager that starts the command line on a terminal of its own."""

    def start(
        *words: str, script: str | None = None, variables: Mapping[str, str] | None = None
    ) -> AbstractContextManager[Person]:
        every = environ | dict(variables or {})
        return seated(words, folder=workspace, environ=every, script=script)

    return start
