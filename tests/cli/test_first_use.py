"""What takes long the first time is told on standard error."""

import base64
import hashlib
import zipfile
from pathlib import Path

import pytest

from cli.conftest import Lineshaft
from native import lend_native_code


def wheel(folder: Path) -> None:
    """Make a package of one module."""
    info = "tinyanswer-1.0.dist-info"
    files = {
        "tinyanswer.py": "answer = 42\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: tinyanswer\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = [f"{name},sha256={_digest(text.encode())},{len(text)}" for name, text in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,"]) + "\n"
    with zipfile.ZipFile(folder / "tinyanswer-1.0-py3-none-any.whl", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def test_packages_are_told_of_as_they_are_installed(
    lineshaft: Lineshaft, workspace: Path, tmp_path: Path
) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    wheel(wheels)
    (workspace / "lineshaft.toml").write_text('[python]\npackages = ["tinyanswer"]\n')
    variables = {
        name: value
        for tool in ("PIP", "UV")
        for name, value in ((f"{tool}_NO_INDEX", "1"), (f"{tool}_FIND_LINKS", str(wheels)))
    }
    variables |= {"UV_NO_CONFIG": "1", "PIP_CONFIG_FILE": "/dev/null"}
    variables["XDG_CACHE_HOME"] = str(tmp_path / "cache")  # where no packages are yet
    lend_native_code(tmp_path / "cache")
    script = "import tinyanswer\nreturn tinyanswer.answer"
    first = lineshaft("run", "-", stdin=script, variables=variables)
    again = lineshaft("run", "-", stdin=script, variables=variables)
    assert (first.stdout.strip(), again.stdout.strip()) == ("42", "42"), first.stderr
    assert "looking up the packages tinyanswer" in first.stderr
    assert "installing packages for Python 3.14" in first.stderr
    assert "the packages are installed" in first.stderr
    assert "packages" not in again.stderr


@pytest.mark.parametrize("script", ["", "  \n", "#" * 300_000])
def test_a_script_that_is_refused_at_once_makes_no_native_code(
    script: str, lineshaft: Lineshaft, tmp_path: Path
) -> None:
    variables = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = lineshaft("run", "-", stdin=script, variables=variables)
    assert "[E_INVALID_ARGS]" in done.stderr
    assert "native code" not in done.stderr
    assert not list((tmp_path / "cache").rglob("*.native"))


def test_native_code_is_told_of_as_it_is_made(lineshaft: Lineshaft, tmp_path: Path) -> None:
    variables = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    first = lineshaft("run", "-c", "return 7", variables=variables)
    again = lineshaft("run", "-c", "return 7", variables=variables)
    assert first.stderr.count("making the native code of Python, once for this machine ...") == 1
    assert "native code" not in again.stderr
    assert (first.stdout, again.stdout) == ("7\n", "7\n"), first.stderr


def test_doctor_says_how_much_is_kept(lineshaft: Lineshaft) -> None:
    done = lineshaft("doctor", "--quick")
    assert "outside the workspace" in done.stdout
    assert "native code of Python in WebAssembly" in done.stdout


def test_a_file_of_the_folder_it_is_started_in_stands_for_no_library(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    for name in ("anyio", "click", "json"):
        (workspace / f"{name}.py").write_text("raise SystemExit('taken over')")
    done = lineshaft("run", "-c", "return 7")
    assert (done.returncode, done.stdout) == (0, "7\n"), done.stderr
