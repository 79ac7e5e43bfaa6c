"""Tools from functions, classes and schemas, and what scripts are told of them."""

import ast
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from lineshaft import ConfigError, Session, Tool, Toolset, tool
from support import Make, Outside


class Level(Enum):
    """How bad it is."""

    LOW = "low"
    HIGH = "high"


class Ticket(BaseModel):
    """A ticket."""

    title: str
    level: Level = Level.LOW
    tags: list[str] = []


@tool(effect="read")
async def triage(ticket: Ticket, limit: int = 3, note: str | None = None) -> dict[str, int]:
    """Count what a ticket has.

    Args:
        ticket: The ticket to look at.
        limit: How many tags to count at most.
        note: Said along with it.
    """
    assert isinstance(ticket, Ticket)
    return {"tags": min(len(ticket.tags), limit), "high": int(ticket.level is Level.HIGH)}


@pytest.mark.behaviour("B7")
async def test_facts_of_a_tool_are_said_once_and_every_list_follows(make: Make) -> None:
    acting = Tool.from_function(triage_plain, effect="exec", destructive=True, idempotent=True)
    async with make(acting) as session:
        spec = session.tools["triage_plain"]
        found = session.tools.search("plain triage")
        asked = await session.call("triage_plain")
    assert (spec.effect, spec.destructive, spec.idempotent) == ("exec", True, True)
    assert "triage_plain" in [s.name for s in found]
    assert asked.error is not None  # mode auto asks for exec, and nobody is there
    assert asked.error.code == "E_PAUSED"


def triage_plain() -> int:
    """Do a plain triage."""
    return 1


@pytest.mark.behaviour("B8")
def test_a_schema_comes_from_the_signature_and_the_docstring() -> None:
    schema = triage.spec.input_schema
    properties = schema["properties"]
    assert isinstance(properties, dict)
    assert schema["required"] == ["ticket"]
    assert properties["limit"]["type"] == "integer"
    assert properties["limit"]["default"] == 3
    assert properties["limit"]["description"] == "How many tags to count at most."
    assert {"type": "null"} in properties["note"]["anyOf"]
    assert triage.spec.description.startswith("Count what a ticket has.")


@pytest.mark.behaviour("B8")
async def test_a_result_that_is_not_what_was_declared_does_not_reach_the_script(
    make: Make,
) -> None:
    @tool(effect="read")
    async def liar() -> dict[str, int]:
        """Promise numbers."""
        return {"n": "many"}  # type: ignore[dict-item]  a lie, to be found out

    async with make(liar) as session:
        result = await session.run(
            "try:\n    return await liar()\nexcept ToolError as e:\n    return [e.code, str(e)]"
        )
    assert result.error is None, result.error
    assert result.value[0] == "E_INVALID_RESULT"
    assert "n" in str(result.value[1])
    assert "integer" in str(result.value[1]) or "int" in str(result.value[1])


@pytest.mark.behaviour("B8")
async def test_a_tool_sees_typed_values_and_a_script_plain_ones(make: Make) -> None:
    script = "return await triage(ticket={'title': 't', 'level': 'high', 'tags': ['a', 'b']})"
    async with make(triage) as session:
        result = await session.run(script)
    assert result.value == {"tags": 2, "high": 1}


@pytest.mark.behaviour("B9")
async def test_functions_methods_and_schemas_become_tools(make: Make) -> None:
    class Counter:
        """Counts."""

        def __init__(self, start: int) -> None:
            self.count = start

        @tool(effect="write")
        async def add(self, by: int = 1) -> int:
            """Count up."""
            self.count += by
            return self.count

    def double(x: float) -> float:
        """Return twice the number."""
        return 2 * x

    def found(**given: object) -> dict[str, object]:
        return {"got": sorted(given)}

    foreign = Tool.from_schema(
        name="shop.find-item",
        description="Find an item.",
        input_schema={
            "type": "object",
            "properties": {"sku-code": {"type": "string"}, "limit": {"type": "integer"}},
            "required": ["sku-code"],
        },
        function=found,
        effect="read",
    )
    script = """
return [await double(x=2), await add(by=5), await add(),
        await shop.find_item(**{"sku-code": "a1"})]
"""
    plain = Tool.from_function(double, effect="read")
    async with make(plain, Counter(10), foreign) as session:
        result = await session.run(script)
    assert result.value == [4.0, 15, 16, {"got": ["sku-code"]}]


@pytest.mark.behaviour("B9")
@pytest.mark.parametrize("name", ["exit", "Exit", "run_script", "RUN_SCRIPT", "tools", "print"])
def test_reserved_names_are_refused_without_regard_to_case(name: str, outside: Outside) -> None:
    with pytest.raises(ConfigError, match=name):
        Session([outside.tool(name)])


@pytest.mark.behaviour("B9")
def test_two_tools_of_one_name_are_refused_and_both_are_named(outside: Outside) -> None:
    with pytest.raises(ConfigError) as caught:
        Session([outside.tool("poke"), outside.tool("Poke")])
    assert "poke" in str(caught.value)
    assert "Poke" in str(caught.value)


@pytest.mark.behaviour("B9")
def test_two_names_that_scripts_cannot_tell_apart_are_refused(outside: Outside) -> None:
    with pytest.raises(ConfigError) as caught:
        Session([outside.tool("a.get-it"), outside.tool("a.get_it")])
    assert "a.get-it" in str(caught.value)
    assert "a.get_it" in str(caught.value)


@pytest.mark.behaviour("B9")
async def test_toolsets_are_filtered_renamed_prefixed_and_combined(
    make: Make, outside: Outside
) -> None:
    base = Toolset([outside.tool("alpha"), outside.tool("beta"), outside.tool("gamma")])
    some = base.filter(lambda t: t.name != "beta").rename({"alpha": "first"}).prefix("greek")
    both = some | Toolset([outside.tool("other")])
    assert sorted(both) == ["greek.first", "greek.gamma", "other"]
    async with make(*both.values()) as session:
        result = await session.run("return [await greek.first(), await tools.other()]")
    assert result.value == [1, 1]


@pytest.mark.behaviour("B10")
async def test_arguments_go_by_position_as_the_signature_says(make: Make) -> None:
    @tool(effect="read")
    async def shout(text: str, times: int = 1) -> str:
        """Say it louder."""
        return text.upper() * times

    script = """
found = [await shout("a")]
for call in [lambda: shout("a", 2), lambda: shout("a", 2, 3)]:
    try:
        found.append(await call())
    except ToolError as e:
        found.append(e.code)
return found
"""
    async with make(shout, check="off") as session:
        result = await session.run(script)
    assert result.value == ["A", "AA", "E_INVALID_ARGS"]


@pytest.mark.behaviour("B10")
async def test_a_file_is_written_by_position(make: Make, folder: Path) -> None:
    async with make() as session:
        result = await session.run("await write_file('new.txt', 'x')\nreturn 'done'")
    assert (result.error, result.value) == (None, "done")
    assert (folder / "new.txt").read_text() == "x"


def _defaults(arguments: ast.arguments) -> list[ast.expr | None]:
    return [*arguments.defaults, *arguments.kw_defaults]


@pytest.mark.behaviour("B10")
async def test_every_stub_says_what_its_schema_says(make: Make) -> None:
    async with make(triage) as session:
        tree = ast.parse(session.tools.stubs())
        specs = dict(session.tools)
    stubs = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.AsyncFunctionDef)}
    assert set(stubs) == set(specs)
    for name, spec in specs.items():
        arguments = stubs[name].args
        names = [a.arg for a in (*arguments.args, *arguments.kwonlyargs)]
        whole: dict[str, Any] = dict(spec.input_schema)
        properties: dict[str, dict[str, Any]] = whole["properties"]
        assert sorted(names) == sorted(properties)
        given = dict(zip(reversed(names), reversed(_defaults(arguments)), strict=False))
        for key, schema in properties.items():
            default = given.get(key)
            assert (default is None) == (key in whole.get("required", []))
            if default is not None and "default" in schema:
                assert ast.literal_eval(default) == schema["default"]


@pytest.mark.behaviour("B11")
async def test_results_arrive_structured_and_in_the_same_shape_every_time(make: Make) -> None:
    @tool(effect="read")
    async def ticket(number: int) -> Ticket | None:
        """Return a ticket, or nothing."""
        return Ticket(title=f"t{number}") if number else None

    script = """
a = await ticket(number=1)
b = await ticket(number=1)
text = await read_file(path='a.txt')
again = await read_file(path='a.txt')
return [a, a == b, await ticket(number=0), text == again, text['content']]
"""
    async with make(ticket) as session:
        await session.call("write_file", {"path": "a.txt", "content": "one\ntwo\n"})
        result = await session.run(script)
    expected: dict[str, object] = {"title": "t1", "level": "low", "tags": []}
    assert result.value == [expected, True, None, True, "one\ntwo\n"]


@pytest.mark.behaviour("B11a")
async def test_scripts_have_their_helpers(make: Make) -> None:
    script = '''
tries = []
async def flaky():
    tries.append(1)
    if len(tries) < 3:
        raise ValueError('not yet')
    return 'there'
got = json_parse("""```json
{"a": [1, 2,],}
```""")
return [got, await retry(flaky, attempts=3, wait=0),
        [list(b) for b in batched([1, 2, 3, 4, 5], 2)], table([{'x': 1, 'y': 'a|b'}])]
'''
    async with make() as session:
        result = await session.run(script)
        text = session.instructions()
    assert result.error is None, result.error
    parsed, found, parts, table = result.value
    assert parsed == {"a": [1, 2]}
    assert found == "there"
    assert parts == [[1, 2], [3, 4], [5]]
    assert isinstance(table, str)
    assert table.splitlines()[0].replace(" ", "") == "|x|y|"
    for helper in ("json_parse", "retry", "batched", "table"):
        assert helper in text


@pytest.mark.behaviour("B11b")
async def test_the_catalogue_comes_as_python_and_as_typescript(make: Make) -> None:
    async with make(triage) as session:
        python, typescript = session.tools.stubs(), session.tools.stubs("typescript")
    assert "async def triage(" in python
    assert "triage(" in typescript
    assert "Promise<" in typescript
