"""`python_run` over changes that have not landed: it sees them, lands nothing, and adds its own."""

import json
import os
import random
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from behaviour.programs import Open
from lineshaft import Answer, Context, Pending, Policy, RunResult, Session, Tool, ToolError, kit
from lineshaft.values import Call, Failure, PythonOptions, Workspace
from lineshaft.workspace import Folder, Mount

pytestmark = pytest.mark.behaviour("H31", "F28")

OPEN = Policy(mode="open")
TREE = """
import os
for folder, folders, files in sorted(os.walk('.')):
    for name in sorted(folders):
        place = os.path.join(folder, name)
        link = ' -> ' + os.readlink(place) if os.path.islink(place) else '/'
        print(place[2:] + link)
    for name in sorted(files):
        place = os.path.join(folder, name)
        link = ' -> ' + os.readlink(place) if os.path.islink(place) else ' ' + open(place).read()
        print(place[2:] + link)
"""
Change = Callable[[Workspace], Awaitable[object]]
Drive = Callable[..., Awaitable[RunResult]]


def program(code: str) -> str:
    """Return a line of a script that runs a program and says what it printed, or its error."""
    return f"shown(await python_run(code={code!r}))"


SHOWN = """
def shown(answer):
    return (answer["stdout"] + answer["stderr"]) if answer["ok"] else answer["error"]["code"]
"""


def change(make: Change, name: str = "change") -> Tool[..., Any]:
    """Return a tool that changes the view of its call."""

    async def body(call: Context) -> None:
        """Change something."""
        await make(call.workspace)

    return Tool.from_function(body, name=name, effect="write")


@pytest.fixture
def drive(folder: Path, boundary: str) -> Drive:
    """Return a function that runs a script in a session of its own."""

    async def run(script: str, *tools: object, **settings: Any) -> RunResult:
        settings = {"workspace": folder, "policy": OPEN, **settings}
        options = PythonOptions(boundary=boundary)
        async with Session([kit.tools(), *tools], python=options, **settings) as session:  # pyright: ignore[reportArgumentType]  # any setting
            return await session.run(SHOWN + script)

    return run


def on_disk(folder: Path) -> Tool[..., Any]:
    def look() -> list[str]:
        """Return what is on the disk itself."""
        return sorted(path.name for path in folder.rglob("*"))

    return Tool.from_function(look, effect="read")


async def test_a_program_sees_what_is_staged_and_nothing_lands_before_it(
    drive: Drive, folder: Path
) -> None:
    (folder / "old").write_text("on disk")
    (folder / "gone").write_text("x")
    code = "print(open('old').read(), open('new/deep').read(), os.path.exists('gone'))"
    script = f"""
await write_file("old", "staged")
await write_file("new/deep", "staged too")
await delete_file("gone")
said = {program("import os; " + code + "; open('made', 'w').write('m')")}
return [said, await look(), (await read_file("made"))["content"]]
"""

    result = await drive(script, on_disk(folder))

    assert result.error is None, result.error
    assert result.value == ["staged staged too False\n", ["gone", "old"], "m"]
    assert {(c.path, c.kind, c.stage) for c in result.changes} == {
        ("old", "modified", 1),
        ("new/deep", "created", 1),
        ("gone", "deleted", 1),
        ("made", "created", 1),
    }
    assert not (folder / "gone").exists()
    assert (folder / "made").read_text() == "m"


async def test_a_run_that_fails_after_a_program_leaves_nothing(drive: Drive, folder: Path) -> None:
    script = f"""
await write_file("a", "1")
{program("open('b', 'w').write('2')")}
raise ValueError("no")
"""
    result = await drive(script)

    assert result.status == "error"
    assert list(folder.iterdir()) == []


async def test_what_a_program_does_to_staged_files_is_told_right(
    drive: Drive, folder: Path
) -> None:
    (folder / "back").write_text("as it was")
    for name in ("moved", "under", "kept"):
        (folder / name).write_text(f"{name} on the disk\n")
    script = f"""
for name in ("back", "moved", "under", "kept", "deleted", "dir/one", "dir/two"):
    await write_file(name, f"{{name}} staged\\n")
said = {
        program('''
import os, pathlib, shutil
open('back', 'w').write('as it was')
os.rename('moved', 'elsewhere')
os.remove('under'); os.mkdir('under'); open('under/in', 'w').write('in')
os.remove('deleted')
shutil.rmtree('dir'); open('dir', 'w').write('a file now')
''')
    }
return [said, {program(TREE)}]
"""
    result = await drive(script)

    assert result.error is None, result.error
    assert result.value[0] == ""
    assert {(c.path, c.kind, c.moved_from) for c in result.changes} == {
        ("elsewhere", "moved", "moved"),
        ("under", "modified", None),
        ("under/in", "created", None),
        ("kept", "modified", None),
        ("dir", "created", None),
    }
    assert result.value[1].splitlines() == [
        "under/",
        "back as it was",
        "dir a file now",
        "elsewhere moved staged",
        "",
        "kept kept staged",
        "",
        "under/in in",
    ]
    assert (folder / "elsewhere").read_text() == "moved staged\n"


async def test_odd_names_modes_symlinks_and_folders_are_there(drive: Drive, folder: Path) -> None:
    (folder / "gone" / "deep").mkdir(parents=True)
    (folder / "gone" / "deep" / "f").write_text("x")
    (folder / "was" / "sub").mkdir(parents=True)
    (folder / "was" / "sub" / "f").write_text("moved")
    (folder / "shut").mkdir(mode=0o555)

    async def make(view: Workspace) -> None:
        await view.write("./@x", b"at")
        await view.write("a b\nc", b"odd", mode=0o750)
        await view.write("closed", b"secret", mode=0o400)
        await view.link("link", "@x")
        await view.link("absolute", str(folder.resolve() / "closed"))
        await view.make_folder("empty", mode=0o700)
        await view.make_folder("narrow")
        await view.write("narrow/f", b"in")
        await view.make_folder("narrow", mode=0o555)
        await view.write("shut/f", b"in a folder that is not written")
        await view.move("was", "now")
        for path in ("gone/deep/f", "gone/deep", "gone"):
            await view.delete(path)

    code = """
import os
print(open('@x').read(), open('a b\\nc').read(), open('closed').read(), open('absolute').read())
print(os.readlink('link'), sorted(os.listdir('.')), os.listdir('narrow'), os.listdir('empty'))
print(open('now/sub/f').read(), open('shut/f').read())
"""
    script = f"await change()\nfirst = {program(code)}\nreturn [first, {program(code)}]"
    result = await drive(script, change(make))
    (folder / "narrow").chmod(0o755)
    (folder / "shut").chmod(0o755)

    assert result.error is None, result.error
    names = ["@x", "a b\nc", "absolute", "closed", "empty", "link", "narrow", "now", "shut"]
    said = f"at odd secret secret\n@x {names!r} ['f'] []\nmoved in a folder that is not written\n"
    assert result.value == [said, said]
    assert (folder / "a b\nc").stat().st_mode & 0o777 == 0o750
    assert (folder / "now" / "sub" / "f").read_text() == "moved"


async def test_hidden_and_read_only_paths_are_so_in_the_stage(drive: Drive, folder: Path) -> None:
    (folder / ".env").write_text("hush")
    (folder / "second").hardlink_to(folder / ".env")
    rules = [
        {"id": "s", "tool": "read_file", "path": "secrets/**", "verdict": "deny"},
        {"id": "k", "tool": "delete_file", "path": "kept", "verdict": "allow"},
        {"id": "w", "tool": "python_run", "path": "kept", "verdict": "allow"},
    ]
    policy = Policy.from_dict({"mode": "open", "rules": rules})
    look = "import os; print(sorted(os.listdir('.')), os.path.exists('secrets/k'), end=' ')"
    script = f"""
await write_file("secrets/k", "hush")
await write_file("open", "seen")
await move_file("second", "third")
first = {program(look + "; print(open('open').read(), os.path.exists('third'))")}
second = {program("import os; os.makedirs('secrets', exist_ok=True); open('secrets/k', 'w')")}
return [first, second, (await read_file("open"))["content"]]
"""
    result = await drive(script, policy=policy)

    assert result.error is None, result.error
    first, second, content = result.value
    assert first.endswith("False seen False\n")
    assert "third" not in first
    assert second == "E_DENIED" or "Error" in second
    assert content == "seen"


async def test_a_folder_is_not_removed_with_a_hidden_file_that_is_staged_in_it(
    drive: Drive, folder: Path
) -> None:
    rules = [{"id": "s", "tool": "read_file", "path": "dir/s", "verdict": "deny"}]
    policy = Policy.from_dict({"mode": "open", "rules": rules})
    script = f"""
await write_file("dir/s", "hush")
await write_file("dir/open", "seen")
return {program("import os, shutil; print(os.listdir('dir')); shutil.rmtree('dir')")}
"""
    result = await drive(script, policy=policy)

    assert result.value == "E_DENIED", result
    assert (folder / "dir" / "s").read_text() == "hush"
    assert (folder / "dir" / "open").read_text() == "seen"


async def test_a_tool_is_not_given_the_staged_contents_that_policy_hides(folder: Path) -> None:
    rules = [{"id": "s", "tool": "read_file", "path": "s", "verdict": "deny"}]

    async def look(call: Context) -> dict[str, str]:
        """Return what is staged."""
        told: dict[str, str] = {}
        for file in await call.workspace.kept_back():
            try:
                told[file.path] = b"".join(file.parts()).decode()
            except ToolError as error:
                told[file.path] = error.code
        return told

    policy = Policy.from_dict({"mode": "open", "rules": rules})
    tools = [kit.tools(), Tool.from_function(look, effect="read")]
    async with Session(tools, workspace=folder, policy=policy) as session:
        result = await session.run(
            "await write_file('s', 'hush')\nawait write_file('o', 'seen')\nreturn await look()"
        )

    assert result.value == {"s": "E_DENIED", "o": "seen"}, result


async def test_what_may_not_be_changed_may_not_be_changed_in_the_stage(
    drive: Drive, folder: Path
) -> None:
    rules = [
        {"id": "first", "tool": "write_file", "path": "kept/*", "verdict": "ask"},
    ]
    policy = Policy.from_dict({"mode": "open", "rules": rules})

    async def yes(pending: tuple[Pending, ...]) -> dict[str, Answer]:
        return {each.id: Answer(allow=True) for each in pending}

    script = f"""
await write_file("kept/f", "as staged")
said = [
    {program("print(open('kept/f').read()); open('kept/f', 'w').write('evil')")},
    {program("import os; os.remove('kept/f')")},
    {program("import shutil; shutil.rmtree('kept', ignore_errors=True)")},
]
return [said, (await read_file("kept/f"))["content"]]
"""
    result = await drive(script, policy=policy, approver=yes)

    assert result.error is None, result.error
    said, content = result.value
    assert said[0] == "E_DENIED" or said[0].startswith("as staged")
    assert content == "as staged"
    assert (folder / "kept" / "f").read_text() == "as staged"


def steps(name: str, *calls: tuple[str, dict[str, Any]]) -> Tool[..., Any]:
    """Return a container that makes calls, and says what programs printed."""

    async def body(context: Context) -> list[str]:
        """Make calls."""
        told: list[str] = []
        for tool, arguments in calls:
            done = await context.dispatch(Call(tool=tool, arguments=arguments, origin="code"))
            if isinstance(done, Failure):
                raise ToolError(done.code, done.message)
            if tool == "python_run":
                told.append(str(cast("dict[str, Any]", done.value)["stdout"]))
        return told

    return Tool.from_function(body, name=name, effect="read", container=True)


LIST: tuple[str, dict[str, Any]] = (
    "python_run",
    {"code": "import os; print(sorted(os.listdir('.')))"},
)


def write(path: str) -> tuple[str, dict[str, Any]]:
    return "write_file", {"path": path, "content": path}


def run(code: str) -> tuple[str, dict[str, Any]]:
    return "python_run", {"code": code}


async def test_a_program_in_a_container_sees_it_and_its_callers_and_no_siblings_changes(
    drive: Drive, folder: Path
) -> None:
    both = {number: anyio.Event() for number in range(2)}
    come = [0, 0]

    async def meet(number: int) -> None:
        """Wait until both are there."""
        come[number] += 1
        if come[number] == len(both):
            both[number].set()
        await both[number].wait()

    first, last = ("meet", {"number": 0}), ("meet", {"number": 1})
    inner = steps("inner", write("of-inner"), LIST)
    made = run("open('by-one', 'w')")
    one = steps("one", write("of-one"), ("inner", {}), first, LIST, made, LIST, last)
    other = steps("other", write("of-other"), first, LIST, last)
    meeting = Tool.from_function(meet, effect="read")
    script = """
await write_file("of-run", "x")
return [await asyncio.gather(one(), other()), await look()]
"""
    result = await drive(script, inner, one, other, meeting, on_disk(folder))

    assert result.error is None, result.error
    (one_saw, other_saw), disk = result.value
    assert one_saw == [
        "['of-inner', 'of-one', 'of-run']\n",
        "",
        "['by-one', 'of-inner', 'of-one', 'of-run']\n",
    ]
    assert disk == []
    assert other_saw == ["['of-other', 'of-run']\n"]
    names = ["by-one", "of-inner", "of-one", "of-other", "of-run"]
    assert sorted(path.name for path in folder.iterdir()) == names


async def test_a_verifier_in_a_container_that_fails_leaves_nothing(
    drive: Drive, folder: Path
) -> None:
    box = steps("box", write("a"), run("print(open('a').read()); open('b', 'w')"), ("nothing", {}))
    script = f"""
try:
    await box()
except ToolError as error:
    print(error.code)
return {program("import os; print(os.listdir('.'))")}
"""
    result = await drive(script, box)

    assert result.error is None, result.error
    assert result.value == "[]\n"
    assert list(folder.iterdir()) == []


async def test_a_staged_file_that_is_changed_from_outside_meanwhile_is_stale(
    drive: Drive, folder: Path
) -> None:
    (folder / "shared").write_text("before")

    def outside() -> None:
        """Change the file from outside."""
        (folder / "shared").write_text("outside")

    tool = Tool.from_function(outside, effect="read")
    script = f"""
await write_file("shared", "staged")
await outside()
return {program("open('shared', 'a').write(' and more')")}
"""
    result = await drive(script, tool)

    assert result.value == "E_STALE"
    assert result.status == "error"
    assert (folder / "shared").read_text() == "outside"


async def test_a_file_that_was_moved_and_changed_from_outside_is_stale(
    drive: Drive, folder: Path
) -> None:
    (folder / "one").write_text("before")

    def outside() -> None:
        """Change the file from outside."""
        (folder / "one").write_text("outside")

    tool = Tool.from_function(outside, effect="read")
    script = f"await move_file('one', 'two')\nawait outside()\nreturn {program('print(1)')}"

    result = await drive(script, tool)

    assert result.value == "E_STALE"
    assert sorted(path.name for path in folder.iterdir()) == ["one"]


async def test_a_file_is_one_by_whatever_mount_it_is_staged(
    drive: Drive, folder: Path, tmp_path: Path
) -> None:
    (folder / "sub").mkdir()
    (tmp_path / "beside").mkdir()
    mounts = {
        "@sub": Mount(folder / "sub", writable=True),
        "@beside": Mount(tmp_path / "beside", writable=True),
    }
    script = f"""
await write_file("@sub/f", "one")
await write_file("sub/g", "two")
await write_file("@beside/h", "not in sight")
await write_file("@state/s", "the run's own")
await move_file("@beside/h", "sub/i")
await write_file("@beside/h", "not in sight")
return [{program(TREE)}, {program("open('sub/f', 'a').write('+')")}, await look()]
"""
    result = await drive(script, on_disk(folder), workspace=Folder(folder, aliases=mounts))

    assert result.error is None, result.error
    seen, _, disk = result.value
    assert seen == "sub/\nsub/f one\nsub/g two\nsub/i not in sight\n"
    assert disk == ["sub"]
    assert (folder / "sub" / "f").read_text() == "one+"


async def test_what_one_run_stages_is_not_there_for_the_next(
    opened: Open, folder: Path, boundary: str
) -> None:
    (folder / "old").write_text("on disk")
    (folder / "dir" / "in").mkdir(parents=True)
    (folder / "dir" / "in" / "f").write_text("f")
    session = await opened(python=PythonOptions(boundary=boundary), policy=OPEN)
    script = f"""
await write_file("old", "staged")
await write_file("new/f", "staged")
await move_file("dir", "moved")
await write_file("dir", "a file")
print({program(TREE)})
raise ValueError("dropped")
"""

    first = await session.run(SHOWN + script)
    second = await session.run(SHOWN + f"return {program(TREE)}")

    assert "moved/in/f f" in first.stdout
    assert second.value == "dir/\nold on disk\ndir/in/\ndir/in/f f\n"


async def test_after_a_pause_a_program_sees_what_was_staged_before(
    folder: Path, boundary: str, tmp_path: Path
) -> None:
    script = f"""
await write_file("a", "staged")
first = {program("print(open('a').read()); open('b', 'w').write('by the program')")}
await delete_file("c")
return [first, {program(TREE)}]
"""
    (folder / "c").write_text("c")
    options = PythonOptions(boundary=boundary)
    async with Session(kit.tools(), workspace=folder, python=options) as session:
        waits = await session.run(SHOWN + script)
        assert waits.status == "paused", waits
        assert sorted(path.name for path in folder.iterdir()) == ["c"]
    async with Session(kit.tools(), workspace=folder, python=options) as session:
        answers = {each.id: Answer(allow=True) for each in waits.pending}
        done = await session.resume(waits.run_id, answers)

    assert done.error is None, done.error
    assert done.value == ["staged\n", "a staged\nb by the program\n"]
    assert sorted(path.name for path in folder.iterdir()) == ["a", "b"]


@pytest.mark.no_cover
async def test_many_and_large_staged_files_are_there(drive: Drive, folder: Path) -> None:
    large = 100 << 20

    async def make(view: Workspace) -> None:
        await view.write("large", b"x" * large)
        for number in range(2_000):
            await view.write(f"many/{number % 10}/{number}", str(number).encode())

    code = """
import os
found = [os.path.join(f, n) for f, _, names in os.walk('many') for n in names]
print(len(found), sum(int(open(place).read()) for place in found), os.path.getsize('large'))
os.remove('many/7/7'); os.remove('large')
"""
    script = f"await change()\nreturn [{program(code)}, await look()]"
    result = await drive(script, change(make), on_disk(folder))

    assert result.error is None, result.error
    assert result.value == [f"2000 {sum(range(2_000))} {large}\n", []]
    assert len(result.changes) == 1_999
    assert not (folder / "large").exists()


async def test_as_a_plain_process_a_program_needs_the_disk(folder: Path) -> None:
    script = f"""
await write_file("a", "one")
said = {program("print(open('a').read()); open('a', 'w').write('two')")}
return [said, (await read_file("a"))["content"]]
"""
    options = PythonOptions(boundary="none")
    async with Session(kit.tools(), workspace=folder, policy=OPEN, python=options) as session:
        result = await session.run(SHOWN + script)

    assert result.error is None, result.error
    assert result.value == ["one\n", "two"]
    first = result.changes[0]
    assert (first.path, first.stage, first.undoable) == ("a", 1, True)


async def test_where_changes_are_written_through_a_program_sees_them(
    drive: Drive, folder: Path
) -> None:
    script = f"""
await write_file("a", "one")
said = {program("print(open('a').read()); open('a', 'a').write(' two')")}
return [said, (await read_file("a"))["content"], await look()]
"""
    result = await drive(script, on_disk(folder), atomic=False)

    assert result.error is None, result.error
    assert result.value == ["one\n", "one two", ["a"]]


async def test_a_preview_stops_before_a_program(opened: Open, folder: Path, boundary: str) -> None:
    session = await opened(python=PythonOptions(boundary=boundary))

    seen = await session.preview("await write_file('a', 'x')\nawait python_run('print(1)')")

    assert seen.stopped_at is not None
    assert seen.stopped_at.tool == "python_run"
    assert list(folder.iterdir()) == []


# Beside plain Python: the same changes on a plain folder, none of them staged.

ACT = """
import os
def act(root, steps):
    for do, place, more in steps:
        place = os.path.join(root, place)
        if do == "write":
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "w") as file:
                file.write(more)
        elif do == "delete":
            is_folder = os.path.isdir(place) and not os.path.islink(place)
            (os.rmdir if is_folder else os.remove)(place)
        elif do == "move":
            target = os.path.join(root, more)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.rename(place, target)
        elif do == "folder":
            os.makedirs(place, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(place), exist_ok=True)
            os.symlink(more, place)
"""
Step = tuple[str, str, str]
NAMES = ("a", "b", "c", "@d")


async def staged(view: Workspace, some: Sequence[Step]) -> None:
    for do, path, more in some:
        place = f"./{path}"
        match do:
            case "write":
                await view.write(place, more.encode())
            case "delete":
                await view.delete(place)
            case "move":
                await view.move(place, f"./{more}")
            case "folder":
                await view.make_folder(place)
            case _:
                await view.link(place, more)


def act_on(root: Path, some: Sequence[Step]) -> None:
    space: dict[str, Any] = {}
    exec(ACT, space)  # noqa: S102  what the program does, too
    space["act"](str(root), some)


def any_step(chance: random.Random, root: Path) -> Step | None:
    """Return a step that is possible in a folder."""
    there = sorted(root.rglob("*"))
    folders = [root, *(p for p in there if p.is_dir() and not p.is_symlink())]
    new = chance.choice(folders).joinpath(*chance.choices(NAMES, k=chance.choice((1, 1, 2))))
    above = [p for p in new.parents if p.is_relative_to(root) and os.path.lexists(p)]
    is_free = not os.path.lexists(new) and all(p.is_dir() and not p.is_symlink() for p in above)
    name = new.relative_to(root).as_posix()
    files = [p for p in there if p.is_file() and not p.is_symlink()]
    match chance.choice(("write", "write", "change", "delete", "move", "folder", "link")):
        case "write" if is_free:
            return "write", name, f"{chance.random()}\n"
        case "change" if files:
            return "write", chance.choice(files).relative_to(root).as_posix(), f"{chance.random()}"
        case "delete" if there:
            path = chance.choice(there)
            empty = path.is_symlink() or not path.is_dir() or not any(path.iterdir())
            return ("delete", path.relative_to(root).as_posix(), "") if empty else None
        case "move" if there and is_free:
            path = chance.choice(there)
            if new.is_relative_to(path) or path.is_symlink():
                return None
            return "move", path.relative_to(root).as_posix(), name
        case "folder" if is_free:
            return "folder", name, ""
        case "link" if is_free:
            return "link", name, chance.choice(NAMES)
        case _:
            return None


def tree(root: Path) -> dict[str, tuple[str, int, str]]:
    found: dict[str, tuple[str, int, str]] = {}
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            found[name] = ("link", 0, os.readlink(path))  # noqa: PTH115  its exact words
        elif path.is_dir():
            found[name] = ("folder", path.stat().st_mode & 0o777, "")
        else:
            found[name] = ("file", path.stat().st_mode & 0o777, path.read_text())
    return found


@pytest.mark.parametrize("seed", range(8))
async def test_the_same_steps_give_the_same_tree_as_on_a_plain_folder(
    drive: Drive, folder: Path, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311  no secret
    plain = tmp_path / "plain"
    plain.mkdir()
    rounds: list[list[Step]] = []
    for _ in range(5):
        made: list[Step] = []
        while len(made) < 10:
            step = any_step(chance, plain)
            if step is not None:
                act_on(plain, [step])
                made.append(step)
        rounds.append(made)
        if len(rounds) == 1:
            act_on(folder, made)
    tools = [
        change(lambda view, some=rounds[number]: staged(view, some), f"change{number}")
        for number in (1, 3)
    ]
    codes = [f"{ACT}\nact('.', {rounds[number]!r})" for number in (2, 4)]
    before = tree(folder)
    script = f"""
await change1()
said = {program(codes[0])}
await change3()
said += {program(codes[1])}
return [said, len(await look())]
"""
    result = await drive(script, *tools, on_disk(folder))

    assert result.error is None, (result.error, json.dumps(rounds, indent=1))
    assert result.value == ["", len(before)]
    assert tree(folder) == tree(plain), json.dumps(rounds, indent=1)
