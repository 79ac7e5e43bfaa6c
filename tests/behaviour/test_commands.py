"""Commands: their whole tree ends, their output is bounded, nothing of them stays."""

import os
import sys
import time
from pathlib import Path

import anyio
import psutil
import pytest

from lineshaft import Limits, Policy, tool
from support import Make

OPEN = Policy(mode="open")

GRANDCHILD = """
import subprocess, sys, time
code = '''
import os, time
from pathlib import Path
if os.fork():
    os._exit(0)
os.setsid()
Path("pid").write_text(str(os.getpid()))
while True:
    Path("beat").write_text(str(time.monotonic()))
    time.sleep(0.02)
'''
subprocess.Popen([sys.executable, "-c", code])
while True:
    time.sleep(1)
"""


def ended(pid: int) -> bool:
    """Return whether a process is gone, or only its name is left."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


async def until(path: Path) -> None:
    """Wait until a file has content."""
    with anyio.fail_after(10):
        while not path.exists() or not path.read_text():
            await anyio.sleep(0.01)


async def until_ended(pid: int) -> None:
    """Wait until a process has ended."""
    with anyio.fail_after(5):
        while not ended(pid):
            await anyio.sleep(0.01)


@pytest.mark.behaviour("D19")
@pytest.mark.parametrize("how", ["time-out", "cancel"])
async def test_a_grandchild_in_a_session_of_its_own_ends_with_its_command(
    make: Make, folder: Path, how: str
) -> None:
    (folder / "tree.py").write_text(GRANDCHILD)
    command = [sys.executable, "tree.py"]
    seconds = 1.5 if how == "time-out" else 60
    script = f"await run_command(command={command[0]!r}, args=['tree.py'], timeout={seconds})"
    async with make(policy=OPEN) as session:
        run = await session.start(script)
        await until(folder / "pid")
        if how == "cancel":
            run.cancel()
        with anyio.fail_after(10):
            result = await run.result()
    await until_ended(int((folder / "pid").read_text()))
    assert result.error is not None
    expected = "E_TOOL_TIMEOUT" if how == "time-out" else "E_CANCELLED"
    assert result.error.code == expected


@pytest.mark.behaviour("D19")
async def test_a_daemon_that_holds_the_pipe_does_not_hold_the_call(
    make: Make, folder: Path
) -> None:
    started = time.monotonic()
    script = "return await run_command(command='sh', args=['-c', 'sleep 300 & echo begun'])"
    async with make(policy=OPEN) as session:
        result = await session.run(script, limits=Limits(seconds=60))
    assert result.error is None, result.error
    assert (result.value["exit_code"], result.value["stdout"]) == (0, "begun\n")
    assert time.monotonic() - started < 20


@pytest.mark.behaviour("D19")
async def test_a_command_has_no_input_and_a_clean_environment(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_TOKEN", "hush")
    monkeypatch.setenv("COMPASS", "north")
    script = """
env = await run_command(command='env')
read = await run_command(command='cat')
return [env['stdout'], read['stdout'], read['exit_code']]
"""
    async with make(policy=OPEN) as session:
        result = await session.run(script)
    assert result.error is None, result.error
    assert "PATH=" in str(result.value[0])
    assert "hush" not in str(result.value[0])
    assert "north" not in str(result.value[0])
    assert result.value[1:] == ["", 0]


@pytest.mark.behaviour("D19")
async def test_a_command_is_no_shell_and_a_bad_exit_is_a_result(make: Make) -> None:
    script = """
failed = await run_command(command='sh', args=['-c', 'echo no >&2; exit 3'])
found = [failed['exit_code'], failed['stderr']]
for command in ['echo a | cat', 'true && false', 'no-such-program-here', 'echo "unclosed']:
    try:
        found.append(await run_command(command=command))
    except ToolError as e:
        found.append([e.code, 'sh -c' in str(e) + e.message])
return found
"""
    async with make(policy=OPEN) as session:
        result = await session.run(script)
    assert result.error is None, result.error
    assert result.value[:2] == [3, "no\n"]
    assert [row[0] for row in result.value[2:4]] == ["E_INVALID_ARGS"] * 2
    assert all(row[0].startswith("E_") for row in result.value[4:])


@pytest.mark.behaviour("E23")
async def test_a_commands_output_is_capped_and_counted(make: Make) -> None:
    code = "import sys; sys.stdout.write('a' * 60000); sys.stderr.write('b' * 20000)"
    script = f"return await run_command(command={sys.executable!r}, args=['-c', {code!r}])"
    async with make(policy=OPEN) as session:
        result = await session.run(script)
    assert result.error is None, result.error
    assert result.value["stdout_truncated"] is True
    assert result.value["stderr_truncated"] is True
    assert 49_000 < len(str(result.value["stdout"])) < 50_500
    assert 9_000 < len(str(result.value["stderr"])) < 10_500


@pytest.mark.behaviour("D20")
async def test_nothing_of_a_command_stays_in_the_temporary_folder(
    make: Make, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    script = """
found = []
for command in ['true', 'false', 'no-such-program-here', 'sleep 100']:
    try:
        found.append((await run_command(command=command, timeout=0.5))['exit_code'])
    except ToolError as e:
        found.append(e.code)
return found
"""
    async with make(policy=OPEN) as session:
        result = await session.run(script)
    assert result.error is None, result.error
    assert result.value[:2] == [0, 1]
    assert result.value[3] == "E_TOOL_TIMEOUT"
    assert list(scratch.iterdir()) == []
    assert list(folder.iterdir()) == []


@pytest.mark.behaviour("D20", "F28")
async def test_what_a_command_changed_is_found_and_reported(make: Make, folder: Path) -> None:
    (folder / "a.txt").write_text("one")
    (folder / "b.txt").write_text("two")
    script = """
done = await run_command(command='sh', args=['-c', 'echo x > new.txt; echo y > a.txt; rm b.txt'])
return [[c['path'], c['kind']] for c in done['changes']]
"""
    async with make(policy=OPEN) as session:
        result = await session.run(script)
    expected = [["a.txt", "modified"], ["b.txt", "deleted"], ["new.txt", "created"]]
    assert result.error is None, result.error
    assert sorted(result.value) == expected
    assert sorted([c.path, c.kind] for c in result.changes) == expected
    assert not any(change.undoable for change in result.changes)


@pytest.mark.behaviour("D20", "F28")
@pytest.mark.parametrize("name", ["a.txt", "build/a.txt", "build/new.txt"])
@pytest.mark.parametrize("write", ["", "await write_file(path=NAME, content=text + '!')"])
async def test_what_a_run_had_read_its_own_command_may_change(
    make: Make, folder: Path, name: str, write: str
) -> None:
    (folder / ".gitignore").write_text("build/\n")
    (folder / "build").mkdir()
    for there in ("a.txt", "build/a.txt"):
        (folder / there).write_text("one")
    script = f"""
NAME = {name!r}
try:
    await read_file(path=NAME)
except FileNotFoundError:
    pass
done = await run_command(command="sh", args=["-c", f"printf two > {{NAME}}"])
text = (await read_file(path=NAME))["content"]
{write}
await write_file(path="notes.txt", content=text)
return [change["path"] for change in done["changes"]]
"""
    async with make(policy=OPEN) as session:
        result = await session.run(script)
    assert result.error is None, result.error
    assert result.value == [name]
    assert (folder / "notes.txt").read_text() == "two"
    assert (folder / name).read_text() == ("two!" if write else "two")


@pytest.mark.behaviour("F29")
async def test_what_others_changed_before_a_command_is_stale_after_it(
    make: Make, folder: Path
) -> None:
    (folder / "a.txt").write_text("one")
    (folder / "theirs.txt").write_text("two")
    script = """
await read_file(path="a.txt")
await theirs()
await run_command(command="true")
await write_file(path="notes.txt", content="made of a.txt")
"""

    @tool(effect="read")
    async def theirs() -> None:
        """Stand for another program."""
        (folder / "theirs.txt").replace(folder / "a.txt")

    async with make(theirs, policy=OPEN) as session:
        result = await session.run(script)
    assert result.error is not None
    assert (result.error.code, (folder / "notes.txt").exists()) == ("E_STALE", False)


@pytest.mark.behaviour("D20")
async def test_changes_that_came_to_nothing_do_not_hide_a_commands(
    make: Make, folder: Path
) -> None:
    (folder / "a.txt").write_text("one")
    script = """
await edit_file(path="a.txt", old="one", new="two")
await edit_file(path="a.txt", old="two", new="one")
for made in ("b.txt", "c/d.txt"):
    await write_file(path=made, content="x")
for gone in ("b.txt", "c/d.txt", "c"):
    await delete_file(path=gone)
await run_command(command="sh", args=["-c", "mkdir c; echo new | tee a.txt b.txt c/d.txt"])
await edit_file(path="a.txt", old="new", new="newer")
return [(await read_file(path=path))["content"] for path in ("a.txt", "b.txt", "c/d.txt")]
"""
    async with make(policy=OPEN) as session:
        result = await session.run(script)
    assert result.error is None, result.error
    assert result.value == ["newer\n", "new\n", "new\n"]
    assert (folder / "a.txt").read_text() == "newer\n"


@pytest.mark.behaviour("D20")
async def test_a_module_that_is_edited_between_two_commands_is_compiled_anew(
    make: Make, folder: Path
) -> None:
    script = """
said = []
await write_file(path="sums.py", content="def add(a, b): return a - b")
for old, new in (("-", "+"), ("+", "*")):
    done = await run_command(command=python, args=["-c", "import sums; print(sums.add(3, 3))"])
    said.append(int(done["stdout"]))
    await edit_file(path="sums.py", old=f"a {old} b", new=f"a {new} b")
return said
"""
    async with make(policy=OPEN) as session:
        result = await session.run(script, inputs={"python": sys.executable})
    assert result.error is None, result.error
    assert result.value == [0, 6]
    assert [path.name for path in folder.iterdir()] == ["sums.py"]


@pytest.mark.behaviour("D19")
async def test_no_process_is_left_when_a_session_ends(make: Make, folder: Path) -> None:
    before = {p.pid for p in psutil.Process(os.getpid()).children(recursive=True)}
    async with make(policy=OPEN) as session:
        assert (await session.run("return 1")).value == 1
        await session.run("await run_command(command='sleep 100', timeout=0.2)")
    for process in psutil.Process(os.getpid()).children(recursive=True):
        if process.pid not in before:
            await until_ended(process.pid)


@pytest.mark.behaviour("D19")
async def test_a_command_may_be_lineshaft_itself(make: Make) -> None:
    arguments = ["-m", "lineshaft", "tools", "read_file"]
    async with make(policy=OPEN) as session:
        done = await session.run(f"return await run_command({sys.executable!r}, {arguments!r})")
    assert done.value["exit_code"] == 0, done.value
    assert "async def read_file" in done.value["stdout"]
