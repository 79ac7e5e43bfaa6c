"""Each small breakage of the source is noticed by the behaviour tests that claim to notice it."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "lineshaft"
BEHAVIOUR = "tests/behaviour/"
SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    name: str
    file: str
    old: str
    new: str
    kills: list[str]


def _table() -> list[Mutant]:
    text = (Path(__file__).parent / "mutants.toml").read_text(encoding="utf-8")
    return [Mutant(**row) for row in tomllib.loads(text).get("mutant", [])]


MUTANTS = _table()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_fits_the_source_at_one_place(mutant: Mutant) -> None:
    text = (SOURCE / mutant.file).read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1
    assert mutant.new != mutant.old
    compile(text.replace(mutant.old, mutant.new), mutant.file, "exec")


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[Path]:
    """Return a copy of the source that may be broken, with what of it is compiled already."""
    target = tmp_path / "src" / "lineshaft"
    half_written = shutil.ignore_patterns("*.pyc.*")
    shutil.copytree(SOURCE, target, ignore=half_written, copy_function=_linked)
    yield target
    _end_all(str(target))
    shutil.rmtree(tmp_path)


def _linked(source: str, target: str) -> str:
    """Give a file a second name, which is much faster than a copy; a copy where that fails."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target


def _end_all(place: str) -> None:
    """End what runs from a copy: a mutant that leaves processes behind leaves them for good."""
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess):
            if any(place in word for word in process.cmdline()):
                for one in (*process.children(recursive=True), process):
                    one.kill()


@pytest.mark.skipif(
    os.environ.get("DEV_TEST_ALL") != "1", reason="mutants are run by ./dev test --all"
)
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_noticed_by_every_test_it_names(mutant: Mutant, copy: Path) -> None:
    file = copy / mutant.file
    text = file.read_text(encoding="utf-8")
    file.unlink()  # its content has another name
    file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    _forget(file)
    assert set(mutant.kills) - _failures(copy.parent, mutant.kills) == set()


def _forget(file: Path) -> None:
    """Delete what is compiled of a file: with the same size and second it would be taken."""
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
        compiled.unlink()


def _failures(path: Path, tests: list[str]) -> set[str]:
    """Run behaviour tests against the source in `path`; return those that failed or hung."""
    failed: set[str] = set()
    for test in tests:  # each by itself: one that hangs must not hide the next
        code, output = _pytest(path, BEHAVIOUR + test)
        assert code in (0, 1, None), f"the tests could not be run:\n{output}"
        if code is None or re.search(r"^(FAILED|ERROR) ", output, re.MULTILINE):
            failed.add(test)
    return failed


def _pytest(path: Path, *words: str) -> tuple[int | None, str]:
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("COV", "PYTEST", "LINESHAFT_", "DEV_"))
    }
    environment |= {"PYTHONPATH": str(path), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # all of them take longer than a test
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "anyio", "-p", "pytest_timeout"]
    command = [sys.executable, "-m", "pytest", *options, *words]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, "hung"
        return process.returncode, output


def test_no_test_that_is_named_needs_another_plugin(copy: Path) -> None:
    """It would fail whatever the mutant, and so notice all of them."""
    named = {BEHAVIOUR + test for mutant in MUTANTS for test in mutant.kills}
    code, output = _pytest(copy.parent, "--setup-plan", *sorted(named))
    assert code == 0, output


def test_the_copy_is_what_the_tests_import(copy: Path) -> None:
    """Otherwise every mutant would be run against the unbroken source."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import importlib.util as u; print(u.find_spec('lineshaft').origin)",
        ],
        env=os.environ | {"PYTHONPATH": str(copy.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(done.stdout.strip()) == copy / "__init__.py"
