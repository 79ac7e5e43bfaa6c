"""`lineshaft python` and what the doctor says of boundaries, as processes."""

import hashlib
import json
import os
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineshaft.errors import NoBoundary
from lineshaft.sandbox.jail import best_jail

Lineshaft = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(autouse=True)
def needs_a_boundary() -> None:
    try:
        best_jail()
    except NoBoundary as error:
        pytest.skip(f"needs a boundary: {error.message}")


@pytest.fixture
def environ(environ: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """Keep bundles where those of other tests are: making one takes seconds."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return environ | {"XDG_CACHE_HOME": cache, "XDG_DATA_HOME": str(tmp_path / "DATA")}


def test_code_is_run_with_its_arguments(lineshaft: Lineshaft) -> None:
    code = "\n    import sys\n    print(sys.argv[1:], end='')"
    done = lineshaft("python", "-c", code, "a b", "ä", "--json")
    assert (done.returncode, done.stdout, done.stderr) == (0, "['a b', 'ä', '--json']", "")


def test_a_file_is_named_from_where_one_is_and_may_have_options(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    (workspace / "sub").mkdir()
    (workspace / "sub" / "p.py").write_text("import sys; print(sys.argv); sys.exit(7)")
    done = lineshaft("python", "sub/p.py", "--json", "-c", "x")
    assert (done.returncode, done.stdout) == (7, "['sub/p.py', '--json', '-c', 'x']\n")
    done = lineshaft("python", str(workspace / "sub" / "p.py"))
    assert done.stdout == "['sub/p.py']\n"


def test_a_program_may_come_by_standard_input(lineshaft: Lineshaft) -> None:
    done = lineshaft("python", "-", "x", stdin="import sys; print(sys.argv[1], sys.stdin.read())")
    assert done.stdout == "x \n"


def test_output_and_errors_go_where_the_program_put_them(lineshaft: Lineshaft) -> None:
    code = "import sys; sys.stdout.write('out'); sys.stderr.write('err'); sys.exit(2)"
    done = lineshaft("python", "-c", code)
    assert (done.returncode, done.stdout, done.stderr) == (2, "out", "err")


def test_a_signal_becomes_the_exit_code_that_shells_use(lineshaft: Lineshaft) -> None:
    done = lineshaft("python", "-c", "import os; os.kill(os.getpid(), 9)")
    assert done.returncode == 137


def test_json_prints_the_tools_answer(lineshaft: Lineshaft) -> None:
    done = lineshaft("python", "--json", "-c", "print(2 + 2)")
    answer: dict[str, Any] = json.loads(done.stdout)
    assert (answer["ok"], answer["stdout"], answer["exitCode"]) == (True, "4\n", 0)
    refused = lineshaft("python", "--json", "--mode", "read", "-c", "print(2 + 2)")
    assert refused.returncode == 3
    assert json.loads(refused.stdout)["error"]["code"] == "E_DENIED"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("nowhere.py",), 1, "E_FILE_NOT_FOUND"),
        (("-c", " "), 1, "E_INVALID_ARGS"),
        (("/etc/passwd",), 1, "E_SANDBOX_VIOLATION"),
        ((".env",), 3, "E_DENIED"),
        (("--mode", "read", "-c", "1"), 3, "mode read"),
        (("--timeout", "1", "-c", "print('begun')\nwhile True: pass"), 4, "PYTHON_TIMEOUT"),
        (("--timeout", "0", "-c", "1"), 2, "python.timeout_seconds"),
        (("--mode", "auto"), 2, "there is no program"),
    ],
)
def test_what_is_not_run_says_why(
    lineshaft: Lineshaft, workspace: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    (workspace / ".env").write_text("x")
    done = lineshaft("python", *words)
    assert said in done.stderr
    assert done.returncode == code
    assert done.stdout == ("begun\n" if "begun" in str(words) else "")


def test_it_is_recorded_and_its_changes_are_kept(lineshaft: Lineshaft, workspace: Path) -> None:
    lineshaft("python", "-c", "open('made', 'w').write('x')")
    assert (workspace / "made").read_text() == "x"
    shown = json.loads(lineshaft("show", "--json").stdout)
    assert [call["tool"] for call in shown["calls"]] == ["python_run"]
    assert [change["path"] for change in shown["changes"]] == ["made"]


def test_rules_of_the_project_hold(lineshaft: Lineshaft, workspace: Path) -> None:
    rule = '[[policy.rules]]\nid = "no"\ntool = "python_run"\nverdict = "deny"\n'
    (workspace / "lineshaft.toml").write_text(rule)
    done = lineshaft("python", "-c", "print(1)")
    assert (done.returncode, done.stdout) == (3, "")


def test_without_arguments_there_is_help(lineshaft: Lineshaft) -> None:
    done = lineshaft("python")
    for word in ("run", "build", "install"):
        assert f"\n  {word}" in done.stdout + done.stderr


def test_a_bundle_is_built_installed_and_used(lineshaft: Lineshaft, tmp_path: Path) -> None:
    built = lineshaft("python", "build", "--json")
    facts = json.loads(built.stdout)
    assert (built.returncode, Path(facts["root"]).parent) == (
        0,
        tmp_path / "DATA" / "lineshaft" / "python",
    )
    done = lineshaft("python", "-c", "import sys; print(sys.prefix)")
    assert done.stdout.strip() == facts["root"]

    archive = tmp_path / "python.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(facts["root"], arcname="python")
    wrong = lineshaft("python", "install", str(archive), "--sha256", "0" * 64)
    assert wrong.returncode == 1
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    installed = lineshaft("python", "install", str(archive), "--sha256", digest)
    assert installed.returncode == 0, installed.stderr
    assert facts["version"] in installed.stdout


def test_a_setting_names_the_boundary_and_the_python(lineshaft: Lineshaft, workspace: Path) -> None:
    missing = lineshaft("python", "-c", "1", variables={"LINESHAFT_PYTHON_PATH": "/nowhere"})
    assert (missing.returncode, "PYTHON_NOT_FOUND" in missing.stderr) == (1, True)
    asks = lineshaft("python", "-c", "1", variables={"LINESHAFT_PYTHON_BOUNDARY": "none"})
    assert (asks.returncode, "E_PAUSED" in asks.stderr) == (5, True)
    (workspace / "lineshaft.toml").write_text('[python]\nboundary = "none"')
    refused = lineshaft("python", "-c", "1")
    assert refused.returncode == 2
    assert "python.boundary" in refused.stderr


def test_a_program_in_webassembly_is_one_like_any_other(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    os.mkfifo(workspace / "pipe")
    code = "import sys; print(sys.argv[1]); open('made', 'w').write('x'); sys.exit(3)"
    done = lineshaft("python", "-c", code, "ä", variables={"LINESHAFT_PYTHON_BOUNDARY": "wasm"})
    assert (done.returncode, done.stdout) == (3, "ä\n")
    assert "not seen: pipe" in done.stderr
    assert (workspace / "made").read_text() == "x"


def test_the_doctor_attacks_every_boundary_and_prints_what_held(lineshaft: Lineshaft) -> None:
    done = lineshaft("doctor", "--json")
    facts: dict[str, Any] = json.loads(done.stdout)
    usable = [boundary for boundary in facts["boundaries"] if boundary["usable"]]
    assert usable
    assert all(len(boundary["attacks"]) > 30 for boundary in usable)
    said = [check["text"] for check in facts["checks"] if check["name"] == "boundary"]
    assert any(f"{usable[0]['name']}, used: " in text for text in said)
    broken = any(not attack["held"] for attack in usable[0]["attacks"])
    assert done.returncode == int(broken)
