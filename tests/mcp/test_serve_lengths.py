"""No more than fits reaches a client's model, in whatever form; what was cut is kept, or said."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.server.lowlevel.server import Server

from fronts import ASKS, MODES, OPEN, Mode, client_of, data_of, served, text_of
from lineshaft import Session, Tool, tool
from lineshaft.mcp import server as mcp_server
from upstreams.lengthy import LARGE, SMALL, URI, blob, held, image, lengthy, text

SECRET = "geheim-12345"  # noqa: S105  of these tests alone
WORDS = "word " * 60_000


@asynccontextmanager
async def passing(
    server: Server[Any], at: Path, mode: Mode, **options: Any
) -> AsyncGenerator[Client]:
    """Give a client that a server is passed through to."""
    source = mcp_server(server, name="up", trust=True)
    async with (
        Session([source], workspace=at, policy=OPEN, store=False, secrets=[SECRET]) as session,
        client_of(session, mode=mode, passed="up", **options) as client,
    ):
        yield client


async def kept_of(client: Client, cut: str) -> str:
    """Return the whole of what was cut, as a script reads it."""
    handle = re.search(r"read_result\('(result-[\w-]+)'\)", cut)
    assert handle is not None, cut[-200:]
    first = await client.call_tool("status", {"run_id": handle[1]})
    assert not first.is_error
    code = "return await read_result(args[0], count=1_000_000)"
    ran = await client.call_tool("run", {"code": code, "args": [handle[1]]})
    kept = data_of(ran)["left_out"]["handle"]
    code = "part = json.loads((await read_result(args[0], count=2_000_000))['text'])\n"
    code += "return [len(part['text']), part['text'][:9]]"
    ran = await client.call_tool("run", {"code": code, "args": [kept]})
    assert data_of(ran)["value"][0] == part_length(cut), ran
    return str(data_of(ran)["value"][1])


def part_length(cut: str) -> int:
    """Return how long a text was before it was cut, as its end says."""
    found = re.search(r"all ([\d,]+) characters", cut)
    assert found is not None
    return int(found[1].replace(",", ""))


def texts_of(read: types.ReadResourceResult) -> list[str]:
    return [each.text for each in read.contents if isinstance(each, types.TextResourceContents)]


def blocks_of(prompt: types.GetPromptResult) -> list[types.ContentBlock]:
    return [each.content for each in prompt.messages]


@pytest.mark.parametrize("mode", MODES)
async def test_a_long_resource_is_cut_and_kept(mode: Mode, tmp_path: Path) -> None:
    words = f"{WORDS}{SECRET}"
    async with passing(lengthy([text(words, mimeType="text/x")]), tmp_path, mode) as client:
        read = await client.read_resource(URI)
        [cut] = texts_of(read)
        assert await kept_of(client, cut) == "word word"
    assert 49_000 < len(cut) <= 50_000
    assert part_length(cut) >= 300_000
    assert read.contents[0].mime_type == "text/x"
    assert read.contents[0].uri == URI
    assert SECRET not in cut


@pytest.mark.parametrize("mode", MODES)
async def test_a_resource_below_the_bound_stays_as_it_is(mode: Mode, tmp_path: Path) -> None:
    contents = [text("a" * 40_000), blob(SMALL), text("", mimeType="text/x")]
    async with passing(lengthy(contents), tmp_path, mode) as client:
        read = await client.read_resource(URI)
    assert read.contents == contents


@pytest.mark.parametrize("mode", MODES)
async def test_many_parts_of_a_resource_are_bounded_together(mode: Mode, tmp_path: Path) -> None:
    async with passing(lengthy([text("x" * 5_000)] * 1_000), tmp_path, mode) as client:
        read = await client.read_resource(URI)
    texts = texts_of(read)
    assert texts[:10] == ["x" * 5_000] * 10
    assert {len(each) <= 500 for each in texts[10:]} == {True}
    assert "read_result(" in texts[10]
    assert len(texts) == 101
    assert texts[-1] == "[900 more parts left out]"


@pytest.mark.parametrize("mode", MODES)
async def test_bytes_of_a_resource_are_bounded(mode: Mode, tmp_path: Path) -> None:
    contents = [blob(LARGE), *[blob(SMALL)] * 5]
    async with passing(lengthy(contents), tmp_path, mode) as client:
        read = await client.read_resource(URI)
    assert [each for each in read.contents if isinstance(each, types.BlobResourceContents)] == [
        blob(SMALL)
    ] * 3
    why = "left out: 4 of 1,000,000 bytes each are passed on]"
    assert texts_of(read) == [
        f"[1,000,001 bytes of application/pdf {why}",
        *[f"[5 bytes of application/pdf {why}"] * 2,
    ]
    assert {each.uri for each in read.contents} == {URI}


@pytest.mark.parametrize("mode", MODES)
async def test_what_a_server_says_beside_a_text_is_bounded(mode: Mode, tmp_path: Path) -> None:
    contents = [text("short", _meta={"more": "x" * 100_000}), text("other")]
    async with passing(lengthy(contents), tmp_path, mode) as client:
        read = await client.read_resource(URI)
    first, other = texts_of(read)
    assert first.startswith("[left out: what is said about it has 100,0")
    assert other == "other"
    assert read.contents[0].meta is None


@pytest.mark.parametrize("mode", MODES)
async def test_a_long_prompt_is_cut_and_kept(mode: Mode, tmp_path: Path) -> None:
    messages = [types.TextContent(text=WORDS), held(text(WORDS)), types.TextContent(text="end")]
    async with passing(lengthy(messages=messages, about="d" * 9_000), tmp_path, mode) as client:
        prompt = await client.get_prompt("it")
        words, resource, end = blocks_of(prompt)
        assert isinstance(words, types.TextContent)
        assert await kept_of(client, words.text) == "word word"
    assert len(words.text) <= 50_000
    assert isinstance(resource, types.EmbeddedResource)
    assert isinstance(resource.resource, types.TextResourceContents)
    assert len(resource.resource.text) <= 1_500
    assert "read_result(" in resource.resource.text
    assert end == types.TextContent(text="end")
    assert {each.role for each in prompt.messages} == {"assistant"}
    assert len(prompt.description or "") <= 500


@pytest.mark.parametrize("mode", MODES)
async def test_images_of_a_prompt_are_bounded(mode: Mode, tmp_path: Path) -> None:
    messages = [image(LARGE), held(blob(LARGE)), *[image(SMALL)] * 3, held(blob(SMALL))]
    async with passing(lengthy(messages=messages), tmp_path, mode) as client:
        prompt = await client.get_prompt("it")
    kinds = [each.type for each in blocks_of(prompt)]
    assert kinds == ["text", "text", "image", "image", "text", "text"]
    told = [each.text for each in blocks_of(prompt) if isinstance(each, types.TextContent)]
    assert told[0].startswith("[1,000,001 bytes of image/png left out")
    assert told[1].startswith("[1,000,001 bytes of application/pdf left out")


@pytest.mark.parametrize("mode", MODES)
async def test_messages_of_a_prompt_are_counted(mode: Mode, tmp_path: Path) -> None:
    link = types.ResourceLink(uri=URI, name="n" * 20_000)
    messages = [link, *[types.TextContent(text="x")] * 150]
    async with passing(lengthy(messages=messages), tmp_path, mode) as client:
        prompt = await client.get_prompt("it")
    first, *_, last = blocks_of(prompt)
    assert len(prompt.messages) == 101
    assert isinstance(first, types.TextContent)
    assert first.text.startswith("[left out: what is said about it has 20,0")
    assert last == types.TextContent(text="[51 more parts left out]")


@pytest.mark.parametrize("mode", MODES)
async def test_descriptions_in_lists_are_bounded(mode: Mode, tmp_path: Path) -> None:
    about = f"see {SECRET} {'d' * 30_000}\u200b"
    async with passing(lengthy(results={"x": []}, about=about), tmp_path, mode) as client:
        lists = [
            await client.list_resources(),
            await client.list_prompts(),
            await client.list_tools(),
        ]
    for each in lists:
        told = each.model_dump_json()
        assert SECRET not in told
        assert len(told) < 12_000


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("blocks", "images"),
    [
        ([image(SMALL), types.TextContent(text=WORDS)], 1),
        ([image(SMALL), held(text(WORDS))], 1),
        ([held(text(WORDS))], 0),
        ([image(SMALL), types.ResourceLink(uri=URI, name="n", description=WORDS)], 1),
        ([types.TextContent(text="x")] * 5_000 + [image(SMALL)] * 50, 4),
        ([types.TextContent(text="")] * 5_000 + [image(SMALL)], 1),
    ],
)
async def test_texts_beside_an_image_of_a_direct_call_are_cut(
    blocks: list[types.ContentBlock], images: int, mode: Mode, tmp_path: Path
) -> None:
    async with passing(lengthy(results={"all": blocks}), tmp_path, mode) as client:
        told = await client.call_tool("all", {})
        assert not told.is_error
        assert "read_result('result-" in text_of(told)
    rest = [each for each in told.content if not isinstance(each, types.ImageContent)]
    others = [each for each in rest if not isinstance(each, types.TextContent)]
    assert len(text_of(told)) + sum(len(each.model_dump_json()) for each in others) <= 4_000
    assert len(rest) < 300
    assert len(told.content) - len(rest) == images
    assert told.structured_content is None


@pytest.mark.parametrize("mode", MODES)
async def test_search_and_describe_are_cut_and_kept(mode: Mode, tmp_path: Path) -> None:
    tools = [_tool(f"cook{number}", "Cook a dish. " * 150) for number in range(30)]
    async with served(tools, at=tmp_path, mode=mode) as (client, _):
        for name, arguments in (
            ("search", {"words": "cook a dish", "detail": "full", "limit": 30}),
            ("describe", {"names": [each.name for each in tools]}),
        ):
            told = text_of(await client.call_tool(name, arguments))
            assert len(told) <= 4_000
            assert part_length(told) > 10_000
        missing = await client.call_tool("describe", {"names": ["x" * 100_000] * 30})
        assert len(text_of(missing)) <= 4_000
        none = await client.call_tool("search", {"words": "cook", "namespace": "x" * 100_000})
        assert len(text_of(none)) <= 4_000


@pytest.mark.parametrize("length", [3_950, 3_999, 4_000, 4_001])
async def test_what_is_said_of_a_run_fits_with_its_result(length: int, tmp_path: Path) -> None:
    async with served([], at=tmp_path) as (client, _):
        told = text_of(await client.call_tool("run", {"code": f"return 'x' * {length}"}))
    assert len(told) <= 4_000
    assert "(run " in told


@pytest.mark.parametrize("mode", MODES)
async def test_errors_are_cut(mode: Mode, tmp_path: Path) -> None:
    wide = _tool("wide", "Take much.", names=[f"argument_{number}" for number in range(500)])
    async with served([wide], at=tmp_path, mode=mode, direct=["*"]) as (client, _):
        for name, arguments in (
            ("wide", {"nothing": 1}),
            ("run", {"code": "raise ValueError('x' * 90_000)"}),
            ("run", {"code": 1, "x" * 90_000: 2}),
            ("status", {"run_id": "x" * 90_000}),
            ("status", {"run_id": f"result-{'x' * 90_000}"}),
        ):
            told = await client.call_tool(name, arguments)
            assert told.is_error
            assert len(text_of(told)) <= 4_000


@pytest.mark.parametrize("mode", MODES)
async def test_arguments_of_a_waiting_call_are_bounded_and_kept(mode: Mode, tmp_path: Path) -> None:
    put = Tool.from_schema(
        name="put",
        description="Put anything.",
        input_schema={"type": "object", "additionalProperties": True},
        function=_echo,
        effect="external",
    )
    given = {f"a{number}": "y" * 1_500 for number in range(50)}
    given |= {"n" * 50_000: "1", "text": f"{SECRET} {'z' * 30_000}", "short": "s"}
    code = "await asyncio.gather(*[put(**args[0], n=n) for n in range(30)])"
    async with (
        Session(
            [put], workspace=tmp_path, policy=ASKS, store=tmp_path / "s.db", secrets=[SECRET]
        ) as session,
        client_of(session, mode=mode) as client,
    ):
        paused = await client.call_tool("run", {"code": code, "args": [given]})
        data = data_of(paused)
        assert data["status"] == "paused"
        assert len(text_of(paused)) <= 4_500
        assert len(data["pending"]) == 20
        assert len(str(data["pending"])) < 20 * 5_000
        first = data["pending"][0]
        left_out = first["left_out"]
        assert left_out["bytes"] > 150_000
        whole = text_of(await client.call_tool("status", {"run_id": left_out["handle"]}))
        assert whole.startswith('{"a0":"yyy')
    assert first["arguments"]["a0"] == "y" * 1_500
    assert first["arguments"]["text"] is None
    assert first["arguments"]["short"] == "s"
    assert SECRET not in paused.model_dump_json()


async def test_an_own_loop_gets_no_more_than_fits(tmp_path: Path) -> None:
    @tool(effect="read")
    async def much(characters: int) -> dict[str, str]:
        """Give much."""
        return {"text": "x" * characters}

    async with Session([much], workspace=tmp_path, policy=OPEN, store=False) as session:
        short = await session.handle("much", {"characters": 90_000})
        long = await session.handle("much", {"characters": 120_000})
        found = await session.handle("search_tools", {"words": "much", "limit": 50})
        code = "print('o' * 49_000)\nraise ValueError('x' * 99_000)"
        failed = await session.handle("run_script", {"code": code})
    assert len(short.structured["text"]) == 90_000
    assert (long.structured, long.left_out and long.left_out["bytes"]) == (None, 120_011)
    for each in (short, long, found, failed):
        assert len(each.text) <= 4_000
        assert len(str(each.structured)) <= 250_000


async def _echo(**arguments: object) -> str:
    return str(len(arguments))


def _tool(name: str, description: str, *, names: list[str] | None = None) -> Tool:
    properties = {each: {"type": "string", "description": each} for each in names or ["dish"]}
    return Tool.from_schema(
        name=name,
        description=description,
        input_schema={
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        },
        function=_echo,
        effect="read",
    )
