"""The package of a platform carries its Python: scripts run where the machine has none."""

import json
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

from lineshaft.remote.protocol import RunAction, RunObservation, RunPythonAction
from lineshaft.remote.protocol import RunPythonObservation as Ran
from remote.vscode.editor import VSIX, VsCode, until, vscode

CARRIED = VSIX.with_name("lineshaft-linux-x64.vsix")
PROGRAMS = ("bash", "sh", "env", "cat", "uname", "ls", "touch", "rm", "sed", "readlink", "dirname")


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Generator[VsCode]:
    """An editor with the package of its platform, on a machine with no Python to be found."""
    if not CARRIED.is_file():
        pytest.skip("needs the package of the platform: ./dev vsix --platforms makes it")
    home = tmp_path_factory.mktemp("bare")
    programs = home / "bin"
    programs.mkdir()
    for name in PROGRAMS:
        found = shutil.which(name)
        assert found, name
        (programs / name).symlink_to(found)
    for name in (".bash_profile", ".bashrc", ".profile"):  # the editor asks a login shell
        (home / name).write_text(f"export PATH={programs}\n")
    with vscode(home, {"lineshaft.python": ""}, vsix=CARRIED, path=str(programs)) as started:
        yield started


def test_a_script_runs_where_no_python_is_on_the_path(bare: VsCode) -> None:
    bare.conversation()
    none = bare.perform(RunAction(command="command -v python python3 python3.11 pip"))
    assert isinstance(none, RunObservation)
    assert (none.metadata.exit_code, none.content) == (1, "")
    (bare.root / "a.txt").write_text("one\n")
    (bare.root / "mine.py").write_text(
        'await edit_file(path="a.txt", old="one", new="two")\n'
        'await write_file(path="ran.txt", content="here")\n'
    )
    bare.show("mine.py")
    bare.browser.command("Lineshaft: Run This Script")
    until((bare.root / "ran.txt").exists)
    until(lambda: (bare.root / "a.txt").read_text() == "two\n")


def test_the_carried_python_checks_types_before_anything_runs(bare: VsCode) -> None:
    code = (
        "import subprocess, sys\n"
        "script = 'await write_file(path=\"never.txt\", content=3)'\n"
        "line = [sys.executable, '-I', '-m', 'lineshaft', 'run', '--json', '-c', script]\n"
        "done = subprocess.run(line, capture_output=True, text=True)\n"
        "print(done.stdout)\n"
    )
    done = bare.perform(RunPythonAction(code=code))
    assert isinstance(done, Ran)
    told = json.loads(done.content)
    assert told["error"]["code"] == "E_CHECK", told
    assert [finding["code"] for finding in told["findings"]] == ["wrong-argument"]


def test_programs_run_in_the_carried_python(bare: VsCode) -> None:
    done = bare.perform(RunPythonAction(code="import sys, ssl, sqlite3; print(sys.executable)"))
    assert isinstance(done, Ran)
    assert Path(done.content.strip()).is_relative_to((bare.home / "extensions").resolve())


def test_no_setting_or_file_of_the_folder_names_another_python(bare: VsCode) -> None:
    bare.conversation()
    evil = bare.root / "python" / "bin" / "python3.11"
    evil.parent.mkdir(parents=True)
    evil.write_text(f"#!/bin/sh\ntouch {bare.root}/evil\n")
    evil.chmod(0o755)
    settings = bare.root / ".vscode" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"lineshaft.python": str(evil)}))
    (bare.root / "anyio.py").write_text(f"open({str(bare.root / 'evil')!r}, 'w')\n")
    before = bare.address.pid
    bare.browser.command("Lineshaft: Stop")
    until(lambda: not _is_there(before))
    bare.browser.command("Lineshaft: Start")
    bare.conversation()
    assert bare.address.pid != before
    assert not (bare.root / "evil").exists()


def _is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()
