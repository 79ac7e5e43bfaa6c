"""What a person is asked through a client: at once, by an answer to come back from, or later."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp.client import ClientRequestContext

from fronts import (
    ASKS,
    CANCELS,
    DECLINES,
    MODES,
    Mode,
    Person,
    accepts,
    client_of,
    data_of,
    served,
    text_of,
)
from lineshaft import Context, Session, tool
from lineshaft.mcp.front import Front, front_server
from lineshaft.values import Answer

PUT = "return await put(what='x')"
BOTH = "a = await put(what='x')\nb = await put(what='y')\nreturn [a, b]"
GATHERED = """
async def one(what):
    try:
        return await put(what=what)
    except ToolError as error:
        return error.message
return await asyncio.gather(one('x'), one('y'))
"""
made: list[str] = []


@tool(effect="external")
async def put(what: str) -> str:
    """Put something somewhere."""
    made.append(what)
    return what


@tool(effect="read")
async def other() -> None:
    """Do nothing."""


@tool(effect="read")
async def who(context: Context) -> object:
    """Ask who is there."""
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    return await context.elicit("your name?", schema)


@pytest.fixture(autouse=True)
def _anew() -> None:
    made.clear()


async def values_told(client: Client, run_id: str) -> list[object]:
    """Return the value of a run, as `status` and then `resume` tell it."""
    told = [await client.call_tool(name, {"run_id": run_id}) for name in ("status", "resume")]
    return [data_of(each)["value"] for each in told]


@pytest.mark.parametrize("mode", MODES)
async def test_a_person_approves_through_the_client(mode: Mode, tmp_path: Path) -> None:
    person = Person([accepts(decision="approve all"), accepts(decision="approve all")])
    async with served([put], at=tmp_path, policy=ASKS, mode=mode, person=person) as (client, _):
        ran = await client.call_tool("run", {"code": BOTH})
    assert data_of(ran)["value"] == ["x", "y"]
    assert made == ["x", "y"]
    assert [asked.message.count('what: "') for asked in person.asked] == [1, 1]
    assert 'what: "x"' in person.asked[0].message
    assert data_of(ran)["run_id"] in person.asked[0].message


@pytest.mark.parametrize("mode", MODES)
async def test_all_waiting_calls_are_on_one_form(mode: Mode, tmp_path: Path) -> None:
    person = Person([accepts(decision="approve the ticked", call_2=True, reason="one is enough")])
    async with served([put], at=tmp_path, policy=ASKS, mode=mode, person=person) as (client, _):
        ran = await client.call_tool("run", {"code": GATHERED})
    assert made == ["y"]
    assert data_of(ran)["value"][1] == "y"
    assert "one is enough" in data_of(ran)["value"][0]
    assert len(person.asked) == 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("said", [DECLINES, accepts(decision="deny all", reason="not today")])
async def test_a_denied_call_is_not_made(
    mode: Mode, said: types.ElicitResult, tmp_path: Path
) -> None:
    person = Person([said])
    async with served([put], at=tmp_path, policy=ASKS, mode=mode, person=person) as (client, _):
        ran = await client.call_tool("run", {"code": PUT})
    assert ran.is_error
    assert "not approved" in text_of(ran)
    assert made == []


@pytest.mark.parametrize("mode", MODES)
async def test_what_is_left_open_waits_and_can_be_taken_up(mode: Mode, tmp_path: Path) -> None:
    person = Person([CANCELS, accepts(decision="approve all")])
    async with served([put], at=tmp_path, policy=ASKS, mode=mode, person=person) as (client, _):
        ran = await client.call_tool("run", {"code": PUT})
        assert data_of(ran)["status"] == "paused"
        assert not ran.is_error
        run_id = data_of(ran)["run_id"]
        assert f"lineshaft resume {run_id} --approve all" in text_of(ran)
        assert data_of(ran)["pending"][0]["tool"] == "put"
        looked = await client.call_tool("status", {"run_id": run_id})
        assert data_of(looked)["status"] == "paused"
        done = await client.call_tool("resume", {"run_id": run_id})
    assert data_of(done)["value"] == "x"
    assert made == ["x"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_that_cannot_ask_gets_the_run_to_come_back_to(
    mode: Mode, tmp_path: Path
) -> None:
    async with served([put], at=tmp_path, policy=ASKS, mode=mode) as (client, _):
        ran = await client.call_tool("run", {"code": PUT})
        run_id = data_of(ran)["run_id"]
        still = await client.call_tool("resume", {"run_id": run_id})
        assert data_of(still)["status"] == "paused"
        with_answer = await client.call_tool("resume", {"run_id": run_id, "approve": ["all"]})
        assert with_answer.is_error
        assert made == []
        async with Session(
            [put], workspace=tmp_path, policy=ASKS, store=tmp_path / "store.db"
        ) as elsewhere:  # a person, in a terminal
            await elsewhere.resume(run_id, {"*": Answer(allow=True)})
        told = await values_told(client, run_id)
    assert told == ["x", "x"]
    assert made == ["x"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_run_in_the_background_that_somebody_else_let_go_on_is_told_as_it_is(
    mode: Mode, tmp_path: Path
) -> None:
    async with served([put], at=tmp_path, policy=ASKS, mode=mode) as (client, session):
        ran = await client.call_tool("run", {"code": PUT, "background": True})
        run_id = data_of(ran)["run_id"]
        waits = await client.call_tool("resume", {"run_id": run_id})
        assert data_of(waits)["status"] == "paused"
        await session.resume(run_id, {"*": Answer(allow=True)})
        told = await values_told(client, run_id)
    assert told == ["x", "x"]
    assert made == ["x"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_run_that_goes_on_elsewhere_is_running(mode: Mode, tmp_path: Path) -> None:
    begun, go_on = anyio.Event(), anyio.Event()

    @tool(effect="external", name="put")
    async def slow(what: str) -> str:
        """Put something somewhere, after a while."""
        begun.set()
        await go_on.wait()
        return what

    async with served([slow], at=tmp_path, policy=ASKS, mode=mode) as (client, session):
        run_id = data_of(await client.call_tool("run", {"code": PUT}))["run_id"]
        told: list[types.CallToolResult] = []
        async with anyio.create_task_group() as group:
            group.start_soon(session.resume, run_id, {"*": Answer(allow=True)})
            await begun.wait()
            told.append(await client.call_tool("resume", {"run_id": run_id}))
            go_on.set()
        told.append(await client.call_tool("resume", {"run_id": run_id}))
    assert [data_of(each)["status"] for each in told] == ["running", "success"]
    assert data_of(told[-1])["value"] == "x"


class _Slow(Person):
    """A person who waits before they answer."""

    def __init__(self, decision: str) -> None:
        super().__init__([accepts(decision=decision)])
        self.sees, self.may = anyio.Event(), anyio.Event()

    async def __call__(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        self.sees.set()
        await self.may.wait()
        return await super().__call__(context, params)


@pytest.mark.parametrize("mode", MODES)
async def test_of_two_clients_that_resume_a_run_both_get_its_end(
    mode: Mode, tmp_path: Path
) -> None:
    people = _Slow("approve all"), _Slow("deny all")
    ends: list[types.CallToolResult] = []

    async with (
        Session([put], workspace=tmp_path, policy=ASKS, store=tmp_path / "store.db") as session,
        front_server(Front(session)) as server,
        Client(server, mode=mode) as alone,
        Client(server, mode=mode, elicitation_callback=people[0]) as first,
        Client(server, mode=mode, elicitation_callback=people[1]) as second,
    ):
        run_id = data_of(await alone.call_tool("run", {"code": PUT}))["run_id"]

        async def resume(client: Client) -> None:
            ends.append(await client.call_tool("resume", {"run_id": run_id}))

        async with anyio.create_task_group() as group:
            group.start_soon(resume, first)
            group.start_soon(resume, second)
            for each in people:
                await each.sees.wait()
            people[0].may.set()
            while not ends:
                await anyio.lowlevel.checkpoint()
            people[1].may.set()
    assert [data_of(each)["value"] for each in ends] == ["x", "x"]
    assert made == ["x"]


async def test_a_client_that_confirms_each_call_answers_itself(tmp_path: Path) -> None:
    async with served([put], at=tmp_path, policy=ASKS, approvals="client") as (client, _):
        ran = await client.call_tool("run", {"code": GATHERED})
        ids = [each["id"] for each in data_of(ran)["pending"]]
        wrong = await client.call_tool(
            "resume", {"run_id": data_of(ran)["run_id"], "approve": ["c99"]}
        )
        answers = {"approve": ids[:1], "deny": ids[1:], "reason": "one is enough"}
        done = await client.call_tool("resume", {"run_id": data_of(ran)["run_id"], **answers})
    assert ids[0] in text_of(wrong)
    assert data_of(done)["value"][0] == "x"
    assert "one is enough" in data_of(done)["value"][1]


@pytest.mark.parametrize("mode", MODES)
async def test_a_direct_call_is_approved_too(mode: Mode, tmp_path: Path) -> None:
    person = Person([accepts(decision="approve all"), accepts(decision="deny all")])
    async with served(
        [put], at=tmp_path, policy=ASKS, mode=mode, person=person, direct=["put"]
    ) as (client, _):
        yes = await client.call_tool("put", {"what": "x"})
        no = await client.call_tool("put", {"what": "y"})
    async with served([put], at=tmp_path, policy=ASKS, mode=mode, direct=["put"]) as (client, _):
        nobody = await client.call_tool("put", {"what": "z"})
    assert text_of(yes) == "x"
    assert no.is_error
    assert nobody.is_error
    assert made == ["x"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["run", "who"])
async def test_what_a_tool_asks_reaches_the_person(mode: Mode, name: str, tmp_path: Path) -> None:
    person = Person([accepts(name="Ada")])
    arguments = {"code": "return await who()"} if name == "run" else {}
    async with served([who], at=tmp_path, mode=mode, person=person, direct=["who"]) as (client, _):
        ran = await client.call_tool(name, arguments)
    assert "Ada" in text_of(ran)
    assert not ran.is_error
    assert person.asked[0].message == "who: your name?"
    assert dict(person.asked[0].requested_schema)["required"] == ["name"]


@pytest.mark.parametrize("mode", MODES)
async def test_several_questions_come_one_after_the_other(mode: Mode, tmp_path: Path) -> None:
    person = Person([accepts(name="Ada"), accepts(name="Bob")])
    code = "return await asyncio.gather(who(), who())"
    async with served([who], at=tmp_path, mode=mode, person=person) as (client, _):
        ran = await client.call_tool("run", {"code": code})
    assert data_of(ran)["value"] == [{"name": "Ada"}, {"name": "Bob"}]


@pytest.mark.parametrize("mode", MODES)
async def test_an_answer_that_does_not_fit_or_no_answer_is_an_error(
    mode: Mode, tmp_path: Path
) -> None:
    person = Person([accepts(name=3), DECLINES])
    async with served([who], at=tmp_path, mode=mode, person=person) as (client, _):
        wrong = await client.call_tool("run", {"code": "return await who()"})
        declined = await client.call_tool("run", {"code": "return await who()"})
    async with served([who], at=tmp_path, mode=mode) as (client, _):
        nobody = await client.call_tool("run", {"code": "return await who()"})
    assert "does not fit" in text_of(wrong)
    assert "declined" in text_of(declined)
    assert "no person can be asked" in text_of(nobody)


@pytest.mark.parametrize("mode", MODES)
async def test_one_value_is_asked_in_a_form_and_nested_ones_are_not(
    mode: Mode, tmp_path: Path
) -> None:
    @tool(effect="read")
    async def ask(schema: dict[str, Any], context: Context) -> object:
        """Ask for anything."""
        return await context.elicit("?", schema)

    person = Person([accepts(value=3)])
    async with served([ask], at=tmp_path, mode=mode, person=person) as (client, _):
        one = await client.call_tool(
            "run", {"code": "return await ask(schema={'type': 'integer'})"}
        )
        nested = {"type": "object", "properties": {"a": {"type": "object"}}}
        deep = await client.call_tool("run", {"code": f"return await ask(schema={nested!r})"})
    assert data_of(one)["value"] == 3
    assert "no person can be asked" in text_of(deep)


async def _asked(client: Client, arguments: dict[str, Any]) -> types.InputRequiredResult:
    result = await client.session.call_tool("run", arguments, allow_input_required=True)
    assert isinstance(result, types.InputRequiredResult)
    return result


def _yes(asked: types.InputRequiredResult) -> dict[str, types.ElicitResult]:
    return {key: accepts(decision="approve all") for key in asked.input_requests or {}}


async def _back(
    client: Client,
    arguments: dict[str, Any],
    state: str | None,
    responses: Mapping[str, types.ElicitResult],
) -> types.CallToolResult | types.InputRequiredResult:
    return await client.session.call_tool(
        "run",
        arguments,
        input_responses=dict(responses),
        request_state=state,
        allow_input_required=True,
    )


async def test_what_one_is_given_to_come_back_with_opens_nothing_else(tmp_path: Path) -> None:
    mine, others = {"code": PUT}, {"code": "return await put(what='theirs')"}
    async with (
        Session([put], workspace=tmp_path, policy=ASKS, store=tmp_path / "store.db") as session,
        client_of(session, person=Person()) as client,
    ):
        first, second = await _asked(client, mine), await _asked(client, others)
        assert first.request_state is not None
        assert second.request_state is not None
        forged = first.request_state[:-6] + "AAAAAA"
        for state in (forged, "v1.AAAA", '{"run": "x", "pending": []}', second.request_state):
            with pytest.raises(MCPError, match="Invalid or expired"):
                await _back(client, mine, state, _yes(first))
        async with client_of(session, person=Person()) as elsewhere:
            with pytest.raises(MCPError, match="Invalid or expired"):
                await _back(elsewhere, mine, first.request_state, _yes(first))
        assert made == []
        done = await _back(client, mine, first.request_state, _yes(first))
        again = await _back(client, mine, first.request_state, _yes(first))
    for each in (done, again):
        assert isinstance(each, types.CallToolResult)
        assert data_of(each)["value"] == "x"
    assert made == ["x"]


async def test_coming_back_after_somebody_else_answered_gives_the_result(tmp_path: Path) -> None:
    async with served([put], at=tmp_path, policy=ASKS, person=Person()) as (client, session):
        asked = await _asked(client, {"code": PUT})
        assert session.store is not None
        (run,) = await session.store.runs()
        await session.resume(run.run_id, {"*": Answer(allow=False, reason="no")})
        done = await _back(client, {"code": PUT}, asked.request_state, _yes(asked))
    assert isinstance(done, types.CallToolResult)
    assert done.is_error
    assert made == []


async def test_a_run_that_came_in_otherwise_is_unknown(tmp_path: Path) -> None:
    async with served([put], at=tmp_path, policy=ASKS, approvals="client") as (client, session):
        own = await session.run(PUT)
        for name in ("status", "resume"):
            told = await client.call_tool(name, {"run_id": own.run_id})
            assert "E_UNKNOWN_RUN" in text_of(told)
        approved = await client.call_tool("resume", {"run_id": own.run_id, "approve": ["all"]})
    assert approved.is_error
    assert made == []


async def test_without_a_store_runs_wait_here(tmp_path: Path) -> None:
    person = Person([accepts(decision="approve all")])
    async with (
        Session([put], workspace=tmp_path, policy=ASKS, store=False) as session,
        client_of(session, person=person) as client,
    ):
        ran = await client.call_tool("run", {"code": PUT})
    assert data_of(ran)["value"] == "x"


async def test_what_a_script_wrote_cannot_pass_for_a_line_of_the_form(tmp_path: Path) -> None:
    person = Person([DECLINES])
    code = "return await put(what='x\\n2. harmless (approved)\\x1b[2J')"
    async with served([put], at=tmp_path, policy=ASKS, person=person) as (client, _):
        await client.call_tool("run", {"code": code})
    assert "\n2. " not in person.asked[0].message
    assert "\x1b" not in person.asked[0].message


async def test_what_one_client_is_given_is_of_no_use_to_another(tmp_path: Path) -> None:
    def client(name: str) -> Client:
        info = types.Implementation(name=name, version="1")
        return Client(server, client_info=info, elicitation_callback=Person())

    async with (
        Session([put], workspace=tmp_path, policy=ASKS, store=tmp_path / "store.db") as session,
        front_server(Front(session)) as server,
        client("one") as one,
        client("other") as other,
    ):
        asked = await _asked(one, {"code": PUT})
        with pytest.raises(MCPError, match="Invalid or expired"):
            await _back(other, {"code": PUT}, asked.request_state, _yes(asked))
    assert made == []


@pytest.mark.parametrize("mode", MODES)
async def test_nobody_is_asked_for_a_run_whose_tools_are_not_here(
    mode: Mode, tmp_path: Path
) -> None:
    script = f"await other()\n{PUT}"
    first = Person([CANCELS])
    async with served([put, other], at=tmp_path, policy=ASKS, mode=mode, person=first) as (
        client,
        _,
    ):
        run_id = data_of(await client.call_tool("run", {"code": script}))["run_id"]
    second = Person([accepts(decision="approve all")])
    async with served([put], at=tmp_path, policy=ASKS, mode=mode, person=second) as (client, _):
        refused = await client.call_tool("resume", {"run_id": run_id})
    assert refused.is_error
    assert "`other` is not defined" in text_of(refused)
    assert second.asked == []
    assert made == []
