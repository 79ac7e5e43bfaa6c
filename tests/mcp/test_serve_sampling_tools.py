"""Tools in Python behind a front ask the model of its client, and for its roots."""

from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from fronts import MODES, Mode, Model, data_of, project, served, text_of
from lineshaft import Context, tool

RESULT: dict[str, Any] = {"type": "tool_result", "toolUseId": "1", "content": []}
SOUND = {"type": "audio", "data": "aGVsbG8=", "mimeType": "audio/wav"}
PLACE = "file:///srv/project"


@tool(effect="read")
async def listen(context: Context) -> object:
    """Ask what is to be heard."""
    asked = {"messages": [{"role": "user", "content": SOUND}], "maxTokens": 9}
    return (await context.sample(asked))["content"]


@tool(effect="read")
async def where(context: Context) -> object:
    """Ask for the roots."""
    return await context.roots()


@pytest.mark.parametrize("mode", MODES)
async def test_a_tool_in_python_asks_the_model_and_the_roots_of_the_client(
    mode: Mode, tmp_path: Path
) -> None:
    @tool(effect="read")
    async def summary(text: str, context: Context) -> object:
        """Summarise."""
        content = [{"type": "text", "text": each} for each in ("be brief", text)]
        asked = {"messages": [{"role": "user", "content": content}], "maxTokens": 9}
        said = await context.sample(asked)
        return [said["content"], [root["uri"] for root in await context.roots()]]

    code = "return await summary(text='long')"
    model = Model()
    async with served([summary], at=tmp_path, mode=mode, model=model, roots=project) as (client, _):
        ran = await client.call_tool("run", {"code": code})
    async with served([summary], at=tmp_path, mode=mode) as (client, _):
        nobody = await client.call_tool("run", {"code": code})
    assert data_of(ran)["value"] == [{"type": "text", "text": "long"}, ["file:///srv/project"]]
    assert [message.role for message in model.asked[0].messages] == ["user", "user"]
    assert "no model is offered" in text_of(nobody)


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"m": {1}},
        {"messages": [], "maxTokens": 3, "tools": []},
        {"messages": [{"role": "user", "content": RESULT}], "maxTokens": 3},
    ],
)
async def test_what_is_no_question_to_a_model_is_an_error_of_the_tool(
    asked: dict[str, Any], tmp_path: Path
) -> None:
    @tool(effect="read")
    async def wrong(context: Context) -> object:
        """Ask wrongly."""
        return await context.sample(asked)

    model = Model()
    async with served([wrong], at=tmp_path, model=model) as (client, _):
        ran = await client.call_tool("run", {"code": "return await wrong()"})
    assert ran.is_error
    assert model.asked == []


async def test_a_model_hears_and_says_sounds(tmp_path: Path) -> None:
    async with served([listen], at=tmp_path, model=Model()) as (client, _):
        ran = await client.call_tool("run", {"code": "return await listen()"})
    assert data_of(ran)["value"] == SOUND


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("uris", "why"),
    [
        ([f"{PLACE}/{number}" for number in range(101)], "101 roots were told"),
        ([f"{PLACE}/{'x' * 2_000}"], "more than 2,000 characters"),
    ],
)
async def test_roots_that_are_too_much_reach_no_tool(
    mode: Mode, uris: list[str], why: str, tmp_path: Path
) -> None:
    async def all_of_them(context: object) -> types.ListRootsResult:
        return types.ListRootsResult.model_validate({"roots": [{"uri": uri} for uri in uris]})

    async with served([where], at=tmp_path, mode=mode, roots=all_of_them) as (client, _):
        refused = await client.call_tool("run", {"code": "return await where()"})
    assert refused.is_error
    assert why in text_of(refused)
