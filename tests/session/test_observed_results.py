"""What tools return that do not say it: learned from results, told as observed, never blocking."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lineshaft import Event, Session, Tool, ToolError

Look = Callable[..., object]


def looks(answer: Look, name: str = "far.look", description: str = "Look.") -> Tool:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    return Tool.from_schema(
        function=answer, name=name, description=description, input_schema=schema, effect="read"
    )


async def found(n: int) -> object:
    if n < 0:
        raise ToolError("E_TOOL_FAILED", "no")
    return {"id": n, "labels": [{"name": "hunter2"}]}


async def told(session: Session, name: str = "far.look") -> str:
    await session.ready()
    return session.tools.describe(name)


async def test_the_second_script_knows_what_the_first_one_saw(tmp_path: Path) -> None:
    async with Session([looks(found)], workspace=tmp_path) as session:
        assert "-> Any" in await told(session)
        await session.run("await far.look(n=1)")
        text = await told(session)
        assert "async def far.look(n: int) -> LookResult:  # observed, not promised" in text
        assert "    id: int\n    labels: list[LookResultLabelsItem]" in text
        run = await session.run("return [t['signature'] for t in await search_tools('look')]")
        line = 'far.look(n: int) -> {"id": int, "labels": list[{"name": str}]}'
        assert run.value == [f"{line}  # observed, not promised"]
        assert "# observed, not promised" in session.tools.stubs()
        assert "# observed, not promised" in str(session.definitions("mcp"))


async def test_a_later_session_with_the_store_knows_it(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    async with Session([looks(found)], workspace=tmp_path, store=store) as session:
        for n in range(3):
            await session.call("far.look", {"n": n})
    async with Session([looks(found)], workspace=tmp_path, store=store) as session:
        assert "-> LookResult:  # observed" in await told(session)
    (tmp_path / "elsewhere").mkdir()
    async with Session([looks(found)], workspace=tmp_path / "elsewhere", store=store) as session:
        assert "-> Any" in await told(session)


async def test_a_tool_that_changed_is_looked_at_anew(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    async with Session([looks(found)], workspace=tmp_path, store=store) as session:
        await session.call("far.look", {"n": 1})
    other = looks(found, description="Look elsewhere.")
    async with Session([other], workspace=tmp_path, store=store) as session:
        assert "-> Any" in await told(session)


async def test_text_that_is_json_is_told_as_such(tmp_path: Path) -> None:
    async def answer(n: int) -> object:
        return f'[{{"id": {n}, "name": "x"}}]'

    async with Session([looks(answer)], workspace=tmp_path) as session:
        await session.call("far.look", {"n": 1})
        text = await told(session)
        assert "-> str:  # observed, not promised: JSON text of list[{" in text


async def test_what_was_observed_blocks_no_script(tmp_path: Path) -> None:
    async def changing(n: int) -> object:
        return {"id": n} if n < 9 else {"other": "x"}

    async with Session([looks(changing)], workspace=tmp_path) as session:
        await session.call("far.look", {"n": 1})
        run = await session.run("found = await far.look(n=9)\nreturn found['other'].upper()")
        assert run.value == "X", run.error


async def test_a_result_that_is_not_as_before_is_noted(tmp_path: Path) -> None:
    async def changing(n: int) -> object:
        return {"id": n} if n < 5 else {"id": str(n)}

    events: list[Event] = []
    script = "for n in range(6):\n    await far.look(n=n)"
    async with Session([looks(changing)], workspace=tmp_path, sinks=[events.append]) as session:
        run = await session.run(script)
        assert (await session.run(script)).findings == ()
    assert run.error is None
    (finding,) = run.findings
    assert (finding.code, finding.level) == ("drift", "info")
    said = "far.look returned a new shape: .id is string, not integer"
    assert finding.message == said
    assert [event.data["text"] for event in events if event.kind == "log"] == [said]


async def test_failures_teach_nothing(tmp_path: Path) -> None:
    async with Session([looks(found)], workspace=tmp_path) as session:
        await session.call("far.look", {"n": -1})
        assert "-> Any" in await told(session)


async def test_a_tool_that_says_what_it_returns_is_believed(tmp_path: Path) -> None:
    def typed(n: int) -> dict[str, Any]:
        """Look."""
        return {"n": n}

    tool = Tool.from_function(typed, name="far.look", effect="read")
    async with Session([tool], workspace=tmp_path) as session:
        await session.call("far.look", {"n": 1})
        assert "observed" not in await told(session)


async def test_a_store_that_cannot_be_read_is_no_obstacle(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    store.write_bytes(b"This is no database at all." * 1_000)
    async with Session([looks(found)], workspace=tmp_path, store=store) as session:
        assert "-> Any" in await told(session)


async def test_no_value_reaches_the_shapes_that_are_kept(tmp_path: Path) -> None:
    async def secret(n: int) -> object:
        return {"token": "hunter2", "of": {"alice@example.com": "hunter2", "hunter2 key": n}}

    store = tmp_path / "store.db"
    async with Session([looks(secret)], workspace=tmp_path, store=store) as session:
        await session.call("far.look", {"n": 1})
        assert session.store is not None
        (kept,) = await session.store.shapes(tmp_path)
    text = str(kept)
    assert "token" in text
    assert "hunter2" not in text
    assert "alice" not in text


async def test_a_key_that_is_a_secret_is_not_kept(tmp_path: Path) -> None:
    async def secret(n: int) -> object:
        if n < 6:
            return {"owner": n, "correct_horse": {"scope": n}}
        return json.dumps([{"owner": n, "correct_horse": n, "of_correct_horse": {"x": n}}])

    store = tmp_path / "store.db"
    tools, secrets = [looks(secret)], ["correct_horse"]
    async with Session(tools, workspace=tmp_path, store=store, secrets=secrets) as session:
        done = [await session.call("far.look", {"n": n}) for n in range(7)]
        assert not any(each.error for each in done)
        assert session.store is not None
        (kept,) = await session.store.shapes(tmp_path)
        text = str(kept) + await told(session) + str(await session.store.events(done[-1].run_id))
    assert "owner" in text
    assert "correct_horse" not in text


async def test_a_tool_that_says_a_megabyte_fills_no_script(tmp_path: Path) -> None:
    tool = looks(found, description="Look. " * 200_000)
    async with Session([tool], workspace=tmp_path) as session:
        run = await session.run(
            "found = await search_tools('look')\n"
            "return [len(found[0]['description']), len(await describe_tool('far.look'))]"
        )
    assert run.value is not None, run.error
    short, long = run.value
    assert short <= 500
    assert long <= 12_000
