"""The contract of engines holds with every Python as host that this machine has.

On `wasm`, which is in the host's own process; `cpython` has a process of its own Python.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engines.interpreters import VERSIONS, found

ROOT = Path(__file__).parents[2]
CONTRACT = ROOT / "tests" / "engines" / "contract"
OTHERS = [each for each in VERSIONS if each != "{}.{}".format(*sys.version_info[:2])]


@pytest.mark.parametrize("version", OTHERS)
def test_the_contract_of_engines_holds_with_another_python_as_host(
    version: str, tmp_path: Path
) -> None:
    python = found(version)
    if python is None:
        pytest.skip(f"platform: there is no Python {version}")
    uv, venv = str(Path(sys.executable).with_name("uv")), tmp_path / "venv"
    into = (uv, "pip", "install", "--quiet", "--python", str(venv / "bin" / "python"))
    _run(uv, "venv", "--quiet", "--python", python, str(venv))
    _run(*into, "--require-hashes", "-r", "requirements/test.txt")
    _run(*into, "--offline", "--no-deps", "--no-build-isolation", "-e", ".")
    tests = (str(venv / "bin" / "python"), "-m", "pytest", "-q", "-n", "2")
    _run(*tests, "-p", "no:cacheprovider", "-k", "wasm or auto", str(CONTRACT))


def _run(*command: str) -> None:
    ours = {each: os.environ[each] for each in os.environ if not each.startswith(("COV", "PYTEST"))}
    done = subprocess.run(command, cwd=ROOT, env=ours, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
