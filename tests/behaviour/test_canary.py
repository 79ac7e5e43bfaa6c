"""One door: under a policy that denies everything a canary never runs, whichever way in."""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import get_args

import anyio
import pytest
from mcp import Client

from lineshaft import Policy, Session, Tool, tool
from lineshaft.agents import Microagent
from lineshaft.mcp.front import Front, front_server
from lineshaft.testing import ScriptedEngine, ScriptedModel, call, exit_with
from lineshaft.values import Call, Context, Origin
from support import Make, Outside

DENY = {"mode": "open", "rules": [{"id": "nothing", "verdict": "deny", "tool": "canary"}]}
WayIn = Callable[[Make, Outside, Path], Awaitable[str]]


async def from_code(make: Make, outside: Outside, folder: Path) -> str:
    """Call it as host code does."""
    async with make(outside.tool("canary"), policy=Policy.from_dict(DENY)) as session:
        result = await session.call("canary")
    return f"{result.rule} {result.error}"


async def from_a_model(make: Make, outside: Outside, folder: Path) -> str:
    """Call it as a model's direct call."""
    async with make(outside.tool("canary"), policy=Policy.from_dict(DENY)) as session:
        return (await session.handle("canary", {})).text


async def from_a_script(make: Make, outside: Outside, folder: Path) -> str:
    """Call it from a script."""
    async with make(outside.tool("canary"), policy=Policy.from_dict(DENY)) as session:
        result = await session.run("return await canary()")
    return f"{result.calls[0].rule} {result.error}"


async def from_the_shell(make: Make, outside: Outside, folder: Path) -> str:
    """Call it from the command line, in a process of its own."""
    return await from_a_process(outside, folder, "call", "canary")


async def from_an_editor(make: Make, outside: Outside, folder: Path) -> str:
    """Call it from a script that a person starts in an editor, as the extension has it run."""
    words = ("run", "-c", "return await canary()", "--origin", "editor")
    return await from_a_process(outside, folder, *words)


async def from_a_process(outside: Outside, folder: Path, *words: str) -> str:
    mark = folder / "canary-ran"
    (folder / "canary_tools.py").write_text(
        "from pathlib import Path\nfrom lineshaft import tool\n"
        f"@tool(effect='write')\ndef canary() -> None:\n"
        f"    '''Sing.'''\n    Path({str(mark)!r}).touch()\n"
    )
    (folder / "lineshaft.toml").write_text(
        "[policy]\nmode = 'open'\n"
        "[[policy.rules]]\nid = 'nothing'\nverdict = 'deny'\ntool = 'canary'\n"
    )
    command = [sys.executable, "-m", "lineshaft", *words]
    done = await anyio.run_process(
        [*command, "--tools", "canary_tools.py"], cwd=folder, check=False
    )
    assert done.returncode == 3
    outside.counts["canary"] += mark.exists()
    return (done.stdout + done.stderr).decode()


async def from_an_mcp_client(make: Make, outside: Outside, folder: Path) -> str:
    """Call it as a client of `serve`, by its name and from a script."""
    async with (
        make(outside.tool("canary"), policy=Policy.from_dict(DENY)) as session,
        front_server(Front(session, direct=["*"])) as server,
        Client(server) as client,
    ):
        called = await client.call_tool("canary", {})
        ran = await client.call_tool("run", {"code": "return await canary()"})
    assert "E_DENIED" in str(ran.content)
    return str(called.content)


async def from_an_agent(make: Make, outside: Outside, folder: Path) -> str:
    """Call it as the model of an agent does, by a tool of the agent's own and by a container."""

    async def box(context: Context) -> str:
        """Call the canary from inside."""
        return str(await context.dispatch(Call(tool="canary", arguments={}, origin="code")))

    container = Tool.from_function(box, effect="read", container=True)
    model = ScriptedModel([call("canary"), call("box"), exit_with("done")])
    agent = Microagent[str](
        name="bird", instructions="x", tools=[outside.tool("canary"), container], model=model
    )
    rule = {"id": "nothing", "verdict": "deny", "tool": "canary", "origin": "agent"}
    policy = Policy.from_dict({"mode": "open", "rules": [rule]})
    async with make(agent, policy=policy) as session:
        result = await session.run("return await agents.bird(text='x')")
    assert [each.rule for each in result.calls if each.tool == "canary"] == ["nothing"] * 2
    return model.requests[-1].messages[-1].text


WAYS: dict[Origin, WayIn] = {
    "agent": from_an_agent,
    "code": from_code,
    "editor": from_an_editor,
    "mcp": from_an_mcp_client,
    "model": from_a_model,
    "script": from_a_script,
    "shell": from_the_shell,
}


@pytest.mark.behaviour("A6")
@pytest.mark.parametrize("origin", get_args(Origin))
async def test_a_refused_tool_is_refused_on_every_way_in_with_the_same_reason(
    make: Make, outside: Outside, folder: Path, origin: Origin
) -> None:
    said = await WAYS[origin](make, outside, folder)
    assert outside.total == 0
    assert "E_DENIED" in said
    assert "nothing" in said


@pytest.mark.behaviour("A6")
async def test_a_canary_inside_a_container_a_nested_run_or_an_alias_never_runs(
    make: Make, outside: Outside, folder: Path
) -> None:
    sessions: list[Session] = []

    async def through(context: Context) -> str:
        """Call the canary from inside."""
        done = await context.dispatch(Call(tool="canary", arguments={}, origin="code"))
        return getattr(done, "code", "ran")

    @tool(effect="read")
    async def nested() -> str:
        """Run a script that calls the canary."""
        result = await sessions[0].run("return await canary()")
        return result.error.code if result.error else "ran"

    script = """
from tools import canary as bird
found = [await through(), await nested()]
for call in [lambda: canary(), lambda: tools.canary(), lambda: bird()]:
    try:
        found.append(await call())
    except ToolError as e:
        found.append(e.code)
return found
"""
    container = Tool.from_function(through, effect="read", container=True)
    policy = Policy.from_dict(DENY)
    async with make(outside.tool("canary"), container, nested, policy=policy) as session:
        sessions.append(session)
        result = await session.run(script)
    assert result.value == ["E_DENIED"] * 5
    assert outside.total == 0


@pytest.mark.behaviour("A6")
async def test_an_engine_that_says_a_call_is_somebody_elses_gains_nothing(
    outside: Outside, folder: Path
) -> None:
    calls = [Call(tool="canary", arguments={}, origin=origin) for origin in get_args(Origin)]
    session = Session(
        [outside.tool("canary")],
        workspace=folder,
        engine=ScriptedEngine(calls),
        policy=Policy.from_dict(DENY),
    )
    async with session:
        result = await session.run("ignored")
    assert {call.status for call in result.calls} <= {"refused"}
    assert outside.total == 0
