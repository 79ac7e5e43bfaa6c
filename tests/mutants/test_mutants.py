"""Each small breakage of the source is noticed by the behaviour tests that claim to notice it."""

import os
import shutil
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from mutants.prepared import Prepared, prepared_pytest

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "lineshaft"
BEHAVIOUR = "tests/behaviour/"


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
def test_a_mutant_is_noticed_by_every_test_it_names(
    mutant: Mutant, copy: Path, prepared: Prepared
) -> None:
    file = copy / mutant.file
    text = file.read_text(encoding="utf-8")
    file.unlink()  # its content has another name
    file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    _forget(file)
    assert set(mutant.kills) - _failures(prepared, copy.parent, mutant.kills) == set()


def _forget(file: Path) -> None:
    """Delete what is compiled of a file: with the same size and second it would be taken."""
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
        compiled.unlink()


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prepared]:
    with prepared_pytest(tmp_path_factory.mktemp("prepared") / "output") as one:
        yield one


def _failures(prepared: Prepared, source: Path, tests: list[str]) -> set[str]:
    """Run behaviour tests against a source; return those that failed or hung."""
    failed: set[str] = set()
    for test in tests:  # each by itself: one that hangs must not hide the next
        code, output = prepared.pytest(source, BEHAVIOUR + test)
        assert code in (0, 1, None), f"the tests could not be run:\n{output}"
        if code != 0:
            failed.add(test)
    return failed


def test_no_test_that_is_named_needs_another_plugin(copy: Path, prepared: Prepared) -> None:
    """It would fail whatever the mutant, and so notice all of them."""
    named = {BEHAVIOUR + test for mutant in MUTANTS for test in mutant.kills}
    code, output = prepared.pytest(copy.parent, "--setup-plan", *sorted(named), seconds=300)
    assert code == 0, output


PLACES = """
import subprocess, sys, lineshaft
def test_place():
    words = [sys.executable, "-c", "import lineshaft; print(lineshaft.__file__)"]
    started = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    assert [lineshaft.__file__, started] == [{place!r}] * 2
"""


def test_the_copy_is_what_the_tests_and_their_programs_import(
    copy: Path, prepared: Prepared, tmp_path: Path
) -> None:
    """Otherwise every mutant would be run against the unbroken source."""
    file = tmp_path / "test_place.py"
    file.write_text(PLACES.format(place=str(copy / "__init__.py")), encoding="utf-8")
    settings = ("-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT))
    code, output = prepared.pytest(copy.parent, *settings, str(file))
    assert code == 0, output


def test_a_run_that_hangs_is_ended(copy: Path, prepared: Prepared, tmp_path: Path) -> None:
    """The next one is answered as if nothing had been."""
    file = tmp_path / "test_hangs.py"
    file.write_text("import time\ndef test():\n    time.sleep(600)\n", encoding="utf-8")
    assert prepared.pytest(copy.parent, str(file), seconds=1) == (None, "hung")
    assert prepared.pytest(copy.parent, "--version")[0] == 0
