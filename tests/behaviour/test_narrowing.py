"""Containers narrow what their calls reach: tools, policy, folders; never wider than they do."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import pytest

from lineshaft import Policy, Session, Tool, kit
from lineshaft.errors import OutsideWorkspace, ToolError
from lineshaft.values import Call, Context, Done, Failure, PythonOptions, Value
from lineshaft.workspace import Folder, Mount
from support import Make, Outside

pytestmark = pytest.mark.behaviour("A6")

OPEN = Policy(mode="open")
Inside = Callable[[Context], Awaitable[object]]


def container(body: Inside, name: str = "box") -> Tool:
    async def box(context: Context) -> object:
        """Do something with a context."""
        return await body(context)

    return Tool.from_function(box, name=name, effect="read", container=True)


async def called(context: Context, tool: str, **arguments: object) -> Done:
    return await context.dispatch(Call(tool=tool, arguments=arguments, origin="code"))


async def said(context: Context, tool: str, **arguments: object) -> object:
    """Return a call's value, or the code of its failure."""
    done = await called(context, tool, **arguments)
    return done.code if isinstance(done, Failure) else done.value


@pytest.fixture
def tree(folder: Path) -> Path:
    """Return a workspace with two folders."""
    for name in ("src/a.txt", "src/deep/b.txt", "docs/c.txt", "top.txt", "src2/d.txt"):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{name} needle\n")
    (folder / "src" / "link").symlink_to("../docs")
    (folder / "alias").symlink_to("src")
    return folder


async def through(make: Make, body: Inside, *more: object, policy: Policy = OPEN) -> Any:
    async with make(container(body), *more, policy=policy) as session:
        result = await session.call("box")
    assert result.error is None, result.error
    return result.value


async def test_tools_that_are_not_left_are_refused(make: Make, outside: Outside) -> None:
    async def body(context: Context) -> object:
        less = await context.narrowed(tools=["read_file", "poke"])
        least = await less.narrowed(tools=["poke", "write_file"])
        near = await called(less, "write_fil", path="a", content="x")
        assert isinstance(near, Failure)
        return [
            await said(less, "poke"),
            await said(less, "write_file", path="a", content="x"),
            await said(least, "poke"),
            await said(least, "read_file", path="a"),
            await said(least, "write_file", path="a", content="x"),
            "write_file" in near.hint,
        ]

    value = await through(make, body)
    assert value == [1, "E_DENIED", 2, "E_DENIED", "E_DENIED", False]


async def test_a_refusal_says_why(make: Make) -> None:
    async def body(context: Context) -> object:
        less = await context.narrowed(tools=["read_file"], read=["src"])
        other = await called(less, "poke")
        outside = await called(less, "read_file", path="docs/c.txt")
        assert isinstance(other, Failure)
        assert isinstance(outside, Failure)
        return [other.message, outside.message]

    async with make(container(body), policy=OPEN) as session:
        result = await session.run("return await box()")
    assert result.value == [
        "'poke' is not among the tools of its container",
        "policy refused read_file (rule 'narrowed:folders'): what called it may not go there",
    ]
    assert [call.rule for call in result.calls[1:]] == ["narrowed:tools", "narrowed:folders"]


async def test_a_policy_makes_calls_stricter_and_never_wider(make: Make) -> None:
    async def body(context: Context) -> object:
        reads = await context.narrowed(policy=Policy(mode="read"))
        wide = await reads.narrowed(policy=OPEN)
        return [
            await said(context, "poke"),
            await said(reads, "poke"),
            await said(wide, "poke"),
            await said(wide, "list_files") != "E_DENIED",
        ]

    assert await through(make, body) == [1, "E_DENIED", "E_DENIED", True]


async def test_folders_hold_against_links_moves_and_other_spellings(make: Make, tree: Path) -> None:
    async def body(context: Context) -> object:
        less = await context.narrowed(read=["docs"], write=["alias"])
        return {
            "read": await said(less, "read_file", path="docs/c.txt"),
            "inside": await said(less, "write_file", path="src/new.txt", content="x"),
            "by its alias": await said(less, "write_file", path="alias/other.txt", content="x"),
            "read only": await said(less, "write_file", path="docs/c.txt", content="x"),
            "by a link": await said(less, "write_file", path="src/link/c.txt", content="x"),
            "outside": await said(less, "read_file", path="top.txt"),
            "a sibling": await said(less, "read_file", path="src2/d.txt"),
            "moved out": await said(less, "move_file", source="src/a.txt", target="a.txt"),
            "moved in": await said(less, "move_file", source="top.txt", target="src/top.txt"),
            "a folder out": await said(less, "move_file", source="src/deep", target="docs/deep"),
            "deleted": await said(less, "delete_file", path="src"),
        }

    value = await through(make, body)
    assert {name for name, given in value.items() if given == "E_DENIED"} == {
        "read only",
        "by a link",
        "outside",
        "a sibling",
        "moved out",
        "moved in",
        "a folder out",
    }


async def test_walks_show_the_folders_alone(make: Make, tree: Path) -> None:
    async def body(context: Context) -> object:
        less = await context.narrowed(read=["src/deep"])
        listed = await called(less, "list_files")
        found = await called(less, "search_text", pattern="needle")
        up = await called(less, "list_files", path="src", recursive=True)
        assert isinstance(listed, Value)
        assert isinstance(found, Value)
        assert isinstance(up, Value)
        return [listed.value, found.value, up.value]

    listed, found, up = await through(make, body)
    assert {each["path"] for each in listed["entries"]} == {"src"}
    assert {each["path"] for each in found["matches"]} == {"src/deep/b.txt"}
    assert {each["path"] for each in up["entries"]} == {"src/deep", "src/deep/b.txt"}


async def test_what_is_not_confined_is_refused_unless_it_is_named(make: Make, tree: Path) -> None:
    def elsewhere() -> str:
        return "reached"

    schema: dict[str, object] = {"type": "object", "properties": {}}
    foreign = Tool.from_schema(
        name="far.away", input_schema=schema, function=elsewhere, effect="read"
    )

    async def body(context: Context) -> object:
        less = await context.narrowed(read=["src"])
        named = await context.narrowed(tools=["far.away", "run_command"], read=["src"])
        again = await less.narrowed(tools=["far.away"])
        return [
            await said(less, "run_command", command="true"),
            await said(less, "far.away"),
            await said(named, "far.away"),
            await said(named, "run_command", command="true") != "E_DENIED",
            await said(again, "far.away"),
        ]

    value = await through(make, body, foreign)
    assert value == ["E_DENIED", "E_DENIED", "reached", True, "E_DENIED"]


async def test_containers_inside_reach_no_more(make: Make, outside: Outside) -> None:
    async def inner(context: Context) -> object:
        wide = await context.narrowed(tools=["poke", "read_file"])
        return [await said(context, "poke"), await said(wide, "poke")]

    async def body(context: Context) -> object:
        less = await context.narrowed(tools=["inner", "list_files"])
        return await said(less, "inner")

    value = await through(make, body, container(inner, "inner"))
    assert value == ["E_DENIED", "E_DENIED"]
    assert outside.total == 0


async def test_all_or_nothing_of_the_workspace_may_be_left_to_read(make: Make, tree: Path) -> None:
    async def body(context: Context) -> object:
        less = await context.narrowed(read=["."])
        none = await context.narrowed(read=[])
        return [
            await said(none, "read_file", path="docs/c.txt"),
            await said(none, "list_files", path="."),
            await said(none, "find_files", pattern="**"),
            await said(less, "read_file", path="docs/c.txt") != "E_DENIED",
            await said(less, "write_file", path="src/a.txt", content="x"),
        ]

    assert await through(make, body) == ["E_DENIED", "E_DENIED", "E_DENIED", True, "E_DENIED"]


async def test_a_program_sees_the_folders_alone(make: Make, tree: Path, boundary: str) -> None:
    code = """
for name in ("src/a.txt", "docs/c.txt", "top.txt", "src2/d.txt"):
    try:
        print(open(name).read())
    except OSError:
        print(name, "is closed")
"""

    async def body(context: Context) -> object:
        less = await context.narrowed(read=["src"], write=["docs"])
        ran = await called(less, "python_run", code=code)
        wrote = await called(less, "python_run", code="open('docs/n.txt', 'w').write('x')")
        cannot = await called(less, "python_run", code="open('src/a.txt', 'w').write('x')")
        return [each.value for each in (ran, wrote, cannot) if isinstance(each, Value)]

    async with make(
        container(body), policy=OPEN, python=PythonOptions(boundary=boundary)
    ) as session:
        ran, _, _ = cast("list[Any]", (await session.call("box")).value)
    told = [line for line in ran["stdout"].splitlines() if line]
    assert told == [
        "src/a.txt needle",
        "docs/c.txt needle",
        "top.txt is closed",
        "src2/d.txt is closed",
    ]
    assert (tree / "docs" / "n.txt").read_text() == "x"
    assert (tree / "src" / "a.txt").read_text() == "src/a.txt needle\n"


async def test_only_containers_narrow_and_only_within_the_workspace(make: Make) -> None:
    async def plain(context: Context) -> str:
        """Try to narrow."""
        try:
            await context.narrowed(tools=["poke"])
        except ToolError as error:
            return error.code
        return "narrowed"

    async def body(context: Context) -> object:
        with pytest.raises(OutsideWorkspace):
            await context.narrowed(read=["../elsewhere"])
        return "refused"

    tool = Tool.from_function(plain, effect="read")
    async with make(container(body), tool, policy=OPEN) as session:
        assert (await session.call("plain")).value == "E_DENIED"
        assert (await session.call("box")).value == "refused"


async def test_a_script_in_an_agent_is_still_the_agents(folder: Path, outside: Outside) -> None:
    rule = {"id": "no-agents", "tool": "poke", "origin": "agent", "verdict": "deny"}
    policy = Policy.from_dict({"mode": "open", "rules": [rule]})

    async def inner(context: Context) -> object:
        return await said(context, "poke")

    async def agent(context: Context) -> object:
        """Act as an agent."""
        return await said(context, "inner")

    acting = Tool.from_function(agent, effect="read", container=True, calls_as="agent")

    async def script(context: Context) -> object:
        """Act as a script inside."""
        return await inner(context)

    within = Tool.from_function(
        script, name="inner", effect="read", container=True, calls_as="script"
    )
    tools = [outside.tool(), acting, within]
    async with Session(tools, workspace=folder, policy=policy) as session:
        direct = await session.call("inner")
        result = await session.call("agent")
    assert direct.value == 1
    assert result.value == "E_DENIED"
    assert outside.total == 1


async def test_other_mounts_are_left_by_name_alone(folder: Path, tmp_path: Path) -> None:
    for file in ("a/b.txt", "c.txt"):
        (tmp_path / "pkg" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pkg" / file).write_text(file)
    (folder / "own.txt").write_text("own")
    places = ("own.txt", "@pkg/a/b.txt", "@pkg/c.txt", "@project/own.txt")

    async def body(context: Context) -> object:
        found: list[list[bool]] = []
        for read in (["."], ["@pkg/a"], [".", "@pkg"], ["@project"]):
            less = await context.narrowed(read=read)
            said_of = [await said(less, "read_file", path=place) for place in places]
            found.append([each != "E_DENIED" for each in said_of])
        own = await context.narrowed(write=["."])
        for path in ("new.txt", "@pkg/new.txt"):
            done = await said(own, "write_file", path=path, content="x")
            found.append([done != "E_DENIED"])
        return found

    workspace = Folder(folder, aliases={"pkg": Mount(tmp_path / "pkg", writable=True)})
    tools = [kit.tools(), container(body)]
    async with Session(tools, workspace=workspace, policy=OPEN) as session:
        result = await session.call("box")
    assert result.value == [
        [True, False, False, True],
        [False, True, False, False],
        [True, True, True, True],
        [True, False, False, True],
        [True],
        [False],
    ]
