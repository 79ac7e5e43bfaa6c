"""`@tool`, `Tool.from_function` and `Tool.from_schema`: what becomes a tool, and as what."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, Self, cast

import pytest
from pydantic import Field

from lineshaft.errors import ConfigError
from lineshaft.tools import Tool, Toolset, tool
from lineshaft.values import Context


@tool(effect="read", seconds=5, idempotent=True)
async def temperature(city: str) -> float:
    """Return the temperature in a city."""
    return len(city) + 0.5


@tool
def shout(text: str) -> str:
    """Return a text in capitals."""
    return text.upper()


class Counter:
    """Counts."""

    def __init__(self, start: int) -> None:
        self.at = start

    @tool(effect="read")
    async def count(self, by: int = 1) -> int:
        """Count on.

        Args:
            by: How far.
        """
        self.at += by
        return self.at

    @tool(effect="write", name="counter_reset")
    def reset(self, context: Context) -> None:
        """Go back to zero."""
        self.at = 0

    @staticmethod
    @tool
    def limit() -> int:
        """Return the highest number."""
        return 9


def test_a_decorated_function_is_a_tool_with_its_own_name_and_docstring() -> None:
    assert isinstance(temperature, Tool)
    assert temperature.spec.name == "temperature"
    assert temperature.spec.description == "Return the temperature in a city."
    assert (temperature.spec.effect, temperature.spec.seconds) == ("read", 5)
    assert temperature.spec.idempotent
    assert not temperature.spec.destructive
    assert inspect.signature(temperature) == inspect.signature(temperature.function)


async def test_calling_a_tool_runs_its_plain_function() -> None:
    assert await temperature("Oslo") == 4.5
    assert shout(text="hi") == "HI"


def test_a_tool_without_options_has_effects_on_the_world() -> None:
    assert shout.spec.effect == "external"
    assert shout.spec.scriptable
    assert shout.spec.seconds is None


async def test_a_class_with_state_gives_tools_that_share_it() -> None:
    counter = Counter(start=3)
    tools = Toolset([counter])
    assert list(tools) == ["count", "counter_reset", "limit"]
    assert list(Toolset.from_object(counter)) == list(tools)
    assert tools["count"].spec.input_schema["properties"] == {
        "by": {"type": "integer", "default": 1, "description": "How far."}
    }
    assert await tools["count"](by=2) == 5
    assert await counter.count() == 6
    assert Counter.limit() == 9


def test_a_method_needs_its_object() -> None:
    with pytest.raises(ConfigError, match="'count' is a method without its object") as caught:
        Toolset([Counter.count])
    assert "not the class" in caught.value.hint
    with pytest.raises(ConfigError, match="is no tool"):
        Toolset([Counter])


def test_a_static_method_keeps_its_first_parameter() -> None:
    class Shelf:
        @tool(effect="read")
        @staticmethod
        def double(number: int) -> int:
            """Twice a number."""
            return number * 2

    shelf = Toolset([Shelf()])

    assert shelf["double"].spec.input_schema["required"] == ["number"]
    assert shelf["double"](4) == 8


async def test_a_method_stays_one_where_its_class_is_made_once_more() -> None:
    @dataclass(slots=True)
    class Shelf:
        books: int

        @tool(effect="read")
        async def times(self, by: int) -> int:
            """Return how many books so many shelves have."""
            return self.books * by

    times = Toolset([Shelf(3)])["times"]

    assert times.spec.input_schema["required"] == ["by"]
    assert await times(by=2) == 6


async def test_a_method_stays_one_where_another_class_mentions_it() -> None:
    class Other:
        count = Counter.count

    assert Other.count is Counter.count
    assert await Toolset([Counter(4)])["count"](by=2) == 6


def test_a_tool_that_is_a_classmethod_is_refused_and_not_left_out() -> None:
    class Shelf:
        @tool(effect="read")
        def count(self) -> int:
            """Count."""
            return 1

        @classmethod
        @tool(effect="read")
        def double(cls, number: int) -> int:
            """Twice a number."""
            return number * 2

    with pytest.raises(ConfigError, match=r"Shelf\.double is a classmethod") as caught:
        Toolset([Shelf()])
    assert "staticmethod" in caught.value.hint


def test_an_object_without_words_of_its_own_has_no_description() -> None:
    class Adder:
        def __call__(self, number: int) -> int:
            return number + 1

    assert Tool.from_function(Adder(), name="add").spec.description == ""


def test_a_class_that_only_mentions_a_tool_does_not_take_it_over() -> None:
    class Menu:
        favourite = shout

    assert Menu.favourite is shout
    assert Toolset([Menu()])["shout"] is shout
    assert list(Toolset([shout])) == ["shout"]


def test_an_object_without_tools_is_refused() -> None:
    with pytest.raises(ConfigError, match="str has no @tool methods"):
        Toolset.from_object("text")
    with pytest.raises(ConfigError, match="'text' is no tool"):
        Toolset(["text"])


async def test_from_function_takes_functions_of_others() -> None:
    def add(a: int, b: int) -> int:
        return a + b

    made = Tool.from_function(add, name="math.add", effect="read", description="Add numbers.")
    assert made.spec.name == "math.add"
    assert made.spec.description == "Add numbers."
    assert made(1, 2) == 3


async def test_bound_methods_partials_and_callable_objects_become_tools() -> None:
    class Adder:
        async def __call__(self, a: int, b: int = 1) -> int:
            return a + b

        def twice(self, a: int) -> int:
            return a * 2

    adder = Adder()
    assert Tool.from_function(adder).spec.name == "Adder"
    assert Tool.from_function(adder).is_async
    assert Tool.from_function(adder.twice).spec.input_schema["required"] == ["a"]
    partly = Tool.from_function(functools.partial(adder, b=5), name="plus_five")
    assert partly.is_async
    assert await partly(a=1) == 6


@pytest.mark.parametrize(
    ("effect", "name", "container", "lane"),
    [
        ("read", "look", False, None),
        ("read", "web.look", False, None),
        ("write", "edit", False, "workspace"),
        ("exec", "run", False, "workspace"),
        ("write", "disk.edit", False, "disk"),
        ("external", "post", False, "external"),
        ("external", "web.post", False, "web"),
        ("exec", "script", True, None),
    ],
)
def test_the_lane_follows_from_effect_and_namespace(
    effect: str, name: str, container: bool, lane: str | None
) -> None:
    def body() -> None:
        return None

    made = tool(effect=effect, name=name, container=container)(body)  # pyright: ignore[reportArgumentType]  a table
    assert made.spec.lane == lane


def test_a_lane_that_is_given_stays_under_another_name() -> None:
    free = tool(lane=None, effect="write")(shout.function)
    named = tool(lane="printer")(shout.function)
    assert free.with_name("office.print").spec.lane is None
    assert named.with_name("office.print").spec.lane == "printer"
    assert shout.with_name("office.shout").spec.lane == "office"


class Lacking:
    """A type that needs what is not installed."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: object) -> object:
        raise ImportError("the validator of addresses is not installed")


class Adder:
    """Adds one, where an object of it is called."""

    def __call__(self, n: int) -> int:
        return n + 1


def no_name() -> object:
    return lambda: None


def var_args(*paths: str) -> None: ...


def var_keywords(**options: str) -> None: ...


def by_position(path: str, /) -> None: ...


def not_there(path: "Nowhere") -> None: ...  # noqa: F821  # pyright: ignore[reportUndefinedVariable, reportUnknownParameterType]  wrong on purpose


def yields() -> object:
    yield 1


def odd_type(stream: inspect.Signature) -> None: ...


def odd_result() -> inspect.Signature: ...  # pyright: ignore[reportReturnType]  wrong on purpose


def gives_bytes() -> bytes:
    return b""


Tree = dict[str, "Tree"]  # pyright: ignore[reportUnknownVariableType]  a circle on purpose


def names_itself(tree: Tree) -> None: ...  # pyright: ignore[reportUnknownParameterType]  a circle on purpose


def looks_around(code: Annotated[str, Field(pattern="(?=a)b")]) -> None: ...


def odd_bound(count: Annotated[int, Field(gt=cast("Any", "x"))]) -> None: ...


def itself(other: Self) -> None: ...  # pyright: ignore[reportGeneralTypeIssues, reportUnknownParameterType]  wrong on purpose


def final(count: Final[int]) -> None: ...  # pyright: ignore[reportInvalidTypeForm]  wrong on purpose


def lacking(address: Lacking) -> None: ...


def gives_lacking() -> Lacking: ...  # pyright: ignore[reportReturnType]  wrong on purpose


REFUSED: list[tuple[object, str, str]] = [
    (no_name(), "a tool's name must be text, not None", "name="),
    (var_args, r"parameter 'paths' of var_args\(\) is `\*args`", ""),
    (var_keywords, r"parameter 'options' of var_keywords\(\) is `\*\*kwargs`", ""),
    (by_position, r"parameter 'path' of by_position\(\) is positional-only", ""),
    (not_there, r"the annotations of not_there\(\) name 'Nowhere'", "top of the module"),
    (yields, r"yields\(\) yields; a tool must return", "list"),
    (odd_type, r"parameter 'stream' of odd_type\(\) has a type without a JSON Schema", "JSON"),
    (odd_result, r"the result of odd_result\(\) has a type without a JSON Schema", "JSON"),
    (looks_around, r"parameter 'code' of looks_around\(\) .*: look-around", "look-around"),
    (odd_bound, r"parameter 'count' of odd_bound\(\) .* 'gt' must be coercible", "bounds"),
    (itself, r"parameter 'other' of itself\(\) has a type without a JSON Schema", "JSON"),
    (final, r"a parameter of final\(\) is annotated .* typing\.Final\[int\]", "the type alone"),
    (lacking, r"parameter 'address' of lacking\(\) .* is not installed", "install"),
    (gives_lacking, r"the result of gives_lacking\(\) .* is not installed", "install"),
    (shout, "is a tool already", "with_name"),
    (5, "5 is no function", ""),
    (classmethod(shout.function), "is no function", "staticmethod"),
    (Adder, "Adder is a class, so it cannot be a tool", "an object of it"),
    (gives_bytes, r"the result of gives_bytes\(\) is bytes", "base64"),
    (
        names_itself,
        r"parameter 'tree' of names_itself\(\) has a type that names itself",
        "TypeAlias",
    ),
]


@pytest.mark.parametrize(("function", "message", "hint"), REFUSED)
def test_what_cannot_be_a_tool_is_refused_with_the_reason(
    function: object, message: str, hint: str
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        Tool.from_function(cast("Callable[..., object]", function))
    assert hint in caught.value.hint


def test_options_that_are_wrong_are_refused() -> None:
    with pytest.raises(ConfigError, match="effect 'reads' is none of read, write, exec, external"):
        tool(effect="reads")  # pyright: ignore[reportArgumentType]  wrong on purpose
    with pytest.raises(ConfigError, match="seconds must be a number above 0, not 0"):
        tool(seconds=0)
    with pytest.raises(ConfigError, match="seconds must be a number above 0, not '5'"):
        tool(seconds="5")  # pyright: ignore[reportArgumentType]  wrong on purpose
    with pytest.raises(ConfigError, match="description must be text, not 3"):
        tool(description=3)  # pyright: ignore[reportArgumentType]  wrong on purpose
    with pytest.raises(ConfigError, match="the function of 'find' is None, which cannot be called"):
        Tool.from_schema(name="find", input_schema={}, function=None)  # pyright: ignore[reportArgumentType]  wrong on purpose
    with pytest.raises(ConfigError, match="colour"):
        tool(colour="red")  # pyright: ignore[reportCallIssue]  wrong on purpose


def test_types_may_be_defined_after_the_tool() -> None:
    assert later.spec.input_schema["required"] == ["point"]


@tool
def later(point: "Point") -> None:
    """Take a type that comes further down."""


@dataclass
class Point:
    """Defined after its use."""

    x: int


async def test_a_schema_and_a_function_make_a_tool() -> None:
    async def call(**arguments: object) -> object:
        return arguments

    made = Tool.from_schema(
        name="github.list-issues",
        description="List issues.",
        input_schema={"type": "object", "properties": {"repo": {"type": "string"}}},
        function=call,
        effect="read",
    )
    assert made.spec.name == "github.list-issues"
    assert made.spec.namespace == "github"
    assert made.spec.output_schema is None
    assert await made(repo="x") == {"repo": "x"}


def test_a_tool_may_say_that_its_processes_are_jailed() -> None:
    jailed = Tool.from_function(plain_program, effect="exec", jailed=True)
    assert jailed.spec.jailed
    assert not jailed.without_jail().spec.jailed


def test_without_its_jail_a_tool_with_a_view_of_its_own_needs_the_disk() -> None:
    facts = Tool.from_function(plain_program, effect="exec", jailed=True, needs_disk=False)
    other = Tool.from_function(plain_program, effect="exec", needs_disk=False)
    assert not facts.spec.needs_disk
    assert facts.without_jail().spec.needs_disk
    assert not other.without_jail().spec.needs_disk
    with pytest.raises(ConfigError, match="jailed"):
        Tool.from_function(plain_program, effect="read", jailed=True)


def test_a_tool_may_say_that_all_it_does_is_staged() -> None:
    staged = Tool.from_function(plain_program, effect="write", staged=True)
    assert staged.spec.staged
    assert staged.with_name("other").spec.staged
    assert not Tool.from_function(plain_program, effect="write").spec.staged
    with pytest.raises(ConfigError, match="staged"):
        Tool.from_function(plain_program, effect="external", staged=True)


def plain_program() -> None:
    """Do nothing."""
