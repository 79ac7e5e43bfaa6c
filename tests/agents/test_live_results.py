"""Results whose type does not take the JSON that it gives: objects where the agent ran."""

import datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, computed_field, field_serializer

from lineshaft import Answer, Policy, Session, Tool, ToolError
from lineshaft.agents import Microagent
from lineshaft.testing import ScriptedModel, exit_with
from lineshaft.values import Call, Context


class Counted(BaseModel):
    """Says more than it takes."""

    model_config = ConfigDict(extra="forbid")
    number: int

    @computed_field
    @property
    def double(self) -> int:
        """Twice the number."""
        return 2 * self.number


class Renamed(BaseModel):
    """Gives another name than it takes."""

    number: int = Field(serialization_alias="count")


class Dated(BaseModel):
    """Writes a date for people."""

    when: datetime.date

    @field_serializer("when")
    def told(self, when: datetime.date) -> str:
        """Write it."""
        return when.strftime("%d.%m.%Y")


def agent(kind: type, given: dict[str, Any], validate: Any = None) -> Microagent[Any]:
    model = ScriptedModel([exit_with(given)])
    declared: type[Microagent[Any]] = Microagent[kind]
    return declared(name="find", instructions="Find.", model=model, validate=validate)


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [
        (Counted, {"number": 1}, {"number": 1, "double": 2}),
        (Renamed, {"number": 1}, {"count": 1}),
        (Dated, {"when": "2024-05-31"}, {"when": "31.05.2024"}),
    ],
)
async def test_host_code_and_validators_get_the_object(
    tmp_path: Path, kind: type[BaseModel], given: dict[str, Any], told: object
) -> None:
    seen: list[object] = []
    made = await agent(kind, given, seen.append).run(text="x", workspace=tmp_path)
    assert type(made.output) is kind
    assert made.output.model_dump(by_alias=True) == told
    assert seen == [made.output]
    async with Session([agent(kind, given)], workspace=tmp_path) as session:
        result = await session.run("return await agents.find(text='x')")
    assert result.value == told


async def test_what_a_validator_does_to_a_result_is_not_the_result(tmp_path: Path) -> None:
    def change(result: Renamed) -> None:
        result.number = 2

    made = await agent(Renamed, {"number": 1}, change).run(text="x", workspace=tmp_path)
    assert made.output == Renamed(number=1)


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        (datetime.date, "2024-05-31", "datetime.date(2024, 5, 31)"),
        (
            Counted,
            {"number": 1},
            "does not take the JSON that it gives: `result.double` is unknown",
        ),
    ],
)
async def test_a_resume_has_the_result_from_the_record(
    tmp_path: Path, kind: type, given: Any, said: str
) -> None:
    seen: list[str] = []

    def note(text: str) -> str:
        """Note it."""
        return text

    async def box(context: Context) -> None:
        """Ask the agent, and note that it was."""
        try:
            seen.append(repr((await agent(kind, given).run(text="x")).output))
        except ToolError as error:
            seen.append(f"{error.code}: {error.message}")
        await context.dispatch(Call(tool="note", arguments={"text": "x"}, origin="code"))

    tools = [
        Tool.from_function(note, effect="write"),
        Tool.from_function(box, effect="read", container=True, replayable=True),
    ]
    rule = {"id": "note", "tool": "note", "verdict": "ask"}
    policy = Policy.from_dict({"mode": "open", "rules": [rule]})
    work = tmp_path / "work"
    work.mkdir()
    settings: dict[str, Any] = {"workspace": work, "store": tmp_path / "r.db", "policy": policy}
    async with Session(tools, **settings) as session:
        first = await session.run("return await box()")
    assert first.pending
    async with Session(tools, **settings) as session:
        second = await session.resume(first.run_id, {"*": Answer(allow=True)})
    assert second.status == "success"
    assert said in seen[-1]
    assert len(seen) == 2
