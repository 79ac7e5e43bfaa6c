"""`python_run`: what is closed to a program, what becomes of its changes, and who is asked."""

import socket
from pathlib import Path

import pytest

from behaviour.programs import Open, Run, value_of
from lineshaft import Answer, Context, Pending, Policy, Session, tool
from lineshaft.values import WASM_BOUNDARY, PythonOptions

pytestmark = pytest.mark.behaviour("H31")


async def test_standard_input_is_empty_and_there_is_no_network(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"""
import socket, sys
print(repr(sys.stdin.read()))
try:
    socket.create_connection(("127.0.0.1", {port}), timeout=2)
    print("connected")
except OSError as error:
    print("refused")
"""
        answer = await run(code=code)

    assert answer["stdout"] == "''\nrefused\n"


@pytest.mark.parametrize("way", [".env", "link", "hard", "sub/key.pem", ".git/config"])
async def test_secrets_and_the_repositorys_own_files_are_not_there(
    run: Run, folder: Path, way: str
) -> None:
    (folder / ".git").mkdir()
    (folder / "sub").mkdir()
    for name in (".env", "sub/key.pem", ".git/config"):
        (folder / name).write_text("hush")
    (folder / "link").symlink_to(".env")
    (folder / "hard").hardlink_to(folder / ".env")

    answer = await run(code=f"print(open({way!r}).read())")

    assert answer["exitCode"] == 1
    assert "hush" not in answer["stdout"]


async def test_what_a_rule_of_the_user_allows_is_there(
    opened: Open, folder: Path, boundary: str
) -> None:
    (folder / ".env").write_text("DEBUG=1")
    rules = {"rules": [{"id": "mine", "path": ".env", "verdict": "allow"}]}
    session = await opened(policy=Policy.from_dict(rules), python=PythonOptions(boundary=boundary))

    answer = value_of(await session.call("python_run", {"code": "print(open('.env').read())"}))

    assert answer["stdout"] == "DEBUG=1\n"


async def test_a_program_is_no_way_around_the_rules_for_files(
    opened: Open, folder: Path, boundary: str
) -> None:
    (folder / "secrets").mkdir()
    (folder / "secrets" / "a").write_text("hush")
    (folder / "kept").write_text("as it was")
    rules = [
        {"id": "no-secrets", "tool": "read_file", "path": "secrets/**", "verdict": "deny"},
        {"id": "kept", "tool": "write_file", "path": "kept", "verdict": "ask"},
    ]
    session = await opened(
        policy=Policy.from_dict({"rules": rules}), python=PythonOptions(boundary=boundary)
    )

    reading = value_of(
        await session.call("python_run", {"code": "print(open('secrets/a').read())"})
    )
    code = "print(open('kept').read()); open('kept', 'a').write('x')"
    writing = value_of(await session.call("python_run", {"code": code}))

    assert (reading["exitCode"], "hush" in str(reading)) == (1, False)
    assert "as it was" in str(writing)
    assert (folder / "kept").read_text() == "as it was"


@pytest.mark.parametrize(
    ("path", "there"),
    [(".git/hooks/pre-commit", False), ("lineshaft.toml", True), (".vscode/tasks.json", False)],
)
async def test_what_decides_over_tools_is_not_changed(
    run: Run, folder: Path, path: str, *, there: bool
) -> None:
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    (folder / ".git" / "hooks").mkdir(parents=True, exist_ok=True)
    if there:
        target.write_text("# as it was")
    code = f"""
import os
open("other", "w").write("x")
os.makedirs(os.path.dirname({path!r}) or ".", exist_ok=True)
open({path!r}, "w").write("evil")
"""

    answer = await run(code=code)

    assert target.read_text() == "# as it was" if there else not target.exists()
    failed_inside = answer.get("exitCode") == 1
    assert failed_inside or answer["error"]["code"] == "E_DENIED"
    assert failed_inside or not (folder / "other").exists()


async def test_changes_are_exact_and_belong_to_the_run(
    opened: Open, folder: Path, boundary: str
) -> None:
    (folder / "old").mkdir()
    for name in ("edited", "deleted", "old/moved", "same"):
        (folder / name).write_text(f"{name}\n")
    session = await opened(python=PythonOptions(boundary=boundary))
    program = """
import os, pathlib
pathlib.Path("new/deep").mkdir(parents=True)
pathlib.Path("new/deep/created").write_text("1\\n2\\n")
pathlib.Path("edited").write_text("edited\\nmore\\n")
pathlib.Path("same").write_text("same\\n")
os.remove("deleted")
os.makedirs("other")
os.rename("old/moved", "other/moved")
os.rmdir("old")
pathlib.Path("passing").write_text("x")
os.remove("passing")
"""

    result = await session.run(f"return (await python_run(code={program!r}))['exitCode']")

    assert result.value == 0
    changes = {(c.path, c.kind, c.moved_from, c.added, c.removed) for c in result.changes}
    assert changes == {
        ("new/deep/created", "created", None, 2, 0),
        ("edited", "modified", None, 1, 0),
        ("deleted", "deleted", None, 0, 1),
        ("other/moved", "moved", "old/moved", 0, 0),
    }
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert there == {"new/deep/created", "edited", "same", "other/moved"}
    assert not (folder / "old").exists()


async def test_links_empty_folders_and_modes_are_kept_but_what_leads_out_is_not(
    run: Run, folder: Path, boundary: str
) -> None:
    # WebAssembly makes no absolute links.
    out = "../../etc/passwd" if boundary == WASM_BOUNDARY else "/etc/passwd"
    code = f"""
import os
os.symlink("tool", "link")
os.symlink("{out}", "out")
os.mkdir("empty")
open("tool", "w").write("x")
os.chmod("tool", 0o755)
"""

    answer = await run(code=code)

    assert answer["ok"] is True
    assert answer["notKept"] == ["out (a symlink that leads out)"]
    assert sorted(path.name for path in folder.iterdir()) == ["empty", "link", "tool"]
    assert (folder / "link").readlink() == Path("tool")
    assert (folder / "tool").stat().st_mode & 0o777 == 0o755
    assert (folder / "empty").is_dir()


async def test_a_name_that_is_no_text_costs_no_other_change(
    run: Run, folder: Path, boundary: str
) -> None:
    code = """
import os
open("good", "w").write("x")
try:
    open(b"bad\\xff", "w").write("x")
    os.mkdir(b"folder\\xff")
    open(b"folder\\xff/in", "w").write("x")
except OSError:
    print("refused")
"""

    answer = await run(code=code)
    again = await run(code="import os\nprint(os.listdir())")

    if boundary == WASM_BOUNDARY:
        assert answer["stdout"] == "refused\n"
    else:
        assert answer["notKept"] == [
            r"bad\xff (its name is not UTF-8)",
            r"folder\xff (its name is not UTF-8)",
            r"folder\xff/in (its name is not UTF-8)",
        ]
    assert again["stdout"] == "['good']\n"
    assert [path.name for path in folder.iterdir()] == ["good"]


@pytest.mark.parametrize("mode", ["plan", "read"])
async def test_where_only_reading_is_allowed_it_is_refused(opened: Open, mode: str) -> None:
    session = await opened(policy=Policy.from_dict({"mode": mode}))

    done = await session.call("python_run", {"code": "print(1)"})

    assert (done.status, done.error and done.error.code) == ("refused", "E_DENIED")


async def test_in_a_jail_nobody_is_asked_and_without_one_somebody_is(
    opened: Open, folder: Path, boundary: str
) -> None:
    asked: list[str] = []

    async def approver(pending: tuple[Pending, ...]) -> dict[str, Answer]:
        asked.extend(each.tool for each in pending)
        return {each.id: Answer(allow=True) for each in pending}

    jailed = await opened(approver=approver, python=PythonOptions(boundary=boundary))
    assert value_of(await jailed.call("python_run", {"code": "print(1)"}))["stdout"] == "1\n"
    assert asked == []

    plain = await opened(approver=approver, python=PythonOptions(boundary="none"))
    code = "import sys; print(sys.argv[1]); open('made', 'w').write('x'); sys.exit(4)"
    answer = value_of(await plain.call("python_run", {"code": code, "args": ["ä b"]}))
    assert asked == ["python_run"]
    assert (answer["stdout"], answer["exitCode"]) == ("ä b\n", 4)
    assert (folder / "made").read_text() == "x"

    alone = await opened(python=PythonOptions(boundary="none"))
    waits = await alone.call("python_run", {"code": "print(1)"})
    assert (waits.status, waits.error and waits.error.code) == ("pending", "E_PAUSED")


async def test_a_jailed_tool_reaches_by_its_view_no_more_than_its_program(
    folder: Path,
) -> None:
    (folder / "lineshaft.toml").write_text("# as it was")
    (folder / "a").write_text("x")

    @tool(effect="exec", jailed=True)
    async def touch(path: str, call: Context) -> str:
        """Write a file."""
        await call.workspace.write(path, b"touched")
        return call.reach(path)

    async with Session([touch], workspace=folder) as session:
        done = await session.call("touch", {"path": "a"})
        refused = await session.call("touch", {"path": "lineshaft.toml"})

    assert done.value == "open"
    assert refused.error is not None
    assert refused.error.code == "E_DENIED"
    assert (folder / "lineshaft.toml").read_text() == "# as it was"


async def test_a_plain_process_runs_out_of_time_too(opened: Open) -> None:
    session = await opened(
        policy=Policy(mode="open"), python=PythonOptions(boundary="none", seconds=1)
    )

    code = "import time; print('begun'); time.sleep(60)"
    answer = value_of(await session.call("python_run", {"code": code}))

    assert answer["error"]["code"] == "PYTHON_TIMEOUT"
    assert answer["error"]["details"]["stdout"] == "begun\n"
