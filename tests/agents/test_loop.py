"""The loop of a microagent, by scripted conversations."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

import anyio
import pytest
from pydantic import BaseModel

from lineshaft.agents import AgentEnd, AgentEvent, AgentLoop, Budget, ExitTool, Seams
from lineshaft.errors import (
    AgentError,
    ConfigError,
    ModelRefused,
    ModelUnavailable,
    ToolError,
)
from lineshaft.models import (
    CallAnswer,
    ModelReply,
    ModelRequest,
    OfferedTool,
    OnText,
    RequestedCall,
    TokenUsage,
    UserMessage,
)
from lineshaft.testing import Scripted, ScriptedModel, call, calls, exit_with, say
from lineshaft.values import Done, Failure, Value

START = (UserMessage(text="Say the kind."),)
LOOK = OfferedTool(
    name="look",
    description="Look.",
    input_schema={"type": "object", "properties": {"path": {"type": "string"}}},
)


class Verdict(BaseModel):
    """A kind and why."""

    label: Literal["bug", "question"]
    why: str


class Record(TypedDict):
    """One number."""

    n: int


@dataclass
class Desk:
    """Runs loops over scripted models, and notes what they do."""

    replies: Sequence[Scripted]
    result: object = str
    budget: Budget = field(default_factory=Budget)
    refuses: list[object] = field(default_factory=list[object])
    """What validation says, result by result; None accepts."""

    commits: list[object] = field(default_factory=list[object])
    """Errors of commits; None succeeds."""

    made: list[tuple[str, Mapping[str, object]]] = field(
        default_factory=list[tuple[str, Mapping[str, object]]]
    )
    validated: list[object] = field(default_factory=list[object])
    committed: list[object] = field(default_factory=list[object])
    events: list[AgentEvent] = field(default_factory=list[AgentEvent])
    waits: list[float] = field(default_factory=list[float])
    elapsed: Callable[[], float] | None = None
    answers: dict[str, Done] = field(default_factory=dict[str, Done])
    model: ScriptedModel = field(init=False)

    def __post_init__(self) -> None:
        self.model = ScriptedModel(self.replies)

    async def run(self) -> AgentEnd:
        loop = AgentLoop(
            tools=[LOOK],
            exit_tool=ExitTool(self.result),
            budget=self.budget,
            seams=Seams(
                ask=self.model.complete,
                call=self.on_call,
                validate=self.on_validate,
                commit=self.on_commit,
                notify=self.events.append,
                elapsed=self.elapsed,
                wait=self.on_wait,
            ),
        )
        return await loop.run(START)

    async def failed(self) -> AgentError:
        with pytest.raises(AgentError) as caught:
            await self.run()
        return caught.value

    async def on_call(self, name: str, arguments: Mapping[str, object]) -> Done:
        self.made.append((name, arguments))
        return self.answers.get(str(arguments.get("path")), Value("seen"))

    async def on_validate(self, result: object) -> object:
        self.validated.append(result)
        return self.refuses.pop(0) if self.refuses else None

    async def on_commit(self, result: object) -> None:
        error = self.commits.pop(0) if self.commits else None
        if isinstance(error, Exception):
            raise error
        self.committed.append(result)

    async def on_wait(self, seconds: float) -> None:
        self.waits.append(seconds)

    def told(self, request: int = -1) -> str:
        """Return the last message that the model was sent with a request."""
        last = self.model.requests[request].messages[-1]
        assert not isinstance(last, ModelReply)
        return last.text


async def test_a_good_call_and_a_typed_result() -> None:
    desk = Desk([call("look", path="a"), exit_with(label="bug", why="x")], result=Verdict)
    end = await desk.run()
    assert end.result == Verdict(label="bug", why="x")
    assert desk.committed == [end.result]
    assert desk.made == [("look", {"path": "a"})]
    assert (end.usage.turns, end.usage.calls, end.usage.requests) == (2, 1, 2)
    assert end.usage.estimated
    offered = [tool.name for tool in desk.model.requests[0].tools]
    assert offered == ["look", "Exit", "GiveUp"]
    assert desk.model.requests[0].must_call
    assert desk.model.requests[0].messages == START
    assert [type(message).__name__ for message in end.messages] == [
        "UserMessage",
        "ModelReply",
        "CallAnswer",
        "ModelReply",
    ]
    assert [event.kind for event in desk.events] == [
        "turn",
        "reply",
        "call",
        "answer",
        "turn",
        "reply",
    ]


@pytest.mark.parametrize(
    ("result", "value"),
    [(int | None, None), (int, 0), (bool, False), (str, ""), (list[int], [1]), (Record, {"n": 1})],
)
async def test_every_value_of_the_type_is_a_result(result: object, value: object) -> None:
    end = await Desk([exit_with(value)], result=result).run()
    assert end.result == value


async def test_a_result_may_have_a_json_schema() -> None:
    schema = {"$ref": "#/$defs/Kind", "$defs": {"Kind": {"enum": ["bug", "question"]}}}
    desk = Desk([exit_with("other"), exit_with("bug")], result=schema)
    assert (await desk.run()).result == "bug"
    assert "did not pass validation" in desk.told()


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (calls(("Exit", '{"result": ')), "no JSON"),
        (calls(("Exit", "[1]")), "no JSON object"),
        (calls(("Exit", "")), "result"),
        (calls(("Exit", "[" * 100_000)), "nested too deeply"),
        (call("Exit", label="bug", why="x"), "result"),
        (exit_with(label="other", why="x"), "label"),
        (exit_with(label="bug"), "why"),
    ],
)
async def test_a_malformed_exit_is_told_and_counted(reply: ModelReply, said: str) -> None:
    desk = Desk([reply, exit_with(label="bug", why="x")], result=Verdict)
    end = await desk.run()
    assert end.usage.failed_exits == 1
    assert said in desk.told()
    assert "did not pass validation" in desk.told()


async def test_a_refused_result_is_told_with_its_reason_and_tried_again() -> None:
    reasons = [{"missing": ["why"]}, "not that", False, True]
    desk = Desk([exit_with(str(n)) for n in range(4)], refuses=list(reasons))
    end = await desk.run()
    assert (end.result, end.usage.failed_exits) == ("3", 3)
    assert desk.validated == ["0", "1", "2", "3"]
    told = [desk.told(number) for number in (1, 2, 3)]
    assert '{"missing": ["why"]}' in told[0]
    assert "not that" in told[1]
    assert "it was refused" in told[2]
    assert desk.committed == ["3"]


async def test_what_cannot_be_committed_is_a_refused_result() -> None:
    stale = ToolError("E_STALE", "'a.txt' was changed meanwhile", hint="read it again")
    desk = Desk([exit_with("a"), exit_with("b")], commits=[stale, None])
    assert (await desk.run()).result == "b"
    assert "'a.txt' was changed meanwhile (read it again)" in desk.told()


async def test_a_tool_that_fails_is_told() -> None:
    failure = Failure("E_DENIED", "policy refused look", "ask for less", "refused")
    desk = Desk([call("look", path="x"), exit_with("a")], answers={"x": failure})
    await desk.run()
    answer = desk.model.requests[1].messages[-1]
    assert isinstance(answer, CallAnswer)
    assert answer.failed
    assert answer.text == "E_DENIED: policy refused look (ask for less)"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (call("lok"), "did you mean 'look'"),
        (call("x" * 500), "there is no tool"),
        (calls(("look", '{"path": ')), "no JSON"),
        (calls(("look", '"text"')), "no JSON object"),
    ],
)
async def test_a_call_that_is_none_is_told_and_counted(reply: ModelReply, said: str) -> None:
    desk = Desk([reply, exit_with("a")])
    end = await desk.run()
    assert said in desk.told()
    assert len(desk.told()) < 400
    assert (end.usage.calls, desk.made) == (1, [])


async def test_several_calls_are_made_in_order_and_each_is_answered() -> None:
    reply = calls(("look", {"path": "a"}), ("look", {"path": "b"}), ("nothing", {}))
    desk = Desk([reply, exit_with("a")], answers={"a": Value({"é": 1}), "b": Value("text")})
    await desk.run()
    answers = desk.model.requests[1].messages[2:]
    assert [(a.id, a.text) for a in answers if isinstance(a, CallAnswer)][:2] == [
        ("call_1", '{"é": 1}'),
        ("call_2", "text"),
    ]
    assert len(answers) == 3


async def test_an_exit_beside_other_calls_is_refused_and_the_calls_are_made() -> None:
    reply = calls(("look", {"path": "a"}), ("Exit", {"result": "early"}))
    desk = Desk([reply, exit_with("late")])
    end = await desk.run()
    assert (end.result, end.usage.failed_exits) == ("late", 1)
    assert "beside other calls" in desk.told()
    assert len(desk.made) == 1


async def test_no_call_is_told_once_and_then_asked_for_as_a_schema() -> None:
    desk = Desk([say("Hello."), say("Well."), exit_with("a")])
    end = await desk.run()
    assert end.usage.turns == 3
    assert [request.as_schema for request in desk.model.requests] == [False, True, True]
    assert "You called no tool" in desk.told()
    assert [event.kind for event in desk.events].count("as_schema") == 1


@pytest.mark.parametrize(("stop", "said"), [("length", "at its length"), ("filter", "A filter")])
async def test_an_answer_that_was_cut_is_told_as_such(
    stop: Literal["length", "filter"], said: str
) -> None:
    desk = Desk([ModelReply(text="so", stop=stop), exit_with("a")])
    await desk.run()
    assert said in desk.told()
    assert not desk.model.requests[1].as_schema


@pytest.mark.parametrize("name", ["look", "Exit"])
@pytest.mark.parametrize("arguments", ['{"path": "a', ""])
async def test_a_call_that_was_cut_is_not_made_and_the_model_is_told_why(
    name: str, arguments: str
) -> None:
    whole = RequestedCall(id="1", name="look", arguments='{"path": "a"}')
    cut = RequestedCall(id="2", name=name, arguments=arguments)
    reply = ModelReply(calls=(whole, cut), stop="length")
    desk = Desk([reply, exit_with("a")])
    end = await desk.run()
    assert "cut at its length" in desk.told()
    assert "write less in one call" in desk.told()
    assert desk.made == [("look", {"path": "a"})]
    assert (end.result, end.usage.calls + end.usage.failed_exits) == ("a", 2)


async def test_a_whole_call_of_an_answer_that_was_cut_is_made() -> None:
    whole = RequestedCall(id="1", name="look", arguments='{"path": "a"}')
    desk = Desk([ModelReply(calls=(whole,), stop="length"), exit_with("a")])
    await desk.run()
    assert desk.made == [("look", {"path": "a"})]


async def test_giving_up_ends_with_its_reason() -> None:
    error = await Desk([call("GiveUp", reason="no files")]).failed()
    assert (error.code, error.reason) == ("E_AGENT_GAVE_UP", "no files")
    assert "no files" in error.message
    odd = await Desk([calls(("GiveUp", "no JSON"))]).failed()
    assert (odd.code, odd.reason) == ("E_AGENT_GAVE_UP", "no JSON")


SPENT: dict[str, tuple[Budget, Sequence[Scripted], str, str]] = {
    "turns": (
        Budget(turns=2),
        [call("look", path="a"), call("look", path="b")],
        "E_AGENT_BUDGET",
        "all 2 turns",
    ),
    "the only turn": (Budget(turns=1), [call("look", path="a")], "E_AGENT_BUDGET", "its only turn"),
    "failed exits": (
        Budget(failed_exits=2),
        [calls(("Exit", "x")), call("Exit")],
        "E_AGENT_INVALID",
        "2 results did not pass",
    ),
    "calls": (
        Budget(calls=1),
        [calls(("look", {"path": "a"}), ("look", {"path": "b"}))],
        "E_AGENT_BUDGET",
        "its only call",
    ),
    "tokens": (
        Budget(tokens=10),
        [ModelReply(text="x", usage=TokenUsage(input_tokens=9, output_tokens=1))],
        "E_AGENT_BUDGET",
        "all 10 tokens",
    ),
    "cost": (
        Budget(cost=0.5),
        [ModelReply(text="x", usage=TokenUsage(input_tokens=1, cost=0.6))],
        "E_AGENT_BUDGET",
        "all of its 0.5 dollars",
    ),
}


@pytest.mark.parametrize(("budget", "replies", "code", "said"), SPENT.values(), ids=SPENT)
async def test_a_budget_that_is_used_up_ends_with_all_that_is_known(
    budget: Budget, replies: Sequence[Scripted], code: str, said: str
) -> None:
    desk = Desk(replies, budget=budget)
    error = await desk.failed()
    assert error.code == code
    assert said in error.message
    assert ("more of that budget" if code == "E_AGENT_BUDGET" else "less strictly") in error.hint
    assert error.history[0] == START[0]
    assert len(desk.model.requests) == len(replies)
    assert desk.committed == []


async def test_the_last_reason_is_kept_where_turns_run_out() -> None:
    desk = Desk([exit_with("a"), exit_with("b")], budget=Budget(turns=2), refuses=["one", "two"])
    error = await desk.failed()
    assert (error.code, error.reason) == ("E_AGENT_BUDGET", "two")


async def test_an_exit_with_the_last_token_counts() -> None:
    used = TokenUsage(input_tokens=500, output_tokens=500)
    last = ModelReply(calls=exit_with("a").calls, usage=used)
    assert (await Desk([last], budget=Budget(tokens=10)).run()).result == "a"


async def test_seconds_end_a_loop_in_the_middle_of_a_request() -> None:
    desk = Desk([], budget=Budget(seconds=0.01))

    async def never(request: ModelRequest, *, on_text: OnText | None = None) -> ModelReply:
        del request, on_text
        await anyio.sleep_forever()
        raise AssertionError

    desk.model.complete = never
    error = await desk.failed()
    assert (error.code, "0.01 seconds" in error.message) == ("E_AGENT_BUDGET", True)


@pytest.mark.parametrize(("seconds", "told"), [(600, "all 600 seconds"), (1, "its only second")])
async def test_seconds_of_an_earlier_part_of_the_run_count(seconds: float, told: str) -> None:
    desk = Desk([call("look", path="a")], budget=Budget(seconds=seconds), elapsed=lambda: 601.0)

    async def for_ever(name: str, arguments: Mapping[str, object]) -> Done:
        del name, arguments
        await anyio.sleep_forever()
        raise AssertionError

    desk.on_call = for_ever
    error = await desk.failed()
    assert (error.code, told in error.message) == ("E_AGENT_BUDGET", True)


async def test_a_loop_goes_on_while_its_clock_stands_still() -> None:
    looks, often = 0, anyio.Event()

    def elapsed() -> float:
        nonlocal looks
        looks += 1
        if looks == 4:  # the seconds were over by any other clock
            often.set()
        return 0.0

    desk = Desk([exit_with("a")], budget=Budget(seconds=0.01), elapsed=elapsed)
    complete = desk.model.complete

    async def slow(request: ModelRequest, *, on_text: OnText | None = None) -> ModelReply:
        await often.wait()
        return await complete(request, on_text=on_text)

    desk.model.complete = slow
    assert (await desk.run()).result == "a"


@pytest.mark.parametrize("where", ["model", "tool"])
async def test_a_cancellation_is_no_answer_and_no_error(where: str) -> None:
    reached = anyio.Event()

    async def never(*_: object, **__: object) -> Any:
        reached.set()
        await anyio.sleep_forever()

    desk = Desk([call("look", path="a")])
    if where == "model":
        desk.model.complete = never
    else:
        desk.on_call = never
    ended: list[object] = []

    async def work() -> None:
        ended.append(await desk.run())

    async with anyio.create_task_group() as group:
        group.start_soon(work)
        await reached.wait()
        group.cancel_scope.cancel()
    assert ended == []
    assert len(desk.model.requests) <= 1


async def test_a_refused_request_ends_at_once() -> None:
    error = await Desk([ModelRefused("wrong key", hint="look at the API key")]).failed()
    assert (error.code, error.message, error.hint) == (
        "E_AGENT_MODEL",
        "wrong key",
        "look at the API key",
    )


async def test_a_request_is_made_again_twice_and_counts_as_one_turn() -> None:
    busy = [ModelUnavailable("busy", retry_after=7), ModelUnavailable("busy", retry_after=1e6)]
    desk = Desk([*busy, exit_with("a"), call("look")])
    end = await desk.run()
    assert (end.usage.turns, end.usage.requests) == (1, 3)
    assert desk.waits == [7, 60]
    assert [event.kind for event in desk.events].count("retry") == 2


async def test_a_third_failure_ends_it() -> None:
    desk = Desk([ModelUnavailable("busy")] * 3)
    error = await desk.failed()
    assert (error.code, error.message, desk.waits) == ("E_AGENT_MODEL", "busy", [1, 2])
    assert error.hint == "it was asked 3 times; is the model's server up, and its address right?"


async def test_a_model_that_repeats_itself_is_told_and_then_ended() -> None:
    desk = Desk([call("look", path="a")] * 6)
    error = await desk.failed()
    assert (error.code, "6 times" in error.message) == ("E_AGENT_MODEL", True)
    assert "You made this call" not in desk.told(1)
    assert "You made this call 2 times" in desk.told(2)
    assert "You made this call 5 times" in desk.told(5)


async def test_the_same_call_with_another_result_is_no_repetition() -> None:
    desk = Desk([*[call("look", path="a")] * 8, exit_with("a")])
    results = iter(range(8))

    async def changing(name: str, arguments: Mapping[str, object]) -> Done:
        del name, arguments
        return Value(next(results))

    desk.on_call = changing
    assert (await desk.run()).result == "a"


async def test_a_long_answer_is_cut_with_a_sign() -> None:
    desk = Desk([call("look", path="a"), exit_with("b")], answers={"a": Value("x" * 60_000)})
    await desk.run()
    assert desk.told().endswith("[10,000 characters left out]")
    assert len(desk.told()) < 50_100


async def test_a_history_goes_on() -> None:
    desk = Desk([call("look", path="a"), call("GiveUp", reason="for now")])
    error = await desk.failed()
    further = ScriptedModel([exit_with("done")])
    desk.model = further
    loop = AgentLoop(
        tools=[LOOK],
        exit_tool=ExitTool(str),
        budget=Budget(),
        seams=Seams(
            ask=further.complete,
            call=desk.on_call,
            validate=desk.on_validate,
            commit=desk.on_commit,
            notify=desk.events.append,
        ),
    )
    again = (*error.history, UserMessage(text="Go on."))
    end = await loop.run(again)
    assert end.result == "done"
    *before, ended, go_on = further.requests[0].messages
    assert (*before, go_on) == again
    assert isinstance(ended, CallAnswer)
    assert (ended.name, ended.failed) == ("GiveUp", False)


def test_an_exit_says_what_it_takes() -> None:
    offered = ExitTool(Verdict).offered
    text = json.dumps(offered.input_schema)
    assert '"bug"' in text
    assert offered.input_schema["required"] == ["result"]
    assert "finished" in offered.description
    with pytest.raises(ConfigError, match="type of its result"):
        ExitTool(None)
