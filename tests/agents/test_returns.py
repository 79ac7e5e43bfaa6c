"""Agents whose result type is given at the call."""

from pathlib import Path
from typing import Any, Literal, TypedDict

import pytest
from pydantic import BaseModel

from lineshaft import Session
from lineshaft.agents import Microagent
from lineshaft.testing import Scripted, ScriptedModel, exit_with

ANY = Microagent[Any]

TYPED = """
from typing import Annotated, Literal, NotRequired, Optional, TypedDict

class Place(TypedDict):
    \"\"\"A place.\"\"\"
    path: Annotated[str, "Of the file."]
    lines: list[int]
    more: NotRequired[dict[str, float | None]]

"""


def classify(*replies: Scripted) -> tuple[Microagent[Any], ScriptedModel]:
    model = ScriptedModel(replies)
    return ANY(name="classify", instructions="Say the kind.", model=model), model


async def run(script: str, tmp_path: Path, *replies: Scripted) -> tuple[Any, ScriptedModel]:
    agent, model = classify(*replies)
    async with Session([agent], workspace=tmp_path) as session:
        return await session.run(script), model


def asked_for(model: ScriptedModel) -> Any:
    [tool] = [each for each in model.requests[0].tools if each.name == "Exit"]
    schema: Any = tool.input_schema
    return schema["properties"]["result"]


@pytest.mark.parametrize("engine", ["wasm", "cpython"])
async def test_a_script_gives_a_type(tmp_path: Path, engine: str) -> None:
    agent, model = classify(exit_with("tree"), exit_with("bug"))
    async with Session([agent], workspace=tmp_path, engine=engine) as session:
        result = await session.run(
            "from typing import Literal\n"
            "return await agents.classify(text='x', returns=Literal['bug', 'question'])"
        )
    assert result.value == "bug", result.error
    assert asked_for(model)["enum"] == ["bug", "question"]
    assert "did not pass validation" in model.requests[1].messages[-1].text


async def test_a_typed_dict_is_a_schema_of_its_fields(tmp_path: Path) -> None:
    given = {"path": "a.md", "lines": [1, 2]}
    script = TYPED + "return await agents.classify(text='x', returns=list[Place])"
    result, model = await run(script, tmp_path, exit_with([given]))
    assert result.value == [given], result.error
    schema = asked_for(model)
    assert schema["type"] == "array"
    assert schema["items"]["properties"]["path"] == {
        "type": "string",
        "description": "Of the file.",
    }
    assert schema["items"]["required"] == ["path", "lines"]


async def test_a_json_schema_is_one(tmp_path: Path) -> None:
    script = "return await agents.classify(text='x', returns={'type': 'integer', 'minimum': 3})"
    result, model = await run(script, tmp_path, exit_with(2), exit_with(3))
    assert result.value == 3, result.error
    assert len(model.requests) == 2


async def test_without_one_anything_is_a_result(tmp_path: Path) -> None:
    result, _ = await run("return await agents.classify(text='x')", tmp_path, exit_with([1, "a"]))
    assert result.value == [1, "a"], result.error


@pytest.mark.parametrize(
    ("returns", "said"),
    [
        ("set[int]", "no JSON Schema: use"),
        ("dict[int, str]", "no JSON Schema: use"),
        ("7", "7, which is no JSON Schema"),
        ("{'type': 'nothing'}", "nothing"),
        ("__import__('pathlib').Path", "Path has no JSON Schema"),
    ],
)
async def test_what_is_no_type_is_refused_before_a_model_is_asked(
    tmp_path: Path, returns: str, said: str
) -> None:
    result, model = await run(f"await agents.classify(text='x', returns={returns})", tmp_path)
    assert result.error.code == "E_INVALID_ARGS"
    assert said in result.error.message
    assert not model.requests


class Place(BaseModel):
    """A place."""

    path: str


class Inner(TypedDict):
    """With another."""

    places: list[Place]


async def test_host_code_gives_a_type_and_gets_a_value_of_it(tmp_path: Path) -> None:
    agent, model = classify(exit_with({"places": [{"path": "a"}]}), exit_with("bug"))
    first = await agent.run(text="x", returns=Inner, workspace=tmp_path)
    assert first.output["places"] == [Place(path="a")]
    kind: Any = Literal["bug", "question"]
    assert (await agent.run(text="x", returns=kind, workspace=tmp_path)).output == "bug"
    assert "$defs" in model.requests[0].tools[0].input_schema


async def test_an_agent_with_a_declared_result_takes_no_other(tmp_path: Path) -> None:
    agent = Microagent[str](name="classify", instructions="Say.", model=ScriptedModel([]))
    async with Session([agent], workspace=tmp_path) as session:
        result = await session.run("await agents.classify(text='x', returns=int)")
    assert result.error is not None
    assert result.error.code == "E_CHECK"
    assert "returns" in result.error.message
