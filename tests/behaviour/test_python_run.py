"""`python_run`: a program, in a jail, with the workspace and nothing else."""

import json
import os
import socket
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, cast

import anyio
import psutil
import pytest

from lineshaft import Answer, Context, Limits, Pending, Policy, Session, kit, tool
from lineshaft.engines import best_jail
from lineshaft.errors import NoBoundary
from lineshaft.values import CallResult, PythonOptions
from lineshaft.workspace import Folder, Mount

pytestmark = pytest.mark.behaviour("H31")

Run = Callable[..., Awaitable[dict[str, Any]]]
Open = Callable[..., Awaitable[Session]]

GRANDCHILD = """
import os, sys
sys.stdout.flush()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            os.getppid()
    os._exit(0)
os.wait()
"""


@pytest.fixture(params=["sandlock", "bubblewrap"])
def boundary(request: pytest.FixtureRequest) -> str:
    """Return each boundary that this machine has."""
    name = str(request.param)
    try:
        best_jail(name)
    except NoBoundary as error:
        pytest.skip(f"needs the boundary {name!r}: {error.message}")
    return name


@pytest.fixture
async def opened(folder: Path) -> AsyncIterator[Open]:
    """Return a function that opens a session over the kit."""
    async with AsyncExitStack() as stack:

        async def open_session(**settings: Any) -> Session:
            settings.setdefault("workspace", folder)
            return await stack.enter_async_context(Session(kit.tools(), **settings))

        yield open_session


@pytest.fixture
async def run(opened: Open, boundary: str) -> Run:
    """Return a function that runs a program and returns the answer."""
    session = await opened(python=PythonOptions(boundary=boundary))

    async def python_run(**arguments: object) -> dict[str, Any]:
        return value_of(await session.call("python_run", arguments))

    return python_run


def value_of(done: CallResult) -> dict[str, Any]:
    assert done.error is None, done.error
    return cast("dict[str, Any]", done.value)


def processes_with(word: str) -> list[int]:
    """Return the processes that have a word among their arguments, the dead left out."""
    return [
        process.pid
        for process in psutil.process_iter(["cmdline", "status"])
        if process.info["status"] != psutil.STATUS_ZOMBIE
        and word in (process.info["cmdline"] or ())
    ]


async def test_a_program_is_run_and_its_answer_has_a_fixed_shape(run: Run) -> None:
    answer = await run(code="print(2 + 2)")

    assert answer.pop("durationMs") > 0
    assert answer == {
        "ok": True,
        "stdout": "4\n",
        "stderr": "",
        "exitCode": 0,
        "stdoutTruncated": False,
        "stderrTruncated": False,
    }


async def test_arguments_arrive_as_they_are(run: Run) -> None:
    args = ["two words", "", "ä ☃ 𝄞", "$(date) `x` 'y'", "-c", "--help"]

    answer = await run(code="import json, sys; print(json.dumps(sys.argv[1:]))", args=args)

    assert json.loads(answer["stdout"]) == args


async def test_an_exit_code_is_a_result_and_keeps_the_changes(run: Run, folder: Path) -> None:
    answer = await run(code="open('made', 'w').write('x'); raise SystemExit(3)")

    assert (answer["ok"], answer["exitCode"]) == (True, 3)
    assert (folder / "made").read_text() == "x"


async def test_an_error_is_shown_with_the_programs_own_lines(run: Run, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "bad.py").write_text("def f():\n    return 1 / 0  # here\nf()\n")

    answer = await run(file="sub/bad.py")

    assert answer["exitCode"] == 1
    assert 'File "sub/bad.py", line 2, in f' in answer["stderr"]
    assert "1 / 0  # here" in answer["stderr"]
    assert "python_inside" not in answer["stderr"]


async def test_a_program_starts_in_the_workspace_and_imports_from_it(
    run: Run, folder: Path
) -> None:
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text("NAME = 'of the workspace'\n")
    (folder / "tools").mkdir()
    (folder / "tools" / "beside.py").write_text("NAME = 'beside'\n")
    (folder / "tools" / "main.py").write_text(
        "import os, package, beside\n"
        "if __name__ == '__main__':\n"
        "    print(os.getcwd(), package.NAME, beside.NAME, os.path.isabs(__file__))\n"
    )

    answer = await run(file="@project/tools/main.py")

    assert answer["stdout"] == f"{folder.resolve()} of the workspace beside True\n"


async def test_a_file_of_a_mounted_folder_is_run_though_the_folder_is_not_there(
    opened: Open, folder: Path, tmp_path: Path, boundary: str
) -> None:
    (tmp_path / "shared").mkdir()
    program = "import sys, os; print(sys.argv[0], os.path.exists(sys.argv[1]))"
    (tmp_path / "shared" / "p.py").write_text(program)
    session = await opened(
        workspace=Folder(folder, aliases={"@pkg": Mount(tmp_path / "shared")}),
        python=PythonOptions(boundary=boundary),
    )

    arguments = {"file": "@pkg/p.py", "args": [str(tmp_path / "shared")]}
    answer = value_of(await session.call("python_run", arguments))

    assert answer["stdout"] == "@pkg/p.py False\n"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ({}, "E_INVALID_ARGS", "`code` or `file`"),
        ({"code": "1", "file": "a.py"}, "E_INVALID_ARGS", "`code` or `file`"),
        ({"code": " \n\t"}, "E_INVALID_ARGS", "`code` is empty"),
        ({"code": "1", "args": ["a\0b"]}, "E_INVALID_ARGS", "args[0]"),
        ({"code": "1", "args": ["x" * 200_000]}, "E_INVALID_ARGS", "args[0]"),
        ({"file": "nowhere.py"}, "E_FILE_NOT_FOUND", "nowhere.py"),
        ({"file": "."}, "E_INVALID_ARGS", "folder"),
    ],
)
async def test_what_cannot_be_run_says_why(
    opened: Open, arguments: dict[str, object], code: str, said: str
) -> None:
    session = await opened()

    answer = value_of(await session.call("python_run", arguments))

    assert answer["ok"] is False
    assert answer["error"]["code"] == code
    assert said in answer["error"]["message"]
    assert isinstance(answer["error"]["details"], dict)


async def test_a_python_that_is_not_there_is_not_replaced_by_another(
    opened: Open, tmp_path: Path, boundary: str
) -> None:
    options = PythonOptions(path=str(tmp_path / "none"), boundary=boundary)
    session = await opened(python=options)

    answer = value_of(await session.call("python_run", {"code": "print(1)"}))

    assert answer["error"]["code"] == "PYTHON_NOT_FOUND"


async def test_without_its_boundary_a_program_does_not_run(opened: Open, folder: Path) -> None:
    session = await opened(python=PythonOptions(boundary="moat"))

    answer = value_of(await session.call("python_run", {"code": "open('made', 'w')"}))

    assert answer["error"]["code"] == "PYTHON_EXEC_FAILED"
    assert "'moat'" in answer["error"]["message"]
    assert list(folder.iterdir()) == []


@pytest.mark.behaviour("A2")
async def test_time_ends_the_program_and_nothing_of_it_is_kept(
    opened: Open, folder: Path, boundary: str
) -> None:
    session = await opened(python=PythonOptions(boundary=boundary, seconds=1.5))
    code = f"print('begun')\nopen('made', 'w').write('x')\n{GRANDCHILD}\nwhile True: pass"

    arguments = {"code": code, "args": [word := f"word-{os.getpid()}-time"]}
    answer = value_of(await session.call("python_run", arguments))

    assert answer["error"]["code"] == "PYTHON_TIMEOUT"
    assert answer["error"]["details"]["stdout"] == "begun\n"
    assert processes_with(word) == []
    assert list(folder.iterdir()) == []


async def test_the_calls_own_time_is_over_before_the_gate_ends_it(
    opened: Open, boundary: str
) -> None:
    session = await opened(
        limits=Limits(call_seconds=2), python=PythonOptions(boundary=boundary, seconds=60)
    )

    done = await session.call("python_run", {"code": "import time; time.sleep(60)"})

    assert value_of(done)["error"]["code"] == "PYTHON_TIMEOUT"


async def test_a_grandchild_in_a_session_of_its_own_ends_with_the_program(run: Run) -> None:
    word = f"word-{os.getpid()}-grandchild"

    answer = await run(code=f"print('begun')\n{GRANDCHILD}", args=[word])

    assert (answer["stdout"], answer["exitCode"]) == ("begun\n", 0)
    assert processes_with(word) == []


async def test_a_cancelled_call_ends_the_program(opened: Open, boundary: str) -> None:
    session = await opened(python=PythonOptions(boundary=boundary))
    word = f"word-{os.getpid()}-cancel"

    async with anyio.create_task_group() as group:
        group.start_soon(session.call, "python_run", {"code": "while True: pass", "args": [word]})
        with anyio.fail_after(10):
            while not processes_with(word):
                await anyio.sleep(0.02)
        group.cancel_scope.cancel()

    assert processes_with(word) == []


async def test_long_output_is_cut_in_the_middle_and_counted(run: Run) -> None:
    code = "import sys; print('é' * 29_999 + 'z'); sys.stderr.write('x' * 10_001)"

    answer = await run(code=code)

    assert answer["stdoutTruncated"] is True
    assert answer["stderrTruncated"] is True
    assert "\n[... 10,000 bytes left out ...]\n" in answer["stdout"]
    assert answer["stdout"].startswith("é" * 10_000)
    assert answer["stdout"].endswith("éz\n")
    assert len(answer["stdout"].encode()) < 50_100
    assert "[... 1 bytes left out ...]" in answer["stderr"]


async def test_output_that_just_fits_is_whole(run: Run) -> None:
    answer = await run(code="import sys; sys.stdout.write('x' * 50_000)")

    assert (len(answer["stdout"]), answer["stdoutTruncated"]) == (50_000, False)


async def test_what_is_no_text_does_not_break_the_answer(run: Run) -> None:
    answer = await run(code="import os; os.write(1, b'a\\xff\\x00b')")

    assert answer["stdout"] == "a\ufffd\0b"


async def test_variables_for_python_have_no_effect(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "sitecustomize.py").write_text("print('customized')")
    (folder / "usercustomize.py").write_text("print('customized')")
    hostile = {
        "PYTHONPATH": str(folder),
        "PYTHONHOME": "/nowhere",
        "PYTHONSTARTUP": str(folder / "sitecustomize.py"),
        "PYTHONINSPECT": "1",
        "PYTHONOPTIMIZE": "2",
        "PYTHONIOENCODING": "ascii",
        "PYTHONWARNINGS": "error",
        "LD_PRELOAD_TEST": "1",
        "SOME_API_TOKEN": "secret",
    }
    for name, value in hostile.items():
        monkeypatch.setenv(name, value)

    code = "import os, sys; print('☃', sys.flags.optimize, sorted(os.environ))"
    answer = await run(code=code)

    assert answer["stdout"].startswith("☃ 0 ")
    assert not [name for name in hostile if name in answer["stdout"]]
    assert answer["stderr"] == ""


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


async def test_what_a_workspace_does_not_hold_is_said(run: Run, folder: Path) -> None:
    code = """
import os
os.symlink("x", "link")
os.mkdir("empty")
open("tool", "w").write("x")
os.chmod("tool", 0o755)
"""

    answer = await run(code=code)

    assert answer["ok"] is True
    assert sorted(word.split(" ")[0] for word in answer["notKept"]) == ["empty", "link", "tool"]
    assert [path.name for path in folder.iterdir()] == ["tool"]


async def test_twenty_programs_at_once_do_not_cross(
    opened: Open, folder: Path, boundary: str
) -> None:
    sessions = [await opened(python=PythonOptions(boundary=boundary)) for _ in range(20)]
    code = """
import sys
name = sys.argv[1]
with open(f"file-{name}", "w") as file:
    file.write(name * 1000)
print(name)
"""
    printed: dict[str, str] = {}

    async def one(session: Session, name: str) -> None:
        done = await session.call("python_run", {"code": code, "args": [name]})
        printed[name] = str(value_of(done)["stdout"])

    async with anyio.create_task_group() as group:
        for number, session in enumerate(sessions):
            group.start_soon(one, session, f"<{number}>")

    assert printed == {f"<{number}>": f"<{number}>\n" for number in range(20)}
    for number in range(20):
        name = f"<{number}>"
        assert (folder / f"file-{name}").read_text() == name * 1000


async def test_nothing_is_left_behind(
    opened: Open, boundary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o755)
    monkeypatch.setattr(tempfile, "tempdir", str(private))
    session = await opened(python=PythonOptions(boundary=boundary, seconds=1.5))
    await session.call("python_run", {"code": "print(1)"})
    before = (open_files(), left(private), children())

    for code in ("open('f', 'w').write('x')", "while True: pass", "1 / 0", "syntax error"):
        await session.call("python_run", {"code": code})

    assert (open_files(), left(private), children()) == before


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def left(folder: Path) -> Sequence[str]:
    return sorted(path.name for path in folder.rglob("*") if "lineshaft-state" not in path.name)


def children() -> int:
    return len(psutil.Process().children(recursive=True))


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
    refused = await alone.call("python_run", {"code": "print(1)"})
    assert (refused.status, refused.error and refused.error.code) == ("refused", "E_DENIED")


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
