"""What tools ask the model of whoever is behind a run, and for their roots."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from lineshaft import (
    Answer,
    Caller,
    ConfigError,
    Context,
    Event,
    Limits,
    Pending,
    Policy,
    Session,
    ToolError,
    tool,
)
from lineshaft.values import Ask

OPEN = Policy(mode="open")
SECRET = "correct-horse-battery"  # noqa: S105  of this test alone


def request(text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}, {"type": "image", "data": SECRET}]
    return {"messages": [{"role": "user", "content": content}], "maxTokens": 50}


@tool(effect="read")
async def think(text: str, context: Context) -> object:
    """Ask a model."""
    return (await context.sample(request(text)))["content"]


@tool(effect="read")
async def where(context: Context) -> object:
    """Ask for the roots."""
    return [each["uri"] for each in await context.roots()]


async def model(asked: Mapping[str, object]) -> Mapping[str, object]:
    return {"role": "assistant", "content": asked, "model": "m"}


async def folders() -> Sequence[Mapping[str, object]]:
    return [{"uri": "file:///srv/project", "name": "project"}]


async def test_what_tools_ask_reaches_the_model_and_the_folders_of_the_caller(
    tmp_path: Path,
) -> None:
    async with Session([think, where], workspace=tmp_path, sample=model, roots=folders) as session:
        own = await session.run("return [await think(text='why?'), await where()]")
        nobody = Caller()
        other = [
            await session.call("think", {"text": "why?"}, caller=nobody),
            await session.call("where", caller=nobody),
        ]
    assert own.value == [request("why?"), ["file:///srv/project"]]
    for each, word in zip(other, ("model", "roots"), strict=True):
        assert each.error is not None
        assert each.error.code == "E_DENIED"
        assert word in each.error.message


async def test_a_tool_knows_what_it_may_ask_for(tmp_path: Path) -> None:
    @tool(effect="read")
    async def offers(context: Context) -> list[str]:
        """Tell what may be asked."""
        return sorted(context.offers)

    async with Session([offers], workspace=tmp_path, sample=model) as session:
        own = await session.call("offers")
        other = await session.call("offers", caller=Caller(roots=folders))
    assert (own.value, other.value) == (["sample"], ["roots"])


async def test_no_model_sees_a_secret_and_images_stay_as_they_are(tmp_path: Path) -> None:
    async with Session([think], workspace=tmp_path, sample=model, secrets=[SECRET]) as session:
        result = await session.call("think", {"text": f"it is {SECRET}"})
    asked = request("it is [redacted]")
    assert result.value == asked
    assert asked["messages"][0]["content"][1]["data"] == SECRET


async def test_what_is_too_deep_to_be_looked_through_is_asked_of_no_model(tmp_path: Path) -> None:
    @tool(effect="read")
    async def deep(context: Context) -> object:
        """Ask something deep."""
        inner: dict[str, Any] = {}
        for _ in range(200):
            inner = {"in": inner}
        return await context.sample(inner)

    async with Session([deep], workspace=tmp_path, sample=model) as session:
        result = await session.call("deep")
    assert result.error is not None
    assert "100 deep" in result.error.message


async def test_a_model_that_refuses_or_breaks_is_an_error_of_the_call(tmp_path: Path) -> None:
    async def refuses(asked: Mapping[str, object]) -> Mapping[str, object]:
        raise ToolError("E_DENIED", "not this one")

    async def breaks(asked: Mapping[str, object]) -> Mapping[str, object]:
        raise ValueError("no network")

    async with Session([think], workspace=tmp_path, sample=refuses) as session:
        refused = await session.call("think", {"text": "?"})
        broken = await session.call("think", {"text": "?"}, caller=Caller(sample=breaks))
    assert refused.error is not None
    assert "not this one" in refused.error.message
    assert broken.error is not None
    assert broken.error.code == "E_DENIED"
    assert "no network" in broken.error.message


async def test_clocks_stand_still_while_a_model_thinks(tmp_path: Path) -> None:
    async def slow(asked: Mapping[str, object]) -> Mapping[str, object]:
        started = anyio.current_time()
        while anyio.current_time() < started + 1.2:  # longer than the run and the call may take
            await anyio.lowlevel.checkpoint()
        return await model(asked)

    limits = Limits(seconds=1, call_seconds=1)
    async with Session([think], workspace=tmp_path, sample=slow, limits=limits) as session:
        result = await session.run("return await think(text='?')")
    assert result.status == "success"


async def test_several_questions_of_one_call_are_asked_one_after_the_other(tmp_path: Path) -> None:
    asking: list[str] = []

    @tool(effect="external", name="shop.ask")
    async def ask(context: Context) -> object:
        """Ask all at once."""
        schema = {"type": "string"}
        found = await asyncio.gather(
            context.elicit("a", schema), context.elicit("b", schema), context.roots()
        )
        return [str(each) for each in found]

    async def person(message: str, schema: Mapping[str, object]) -> object:
        asking.append(message)
        assert len(asking) == 1
        await anyio.lowlevel.checkpoint()
        return asking.pop()

    caller = Caller(elicit=person, roots=folders)
    async with Session([ask], workspace=tmp_path, policy=OPEN) as session:
        result = await session.call("shop.ask", caller=caller)
    assert result.error is None
    root = {"uri": "file:///srv/project", "name": "project"}
    assert result.value == ["shop.ask: a", "shop.ask: b", str([root])]


@tool(effect="read")
async def everything(context: Context) -> object:
    """Ask for all there is, at once."""
    asks = [
        Ask(kind="elicit", message="your name?", schema={"type": "string"}, key="name"),
        Ask(kind="sample", request={"text": SECRET}),
        Ask(kind="roots"),
    ]
    answers = await context.ask(asks)
    return [each.message if isinstance(each, ToolError) else each for each in answers]


async def test_what_is_asked_at_once_is_answered_at_once_where_that_can_be(tmp_path: Path) -> None:
    heard: list[Sequence[Ask]] = []

    async def person(message: str, schema: Mapping[str, object]) -> object:
        raise ValueError("no screen")

    async def together(asks: Sequence[Ask]) -> Sequence[object]:
        heard.append(asks)
        return ["Ada", ToolError("E_DENIED", "not this one"), []]

    offers = Caller(elicit=person, sample=model, roots=folders, together=together)
    async with Session([everything], workspace=tmp_path, secrets=[SECRET]) as session:
        one = await session.call("everything", caller=offers)
        other = await session.call("everything", caller=replace(offers, together=None))
        less = await session.call("everything", caller=replace(offers, roots=None))
    assert one.value == ["Ada", "not this one", []]
    [asks] = heard
    assert [asks[0].message, asks[0].key] == ["everything: your name?", "name"]
    assert asks[1].request == {"text": "[redacted]"}
    broken = "the person could not be asked: ValueError: no screen"
    rest = [await model({"text": "[redacted]"}), await folders()]
    assert other.value == [broken, *rest]
    untold = "no roots are offered: the client has none"
    assert less.value == [broken, rest[0], untold]


async def test_nobody_is_asked_after_the_call_nor_to_see_what_it_would_change(
    tmp_path: Path,
) -> None:
    kept: list[Context] = []
    shown: list[str] = []

    @tool(effect="write", staged=True)
    async def note(context: Context) -> None:
        """Write down what was said."""
        kept.append(context)
        [said] = await context.ask([Ask(kind="roots")])
        await context.workspace.write("said.txt", str(said).encode())

    async def approver(pending: tuple[Pending, ...]) -> Mapping[str, Answer]:
        shown.extend(each.diff for each in pending)
        return {each.id: Answer(allow=True) for each in pending}

    policy = Policy.from_dict(
        {"mode": "open", "rules": [{"id": "r", "tool": "note", "verdict": "ask"}]}
    )
    caller = Caller(roots=folders, approver=approver)
    async with Session([note], workspace=tmp_path, policy=policy) as session:
        done = await session.run("await note()", caller=caller)
        with pytest.raises(ToolError, match="the call is over"):
            await kept[-1].roots()
    assert done.error is None
    assert "+no roots are offered" in shown[0]
    assert "srv/project" in (tmp_path / "said.txt").read_text()


async def test_who_breaks_while_asked_for_all_answers_nothing(tmp_path: Path) -> None:
    async def breaks(asks: Sequence[Ask]) -> Sequence[object]:
        raise ValueError("no screen")

    async with Session([where], workspace=tmp_path) as session:
        broken = await session.call("where", caller=Caller(roots=folders, together=breaks))
    assert broken.error is not None
    assert broken.error.code == "E_DENIED"
    assert "no screen" in broken.error.message


async def test_the_record_tells_what_was_asked(tmp_path: Path) -> None:
    heard: list[Event] = []
    caller = Caller(sample=model, roots=folders, sink=heard.append)
    async with Session([everything], workspace=tmp_path) as session:
        await session.call("everything", caller=caller)
    assert [event.data["text"] for event in heard if event.kind == "log"] == [
        "everything asks: your name?",
        "everything asks a model",
        "everything asks for the roots",
    ]


@pytest.mark.parametrize("name", ["sample", "roots"])
def test_what_answers_is_a_function(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} must be an async function"):
        Session(**{name: "yes"})  # pyright: ignore[reportArgumentType]  the mistake itself
