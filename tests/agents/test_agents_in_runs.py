"""Runs with agents in them: they pause, end with their host, go on elsewhere, and are undone."""

import json
import os
import subprocess
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from agents.reviewers import SAME, do, session
from forked.programs import Programs
from lineshaft import Answer, Pending, Policy, Session, Tool, ToolError
from lineshaft.agents import Microagent
from lineshaft.errors import ConfigError, StateError
from lineshaft.testing import ScriptedModel, call, exit_with
from lineshaft.values import Call, Context

ONE = "return await agents.review(path='f1.md')"

Order = Callable[..., dict[str, Any]]
Elsewhere = Callable[[Mapping[str, Any]], "subprocess.CompletedProcess[bytes]"]
There = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]


@pytest.fixture
def order(tmp_path: Path) -> Order:
    folder = tmp_path / "work"
    folder.mkdir()
    for number in range(20):
        (folder / f"f{number}.md").write_text(f"issue {number}\n")
    settled = {
        "workspace": str(folder),
        "store": str(tmp_path / "r.db"),
        "log": str(tmp_path / "w"),
    }

    def given(what: str, **more: Any) -> dict[str, Any]:  # of an order
        return {"do": what, **settled, **more}

    return given


def wire(order: Mapping[str, Any]) -> Counter[str]:
    return Counter(Path(order["log"]).read_text().splitlines())


def files(order: Mapping[str, Any]) -> dict[str, str]:
    return {path.name: path.read_text() for path in Path(order["workspace"]).iterdir()}


@pytest.fixture
def elsewhere(programs: Programs) -> Elsewhere:
    """Return a function that does what an order says in a process of its own."""

    def done(order: Mapping[str, Any]) -> "subprocess.CompletedProcess[bytes]":
        return programs.run(
            "",
            str(Path(__file__).with_name("reviewers.py")),
            json.dumps(order),
            cwd=Path.cwd(),
            env=os.environ,
        )

    return done


@pytest.fixture
def there(elsewhere: Elsewhere) -> There:
    """Return a function that does the same, and gives what was answered."""

    async def done(order: Mapping[str, Any]) -> dict[str, Any]:
        made = await anyio.to_thread.run_sync(elsewhere, order)
        assert made.returncode == 0, made.stderr
        return json.loads(made.stdout)

    return done


async def test_twenty_agents_pause_with_their_run_and_go_on_in_another_process(
    order: Order,
    there: There,
) -> None:
    before = files(order("run"))
    first = await there(order("run", sends="f3.md"))
    assert (first["status"], [tool for _, tool in first["pending"]]) == ("paused", ["send"])
    assert files(order("run")) == before
    assert not any(line.startswith("sent") for line in wire(order("run")))
    told = {"run_id": first["run_id"]}
    second = await there(order("resume", sends="f3.md", answers={"*": True}, **told))
    assert (second["status"], second["value"]) == ("success", 20)
    assert second["statuses"] == ["done"]
    assert second["calls"]["agents.review"] == 20
    assert second["requests"] == {"wire": 61}
    counts = wire(order("run"))
    assert counts.pop("sent f3.md") == 1
    assert counts == {f"f{n}.md {turn}": 1 for n in range(20) for turn in range(3)} | {"f3.md 3": 1}
    assert len(second["changes"]) == 21
    assert files(order("run"))["report.txt"].count("good") == 20
    undone = await do(order("undo", **told))
    assert len(undone["undone"]) == 21
    assert files(order("run")) == before


async def test_a_no_reaches_the_model_of_the_agent_that_asked(order: Order) -> None:
    first = await do(order("run", sends="f3.md"))
    answers = {first["pending"][0][0]: False}
    second = await do(order("resume", sends="f3.md", answers=answers, run_id=first["run_id"]))
    assert second["value"] == 20
    assert second["statuses"] == ["done", "refused"]
    assert wire(order("run"))["f3.md 3"] == 1


async def test_a_run_pauses_again_where_an_answer_is_missing(order: Order) -> None:
    first = await do(order("run", sends="f3.md"))
    second = await do(order("resume", sends="f3.md", run_id=first["run_id"]))
    assert second["pending"] == first["pending"]
    again = order("resume", sends="f3.md", run_id=first["run_id"], answers={"*": True})
    assert (await do(again))["value"] == 20
    assert set(wire(order("run")).values()) == {1}


async def test_a_person_is_asked_once_about_an_agent_and_its_containers(order: Order) -> None:
    rule = {"id": "agents", "tool": "agents.*", "verdict": "ask"}
    settings = {
        "sends": "f1.md",
        "rules": [rule],
        "script": "return await agents.review(path='f1.md')",
    }
    first = await do(order("run", **settings))
    assert [tool for _, tool in first["pending"]] == ["agents.review"]
    told = {"run_id": first["run_id"], "answers": {"*": True}}
    second = await do(order("resume", **settings, **told))
    assert [tool for _, tool in second["pending"]] == ["send"]
    third = await do(order("resume", **settings, **told))
    assert third["status"] == "success"
    assert set(wire(order("run")).values()) == {1}


@pytest.mark.parametrize("changed", ["instructions", "model", "tools"])
async def test_an_agent_that_works_in_another_way_now_is_refused_before_anything_runs(
    order: Order, changed: str
) -> None:
    first = await do(order("run", sends="f1.md", script=ONE))
    before = wire(order("run"))
    other: dict[str, Any] = {
        "instructions": {"instructions": "Review it well."},
        "model": {"model_name": "other"},
        "tools": {"tools": ["read_file", "write_file", "delete_file"]},
    }[changed]
    again = order("resume", sends="f1.md", run_id=first["run_id"], answers={"*": True}, **other)
    with pytest.raises(StateError, match=r"agents\.review is not what it was"):
        await do(again)
    assert wire(order("run")) == before
    same = order("resume", sends="f1.md", run_id=first["run_id"], answers={"*": True})
    assert (await do(same))["status"] == "success"


async def test_what_was_waited_for_before_a_pause_is_not_waited_for_again(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"sends": "f1.md", "busy": "f1.md", "script": ONE}
    first = await do(order("run", **settings))
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(anyio, "sleep", sleep)
    told = {"run_id": first["run_id"], "answers": {"*": True}}
    second = await do(order("resume", sends="f1.md", **told))
    assert second["status"] == "success"
    assert waited == []
    assert wire(order("run"))["f1.md 0"] == 2


async def test_a_container_that_calls_otherwise_after_a_pause_ends_the_run(
    order: Order, tmp_path: Path
) -> None:
    made: list[str] = []

    def note(text: str) -> str:
        """Note it."""
        made.append(text)
        return text

    async def box(context: Context) -> object:
        """Make two calls."""
        told = tmp_path / "told"
        for text in (told.read_text(), "last"):
            call_of_box = Call(tool="note", arguments={"text": text}, origin="code")
            await context.dispatch(call_of_box)
        return None

    rule = {"id": "last", "tool": "note", "arguments": {"text": "last"}, "verdict": "ask"}
    policy = Policy.from_dict({"mode": "open", "rules": [rule]})
    tools = [
        Tool.from_function(note, effect="write"),
        Tool.from_function(box, effect="read", container=True, replayable=True),
    ]
    settings: dict[str, Any] = {
        "workspace": order("run")["workspace"],
        "store": order("run")["store"],
        "policy": policy,
    }
    (tmp_path / "told").write_text("one")
    async with Session(tools, **settings) as host:
        first = await host.run("return await box()")
    assert [each.arguments for each in first.pending] == [{"text": "last"}]
    (tmp_path / "told").write_text("two")
    async with Session(tools, **settings) as host:
        second = await host.resume(first.run_id, {"*": Answer(allow=True)})
    assert (second.error and second.error.code) == "E_DIVERGED"
    assert made == ["one"]


async def test_agents_with_the_same_text_get_their_own_answers_after_a_pause(order: Order) -> None:
    settings = {"sends": "f1.md", "script": SAME, "dies_at": -1}
    first = await do(order("run", **settings))
    assert len(first["pending"]) == 3
    told = {"run_id": first["run_id"], "answers": {"*": True}}
    second = await do(order("resume", **settings, **told))
    assert second["status"] == "success"
    assert len(set(second["value"])) == 3
    assert wire(order("run"))["f1.md 0"] == 3


async def test_in_mode_ask_a_person_is_asked_once_for_all_turns_of_an_agent(
    tmp_path: Path,
) -> None:
    asked: list[str] = []

    async def person(pending: tuple[Pending, ...]) -> Mapping[str, Answer]:
        asked.extend(each.tool for each in pending)
        return {each.id: Answer(allow=True) for each in pending}

    model = ScriptedModel([call("read_file", path="x"), exit_with("a")] * 2)
    agent = Microagent[str](name="short", instructions="Answer.", model=model)
    settings: dict[str, Any] = {"workspace": tmp_path, "policy": Policy(mode="ask")}
    async with Session([agent], approver=person, **settings) as session:
        await session.run("return [await agents.short(text='x') for _ in range(2)]")
    assert asked == ["ask_model", "ask_model"]
    assert len(model.requests) == 4


async def test_a_request_in_flight_when_its_host_dies_is_made_again_only_where_told(
    order: Order,
    elsewhere: Elsewhere,
    there: There,
) -> None:
    died = await anyio.to_thread.run_sync(elsewhere, order("run", dies_at=45))
    assert died.returncode < 0
    before = wire(order("run"))
    run_id = await _the_run(order("run"))
    after = await there(order("resume", run_id=run_id, repeat=["*"]))
    assert (after["status"], after["value"]) == ("success", 20)
    assert after["calls"]["agents.review"] == 20
    counts = wire(order("run"))
    in_flight = 1  # at least: of those in flight at the death nobody knows
    assert 60 <= after["requests"]["wire"] <= counts.total() - in_flight
    assert set(counts) == {f"f{n}.md {turn}" for n in range(20) for turn in range(3)}
    again = {line for line, times in counts.items() if times > 1}
    assert all(counts[line] == 2 and before[line] == 1 for line in again)
    assert len(files(order("run"))) == 41


async def test_writes_of_an_agent_that_had_ended_are_made_again_after_a_crash(
    order: Order,
    elsewhere: Elsewhere,
    there: There,
) -> None:
    script = """
await agents.review(path='f1.md')
return await agents.review(path='f2.md')
"""
    await anyio.to_thread.run_sync(elsewhere, order("run", dies_at=5, script=script))
    assert "f1.md.out" not in files(order("run"))
    run_id = await _the_run(order("run"))
    after = await there(order("resume", run_id=run_id, repeat=["*"]))
    assert after["changes"] == ["f1.md.out", "f2.md.out"]
    assert files(order("run"))["f1.md.out"] == "seen f1.md"
    assert wire(order("run")) == {f"f{n}.md {turn}": 1 for n in (1, 2) for turn in range(3)} | {
        "f2.md 1": 2
    }


@pytest.mark.long
@pytest.mark.parametrize("dies_at", range(4, 11))
async def test_where_the_host_dies_after_one_of_three_agents_landed_the_others_lose_nothing(
    order: Order, dies_at: int, elsewhere: Elsewhere, there: There
) -> None:
    script = """
found = await asyncio.gather(*[agents.review(path=f'f{n}.md') for n in (1, 2, 3)])
return [each['path'] for each in found]
"""
    settings = {"lands": "f2.md", "script": script}
    died = await anyio.to_thread.run_sync(elsewhere, order("run", dies_at=dies_at, **settings))
    assert died.returncode < 0
    left = {name for name in files(order("run")) if name.endswith(".out")}
    run_id = await _the_run(order("run"))
    after = await there(order("resume", run_id=run_id, repeat=["*"], lands="f2.md"))
    assert (after["status"], after["value"]) == ("success", ["f1.md", "f2.md", "f3.md"])
    landed = [line for line in wire(order("run")) if line.startswith("landed")]
    assert len(landed) == 1
    first = set(landed[0].split()[1:])  # with what others had merged by then
    assert "f2.md.out" in first
    assert left <= first
    every = ("f1.md.out", "f2.md.out", "f3.md.out")
    assert after["stages"] == {name: 1 if name in first else 2 for name in every}
    outs = {name: text for name, text in files(order("run")).items() if name.endswith(".out")}
    assert outs == {f"f{n}.md.out": f"seen f{n}.md" for n in (1, 2, 3)}
    undone = await do(order("undo", run_id=run_id))
    assert undone["undone"] == sorted(outs)


async def test_without_a_word_a_request_in_flight_is_not_made_again(
    order: Order, elsewhere: Elsewhere, there: There
) -> None:
    settings = {"script": ONE}
    await anyio.to_thread.run_sync(elsewhere, order("run", dies_at=2, **settings))
    run_id = await _the_run(order("run"))
    async with session(order("resume")) as host:
        assert list((await host.undecided(run_id)).values()) == ["ask_model"]
    after = await there(order("resume", run_id=run_id))
    assert after["status"] == "error"
    assert "nobody knows" in after["error"]
    assert wire(order("run")) == {"f1.md 0": 1, "f1.md 1": 1}


async def test_an_agent_that_is_declared_idempotent_asks_again(
    order: Order, elsewhere: Elsewhere, there: There
) -> None:
    settings = {"script": ONE, "idempotent": True}
    await anyio.to_thread.run_sync(elsewhere, order("run", dies_at=2, **settings))
    run_id = await _the_run(order("run"))
    async with session(order("resume", **settings)) as host:
        assert await host.undecided(run_id) == {}
    after = await there(order("resume", run_id=run_id, repeat=None, **settings))
    assert after["status"] == "success"
    assert wire(order("run")) == {"f1.md 0": 1, "f1.md 1": 2, "f1.md 2": 1}


async def test_an_agent_that_runs_by_itself_waits_and_goes_on(order: Order, tmp_path: Path) -> None:
    settings = order("run", sends="f1.md", script="")
    async with session(settings) as host:
        first = await host.call("agents.review", {"path": "f1.md"})
        assert [each.tool for each in first.pending] == ["send"]
    async with session(settings) as host:
        result = await host.resume(first.run_id, {"*": Answer(allow=True)})
    assert result.value == {"label": "good", "path": "f1.md"}
    assert set(wire(settings).values()) == {1}
    assert (tmp_path / "work" / "f1.md.out").read_text() == "seen f1.md"


async def test_the_time_of_one_call_goes_on_where_it_was(tmp_path: Path) -> None:
    left: list[float] = []

    async def work(context: Context) -> object:
        """Make a call that waits."""
        left.append(context.deadline - time.monotonic())
        done = await context.dispatch(Call(tool="send", arguments={"to": "x"}, origin="code"))
        return getattr(done, "value", None)

    container = Tool.from_function(work, effect="model", container=True, replayable=True)
    tools = [container, Tool.from_function(_send, name="send", effect="external")]
    settings: dict[str, Any] = {"workspace": tmp_path, "store": tmp_path / "r.db"}
    async with Session(tools, **settings) as host:
        first = await host.call("work", {}, seconds=9_000)
        assert [each.tool for each in first.pending] == ["send"]
    async with Session(tools, **settings) as host:
        result = await host.resume(first.run_id, {"*": Answer(allow=True)})
    assert result.value == "x"
    assert left[1] < left[0] < 9_000  # what was used before the pause counts


async def test_after_a_crash_the_time_of_one_call_is_what_its_record_leaves(
    order: Order, elsewhere: Elsewhere, there: There
) -> None:
    died = await anyio.to_thread.run_sync(elsewhere, order("call", dies_at=2, seconds=3))
    assert died.returncode < 0
    run_id = await _the_run(order("run"))
    over = await there(order("resume", run_id=run_id, repeat=["*"], hangs_at=1))
    assert (over["status"], over["error"]) == ("timeout", "the run took longer than 3 s")


async def test_a_call_that_waits_is_not_lost_to_a_session_without_its_agent(order: Order) -> None:
    settings = order("run", sends="f1.md", script="")
    async with session(settings) as host:
        first = await host.call("agents.review", {"path": "f1.md"})
    send = Tool.from_function(_send, name="send", effect="external")
    place: dict[str, Any] = {"workspace": settings["workspace"], "store": settings["store"]}
    async with Session([send], **place) as host:
        with pytest.raises(ConfigError, match=r"there is no tool `agents\.review`"):
            await host.resume(first.run_id, {"*": Answer(allow=True)})
    async with session(settings) as host:
        result = await host.resume(first.run_id, {"*": Answer(allow=True)})
    assert result.status == "success"


async def test_host_code_hears_that_its_agent_waits(order: Order) -> None:
    given = order("run")
    agent = Microagent[str](
        name="sender",
        instructions="Send it.",
        tools=[_send],
        model=ScriptedModel([call("_send", to="x")]),
    )
    with pytest.raises(ToolError) as caught:
        await agent.run(text="x", workspace=given["workspace"], store=given["store"])
    assert caught.value.code == "E_PAUSED"
    assert "lineshaft resume" in caught.value.hint


async def test_a_container_of_a_user_is_not_stopped_in_the_middle(order: Order) -> None:
    async def box(context: Context) -> object:
        """Send by an agent."""
        call_of_agent = Call(tool="agents.sender", arguments={"text": "x"}, origin="code")
        return str(await context.dispatch(call_of_agent))

    model = ScriptedModel([call("_send", to="x"), exit_with("ok")])
    agent = Microagent[str](name="sender", instructions="Send it.", tools=[_send], model=model)
    outer = Tool.from_function(box, effect="read", container=True)
    async with Session([agent, outer], workspace=order("run")["workspace"]) as host:
        result = await host.run("return await box()")
    assert result.status == "success"
    assert "E_NO_PAUSE" in model.requests[1].messages[-1].text


def _send(to: str) -> str:
    """Send something away."""
    return to


async def _the_run(order: Mapping[str, Any]) -> str:
    async with session(order) as host:
        assert host.store is not None
        [run] = await host.store.runs()
        return run.run_id
