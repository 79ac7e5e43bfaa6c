"""`python_run`: what it is asked, what it answers, and how it ends."""

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import anyio
import psutil
import pytest

from behaviour.programs import Open, Run, programs, value_of
from lineshaft import Limits, Session, kit
from lineshaft.values import WASM_BOUNDARY, PythonOptions
from lineshaft.workspace import Folder, Mount

pytestmark = pytest.mark.behaviour("H31")

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


async def test_a_program_is_run_and_its_answer_has_a_fixed_shape(run: Run, boundary: str) -> None:
    answer = await run(code="print(2 + 2)")

    assert answer.pop("durationMs") > 0
    assert answer == {
        "ok": True,
        "stdout": "4\n",
        "stderr": "",
        "exitCode": 0,
        "stdoutTruncated": False,
        "stderrTruncated": False,
        "boundary": boundary,
    }


async def test_bytes_that_are_no_text_are_counted(run: Run) -> None:
    answer = await run(code="import os; os.write(1, 'é'.encode('latin-1')); os.write(2, b'\\xff')")

    assert (answer["stdout"], answer["stderr"]) == ("\ufffd", "\ufffd")
    assert answer["replacedBytes"] == 2


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
    run: Run, folder: Path, boundary: str
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

    place = "/ws" if boundary == WASM_BOUNDARY else folder.resolve()
    assert answer["stdout"] == f"{place} of the workspace beside True\n"


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


async def test_a_python_that_cannot_be_executed_is_told_as_such(
    opened: Open, tmp_path: Path, jail: str
) -> None:
    (tmp_path / "python3").write_text("no program")
    session = await opened(python=PythonOptions(path=str(tmp_path / "python3"), boundary=jail))

    answer = value_of(await session.call("python_run", {"code": "print(1)"}))

    assert answer["error"]["code"] == "PYTHON_EXEC_FAILED"
    assert "python3" in answer["error"]["message"]


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
    child = "" if boundary == WASM_BOUNDARY else GRANDCHILD
    code = f"print('begun')\nopen('made', 'w').write('x')\n{child}\nwhile True: pass"

    arguments = {"code": code, "args": [word := f"word-{os.getpid()}-time"]}
    answer = value_of(await session.call("python_run", arguments))

    assert answer["error"]["code"] == "PYTHON_TIMEOUT"
    assert answer["error"]["details"]["stdout"] == "begun\n"
    assert programs(boundary, word) == []
    assert list(folder.iterdir()) == []


async def test_the_calls_own_time_is_over_before_the_gate_ends_it(
    opened: Open, boundary: str
) -> None:
    session = await opened(
        limits=Limits(call_seconds=2), python=PythonOptions(boundary=boundary, seconds=60)
    )

    done = await session.call("python_run", {"code": "import time; time.sleep(60)"})

    error = value_of(done)["error"]
    assert error["code"] == "PYTHON_TIMEOUT"
    assert "python.timeout_seconds and limits.call_seconds" in error["details"]["hint"]


async def test_a_grandchild_in_a_session_of_its_own_ends_with_the_program(
    run: Run, jail: str
) -> None:
    word = f"word-{os.getpid()}-grandchild"

    answer = await run(code=f"print('begun')\n{GRANDCHILD}", args=[word])

    assert (answer["stdout"], answer["exitCode"]) == ("begun\n", 0)
    assert programs(jail, word) == []


async def test_a_cancelled_call_ends_the_program(opened: Open, boundary: str) -> None:
    session = await opened(python=PythonOptions(boundary=boundary))
    word = f"word-{os.getpid()}-cancel"

    async with anyio.create_task_group() as group:
        group.start_soon(session.call, "python_run", {"code": "while True: pass", "args": [word]})
        with anyio.fail_after(10):
            while not programs(boundary, word):
                await anyio.sleep(0.02)
        group.cancel_scope.cancel()

    assert programs(boundary, word) == []


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
        answer = value_of(done)
        assert answer["ok"], answer
        printed[name] = str(answer["stdout"])

    async with anyio.create_task_group() as group:
        for number, session in enumerate(sessions):
            group.start_soon(one, session, f"<{number}>")

    assert printed == {f"<{number}>": f"<{number}>\n" for number in range(20)}
    for number in range(20):
        name = f"<{number}>"
        assert (folder / f"file-{name}").read_text() == name * 1000


async def test_nothing_is_left_behind(
    opened: Open, jail: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o755)
    monkeypatch.setattr(tempfile, "tempdir", str(private))
    session = await opened(python=PythonOptions(boundary=jail, seconds=1.5))
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


async def test_the_first_example_of_the_page_passes_the_check(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
    example = page.partition("```python")[2].partition("\n")[2].partition("```")[0]
    assert "python_run" in example
    async with Session(kit.tools(), workspace=tmp_path) as session:
        assert await session.check(example) == ()
