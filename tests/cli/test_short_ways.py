"""Short ways at a shell: `-h`, arguments for the script, ids by their end, the last run undone."""

import subprocess
import sys
from pathlib import Path

import pytest


def lineshaft(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "lineshaft", *words]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize("words", [["-h"], ["run", "-h"], ["runs", "-h"], ["config", "mcp", "-h"]])
def test_h_is_help(words: list[str], tmp_path: Path) -> None:
    shown = lineshaft(tmp_path, *words)
    assert (shown.returncode, shown.stdout.splitlines()[0][:16]) == (0, "Usage: lineshaft")


def test_a_script_finds_its_arguments(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text("import sys\nreturn [sys.argv, args]")
    given = lineshaft(tmp_path, "run", "s.py", "a", "b c", "--quiet")
    dashed = lineshaft(tmp_path, "run", "s.py", "--quiet", "--", "--x")
    none = lineshaft(tmp_path, "run", "s.py", "--quiet")
    assert given.stdout == '[["s.py","a","b c"],["a","b c"]]\n'
    assert dashed.stdout == '[["s.py","--x"],["--x"]]\n'
    assert none.stdout == '[["s.py"],[]]\n'


def test_the_last_run_is_undone_and_ids_are_known_by_their_end(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text("await write_file(args[0], 'x')")
    ran = [lineshaft(tmp_path, "run", "s.py", name) for name in ("a.txt", "b.txt")]
    ids = [each.stderr.split()[-1] for each in ran]
    last = lineshaft(tmp_path, "undo")
    shown = lineshaft(tmp_path, "show", ids[0].rpartition("-")[2])
    first = lineshaft(tmp_path, "undo", ids[0][-8:])
    assert ids[1] in last.stderr
    assert ids[0] in shown.stdout
    assert ids[0] in first.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["s.py"]


def test_an_undo_of_nothing_says_where_the_other_runs_are(tmp_path: Path) -> None:
    lineshaft(tmp_path, "run", "-c", "await write_file('a.txt', 'x')")
    lineshaft(tmp_path, "run", "-c", "print('only looked')")
    last = lineshaft(tmp_path, "undo")
    assert last.returncode == 1
    assert "has landed no changes" in last.stderr
    assert "`lineshaft runs`" in last.stderr
    assert (tmp_path / "a.txt").is_file()


@pytest.mark.parametrize(
    ("call", "printed"),
    [
        (("run_command", "command=sh -c 'exit 3'"), '"exit_code":3'),
        (("run_command", "command=true"), '"exit_code":0'),
        (("python_run", "code=import sys; sys.exit(130)"), '"exitCode":130'),
        (("python_run", "code=print(1)"), '"exitCode":0'),
        (("python_run", "file=none.py"), '"ok":false'),
    ],
)
def test_a_call_of_a_program_exits_with_no_code_of_the_program(
    tmp_path: Path, call: tuple[str, ...], printed: str
) -> None:
    done = lineshaft(tmp_path, "call", *call, "--mode", "open")
    assert printed in done.stdout, done.stderr
    assert done.returncode == (0 if ":0" in printed else 1)
