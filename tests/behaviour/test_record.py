"""The record: one line a call, safe to show."""

import json
from pathlib import Path
from typing import Any

import pytest

from lineshaft import Context, Event, Policy, tool
from lineshaft.trace import jsonl_sink, read_events, summarise
from support import Make, Outside

SCRIPT = """
await poke(what='one')
try:
    await forbidden()
except ToolError:
    pass
try:
    await poke(what=7)
except ToolError:
    pass
await write_file(path='notes.txt', content='private ' * 500)
print('done')
return 'answer'
"""


@pytest.mark.behaviour("G30")
async def test_every_call_has_one_line_refused_ones_included(make: Make, outside: Outside) -> None:
    rule = {"id": "no", "tool": "forbidden", "verdict": "deny", "reason": "not today"}
    policy = Policy.from_dict({"mode": "auto", "rules": [rule]})
    events: list[Event] = []
    async with make(
        outside.tool("forbidden"), policy=policy, sinks=[events.append], check="off"
    ) as session:
        result = await session.run(SCRIPT)
    assert result.value == "answer"
    told = [(call.tool, call.status, call.rule) for call in result.calls]
    assert told == [
        ("poke", "done", "mode:auto"),
        ("forbidden", "refused", "no"),
        ("poke", "refused", ""),
        ("write_file", "done", "mode:auto"),
    ]
    kinds = [event.kind for event in events]
    assert kinds[0] == "run_started"
    assert kinds[-1] == "run_finished"
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert kinds.count("call_finished") == kinds.count("call_asked") == 4
    assert kinds.count("call_started") == 2
    verdict = next(e for e in events if e.kind == "verdict" and e.data["verdict"] == "deny")
    assert (verdict.data["rule"], verdict.data["reason"]) == ("no", "not today")


@pytest.mark.behaviour("G30")
async def test_the_record_has_sizes_and_hashes_instead_of_contents(make: Make) -> None:
    events: list[Event] = []
    async with make(sinks=[events.append]) as session:
        result = await session.run("await write_file(path='a.txt', content='private ' * 500)")
    content: Any = result.calls[0].arguments["content"]
    assert content["bytes"] == 4000
    assert len(content["sha256"]) == 64
    assert "private private" not in repr(events)
    assert "private private" not in result.json()


@pytest.mark.behaviour("G30")
async def test_a_record_file_tells_what_the_result_told(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "runs" / "one.jsonl"
    sink = jsonl_sink(path)
    async with make(sinks=[sink]) as session:
        result = await session.run("print('hello')\nawait poke()\nreturn {'n': 1}")
    sink.close()
    assert path.stat().st_mode & 0o777 == 0o600
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["kind"] for line in lines][-1] == "run_finished"
    told = summarise(read_events(path))
    assert (told.run_id, told.status, told.value) == (result.run_id, "success", {"n": 1})
    assert [call.tool for call in told.calls] == ["poke"]
    assert told.stdout == "hello\n"
    assert told.usage == result.usage


@pytest.mark.behaviour("G30")
async def test_a_record_that_cannot_be_written_ends_the_run_before_the_call(
    make: Make, outside: Outside
) -> None:
    def full(event: Event) -> None:
        if event.kind == "call_started":
            raise OSError(28, "No space left on device")

    async with make(sinks=[full]) as session:
        result = await session.run("try:\n    await poke()\nexcept Exception:\n    pass\nreturn 1")
    assert result.status == "error"
    assert result.error is not None
    assert result.error.code == "E_RECORD"
    assert "No space left" in result.error.message
    assert outside.total == 0


@pytest.mark.behaviour("G30")
@pytest.mark.parametrize("kind", ["run_started", "call_asked", "verdict", "call_started"])
async def test_a_single_call_that_cannot_be_recorded_is_not_made(
    make: Make, outside: Outside, kind: str
) -> None:
    def full(event: Event) -> None:
        if event.kind == kind:
            raise OSError(28, "No space left on device")

    async with make(sinks=[full]) as session:
        done = await session.call("poke")
    assert done.error is not None
    assert done.error.code == "E_RECORD"
    assert outside.total == 0


@pytest.mark.behaviour("G30")
async def test_a_run_whose_end_cannot_be_recorded_is_no_success(make: Make) -> None:
    def full(event: Event) -> None:
        if event.kind == "run_finished":
            raise OSError(28, "No space left on device")

    async with make(sinks=[full]) as session:
        result = await session.run("return await poke()")
        call = await session.call("poke")
    assert result.error is not None
    assert (result.status, result.error.code, result.value) == ("error", "E_RECORD", 1)
    assert call.error is not None
    assert call.error.code == "E_RECORD"


@pytest.mark.behaviour("G30")
async def test_progress_and_logs_of_a_tool_are_in_the_record(make: Make) -> None:
    @tool(effect="read")
    async def work(context: Context) -> str:
        """Work in steps."""
        context.progress(1, 2, "half")
        context.progress(2, float("inf"), "no end in sight")
        context.progress(float("nan"), 2, "lost")
        context.log("a note")
        return context.key

    events: list[Event] = []
    async with make(work, sinks=[events.append]) as session:
        result = await session.run("return [await work(), await work()]")
    first_call = [e.data for e in events if e.kind == "progress" and e.call_id == "1"]
    assert first_call == [
        {"done": 1, "total": 2, "text": "half"},
        {"done": 2, "total": None, "text": "no end in sight"},  # a record holds nothing but JSON
    ]
    assert [e.data["text"] for e in events if e.kind == "log"] == ["a note", "a note"]
    first, second = result.value
    assert first.rpartition("/")[0] == second.rpartition("/")[0]
    assert (first[-1], second[-1]) == ("1", "2")


@pytest.mark.behaviour("G30")
async def test_a_run_gives_its_events_live_and_in_order(make: Make) -> None:
    async with make() as session:
        run = await session.start("await poke()\nprint('x')\nreturn 5")
        kinds = [event.kind async for event in run]
        result = await run.result()
    assert kinds == [
        "run_started",
        "call_asked",
        "verdict",
        "call_started",
        "call_finished",
        "output",
        "run_finished",
    ]
    assert result.value == 5
