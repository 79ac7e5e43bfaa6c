"""A keyword for a parameter is that parameter: for the record, middleware, and in no error."""

from pathlib import Path
from typing import Any

import pytest

from lineshaft import Policy, Session, Tool, tool
from lineshaft.values import Call, Dispatch, Done

TYPED = "kq83-hhv2"
PIN = {"type": "string", "format": "password", "pattern": "^[0-9, not]+$"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "user-pin": PIN,
        "from": {"type": "string"},
        "max-results": {"type": "integer"},
        "account": {"type": "object", "properties": {"pin": PIN}},
    },
}
OPEN = Policy(mode="open")


def login(**given: object) -> dict[str, object]:
    return {"got": sorted(given)}


LOGIN = Tool.from_schema(name="login", effect="read", input_schema=SCHEMA, function=login)


@tool(effect="read")
def sign(token: str, key: int = 0) -> None:
    """Sign."""


WRONG = [
    f"login(user_pin={TYPED!r}, max_results='many')",
    f"login(**{{'user-pin': {TYPED!r}}})",
    f"login(user_pin=[{TYPED!r}])",
    f"login(account={{'pin': {TYPED!r}}})",
    f"sign(token=[{TYPED!r}])",
    f"sign(token=1, key={TYPED!r})",
]


@pytest.mark.parametrize("call", WRONG)
async def test_a_refused_call_shows_no_secret_of_its_arguments(call: str, tmp_path: Path) -> None:
    script = f"try:\n    await {call}\nexcept ToolError as error:\n    return str(error)"
    async with Session(
        [LOGIN, sign], workspace=tmp_path, policy=OPEN, check="off", store=tmp_path / "r.db"
    ) as session:
        result = await session.run(script)
        assert session.store is not None
        events = await session.store.events(result.run_id)
    [made] = result.calls
    assert made.error is not None
    assert made.error.code == "E_INVALID_ARGS"
    assert TYPED not in f"{made} {result.value} {events}"


async def test_middleware_reads_a_keyword_as_its_parameter(tmp_path: Path) -> None:
    seen: list[object] = []

    def watching(inner: Dispatch) -> Dispatch:
        async def dispatch(call: Call) -> Done:
            seen.append(dict(call.arguments))
            return await inner(call)

        return dispatch

    script = (
        "await login(from_='a', max_results=1)\n"
        "try:\n"
        "    await login(from_='a', **{'from': 'b'})\n"
        "except ToolError as error:\n"
        "    return str(error)"
    )
    async with Session(
        [LOGIN], workspace=tmp_path, policy=OPEN, middleware=[watching], check="off"
    ) as session:
        result = await session.run(script)
    assert seen[0] == {"from": "a", "max-results": 1}
    assert "`from` is given by the keyword from_ too" in str(result.value)
