"""What no record can hold: the call of a script is refused, and later runs are as ever."""

from datetime import date
from pathlib import Path

import pytest
from pydantic import BaseModel

from lineshaft import Answer, Policy, Session, tool
from lineshaft.store import Store


@tool(effect="read")
async def echo(x: object) -> object:
    """Return it."""
    return x


@pytest.mark.parametrize(
    "argument", ["10**5000", "[10**5000]", "{'deep': {'n': -10**5000}}"], ids=["bare", "in", "deep"]
)
async def test_a_huge_integer_is_refused_and_the_next_run_is_none_the_worse(
    tmp_path: Path, argument: str
) -> None:
    async with (
        Store(tmp_path / "runs.db") as store,
        Session([echo], workspace=tmp_path, policy=Policy(mode="open"), store=store) as session,
    ):
        refused = await session.run(f"return await echo(x={argument})")
        assert refused.error is not None
        assert refused.error.code == "E_INVALID_ARGS"
        assert refused.calls == ()
        again = await session.run("return await echo(x=3)")
        assert (again.status, again.value) == ("success", 3)
        kinds = [event.kind for event in await store.events(refused.run_id)]
        assert (kinds[0], kinds[-1]) == ("run_started", "run_finished")


async def test_half_a_character_is_recorded(tmp_path: Path) -> None:
    async with Session(
        [echo], workspace=tmp_path, policy=Policy(mode="open"), store=tmp_path / "runs.db"
    ) as session:
        await session.run(r"return await echo(x={'\ud800': '\udfff'})")
        again = await session.run("return await echo(x=3)")
        assert (again.status, again.value) == ("success", 3)


class Order(BaseModel):
    article: str


@tool(effect="external")
async def send(what: Order, day: date) -> str:
    """Send it."""
    return f"{what.article} on {day:%A}"


async def test_objects_that_a_direct_call_is_given_wait_as_their_json(tmp_path: Path) -> None:
    given = {"what": Order(article="tea"), "day": date(2024, 2, 29)}
    async with Session([send], workspace=tmp_path, store=tmp_path / "runs.db") as session:
        waits = await session.call("send", given)
        [pending] = waits.pending
        assert dict(pending.arguments) == {"what": {"article": "tea"}, "day": "2024-02-29"}
        result = await session.resume(waits.run_id, {pending.id: Answer(allow=True)})
        assert result.value == "tea on Thursday"
