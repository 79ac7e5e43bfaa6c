"""What a user's type checker sees of tools; checked by pyright, run by pytest."""

from collections.abc import Coroutine
from typing import Any, assert_type

from lineshaft.tools import Tool, Toolset, tool
from lineshaft.values import Context, ToolSpec


@tool(effect="read")
async def temperature(city: str) -> float:
    """Return the temperature in a city."""
    return float(len(city))


@tool
def shout(text: str, *, times: int = 1) -> str:
    """Return a text in capitals."""
    return text.upper() * times


class Counter:
    """Counts."""

    @tool(effect="read")
    async def count(self, by: int = 1, context: Context | None = None) -> int:
        """Count on."""
        return by


async def call(text: str) -> dict[str, object]:
    return {"text": text}


def takes_tool(given: Tool) -> str:
    return given.name


async def test_a_tool_keeps_the_signature_of_its_function() -> None:
    assert_type(await temperature("Oslo"), float)
    assert_type(shout("a", times=2), str)
    assert_type(await Counter().count(by=2), int)
    coroutine: Coroutine[Any, Any, float] = temperature(city="Rome")
    assert await coroutine == 4


def test_any_tool_is_a_tool() -> None:
    several: list[Tool] = [temperature, shout, Counter().count]
    assert [takes_tool(found) for found in several] == ["temperature", "shout", "count"]
    assert_type(Toolset(several)["shout"], Tool)
    assert_type(Toolset([temperature, call, Counter()]).filter(bool).specs, tuple[ToolSpec, ...])


def test_tools_made_by_calls_are_tools() -> None:
    made = Tool.from_function(shout.function, name="cry", effect="read")
    assert_type(made.with_name("weep").spec, ToolSpec)
    foreign = Tool.from_schema(name="x", description="", input_schema={}, function=call)
    assert_type(foreign, Tool)
    assert foreign.name == "x"
