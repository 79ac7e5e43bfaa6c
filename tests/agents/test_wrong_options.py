"""Options that cannot be meant: each is refused at once, and by name."""

from collections.abc import Callable
from typing import Any, Literal, cast

import pytest

from lineshaft import Session, tool
from lineshaft.agents import Microagent
from lineshaft.errors import AgentError, ConfigError
from lineshaft.models import Model, ModelReply, ModelRequest, OnText
from lineshaft.testing import ScriptedModel, exit_with


def agent(**options: Any) -> Microagent[str]:
    given: dict[str, Any] = {"model": ScriptedModel([exit_with("x")])}
    return Microagent[str](name="a", instructions="Say x.", **{**given, **options})


def needing_disk() -> object:
    return cast("Any", tool)(effect="read", needs_disk="yes")(agent)


class Half:
    """Answers, and does not say who it is."""

    async def complete(self, request: object) -> None: ...


MADE: dict[str, Callable[[], object]] = {
    "needs_disk must be True or False, not 'yes'": needing_disk,
    "scripts must be True or False, not 'yes'": lambda: agent(scripts="yes"),
    "idempotent must be True or False, not 1": lambda: agent(idempotent=1),
    "budget is {'turns': 1}, no Budget": lambda: agent(budget={"turns": 1}),
    "model is 3, no name or model": lambda: agent(model=3),
    "test_wrong_options.Half'>, no name or model": lambda: agent(model=Half),
    "model is 4, no name or model": lambda: agent().run_sync(text="x", model=4),  # pyright: ignore[reportArgumentType]  the point
    "model is 5, no name or model": lambda: agent().with_model(5),  # pyright: ignore[reportArgumentType]  the point
    "an agent's name is None, no text": lambda: cast("Any", Microagent[str])(
        name=None, instructions="Say x."
    ),
    "history has 'x', which is no UserMessage": lambda: agent().run_sync(text="x", history="x"),  # pyright: ignore[reportArgumentType]  the point
    "images has b'x', which is no ImagePart": lambda: agent().run_sync(text="x", images=[b"x"]),  # pyright: ignore[reportArgumentType]  the point
    "agent 'a' takes no 'workspce'": lambda: agent().run_sync(text="x", workspce="."),
    "agent 'a' declares its result": lambda: agent().run_sync(text="x", returns=Literal["x"]),
    "scripts must be True or False, not 'no'": lambda: cast("Any", Session)(scripts="no"),
}


@pytest.mark.parametrize("told", MADE)
def test_an_option_of_another_kind_is_refused(told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        MADE[told]()
    assert told in caught.value.message


class Wrong:
    """A model of a user's own, which gives what is no reply."""

    name, priced = "wrong", False

    def __init__(self, reply: object, *, waits: bool = True) -> None:
        self.reply, self.waits = reply, waits

    def complete(self, request: ModelRequest, *, on_text: OnText | None = None) -> Any:
        async def later() -> object:
            return self.reply

        return later() if self.waits else self.reply


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (Wrong("x"), "the model returned 'x', which is no ModelReply"),
        (Wrong(None), "the model returned None, which is no ModelReply"),
        (Wrong(ModelReply(text="x"), waits=False), "without `async`"),
        (Wrong(ModelReply(text=cast("Any", 3))), "a ModelReply whose .text is int, not str"),
        (Wrong(ModelReply(calls=cast("Any", ["x"]))), "whose .calls[0] is str"),
        (Wrong(ModelReply(usage=cast("Any", None))), "whose .usage is NoneType"),
    ],
)
def test_a_model_that_gives_no_reply_is_told_what_to_give(model: Model, told: str) -> None:
    with pytest.raises(AgentError) as caught:
        agent(model=model).run_sync(text="x")
    assert told in caught.value.message
    assert caught.value.hint == "`complete` of Wrong is async, and returns a ModelReply"


def test_a_scripted_function_that_gives_no_reply_is_told_what_to_write() -> None:
    model = ScriptedModel([lambda request: cast("Any", request.agent)])
    with pytest.raises(AgentError, match=r"gave 'a', no reply: write say\('a'\)"):
        agent(model=model).run_sync(text="x")
