"""How names and places are told that are odd, long, or that nothing is said of."""

from dataclasses import dataclass

from lineshaft import run_sync
from lineshaft.tools import python_stubs, signature, tool
from lineshaft.values import ToolSpec


@dataclass
class Node:
    value: int
    inner: "list[Node]"


@tool(effect="read")
async def grow(node: Node) -> Node:
    return node


@tool(effect="read")
async def circle() -> dict[str, object]:
    value: dict[str, object] = {}
    value["self"] = [value]
    return value


def test_where_a_result_is_wrong_is_told_in_few_words() -> None:
    result = run_sync("return await circle()", tools=[circle])

    assert result.error is not None
    assert "..." in result.error.message
    assert len(result.error.message) < 300


def test_names_that_python_cannot_write_are_told_with_the_way_to_give_them() -> None:
    schema = {
        "type": "object",
        "properties": {
            "per-page": {"type": "integer", "description": "How many."},
            "class": {"type": "string"},
        },
        "required": ["per-page"],
    }
    spec = ToolSpec(name="t", input_schema=schema)

    text = python_stubs([spec])

    assert '**{"per-page": int} (required): How many.' in text
    assert '**{"class": str}\n' in text
    assert '(**{"per-page": int, "class"?: str})' in signature(spec)


def test_a_type_that_is_taken_and_given_is_told_once() -> None:
    text = python_stubs([grow.spec])

    assert "async def grow(node: Node) -> Node: ..." in text
    assert text.count("class ") == 1


def test_what_is_required_is_told_even_where_nothing_else_is_said_of_it() -> None:
    schema = {"type": "object", "required": ["query"], "additionalProperties": False}
    spec = ToolSpec(name="t", input_schema=schema)

    assert "(*, query: Any)" in signature(spec)
