"""Programs in a view of their own see what the run sees, and change nothing but what is kept."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from lineshaft import Policy, Session, Tool, kit
from lineshaft.errors import NoBoundary
from lineshaft.kit.view import origin_of, run_in_view
from lineshaft.processes.programs import CommandOptions
from lineshaft.sandbox.jail import best_jail
from lineshaft.values import Context, Line

pytestmark = pytest.mark.usefixtures("nothing_is_left")

Viewing = Callable[..., Session]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *words], check=True)


@pytest.fixture(autouse=True)
def _jail() -> None:
    try:
        best_jail()
    except NoBoundary as error:
        pytest.skip(f"needs a jail: {error.message}")


@pytest.fixture
def viewing(tmp_path: Path) -> Viewing:
    """Return a function that makes a session with tools that run a shell line in a view."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")

    def make(*, keep: bool = False, seconds: float = 20, policy: Policy | None = None) -> Session:
        async def look(line: str, call: Context, folder: str = ".") -> dict[str, Any]:
            """Run a shell line in a view."""
            options = CommandOptions("sh", ("-c", line), seconds=seconds)
            seen = await run_in_view(call, options, folder=folder, keep=keep)
            return {
                "code": seen.result.exit_code,
                "out": seen.result.stdout,
                "err": seen.result.stderr,
                "changed": list(seen.changed),
                "not_kept": list(seen.not_kept),
            }

        tool = Tool.from_function(look, effect="write" if keep else "read")
        return Session([tool, kit.tools()], workspace=folder, policy=policy)

    return make


async def test_a_program_sees_what_has_not_landed_and_its_writes_are_thrown_away(
    viewing: Viewing, tmp_path: Path
) -> None:
    async with viewing() as session:
        done = await session.run("""
await write_file("sub/b.txt", "two\\n")
seen = await look("cat a.txt sub/b.txt; echo x > c.txt; echo y > a.txt; rm sub/b.txt; exit 3")
return seen, [e["path"] for e in (await list_files(recursive=True))["entries"]]
""")
    assert done.status == "success", done.error
    seen, files = done.value
    assert (seen["code"], seen["out"]) == (3, "one\ntwo\n")
    assert seen["changed"] == ["a.txt", "c.txt", "sub/b.txt"]
    assert files == ["a.txt", "sub", "sub/b.txt"]
    assert (tmp_path / "work" / "a.txt").read_text() == "one\n"


async def test_the_copy_is_written_beside_the_event_loop(
    viewing: Viewing, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: dict[str, int] = {}
    write = Path.write_bytes

    def written(path: Path, data: Any) -> int:
        threads[path.name] = threading.get_ident()
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", written)
    async with viewing() as session:
        done = await session.call("look", {"line": "cat a.txt"})
    assert done.value["out"] == "one\n"
    assert threads["a.txt"] != threading.get_ident()


async def test_what_is_kept_becomes_changes_of_the_run(viewing: Viewing, tmp_path: Path) -> None:
    async with viewing(keep=True) as session:
        preview = await session.preview("""
await write_file("b.txt", "two\\n")
return await look("cat b.txt > made.txt; echo three >> b.txt; rm a.txt; ln -s /etc/passwd out")
""")
        assert preview.run.value["not_kept"] == ["out (a symlink that leads out)"]
        assert "+three" in preview.diff
        assert names(tmp_path / "work") == ["a.txt"]
        done = await session.run(
            "return await look('cat a.txt > made.txt; rm a.txt; echo new > n')"
        )
        assert names(tmp_path / "work") == ["made.txt", "n"]
        assert {change.path: change.kind for change in done.changes}["n"] == "created"
        await session.undo(done.run_id)
    assert names(tmp_path / "work") == ["a.txt"]


async def test_what_a_failing_program_made_is_not_kept(viewing: Viewing, tmp_path: Path) -> None:
    async with viewing(keep=True) as session:
        done = await session.call("look", {"line": "echo x > c.txt; exit 1"})
    assert done.value["code"] == 1
    assert names(tmp_path / "work") == ["a.txt"]


async def test_hidden_files_are_not_there_and_git_is_a_stub(
    viewing: Viewing, tmp_path: Path, require: Callable[[str], str]
) -> None:
    require("git")
    work = tmp_path / "work"
    (work / ".env").write_text("KEY=1")
    (work / "private").mkdir()
    (work / "private" / "k").write_text("k")
    git(work, "init", "-q")
    url = "https://someone:token@github.com/o/azure-rest-api-specs.git"
    git(work, "remote", "add", "origin", url)
    packages = work / "node_modules" / "p"
    packages.mkdir(parents=True)
    (packages / "x").write_text("package")
    rule = {"id": "no", "tool": "*", "path": "private/**", "verdict": "deny"}
    line = (
        "ls -A | tr '\\n' ' '; ls private; cat node_modules/p/x; git remote get-url origin;"
        " git rev-parse --show-toplevel; cat /etc/shadow; echo $HOME"
    )
    async with viewing(policy=Policy.from_dict({"rules": [rule]})) as session:
        done = await session.call("look", {"line": line})
    out = done.value["out"]
    assert out.startswith(".git a.txt node_modules ")
    assert "package" in out
    assert "https://github.com/o/azure-rest-api-specs.git\n" in out
    assert "token" not in out
    assert "/etc/shadow" in done.value["err"]
    assert str(tmp_path) not in out
    assert str(Path.home()) + "\n" not in out


async def test_a_time_out_and_a_cancel_leave_nothing(viewing: Viewing) -> None:
    line = "(setsid sh -c 'trap \"\" TERM; sleep 99' &) ; sleep 99"
    async with viewing(seconds=1) as session:
        done = await session.call("look", {"line": line})
        assert done.error is not None
        assert (done.error.code, "ended after 1 s" in done.error.message) == (
            "E_TOOL_TIMEOUT",
            True,
        )
    async with viewing() as session:
        with anyio.move_on_after(2) as scope:
            await session.call("look", {"line": line})
        assert scope.cancelled_caught


async def test_there_is_no_network_in_a_view_and_a_missing_program_is_told(
    viewing: Viewing,
) -> None:
    source = "import socket; socket.create_connection(('127.0.0.1', 9), 1)"
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
    async with viewing() as session:
        done = await session.call("look", {"line": f'{python} -c "{source}"'})
        assert done.value["code"] != 0
        assert "refused" not in done.value["err"], "it was reached, and nobody listened"

        async def missing(call: Context) -> None:
            """Run what is not there."""
            await run_in_view(call, CommandOptions("no-such-program"))

    async with Session([Tool.from_function(missing, effect="read")]) as session:
        done = await session.call("missing", {})
    assert done.error is not None
    assert done.error.message == "there is no program 'no-such-program'"


async def test_packages_are_linked_where_they_are_real_folders_of_the_workspace(
    viewing: Viewing, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "key").write_text("OUTSIDE")
    for path, text in {
        "node_modules/p/x": "package",
        "sub/node_modules/p/x": "package of sub",
        "private/key": "CLOSED",
        "closed/node_modules/x": "CLOSED",
        "part/node_modules/closed/x": "CLOSED",
        "part/node_modules/.env": "CLOSED",
        "part/node_modules/x": "open",
        ".git/config": "CLOSED",
    }.items():
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_text(text)
    links = {"out": "../../home", "in": "../private", "git": "../.git", "other": "../sub"}
    for name, target in links.items():
        (work / name).mkdir()
        (work / name / "node_modules").symlink_to(target)
    (work / "around").symlink_to("sub")
    (work / "file").mkdir()
    (work / "file" / "node_modules").write_text("no folder")
    closed = ("private/**", "closed/node_modules/**", "part/node_modules/closed/**")
    rules = [{"id": "c", "tool": "*", "path": list(closed), "verdict": "deny"}]
    line = (
        "cat node_modules/p/x sub/node_modules/p/x part/node_modules/x; echo;"
        " ls -d */node_modules | tr '\\n' ' '; echo;"
        f" cat {tmp_path}/home/key {work}/private/key {work}/.git/config"
        f" {work}/closed/node_modules/x"
        " closed/node_modules/x part/node_modules/closed/x part/node_modules/.env"
    )
    async with viewing(policy=Policy.from_dict({"rules": rules})) as session:
        done = await session.call("look", {"line": line})
    packages, folders, *rest = done.value["out"].split("\n")
    assert packages == "packagepackage of subopen"
    assert folders.split() == ["part/node_modules", "sub/node_modules"]
    assert rest == [""]
    assert "CLOSED" not in done.value["err"]


async def test_a_link_that_a_program_of_the_run_made_opens_nothing(
    viewing: Viewing, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    (work / "private").mkdir()
    (work / "private" / "key").write_text("CLOSED")
    rules = [{"id": "c", "tool": "*", "path": "private/**", "verdict": "deny"}]
    policy = Policy.from_dict({"mode": "open", "rules": rules})
    program = "import os; os.mkdir('s'); os.symlink('../private', 's/node_modules')"
    async with viewing(policy=policy) as session:
        done = await session.run(f"""
await python_run(code={program!r})
return await look("cat s/node_modules/key {work}/private/key")
""")
        assert done.status == "success", done.error
        again = await session.call("look", {"line": f"cat s/node_modules/key {work}/private/key"})
    assert (work / "s" / "node_modules").is_symlink()
    for seen in (done.value, again.value):
        assert (seen["code"], seen["out"]) == (1, "")


@pytest.mark.parametrize(
    "path",
    [
        *("node_modules/p/x", "a/.git/config", "NODE_MODULES/p/x", "../x", "a/../../x", "./../x"),
        *("{outside}", "//{outside}", "./x", "a//x", "", ".", "a\\..\\x", "C:/x", "c:x", "a\0b"),
    ],
)
async def test_no_content_takes_the_place_of_what_is_no_file_of_the_workspace(
    tmp_path: Path, path: str
) -> None:
    (tmp_path / "node_modules" / "p").mkdir(parents=True)

    outside = tmp_path / "outside" / "x"
    named = path.replace("{outside}", str(outside))

    async def replace(call: Context) -> None:
        """Replace a content."""
        await run_in_view(call, CommandOptions("true"), extra={named: b"x"})

    tool = Tool.from_function(replace, effect="read")
    async with Session([tool], workspace=tmp_path) as session:
        done = await session.call("replace", {})
    assert done.error is not None
    assert done.error.code == "E_INVALID_ARGS"
    assert "none of the workspace's files" in done.error.message
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


async def test_lines_come_while_the_program_runs_and_are_kept_in_their_order(
    tmp_path: Path,
) -> None:
    came: list[Line] = []
    two = anyio.Event()

    def told(line: Line) -> None:
        came.append(line)
        if len(came) == 2:
            two.set()

    async def look(line: str, call: Context) -> list[list[str]]:
        """Run a shell line in a view."""
        seen = await run_in_view(call, CommandOptions("sh", ("-c", line)), on_line=told)
        return [[each.stream, each.text] for each in seen.result.lines]

    tool = Tool.from_function(look, effect="read")
    async with Session([tool], workspace=tmp_path) as session:
        async with anyio.create_task_group() as group:
            line = "pwd; echo problem >&2; sleep 99"
            group.start_soon(session.call, "look", {"line": line})
            await two.wait()
            group.cancel_scope.cancel()
        assert [[each.stream, each.text] for each in came] == [
            ["stdout", "."],
            ["stderr", "problem"],
        ]
        flood = "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; printf end >&2"
        came.clear()
        done = await session.call("look", {"line": flood})
    assert len(came) == 20_001
    assert [each.text for each in came[:2]] == ["line 0", "line 1"]
    assert ["stderr", "end"] in done.value
    assert 100 < len(done.value) < 20_001


async def test_an_error_of_who_is_told_lines_is_raised(tmp_path: Path) -> None:
    async def look(call: Context) -> None:
        """Run a program whose lines nobody can take."""

        def told(line: Line) -> None:
            raise ValueError(line.text)

        await run_in_view(call, CommandOptions("sh", ("-c", "echo a; echo b")), on_line=told)

    async with Session([Tool.from_function(look, effect="read")], workspace=tmp_path) as session:
        done = await session.call("look", {})
    assert done.error is not None
    assert "ValueError: a" in done.error.message


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://u:pw@host/r.git", "https://host/r.git"),
        ("ssh://git:pw@host:22/r.git", "ssh://git@host:22/r.git"),
        ("git+ssh://git:p@w@host/r.git", "git+ssh://git@host/r.git"),
        ("git@host:r.git", "git@host:r.git"),
        ("https://[bad", ""),
    ],
)
def test_the_origin_is_told_without_a_password(tmp_path: Path, url: str, said: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {url}\n')
    assert origin_of(tmp_path) == said


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_repository_whose_configuration_is_no_file_has_no_origin(tmp_path: Path) -> None:
    """Such as one out of an archive: a pipe or a device would be read for ever."""
    (tmp_path / ".git").mkdir()
    config = tmp_path / ".git" / "config"
    config.symlink_to("/dev/zero")
    assert origin_of(tmp_path) == ""
    config.unlink()
    os.mkfifo(config)
    assert origin_of(tmp_path) == ""
