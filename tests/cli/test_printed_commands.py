"""Commands that are printed: each stands on a line of its own or in backquotes, and is a command.

The parser of the command line itself says whether it is one.
"""

import ast
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import lineshaft
from cli.paused import ASK_WRITES, Lineshaft, ids, paused
from lineshaft.cli._app import COMMANDS, application, spelled_out

SOURCE = Path(lineshaft.__file__).parent
FIRST_WORDS = sorted({name.split()[0] for name in COMMANDS})
MENTION = re.compile(rf"\blineshaft (?=(?:{'|'.join(FIRST_WORDS)})\b)")
QUOTED = re.compile(r"`([^`\n]*)`")


def commands_in(text: str) -> Iterator[str]:
    """Yield the commands that a text names; none may stand in the middle of prose."""
    for line in text.split("\n"):
        quoted = [match.span(1) for match in QUOTED.finditer(line)]
        for mention in MENTION.finditer(line):
            around = [line[a:b] for a, b in quoted if a <= mention.start() < b]
            alone = re.match(r"\s*(?:echo '[^']*' \| )?(?=lineshaft )", line)
            assert around or alone, f"this cannot be pasted: {line!r}"
            yield around[0] if around else line[mention.start() :].rstrip()


def parse(command: str) -> None:
    """Parse a command line as the command line does, and carry out nothing."""
    words = spelled_out(shlex.split(command)[1:])
    here: click.Command = application(words)
    count = next(n for n in (1, 2, 3) if " ".join(words[:n]) in COMMANDS)
    for word in words[:count]:
        assert isinstance(here, click.Group)
        here = here.commands[word]
    here.make_context(words[count - 1], list(words[count:]), obj=words)


def literals(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of a module, but for docstrings; what is computed in them is `1`."""
    parts = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    plain = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "1" for part in node.values
            )
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and not {id(node)} & (parts | plain)
        ):
            yield node.value


def test_every_command_in_a_message_can_be_pasted() -> None:
    found: set[str] = set()
    for file in SOURCE.rglob("*.py"):
        for text in literals(ast.parse(file.read_text(encoding="utf-8"))):
            found.update(commands_in(text))
    assert len(found) > 40
    for command in found:
        parse(re.sub(r"\b(?:N|RUN)\b", "1", command))


@pytest.mark.parametrize("wrong", ["resume r --nonsense", "show a b", "resume --repeat", "nothing"])
def test_what_is_no_command_is_seen(wrong: str) -> None:
    with pytest.raises((click.ClickException, StopIteration)):
        parse(f"lineshaft {wrong}")


def check(*texts: str) -> list[str]:
    """Return the commands of what was printed, each of which must be one."""
    found = [command for text in texts for command in commands_in(text)]
    for command in found:
        parse(command)
    return found


def test_what_a_paused_run_prints_can_be_pasted(lineshaft: Lineshaft, workspace: Path) -> None:
    run = str(paused(lineshaft, workspace)["run_id"])
    listed = lineshaft("resume")
    assert len(check(listed.stderr)) == 4
    assert check(lineshaft("show").stdout) == [f"lineshaft resume {run}"]
    assert check(lineshaft("replay").stderr) == [f"lineshaft resume {run}"]
    first = ids(lineshaft_json := paused(lineshaft, workspace))[0]
    words = next(line for line in check(lineshaft("resume").stderr) if f"--approve {first}" in line)
    assert lineshaft(*shlex.split(words)[1:]).returncode == 0
    over = lineshaft("resume", str(lineshaft_json["run_id"]), "--approve", "all")
    assert over.returncode == 1
    check(over.stderr, lineshaft("resume", run, "--cancel").stderr, lineshaft("runs").stdout)


def test_what_is_printed_of_a_workspace_by_its_path_can_be_pasted(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    other = workspace / "it's here"
    other.mkdir()
    (other / "lineshaft.toml").write_text(ASK_WRITES)
    words = ("call", "write_file", "path=a", "content=x", "--workspace", str(other))
    done = lineshaft(*words)
    approve = next(command for command in check(done.stderr) if "--approve all" in command)
    assert lineshaft(*shlex.split(approve)[1:]).returncode == 0
    assert (other / "a").read_text() == "x"


def test_what_an_interrupted_run_prints_can_be_pasted(
    lineshaft: Lineshaft, workspace: Path, environ: dict[str, str]
) -> None:
    (workspace / "s.py").write_text(
        "await run_command(command='sh', args=['-c', 'touch begun; sleep 60'])"
    )
    host = subprocess.Popen(
        [sys.executable, "-m", "lineshaft", "run", "s.py", "--mode", "open", "--quiet"],
        cwd=workspace,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (workspace / "begun").exists():
        try:
            host.wait(timeout=0.05)
        except subprocess.TimeoutExpired:
            continue
        raise AssertionError(host.communicate())
    host.kill()
    host.communicate(timeout=60)
    printed = check(lineshaft("resume").stderr)
    assert [command.rpartition(" ")[2] for command in printed][::2] == ["all", "none"]
    assert lineshaft(*shlex.split(printed[-1])[1:]).returncode == 1  # the script is told


@pytest.mark.parametrize(
    "words",
    [
        ("show", "nobody"),
        ("undo", "nobody"),
        ("resume", "nobody"),
        ("explain", "nobody/1"),
        ("tools", "nothing", "like", "this"),
        ("call", "no_such_tool"),
        ("call", "write_file", "path=1"),
        ("init",),
        ("run", "nothing.py"),
        ("config", "show"),
        ("config", "mcp"),
        ("cache",),
        ("doctor", "--quick"),
    ],
)
def test_what_other_commands_print_can_be_pasted(
    lineshaft: Lineshaft, workspace: Path, words: tuple[str, ...]
) -> None:
    (workspace / "own.py").write_text("")
    if words[0] in ("config", "doctor"):
        (workspace / "lineshaft.toml").write_text('[tools]\nmodules = ["./own.py"]')
    done = lineshaft(*words)
    check(done.stdout, done.stderr)
