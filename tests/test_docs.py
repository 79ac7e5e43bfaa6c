"""Every Python block of our pages runs, and prints what the page says; so do the commands."""

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest
from pytest_examples import CodeExample, EvalExample, find_examples

from native import CACHE_HOME, vouch_for_native_code

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TUTORIAL = ROOT / "docs" / "tutorial.md"
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SCRIPTS = re.MULTILINE | re.DOTALL
MARK = "-- the next command --"


@pytest.mark.parametrize("example", list(find_examples(*map(str, PAGES))), ids=str)
def test_a_block_prints_what_the_page_says(
    example: CodeExample,
    eval_example: EvalExample,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if example.prefix_settings().get("run") == "no":  # a part of a program, or a script
        compile(f"async def script():\n{indent(example.source, ' ')}", str(example), "exec")
        return
    monkeypatch.chdir(tmp_path)
    run = eval_example.run_print_check
    if eval_example.update_examples:
        run = eval_example.run_print_update
    wrong = ""
    try:
        run(example)
    except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  its traceback is made up
        wrong = f"{type(error).__name__}: {error}"
    if wrong:  # out of the handler, since pytest trips over that traceback
        pytest.fail(wrong, pytrace=False)


def _sessions() -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for page in PAGES:
        if page == TUTORIAL:  # one session, below
            continue
        text = page.read_text(encoding="utf-8")
        for block in CONSOLE.finditer(text):
            line = text.count("\n", 0, block.start()) + 1
            found.append((f"{page.relative_to(ROOT)}:{line}", block[1]))
    return found


@pytest.mark.long
@pytest.mark.parametrize(("place", "block"), _sessions(), ids=lambda value: str(value)[:40])
def test_commands_print_what_the_page_says(place: str, block: str, tmp_path: Path) -> None:
    _must_print(block, ROOT, home=tmp_path, place=place)


@pytest.mark.long
def test_the_tutorial_is_one_session_and_prints_what_it_says(tmp_path: Path) -> None:
    text = TUTORIAL.read_text(encoding="utf-8")
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "docs").symlink_to(ROOT / "docs")
    blocks = [block[1] for block in CONSOLE.finditer(text)]
    _must_print(blocks[0].partition("$ cd")[0], folder, home=tmp_path, place="tutorial")
    for name, script in re.findall(r'^```python run="no" title="(.*?)"\n(.*?)^```$', text, SCRIPTS):
        (folder / "shop" / name).write_text(script, encoding="utf-8")
    rest = blocks[0].partition("$ cd shop\n")[2] + "".join(blocks[1:])
    _must_print(rest, folder / "shop", home=tmp_path, place="tutorial")


def _must_print(block: str, folder: Path, *, home: Path, place: str) -> None:
    """Run the commands of a page in one shell, and compare what each prints."""
    commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    script = f"\necho '{MARK}'\n".join(command for command, _ in commands)
    temporary = home / "tmp"  # for what a page makes by `mktemp`
    temporary.mkdir(exist_ok=True)
    done = subprocess.run(
        ["/bin/sh", "-c", script],
        cwd=folder,
        env=_environment(home) | {"TMPDIR": str(temporary)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        timeout=300,
        check=False,
    )
    printed = done.stdout.split(f"{MARK}\n")
    assert len(printed) == len(commands), place
    for (command, expected), output in zip(commands, printed, strict=True):
        pattern = r"(?:.*\n)*".join(map(re.escape, expected.split("...\n")))
        assert re.fullmatch(pattern, output), f"{place}: {command}\n{output}"


def _environment(home: Path) -> dict[str, str]:
    """Return an environment in which our command is found and nobody's settings are."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LINESHAFT_")}
    folders = {f"XDG_{kind}_HOME": str(home / kind) for kind in ("CONFIG", "STATE")}
    folders["XDG_CACHE_HOME"] = str(CACHE_HOME)  # its native code takes seconds to make
    vouch_for_native_code(home / "STATE")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return kept | folders | {"HOME": str(home), "PATH": path}


def test_the_ten_lines_are_ten() -> None:
    readme = PAGES[0].read_text(encoding="utf-8")
    block = readme.partition("## Ten lines\n\n```python\n")[2].partition("```")[0]
    assert len(block.splitlines()) == 10


def test_the_picture_is_that_of_a_run_and_the_page_has_its_figures() -> None:
    done = subprocess.run(
        [sys.executable, "benchmarks/picture.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    picture = (ROOT / "docs" / "picture.svg").read_text(encoding="utf-8")
    figures = re.findall(r"read by the model: ([\d,]+) char|= ([\d,]+)<", picture)
    table = PAGES[0].read_text(encoding="utf-8").partition("| measured |")[2].partition("\n\n")[0]
    assert [one or other for one, other in figures] == re.findall(
        r"^\| cha.*\| (\S+) \|$", table, re.M
    )


@pytest.mark.parametrize("made", ["contracts.py", "generate.py"])
def test_the_reference_pages_are_those_of_the_code(made: str) -> None:
    done = subprocess.run(
        [sys.executable, f"docs/reference/{made}", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_word_stands_once_in_the_glossary() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| ([^|]+?) \|", text, re.MULTILINE)
    assert len(words) == len(set(words))
