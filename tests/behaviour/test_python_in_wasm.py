"""`python_run` in WebAssembly: when it is chosen, and the copy that a session keeps for it."""

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from behaviour.programs import Open, Run, value_of
from lineshaft import Answer, Pending, Policy, Session, kit
from lineshaft.errors import EngineError
from lineshaft.sandbox.jail import _choose
from lineshaft.sandbox.webassembly import native_code
from lineshaft.values import WASM_BOUNDARY, PythonOptions

pytestmark = pytest.mark.behaviour("H31")

IN_WASM = PythonOptions(boundary=WASM_BOUNDARY)


@pytest.fixture(autouse=True)
def ready() -> None:
    """Have the native code made before a program's time runs."""
    try:
        native_code()
    except EngineError as error:
        pytest.skip(f"needs the boundary 'wasm': {error.message}")


@pytest.fixture
def no_jail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no jail work on this machine."""
    for name in _choose.JAILS:
        monkeypatch.setitem(_choose._TRIED, name, "not on this machine")  # pyright: ignore[reportPrivateUsage]  what was seen of this machine


@pytest.fixture
async def run(opened: Open) -> Run:
    """Return a function that runs a program in one session and returns the answer."""
    session = await opened(python=IN_WASM)

    async def python_run(code: str, **arguments: object) -> dict[str, Any]:
        return value_of(await session.call("python_run", {"code": code, **arguments}))

    return python_run


@pytest.mark.usefixtures("no_jail")
async def test_without_a_jail_programs_run_in_webassembly_and_nobody_is_asked(
    opened: Open, folder: Path
) -> None:
    async def approver(pending: tuple[Pending, ...]) -> dict[str, Answer]:
        raise AssertionError(pending)

    session = await opened(approver=approver)

    answer = value_of(
        await session.call("python_run", {"code": "print(1); open('made', 'w').write('x')"})
    )

    assert (answer["stdout"], answer["boundary"]) == ("1\n", "wasm")
    assert (folder / "made").read_text() == "x"


@pytest.mark.usefixtures("no_jail")
@pytest.mark.parametrize("boundary", [None, WASM_BOUNDARY, "sandlock"])
async def test_a_configured_python_without_a_jail_is_refused_not_replaced(
    opened: Open, folder: Path, boundary: str | None
) -> None:
    session = await opened(python=PythonOptions(path="/usr/bin/python3", boundary=boundary))

    answer = value_of(await session.call("python_run", {"code": "open('made', 'w')"}))

    assert answer["ok"] is False
    assert answer["error"]["code"] in ("PYTHON_EXEC_FAILED", "PYTHON_NOT_FOUND")
    assert list(folder.iterdir()) == []


@pytest.mark.usefixtures("no_jail")
async def test_a_jail_that_was_asked_for_is_not_replaced(opened: Open) -> None:
    session = await opened(python=PythonOptions(boundary="bubblewrap"))

    answer = value_of(await session.call("python_run", {"code": "print(1)"}))

    assert answer["error"]["code"] == "PYTHON_EXEC_FAILED"


async def test_each_program_finds_the_workspace_as_it_is_then(run: Run, folder: Path) -> None:
    (folder / "mine").write_text("1")
    first = await run("print(open('mine').read()); open('its', 'w').write('a')")
    (folder / "mine").write_text("2")
    (folder / "its").unlink()
    (folder / "new").mkdir()

    second = await run("import os; print(open('mine').read(), sorted(os.listdir()))")

    assert (first["stdout"], second["stdout"]) == ("1\n", "2 ['mine', 'new']\n")


async def test_a_program_sees_what_its_run_has_staged(opened: Open, folder: Path) -> None:
    session = await opened(python=IN_WASM)

    result = await session.run(
        "await write_file('a', 'staged')\n"
        "one = await python_run(\"print(open('a').read()); open('a', 'w').write('program')\")\n"
        "two = await read_file('a')\n"
        "return [one.get('stdout'), two['content']]"
    )

    assert result.error is None, result.error
    assert result.value == ["staged\n", "program"]
    assert (folder / "a").read_text() == "program"
    await session.undo(result.run_id)
    assert not (folder / "a").exists()


async def test_changes_that_were_not_kept_are_not_there_for_the_next_program(
    opened: Open, folder: Path
) -> None:
    (folder / "kept").write_text("as it was")
    rules = [{"id": "kept", "tool": "write_file", "path": "kept", "verdict": "deny"}]
    session = await opened(policy=Policy.from_dict({"rules": rules}), python=IN_WASM)

    refused = value_of(
        await session.call(
            "python_run",
            {"code": "open('kept', 'w').write('x'); open('made', 'w'); print('printed')"},
        )
    )
    after = value_of(
        await session.call(
            "python_run", {"code": "import os; print(open('kept').read(), os.listdir())"}
        )
    )

    assert refused["error"]["code"] == "E_DENIED"
    assert refused["error"]["details"]["stdout"] == "printed\n"
    assert after["stdout"] == "as it was ['kept']\n"


async def test_a_guard_that_refuses_leaves_no_trace_for_the_next_program(
    opened: Open, folder: Path
) -> None:
    (folder / "data.json").write_text("{}")
    session = await opened(python=IN_WASM)

    refused = await session.call("python_run", {"code": "open('data.json', 'w').write('{broken')"})
    after = value_of(await session.call("python_run", {"code": "print(open('data.json').read())"}))

    assert refused.error is not None
    assert refused.error.code == "E_GUARD"
    assert (folder / "data.json").read_text() == "{}"
    assert after["stdout"] == "{}\n"


async def test_a_file_that_somebody_changed_meanwhile_is_stale(run: Run, folder: Path) -> None:
    (folder / "shared").write_text("before")
    (folder / "go").write_text("")
    code = """
import time
open("begun", "w").close()
until = time.monotonic() + 3
while time.monotonic() < until:
    time.sleep(0.05)
open("shared", "a").write(" and after")
"""
    running = asyncio.ensure_future(run(code))
    private = Path(tempfile.gettempdir()) / f"lineshaft-{os.geteuid()}"
    while not list(private.glob("*/copy/begun")):
        await asyncio.sleep(0.02)
    (folder / "shared").write_text("somebody else's")

    answer = await running

    assert answer["error"]["code"] == "E_STALE"
    assert (folder / "shared").read_text() == "somebody else's"
    assert not (folder / "begun").exists()
    after = await run("print(open('shared').read())")
    assert after["stdout"] == "somebody else's\n"


async def test_what_a_program_cannot_see_is_told_and_stays(run: Run, folder: Path) -> None:
    os.close(os.open(os.fsencode(folder) + b"/caf\xe9", os.O_CREAT, 0o600))
    os.mkfifo(folder / "pipe")

    answer = await run("import os; print(os.listdir()); open('made', 'w')")

    assert answer["stdout"] == "[]\n"
    assert sorted(answer["leftOut"]) == [
        "caf\\xe9 (its name is not UTF-8)",
        "pipe (it is no file, folder or symlink)",
    ]
    assert sorted(os.fsencode(path.name) for path in folder.iterdir()) == [
        b"caf\xe9",
        b"made",
        b"pipe",
    ]


async def test_links_that_lead_out_are_not_kept(run: Run, folder: Path) -> None:
    (folder.parent / "secret").write_text("hush")

    answer = await run(
        "import os\n"
        "os.symlink('../secret', 'out')\n"
        "os.symlink('in', 'link')\n"
        "open('in', 'w').write('x')\n"
        "os.mkdir('sub'); os.symlink('../../secret', 'sub/out')\n"
    )

    assert sorted(answer["notKept"]) == [
        "out (a symlink that leads out)",
        "sub/out (a symlink that leads out)",
    ]
    assert (folder / "link").readlink() == Path("in")
    assert (folder.parent / "secret").read_text() == "hush"


async def test_the_copy_goes_with_the_session(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = tmp_path / "private"
    private.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(private))
    (folder / "file").write_text("content")

    def copies() -> list[str]:
        return [path.read_text() for path in private.rglob("file")]

    async with Session(kit.tools(), workspace=folder, python=IN_WASM) as session:
        for code in ("open('f', 'w')", "1 / 0", "import os; os._exit(3)"):
            await session.call("python_run", {"code": code})
        assert copies() == ["content"]

    assert copies() == []
    assert [path.name for path in private.rglob("*") if path.is_file()] == []


async def test_twenty_programs_of_one_session_do_not_cross(opened: Open, folder: Path) -> None:
    session = await opened(python=IN_WASM)
    code = "import sys; open(f'file-{sys.argv[1]}', 'w').write(sys.argv[1]); print(sys.argv[1])"

    calls = [session.call("python_run", {"code": code, "args": [str(n)]}) for n in range(20)]
    answers = [value_of(done) for done in await asyncio.gather(*calls)]

    assert [answer["stdout"] for answer in answers] == [f"{n}\n" for n in range(20)]
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        f"file-{n}": str(n) for n in range(20)
    }
