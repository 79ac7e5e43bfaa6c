"""What a pause and a resumption keep to, seen from the host."""

import json
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from control.world import Open
from lineshaft import Answer, Limits, Pending, Policy, Session, tool
from lineshaft.errors import ConfigError, RunUnknown, StateError, UntrustedState
from lineshaft.store import Store
from support import Outside

YES = Answer(allow=True)
NO = Answer(allow=False, reason="not this one")

SWALLOWS = """
try:
    try:
        while True:
            try:
                await poke(what="asked")
            except BaseException:
                await note(what="caught")
    finally:
        await note(what="finally")
except BaseException:
    await note(what="outer")
"""


async def test_nothing_of_the_script_runs_after_a_pause(opened: Open, outside: Outside) -> None:
    async with opened() as session:
        paused = await session.run(SWALLOWS)
        assert (paused.status, outside.total) == ("paused", 0)
    assert outside.total == 0
    async with opened() as session:
        await session.cancel(paused.run_id)
        with pytest.raises(StateError):
            await session.resume(paused.run_id, {"*": YES})
    assert outside.total == 0


async def test_an_answer_for_the_run_counts_for_all_its_later_calls(
    opened: Open, outside: Outside
) -> None:
    script = "return [await poke(what=f'{i}') for i in range(5)]"
    async with opened() as session:
        paused = await session.run(script)
        assert len(paused.pending) == 1
        done = await session.resume(paused.run_id, {"*": Answer(allow=True, scope="run")})
    assert (done.status, outside.counts["poke"]) == ("success", 5)


async def test_a_run_may_pause_many_times(opened: Open, outside: Outside) -> None:
    script = """
print('start')
out = []
for i in range(3):
    out.append(await poke(what=f'{i}'))
    print(i)
return out
"""
    async with opened() as session:
        result = await session.run(script)
        for number in range(3):
            assert result.status == "paused"
            assert outside.counts["poke"] == number
            result = await session.resume(result.run_id, {"*": YES})
    assert (result.value, result.stdout) == ([1, 2, 3], "start\n0\n1\n2\n")
    assert [call.status for call in result.calls] == ["done"] * 3


async def test_without_an_answer_the_run_waits_again(opened: Open, outside: Outside) -> None:
    async with opened() as session:
        paused = await session.run("return await poke()")
        again = await session.resume(paused.run_id)
        assert (again.status, again.pending[0].id) == ("paused", paused.pending[0].id)
        assert await session.pending(paused.run_id) == again.pending
        with pytest.raises(ConfigError, match="no call 'other'"):
            await session.resume(paused.run_id, {"other": YES})
        done = await session.resume(paused.run_id, {paused.pending[0].id: YES})
    assert (done.value, outside.counts["poke"]) == (1, 1)


async def test_what_the_approver_leaves_open_waits(opened: Open, outside: Outside) -> None:
    asked: list[int] = []

    async def some(pending: tuple[Pending, ...]) -> dict[str, Answer]:
        asked.append(len(pending))
        return {p.id: YES for p in pending[:2]} if len(asked) == 1 else {}

    script = "return await asyncio.gather(*[poke(what=f'{i}') for i in range(5)])"
    async with opened(approver=some) as session:
        paused = await session.run(script)
        assert (paused.status, len(paused.pending), outside.counts["poke"]) == ("paused", 3, 2)
        assert asked[0] == 5
    async with opened() as session:
        done = await session.resume(paused.run_id, {"*": YES})
    assert (done.status, sorted(done.value)) == ("success", [1, 2, 3, 4, 5])


async def test_policy_is_asked_again_when_an_approved_call_is_made(
    opened: Open, outside: Outside
) -> None:
    async with opened() as session:
        paused = await session.run("return await poke()")
    stricter = [{"id": "never", "tool": "poke", "verdict": "deny", "reason": "not any more"}]
    async with opened(rules=stricter) as session:
        done = await session.resume(paused.run_id, {"*": YES})
    assert done.error is not None
    assert (done.error.code, done.calls[0].rule, outside.total) == ("E_DENIED", "never", 0)


async def test_a_run_goes_on_in_the_stricter_mode(opened: Open, outside: Outside) -> None:
    script = "await note(what='a')\nawait poke()\nreturn await note(what='b')"
    async with opened(policy=Policy(mode="ask")) as session:
        paused = await session.run(script)
    async with opened() as wider:  # in mode open, with a rule that asks about poke
        paused = await wider.resume(paused.run_id, {"*": YES})
        assert (paused.status, paused.pending[0].tool) == ("paused", "poke")
        paused = await wider.resume(paused.run_id, {"*": YES})
        assert (paused.status, paused.pending[0].rule) == ("paused", "mode:ask")
    async with opened(policy=Policy(mode="read")) as stricter:
        done = await stricter.resume(paused.run_id, {"*": YES})
    assert done.error is not None
    assert (done.error.code, outside.total) == ("E_DENIED", 2)


async def test_runs_inside_of_a_run_are_in_no_wider_mode_than_that(
    opened: Open, outside: Outside
) -> None:
    sessions: list[Session] = []

    @tool(effect="read", container=True)
    async def inside() -> list[str]:
        """Run a script."""
        result = await sessions[0].run("return await note(what='inside')")
        return [result.status, result.error.code if result.error else ""]

    ask_inside = [{"id": "first", "tool": "inside", "verdict": "ask"}]
    async with opened(inside, policy=Policy.from_dict({"mode": "read", "rules": ask_inside})) as s:
        paused = await s.run("return await inside()")
    async with opened(inside) as wider:
        sessions.append(wider)
        done = await wider.resume(paused.run_id, {"*": YES})
        assert (done.value, outside.total) == (["error", "E_DENIED"], 0)
        assert (await wider.run("return await inside()")).value == ["success", ""]
    assert outside.total == 1


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("await poke()\nreturn await later()", "`later` is not defined"),
        ("await other()", "there is no tool `other`"),
        ("await poke()\nreturn await tools.later()", "there is no tool `later` in `tools`"),
    ],
)
async def test_a_run_whose_tools_are_not_here_waits_on(
    opened: Open, outside: Outside, script: str, what: str
) -> None:
    rules = [{"id": "asks", "tool": ["poke", "other"], "verdict": "ask"}]
    more = [outside.tool(name, effect="external") for name in ("later", "other")]
    async with opened(*more, rules=rules) as session:
        paused = await session.run(script)
    async with opened(rules=rules) as session:
        with pytest.raises(ConfigError, match=what):
            await session.resume(paused.run_id, {"*": YES})
    async with opened(*more, rules=rules) as session:
        done = await session.resume(paused.run_id, {"*": YES})
    assert (done.status, outside.total) == ("success", len(done.calls))


async def test_limits_count_over_a_pause(opened: Open, outside: Outside) -> None:
    script = """
await note(what="before")
await poke()
await note(what="after")
return await note(what="too much")
"""
    async with opened() as session:
        paused = await session.run(script, limits=Limits(calls=3))
        done = await session.resume(paused.run_id, {"*": YES})
    assert done.error is not None
    assert done.error.code == "E_CALL_LIMIT"
    assert outside.counts["note:too much"] == 0


async def test_staged_changes_wait_with_the_run(opened: Open, workspace: Path) -> None:
    script = """
await write_file(path="free.txt", content="free\\n")
await write_file(path="asked/one.txt", content="one\\n")
return (await read_file(path="free.txt"))["content"]
"""
    async with opened() as session:
        paused = await session.run(script)
        assert paused.status == "paused"
        assert not paused.landed
        assert "+one" in paused.pending[0].diff
        assert "free" not in paused.pending[0].diff
    assert list(workspace.iterdir()) == []
    async with opened() as session:
        done = await session.resume(paused.run_id, {"*": YES})
        assert (done.value, done.landed) == ("free\n", True)
        assert {change.path for change in done.changes} == {"free.txt", "asked/one.txt"}
        await session.undo(done.run_id)
    assert list(workspace.iterdir()) == []


async def test_what_was_undone_does_not_go_on(
    opened: Open, outside: Outside, workspace: Path
) -> None:
    script = """
await write_file(path="free.txt", content="free")
await run_command("true")
await poke(what="asked")
"""
    async with opened() as session:
        paused = await session.run(script)
        assert paused.status == "paused"
        assert (workspace / "free.txt").exists()
        await session.undo(paused.run_id)
        assert list(workspace.iterdir()) == []
        assert (await session.summary(paused.run_id)).status == "cancelled"
        with pytest.raises(StateError, match="is over"):
            await session.resume(paused.run_id, {"*": YES})
    assert outside.total == 0


async def test_a_script_that_fails_leaves_the_tree_as_it_was(opened: Open, workspace: Path) -> None:
    for number in range(8):
        (workspace / f"{number}.txt").write_text(f"old {number}\n")
    script = """
for i in range(8):
    await edit_file(path=f"{i}.txt", old="old", new="new")
await edit_file(path="8.txt", old="old", new="new")
"""
    async with opened() as session:
        result = await session.run(script)
    assert result.error is not None
    assert (result.error.code, result.changes, result.landed) == ("E_FILE_NOT_FOUND", (), False)
    for number in range(8):
        assert (workspace / f"{number}.txt").read_text() == f"old {number}\n"


async def test_what_is_not_kept_is_said(opened: Open) -> None:
    async with opened() as session:
        with pytest.raises(RunUnknown):
            await session.resume("20200101-000000-00000000")
        with pytest.raises(RunUnknown):
            await session.replay("20200101-000000-00000000")
        with pytest.raises(RunUnknown):
            await session.undo("20200101-000000-00000000")
    async with opened(store=False) as session:
        with pytest.raises(ConfigError, match="keeps nothing"):
            await session.resume("20200101-000000-00000000")


async def test_another_key_does_not_open_a_paused_run(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outside: Outside
) -> None:
    monkeypatch.setenv("LINESHAFT_STATE_KEY", "k" * 40)
    async with opened() as session:
        paused = await session.run("return await poke()")
    monkeypatch.setenv("LINESHAFT_STATE_KEY", "another" * 6)
    async with opened() as session:
        with pytest.raises(UntrustedState):
            await session.resume(paused.run_id, {"*": YES})
    assert outside.total == 0


SECRET = "xK9-planted-2f7c"  # noqa: S105  it is planted to be looked for


async def test_nothing_of_the_state_is_seen_in_views(
    opened: Open, workspace: Path, outside: Outside
) -> None:
    (workspace / "notes.txt").write_text(f"password={SECRET}\n")
    script = """
text = (await read_file(path="notes.txt"))["content"]
await write_file(path="asked/copy.txt", content=text)
"""
    async with opened(secrets=[SECRET]) as session:
        paused = await session.run(script)
        assert session.store is not None
        events = await session.store.events(paused.run_id)
        runs = await session.store.runs()
        views = [
            paused.json(),
            repr(events),
            repr(runs),
            repr(await session.pending(paused.run_id)),
        ]
        done = await session.resume(paused.run_id, {"*": YES})
        views += [done.json(), repr(await session.store.events(paused.run_id))]
    assert done.status == "success"
    assert all(SECRET not in view for view in views)


@tool(effect="read")
async def whole_archive() -> str:
    """Return more text than a few runs keep."""
    return "x" * 500_000


async def test_what_waits_is_refused_once_the_run_can_no_longer_pause(
    opened: Open, outside: Outside, tmp_path: Path
) -> None:
    script = """
async def one():
    try:
        return await poke(what="asked")
    except ToolError as error:
        return [error.code, str(error)]
waiting = asyncio.create_task(one())
await note(what="after the other has come")
for _ in range(5):
    await whole_archive()
return await waiting
"""
    async with opened(whole_archive, store=Store(tmp_path / "s.db", keep_mb=2)) as session:
        result = await session.run(script)
    assert result.error is None
    code, message = result.value
    assert code == "E_DENIED"
    assert message.endswith("it needs an approval, and nobody is there to give it")
    assert (outside.counts["note"], outside.counts["poke"]) == (1, 0)


@pytest.mark.parametrize("then", ["nothing", "yes"])
async def test_what_was_left_open_is_asked_again_once_the_run_can_no_longer_pause(
    opened: Open, outside: Outside, tmp_path: Path, then: str
) -> None:
    asked: list[list[object]] = []

    async def answer(pending: tuple[Pending, ...]) -> dict[str, Answer]:
        asked.append([each.arguments["what"] for each in pending])
        given = {"answered", "left"} if then == "yes" and len(asked) > 1 else {"answered"}
        return {each.id: YES for each in pending if each.arguments["what"] in given}

    script = """
async def one():
    try:
        return await poke(what="left")
    except ToolError as error:
        return [error.code, str(error)]
async def other():
    await poke(what="answered")
    for _ in range(5):
        await whole_archive()
return (await asyncio.gather(one(), other()))[0]
"""
    async with opened(
        whole_archive,
        store=Store(tmp_path / "s.db", keep_mb=2),
        approver=answer,
        limits=Limits(seconds=10),
    ) as session:
        result = await session.run(script)
    assert result.error is None
    assert asked == [["left", "answered"], ["left"]]
    if then == "yes":
        assert outside.counts["poke"] == 2
    else:
        assert result.value[0] == "E_DENIED"
        assert result.value[1].endswith("it needs an approval, and none was given")
        assert outside.counts["poke"] == 1


async def test_a_call_that_the_script_gave_up_is_not_made_again(
    opened: Open, outside: Outside
) -> None:
    @tool(effect="read")
    async def slow() -> str:
        """Take longer than the script waits."""
        outside.counts["slow"] += 1
        await anyio.sleep_forever()
        return "never"

    script = """
try:
    async with asyncio.timeout(0.01):
        await slow()
except TimeoutError:
    return ["given up", await poke(what="asked")]
"""
    async with opened(slow) as session:
        paused = await session.run(script)
    async with opened(slow) as session:
        done = await session.resume(paused.run_id, {"*": Answer(allow=True)})
    assert done.error is None
    assert done.value[0] == "given up"
    assert (outside.counts["slow"], outside.counts["poke"]) == (1, 1)


JOBS = st.lists(
    st.tuples(st.sampled_from("abc"), st.booleans(), st.integers(0, 3)), min_size=1, max_size=6
)


@pytest.mark.long
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(jobs=JOBS, allowed=st.lists(st.booleans(), min_size=1, max_size=6))
def test_fan_outs_resume_to_the_same_calls(
    opened: Open, outside: Outside, jobs: list[tuple[str, bool, int]], allowed: list[bool]
) -> None:
    import anyio  # noqa: PLC0415  only here: hypothesis drives a synchronous function

    async def one() -> None:
        results: list[tuple[object, object]] = []
        for interrupted in (False, True):
            outside.counts.clear()

            async def answer(pending: tuple[Pending, ...]) -> dict[str, Answer]:
                return {p.id: _answer(p.arguments["what"], allowed) for p in pending}

            async with opened(approver=None if interrupted else answer) as session:
                result = await session.run(FAN_OUT, inputs={"jobs": [list(j) for j in jobs]})
                while result.status == "paused":
                    answers = {
                        p.id: _answer(str(p.arguments["what"]), allowed) for p in result.pending
                    }
                    result = await session.resume(result.run_id, answers)
            assert result.status == "success", result.error
            calls = sorted((c.tool, json.dumps(c.arguments), c.status) for c in result.calls)
            results.append((calls, dict(outside.counts)))
        assert results[0] == results[1]

    anyio.run(one)


def _answer(what: object, allowed: list[bool]) -> Answer:
    return YES if allowed[sum(map(ord, str(what))) % len(allowed)] else NO


FAN_OUT = """
async def job(name, asks, times):
    done = []
    for i in range(times):
        try:
            if asks:
                await poke(what=f"{name}{i}")
            else:
                await note(what=f"{name}{i}")
            done.append(i)
        except ToolError as error:
            done.append(error.code)
    return done
return await asyncio.gather(*[job(n, a, t) for n, a, t in jobs])
"""
