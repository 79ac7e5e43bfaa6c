"""Images of servers: beside data, shown to a model by a script, and passed on in direct calls."""

import base64
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.server import MCPServer

from fronts import MODES, Mode, client_of, text_of
from lineshaft import Policy, Session, ShownImage
from lineshaft.mcp import server as mcp_server
from upstreams import contents

OPEN = Policy(mode="open")


@pytest.fixture
async def session(tmp_path: Path) -> AsyncGenerator[Session]:
    source = mcp_server(contents.server, name="c")
    async with Session([source], workspace=tmp_path, policy=OPEN, store=False) as entered:
        yield entered


async def value_of(session: Session, script: str) -> Any:
    result = await session.run(script)
    assert result.error is None, result.error
    return result.value


def images(result: types.CallToolResult) -> list[bytes]:
    return [
        base64.b64decode(block.data)
        for block in result.content
        if isinstance(block, types.ImageContent)
    ]


async def test_what_stands_beside_data_comes_with_it(session: Session) -> None:
    value = await value_of(session, "return await c.chart()")
    assert (value["x"], value["y"]) == (1, 2)
    text, image = value["_content"]  # the text that repeats the data is left out
    assert text == "it rises"
    assert (image["type"], image["bytes"]) == ("image", len(contents.PNG))


async def test_where_a_value_has_no_room_it_is_said_what_was_left_out(session: Session) -> None:
    run = await session.start("return await c.chart_of_many()")
    logged = [event.data["text"] async for event in run if event.kind == "log"]
    assert (await run.result()).value == [{"x": 1, "y": 2}, {"x": 3, "y": 4}]
    assert logged == ["left out beside the value, which has no room for it: image/png"]


async def test_a_script_that_takes_what_stands_beside_passes_the_check(session: Session) -> None:
    good = await session.check("a = await c.chart()\nreturn a['_content'][0]")
    assert [finding.message for finding in good] == []
    bad = await session.check("a = await c.chart()\nreturn a['content']")
    assert [finding.code for finding in bad] == ["unknown-key"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_script_shows_an_image_to_the_clients_model(session: Session, mode: Mode) -> None:
    script = """
whole = await c.chart()
told = await show(whole["_content"][1])
assert told == {"mime_type": "image/png", "bytes": 16, "left": 3}, told
[one] = [await c.album(count=1)]
await show(one["handle"])
return "see"
"""
    async with client_of(session, mode=mode) as client:
        done = await client.call_tool("run", {"code": script})
        assert not done.is_error, text_of(done)
        again = await client.call_tool("run", {"code": "return 1"})
    assert images(done) == [contents.PNG, contents.PNG]
    assert "see" in text_of(done)
    assert images(again) == []


async def test_an_own_loop_gets_the_images_that_were_shown(session: Session) -> None:
    script = "await show(await c.album(count=1))"
    handled = await session.handle("run_script", {"code": script})
    assert handled.images == (ShownImage("image/png", contents.PNG),)
    assert repr(contents.PNG) not in repr(handled)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("await show('image-0')", "nothing is kept under the handle 'image-0'"),
        ("await show({'a': 1})", "this has no handle"),
        ("await show((await c.many())[1])", "no image that a model can be shown: audio/wav"),
        ("await show(await c.picture(size=5))", "no image that a model can be shown"),
        ("await show(await c.album(count=1, size=1_000_000))", "1,000,016 bytes; 1,000,000 can"),
        ("for one in await c.album(count=5): await show(one)", "a run shows 4 images at most"),
    ],
)
async def test_what_cannot_be_shown_is_said(session: Session, script: str, said: str) -> None:
    result = await session.run(script)
    assert result.error is not None
    assert said in result.error.message


async def test_showing_is_a_recorded_call_that_policy_judges(tmp_path: Path) -> None:
    source = mcp_server(contents.server, name="c")
    policy = Policy.from_dict(
        {"mode": "open", "rules": [{"id": "none", "tool": "show", "verdict": "deny"}]}
    )
    async with Session([source], workspace=tmp_path, policy=policy, store=False) as session:
        handled = await session.handle("run_script", {"code": "await show(await c.album(count=1))"})
    assert "E_DENIED" in handled.text
    assert handled.images == ()


async def test_a_handle_is_read_in_parts(session: Session) -> None:
    script = """
one = await c.album(count=1)
first = await read_handle(one, count=10)
rest = await read_handle(one["handle"], start=first["end"])
return [first, rest]
"""
    first, rest = await value_of(session, script)
    assert (first["start"], first["end"], first["total"], first["mime_type"]) == (
        0,
        10,
        16,
        "image/png",
    )
    data = base64.b64decode(first["base64"]) + base64.b64decode(rest["base64"])
    assert data == contents.PNG
    wrong = await session.call("read_handle", {"handle": "x", "start": -1})
    assert wrong.error is not None
    assert "start must be 0 or more" in wrong.error.message


@pytest.mark.parametrize("mode", MODES)
async def test_images_of_direct_calls_are_bounded(session: Session, mode: Mode) -> None:
    async with client_of(session, mode=mode, direct=["c.*"]) as client:
        beside = await client.call_tool("c__chart", {})
        several = await client.call_tool("c__album", {"count": 6})
        large = await client.call_tool("c__album", {"count": 1, "size": 1_000_000})
    assert images(beside) == [contents.PNG]
    assert '"x":1' in text_of(beside).replace(" ", "")
    assert beside.structured_content == {"x": 1, "y": 2}
    assert len(images(several)) == 4
    assert text_of(several).count("left out: 4 of 1,000,000 bytes each are passed on") == 2
    assert images(large) == []
    assert "1,000,016 bytes of image/png left out" in text_of(large)


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_that_refuses_large_results_gets_the_images_that_fit(
    session: Session, mode: Mode
) -> None:
    script = "for one in await c.album(count=3, size=300_000): await show(one)"
    async with client_of(session, mode=mode, direct=["c.*"], name="claude-ai") as client:
        direct = await client.call_tool("c__album", {"count": 3, "size": 300_000})
        shown = await client.call_tool("run", {"code": script})
    for result in (direct, shown):
        assert len(images(result)) == 2
        assert "300,016 bytes of image/png left out: this client refuses" in text_of(result)
        assert len(result.model_dump_json()) < 1_000_000
    async with client_of(session, mode=mode, direct=["c.*"]) as client:
        direct = await client.call_tool("c__album", {"count": 3, "size": 300_000})
    assert len(images(direct)) == 3


@pytest.mark.parametrize("mode", MODES)
async def test_what_comes_with_a_failure_is_passed_on(tmp_path: Path, mode: Mode) -> None:
    source = mcp_server(contents.server, name="c")
    options: Any = {"workspace": tmp_path, "policy": OPEN, "store": False, "secrets": ["hush-hush"]}
    async with (
        Session([source], **options) as session,
        client_of(session, mode=mode, passed="c") as client,
    ):
        failed = await client.call_tool("refuse_with_picture", {})
        many = await client.call_tool("refuse_with_picture", {"images": 6})
    assert failed.is_error
    assert "not today" in text_of(failed)
    assert images(failed) == [contents.PNG]
    assert failed.structured_content is not None
    assert failed.structured_content["code"] == 7
    assert "hush-hush" not in failed.model_dump_json()
    assert len(images(many)) == 4


@pytest.mark.parametrize("mode", MODES)
async def test_a_text_beside_an_image_is_cut_as_any(session: Session, mode: Mode) -> None:
    async with client_of(session, mode=mode, direct=["c.*"]) as client:
        short = await client.call_tool("c__report", {"characters": 100})
        long = await client.call_tool("c__report", {"characters": 50_000})
    assert text_of(short) == "x" * 100
    assert len(text_of(long)) < 4_100
    assert "read_result(" in text_of(long)
    assert images(short) == images(long) == [contents.PNG]


@pytest.mark.long
async def test_texts_beside_a_long_list_do_not_hold_up_the_host(tmp_path: Path) -> None:
    made = MCPServer("crowded")
    image = types.ImageContent(type="image", data="AAAA", mime_type="image/png")
    texts: list[types.ContentBlock] = [types.TextContent(type="text", text="-7")] * 9_000

    @made.tool()
    def crowd() -> types.CallToolResult:  # pyright: ignore[reportUnusedFunction]  the decorator takes it
        return types.CallToolResult(
            content=[image, *texts],
            structured_content={"result": list(range(400_000))},
            _meta={"fastmcp": {"wrap_result": True}},
        )

    async with Session([mcp_server(made, name="c")], workspace=tmp_path, policy=OPEN) as session:
        result = await session.call("c.crowd", {})
    assert result.error is None, result.error
    assert isinstance(result.value, list)
