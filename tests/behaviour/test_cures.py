"""The cures that the page of error codes names cure: what failed goes well with them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from lineshaft import Answer, Limits, Pending, Policy, Rule, Session, tool
from support import Make

pytestmark = pytest.mark.behaviour("E25")


@tool
def undeclared() -> int:
    """Return one; what it touches is not said."""
    return 1


@tool(effect="external")
def beyond() -> int:
    """Return one, and touch something outside."""
    return 1


@tool(effect="read", seconds=0.01)
async def hurried() -> int:
    """Wait longer than its own time."""
    await anyio.sleep_forever()
    return 1


@tool(effect="read")
async def slow() -> int:
    """Wait longer than any time."""
    await anyio.sleep_forever()
    return 1


async def yes(pending: tuple[Pending, ...]) -> Mapping[str, Answer]:
    return {each.id: Answer(allow=True) for each in pending}


OPEN = Policy(rules=(Rule(id="mine", verdict="allow", tool="undeclared"),))
REFUSED = """
for n in range(7):
    try:
        await read_file(path="nope" * 3, first_line=-1)
    except ToolError:
        pass
return 1
"""


@dataclass(frozen=True)
class Cure:
    """What fails with a code, and what does not any more."""

    code: str
    script: str
    fails: Mapping[str, Any] = field(default_factory=dict[str, Any])
    instead: str = ""
    cured: Mapping[str, Any] = field(default_factory=dict[str, Any])


CURES = {
    "limits.calls": Cure(
        "E_CALL_LIMIT",
        "return [await poke() for _ in range(3)][-1]",
        {"limits": Limits(calls=2)},
        cured={"limits": Limits(calls=3)},
    ),
    "limits.stdout_bytes": Cure(
        "E_LIMIT",
        "print('x' * 3_000)\nreturn 1",
        {"limits": Limits(stdout_bytes=10)},
        cured={"limits": Limits(stdout_bytes=20)},
    ),
    "limits.memory_mb": Cure(
        "E_LIMIT",
        "held = 'x' * 150_000_000\nreturn len(held)",
        {"limits": Limits(memory_mb=64)},
        cured={"limits": Limits(memory_mb=512)},
    ),
    "a list for a set": Cure("E_NOT_JSON", "return {1}", instead="return list({1})"),
    "the line of a script": Cure("E_CHECK", "return (", {"check": "off"}, "return (1)"),
    "the line of a text": Cure("E_SYNTAX", "return eval('1 +')", instead="return eval('1 + 1')"),
    "await": Cure(
        "E_NOT_AWAITED", "for f in [poke]:\n    f()\nreturn 1", instead="return await poke()"
    ),
    "script.check": Cure("E_CHECK", "return nope", instead="nope = 1\nreturn nope"),
    "a traceback": Cure("E_SCRIPT", "return [][0]", instead="return [1][0]"),
    "an approver": Cure(
        "E_DENIED", "return await undeclared()", {"store": False}, "", {"approver": yes}
    ),
    "a rule": Cure("E_DENIED", "return await undeclared()", {"store": False}, "", {"policy": OPEN}),
    "replace_all": Cure(
        "E_PRECONDITION_FAILED",
        "await write_file(path='a', content='x x')\n"
        "return await edit_file(path='a', old='x', new='y')",
        instead="await write_file(path='a', content='x x')\n"
        "return await edit_file(path='a', old='x', new='y', replace_all=True)",
    ),
    "the signature": Cure(
        "E_INVALID_ARGS",
        "return await write_file(pth='a', content='x')",
        {"check": "off"},
        "return await write_file(path='a', content='x')",
    ),
}


@pytest.mark.parametrize("name", CURES)
async def test_what_fails_goes_well_with_its_cure(make: Make, name: str) -> None:
    case = CURES[name]
    async with make(undeclared, **case.fails) as session:
        failed = await session.run(case.script)
    async with make(undeclared, **{**case.fails, **case.cured}) as session:
        cured = await session.run(case.instead or case.script)
    assert failed.error is not None
    assert (failed.error.code, cured.status) == (case.code, "success"), cured.error


async def test_a_call_has_the_least_of_its_times(make: Make) -> None:
    async with make(hurried) as session:
        own = await session.call("hurried")
    async with make(slow, limits=Limits(call_seconds=0.01)) as session:
        of_limits = await session.call("slow")
    assert own.error is not None
    assert of_limits.error is not None
    assert {own.error.code, of_limits.error.code} == {"E_TOOL_TIMEOUT"}
    assert (own.error.message, of_limits.error.message) == (
        "hurried took longer than 0.01 s and was ended",
        "slow took longer than 0.01 s and was ended",
    )


async def test_a_command_whose_call_has_no_more_time_is_told_so(make: Make) -> None:
    wait = {"command": "sleep 600", "timeout": 500}
    async with make(policy=Policy(mode="open"), limits=Limits(call_seconds=2)) as session:
        ended = await session.call("run_command", wait)
    assert ended.error is not None
    assert ended.error.code == "E_TOOL_TIMEOUT"
    assert "no more time; limits.call_seconds sets it" in ended.error.hint


async def test_a_command_that_took_its_own_time_may_be_given_more(make: Make) -> None:
    wait = {"command": "sleep 600", "timeout": 0.1}
    async with make(policy=Policy(mode="open")) as session:
        ended = await session.call("run_command", wait)
    assert ended.error is not None
    assert ended.error.hint.startswith("Give a longer `timeout`")


async def test_three_times_as_many_refusals_end_a_run(make: Make) -> None:
    async with make(limits=Limits(calls=2), check="off") as session:
        result = await session.run(REFUSED)
    assert (result.status, result.error and result.error.code) == ("limit", "E_CALL_LIMIT")


async def test_a_preview_ends_before_what_acts_and_the_run_makes_it(make: Make) -> None:
    async with make(beyond, approver=yes) as session:
        preview = await session.preview("return await beyond()")
        result = await session.run("return await beyond()")
    assert (preview.run.status, preview.run.error) == ("paused", None)
    assert [call.tool for call in preview.run.pending] == ["beyond"]
    assert result.value == 1


async def test_a_key_that_is_too_short_is_a_fault_of_the_store(
    make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def run(session: Session) -> str:
        async with session:
            result = await session.run("return await undeclared()")
        return result.error.code if result.error else ""

    store = tmp_path / "runs.db"
    monkeypatch.setenv("LINESHAFT_STATE_KEY", "short")
    assert await run(make(undeclared, store=store)) == "E_STORE"
    monkeypatch.setenv("LINESHAFT_STATE_KEY", "k" * 32)
    assert await run(make(undeclared, store=store)) == "E_PAUSED"


async def test_a_state_of_another_key_is_trusted_again_with_its_own(
    make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = tmp_path / "runs.db"
    monkeypatch.setenv("LINESHAFT_STATE_KEY", "k" * 32)
    async with make(undeclared, store=store) as session:
        paused = await session.run("return await undeclared()")
    monkeypatch.setenv("LINESHAFT_STATE_KEY", "another" * 5)
    async with make(undeclared, store=store) as session:
        with pytest.raises(Exception, match="another key") as refused:
            await session.resume(paused.run_id, {"*": Answer(allow=True)})
    assert getattr(refused.value, "code", "") == "E_UNTRUSTED_STATE"
    monkeypatch.setenv("LINESHAFT_STATE_KEY", "k" * 32)
    async with make(undeclared, store=store) as session:
        assert (await session.resume(paused.run_id, {"*": Answer(allow=True)})).value == 1
