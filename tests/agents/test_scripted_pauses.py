"""Runs that pause in the middle of an agent's script, or end with their host, and go on."""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from agents.programmers import TWO, do, session
from forked.programs import Programs

pytestmark = pytest.mark.behaviour("A6")

Order = Callable[..., dict[str, Any]]
Elsewhere = Callable[[Mapping[str, Any]], "subprocess.CompletedProcess[bytes]"]
There = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]


@pytest.fixture
def order(tmp_path: Path) -> Order:
    folder = tmp_path / "work"
    folder.mkdir()
    for number in (1, 2):
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


@pytest.fixture
def elsewhere(programs: Programs) -> Elsewhere:
    """Return a function that does what an order says in a process of its own."""

    def done(order: Mapping[str, Any]) -> "subprocess.CompletedProcess[bytes]":
        return programs.run(
            "-m",
            "agents.programmers",
            json.dumps(order),
            cwd=Path(__file__).parent.parent,
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


async def the_run(order: Mapping[str, Any]) -> str:
    async with session(order) as host:
        assert host.store is not None
        [run] = await host.store.runs()
        return run.run_id


@pytest.mark.parametrize("script", ["one", "two"])
async def test_a_call_inside_that_asks_pauses_the_whole_run_and_another_process_goes_on(
    order: Order, script: str, there: There
) -> None:
    paths = ["f1.md", "f2.md"] if script == "two" else ["f1.md"]
    settings = {"script": TWO} if script == "two" else {}
    first = await there(order("run", **settings))
    assert first["status"] == "paused", first
    assert [tool for _, tool in first["pending"]] == ["send"] * len(paths)
    assert not any("sent" in line for line in wire(order("run")))
    again = {"run_id": first["run_id"], "answers": {"*": True}}
    second = await there(order("resume", **settings, **again))
    assert second["status"] == "paused", second
    third = await there(order("resume", **settings, **again))
    assert third["status"] == "success", third
    texts = third["value"] if script == "two" else [third["value"]]
    for text, path in zip(texts, paths, strict=True):
        printed, _, value = text.partition("\n")
        assert value == '[["quick","slow"],["sent once","beside"],"sent twice","quick slow"]'
        before = printed[: printed.index("]") + 1]
        assert f"{path} told {before}" in wire(order("run"))
    counts = wire(order("run"))
    assert set(counts.values()) == {1}
    assert len(counts) == 9 * len(paths)
    assert third["calls"]["run_script"] == len(paths)
    assert third["statuses"] == ["done"]
    assert third["changes"] == [f"{path}.out" for path in paths]


async def test_a_no_reaches_the_script_that_asked(order: Order) -> None:
    program = (
        "try:\n    return [await send(args[0], 'x'), args[0]]\n"
        "except ToolError as e:\n    return [e.code, args[0]]"
    )
    settings = {"program": program, "script": TWO}
    first = await do(order("run", **settings))
    yes, no = (call_id for call_id, _ in first["pending"])
    told = {"run_id": first["run_id"], "answers": {yes: True, no: False}}
    second = await do(order("resume", **settings, **told))
    [sent] = [line.split()[0] for line in wire(order("run")) if line.endswith("sent x")]
    others = {"f1.md": "f2.md", "f2.md": "f1.md"}
    expected = {f'["sent x","{sent}"]', f'["E_DENIED","{others[sent]}"]'}
    assert set(second["value"]) == expected


async def test_an_agent_that_runs_by_itself_pauses_in_its_script(
    order: Order, there: There
) -> None:
    first = await there(order("call"))
    assert first["pending"] == ["send"]
    again = order("resume", run_id=first["run_id"], answers={"*": True})
    assert (await there(again))["status"] == "paused"
    assert (await there(again))["status"] == "success"
    assert set(wire(order("run")).values()) == {1}


async def test_a_run_of_an_agent_with_scripts_is_replayed(order: Order) -> None:
    allow = [{"id": "send", "tool": "send", "verdict": "allow"}]
    done = await do(order("run", rules=allow))
    assert done["status"] == "success"
    before = wire(order("run"))
    assert await do(order("replay", run_id=done["run_id"])) == {"difference": None}
    assert wire(order("run")) == before


async def test_a_script_that_works_is_not_cut_by_an_ask_of_another(order: Order) -> None:
    program = (
        "if args[0] == 'f1.md':\n    return await send(args[0], 'x')\n"
        "for _ in range(30):\n    await look(args[0], 'a')\n    sum(range(100_000))\n"
        "return 'worked'"
    )
    settings = {"program": program, "script": TWO}
    first = await do(order("run", **settings))
    assert first["status"] == "paused"
    assert wire(order("run"))["f2.md looked a"] == 30
    assert wire(order("run"))["f2.md turn 1"] == 1


async def test_a_host_that_dies_in_a_call_of_a_script(
    order: Order, elsewhere: Elsewhere, there: There
) -> None:
    allow = [{"id": "send", "tool": "send", "verdict": "allow"}]
    died = await anyio.to_thread.run_sync(elsewhere, order("run", rules=allow, dies_in="late"))
    assert died.returncode < 0
    assert wire(order("run"))["f1.md sent once"] == 1
    run_id = await the_run(order("run"))
    after = await there(order("resume", rules=allow, run_id=run_id, repeat=["*"]))
    assert after["status"] == "success", after
    counts = wire(order("run"))
    assert counts["f1.md turn 0"] == counts["f1.md turn 1"] == 1
    assert counts["f1.md sent once"] == counts["f1.md sent twice"] == 1
    assert after["changes"] == ["f1.md.out"]
    assert (Path(order("run")["workspace"]) / "f1.md.out").read_text() == "quick slow"


async def test_writes_of_a_script_that_had_ended_are_made_again_after_a_crash(
    order: Order,
    elsewhere: Elsewhere,
    there: There,
) -> None:
    allow = [{"id": "send", "tool": "send", "verdict": "allow"}]
    died = await anyio.to_thread.run_sync(elsewhere, order("run", rules=allow, dies_at=1))
    assert died.returncode < 0
    assert not (Path(order("run")["workspace"]) / "f1.md.out").exists()
    run_id = await the_run(order("run"))
    after = await there(order("resume", rules=allow, run_id=run_id, repeat=["*"]))
    assert after["status"] == "success", after
    counts = wire(order("run"))
    assert counts["f1.md turn 0"] == counts["f1.md sent once"] == counts["f1.md sent twice"] == 1
    assert counts["f1.md turn 1"] == 2
    assert (Path(order("run")["workspace"]) / "f1.md.out").read_text() == "quick slow"


@pytest.mark.long
async def test_scripts_beyond_those_that_run_at_once_wait_and_the_run_pauses_all_the_same(
    order: Order,
    there: There,
) -> None:
    settings = {
        "program": "return await send(args[0], 'x')",
        "script": "return await asyncio.gather(*[agents.work(path=f'{n}.md') for n in range(10)])",
    }
    first = await do(order("run", **settings))
    assert (first["status"], len(first["pending"])) == ("paused", 8)
    again = {"run_id": first["run_id"], "answers": {"*": True}}
    second = await there(order("resume", **settings, **again))
    assert (second["status"], len(second["pending"])) == ("paused", 2)
    third = await there(order("resume", **settings, **again))
    assert (third["status"], third["value"]) == ("success", ["sent x"] * 10)
    assert set(wire(order("run")).values()) == {1}
