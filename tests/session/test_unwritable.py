"""What no record can hold: the call of a script is refused, and later runs are as ever."""

from pathlib import Path

import pytest

from lineshaft import Policy, Session, tool
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
