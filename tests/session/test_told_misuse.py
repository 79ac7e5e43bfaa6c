"""Misuse that is told at once, with what is right."""

from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field, PastDate

from lineshaft import Caller, Policy, Session, Tool, mcp, run_sync, tool
from lineshaft.agents import Microagent
from lineshaft.errors import AgentPaused, ConfigError
from lineshaft.testing import ScriptedModel, call, exit_with
from lineshaft.values import Answer, Dispatch


@tool(effect="read")
def look() -> str:
    """Look."""
    return ""


@tool(effect="external")
async def order(article: str) -> str:
    """Order."""
    return f"ordered {article}"


@tool(effect="read")
def pay(
    amount: Annotated[Decimal, Field(decimal_places=2)] = Decimal(1), day: PastDate | None = None
) -> str:
    """Pay."""
    return f"{amount} {day}"


async def test_an_origin_that_is_none_is_refused(tmp_path: Path) -> None:
    async with Session([look], workspace=tmp_path, store=False) as session:
        with pytest.raises(ConfigError, match="origin must be one of code, script"):
            await session.call("look", origin="modell")  # pyright: ignore[reportArgumentType]  the point
        with pytest.raises(ConfigError, match="caller must be a Caller"):
            await session.run("1", caller=Caller(origin="modell"))  # pyright: ignore[reportArgumentType]  the point
        with pytest.raises(ConfigError, match="caller must be a Caller"):
            await session.run("1", caller=look)  # pyright: ignore[reportArgumentType]  the point


@pytest.mark.parametrize("action", ["resume", "undo", "replay", "cancel", "pending", "summary"])
async def test_a_result_in_the_place_of_its_id_is_told(action: str, tmp_path: Path) -> None:
    async with Session([look], workspace=tmp_path, store=tmp_path / "runs.db") as session:
        result = await session.run("1")
        with pytest.raises(ConfigError, match="run_id must be the id of a run, not RunR") as raised:
            await getattr(session, action)(result)
        assert raised.value.hint == "of a result, `result.run_id`"


async def test_one_name_for_direct_calls_is_told_from_a_list(tmp_path: Path) -> None:
    async with Session([look], workspace=tmp_path, store=False) as session:
        with pytest.raises(ConfigError, match="direct is a list of names, not 'look'") as raised:
            session.definitions("mcp", direct="look")
        assert raised.value.hint == "write direct=[...]"
        twice = session.definitions("mcp", direct=iter(["look", "look"]))
    assert [each["name"] for each in twice] == ["run_script", "look"]


def test_a_session_that_is_entered_without_asyncio_says_what_it_needs() -> None:
    entered = Session([look], store=False).__aenter__()  # as a loop of another kind begins it
    with pytest.raises(ConfigError, match="needs an event loop of asyncio") as raised:
        entered.send(None)
    assert "asyncio.run" in raised.value.hint


def test_an_error_of_the_synchronous_call_stands_alone() -> None:
    with pytest.raises(ConfigError) as raised:
        run_sync("1", tools=[5])  # pyright: ignore[reportArgumentType]  the point
    assert raised.value.__context__ is None


async def test_an_empty_text_is_told_as_such(tmp_path: Path) -> None:
    async with Session([look], workspace=tmp_path, store=False) as session:
        answer = await session.handle("run_script", {"code": "return await look()"})
    assert "returned an empty text" in str(answer)


@pytest.mark.parametrize("nothing", [None, "null", " ", "", "{}"])
async def test_no_arguments_come_in_many_forms(tmp_path: Path, nothing: str | None) -> None:
    async with Session([look], workspace=tmp_path, store=False) as session:
        answer = await session.handle("look", nothing)
    assert not answer.is_error, answer.text


async def test_an_argument_that_comes_by_two_names_is_answered(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"user name": {"type": "string"}}}
    greet = Tool.from_schema(name="greet", effect="read", input_schema=schema, function=look)
    async with Session([greet], workspace=tmp_path, store=False) as session:
        answer = await session.handle("greet", {"user name": "a", "user_name": "b"})
    assert answer.is_error
    assert "E_INVALID_ARGS: 'user_name' and 'user name' are one argument" in answer.text


async def test_middleware_that_gives_no_function_is_named(tmp_path: Path) -> None:
    def gives_none(inner: Dispatch) -> Dispatch:
        del inner
        return None  # pyright: ignore[reportReturnType]  the point

    async with Session([look], workspace=tmp_path, store=False, middleware=[gives_none]) as session:
        result = await session.run("return await look()")
    assert result.error is not None
    assert result.error.code == "E_CONFIG"
    assert "gives_none gave None" in result.error.message


def test_a_policy_that_is_no_table_is_refused() -> None:
    with pytest.raises(ConfigError, match="use a table"):
        Policy.from_dict([])  # pyright: ignore[reportArgumentType]  the point


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"amount": "1.2345"}, "`amount` is refused: Decimal input should have no more than 2"),
        ({"day": "2999-01-01"}, "`day` is refused: Date should be in the past"),
        ({"amount": "x"}, "`amount` must be a number, not 'x'"),
    ],
)
async def test_what_a_type_refuses_is_told_in_a_sentence(
    arguments: dict[str, object], told: str, tmp_path: Path
) -> None:
    async with Session([pay], workspace=tmp_path, store=False) as session:
        result = await session.call("pay", arguments)
    assert told in str(result.error)


async def test_an_agent_that_waits_says_for_what_and_goes_on(tmp_path: Path) -> None:
    workspace, store = tmp_path / "work", tmp_path / "runs.db"
    workspace.mkdir()
    model = ScriptedModel([call("order", article="nails"), exit_with("done")])
    agent = Microagent[str](name="o", instructions="Order.", tools=[order], model=model)

    with pytest.raises(AgentPaused, match=r"o is in its middle: 1 call waits.*order") as raised:
        await agent.run(text="Order nails.", workspace=workspace, store=store)

    assert raised.value.code == "E_PAUSED"
    assert "was not made" not in raised.value.message
    [pending] = raised.value.pending
    assert getattr(pending, "tool", "") == "order"
    async with Session([agent], workspace=workspace, store=store) as session:
        result = await session.resume(raised.value.run_id, {"*": Answer(allow=True)})
    assert (result.status, result.value) == ("success", "done")


@pytest.mark.parametrize(
    ("option", "said"),
    [("headers", "ServerSpec(..., headers=...)"), ("trusted", "there are: trust, claims")],
)
def test_an_option_that_an_mcp_server_does_not_have_is_refused(option: str, said: str) -> None:
    options: dict[str, Any] = {option: {"authorization": "Bearer x"}}
    with pytest.raises(ConfigError, match=f"no option '{option}'") as caught:
        mcp.server("https://mcp.example.com/mcp", **options)
    assert said in caught.value.hint
