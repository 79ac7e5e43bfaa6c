"""Arguments that are paths: policy must find every one of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from lineshaft.errors import ConfigError
from lineshaft.tools import EntryPath, Tool, WorkspacePath, tool


@dataclass
class Move:
    source: EntryPath
    target: WorkspacePath
    note: str = ""


class Tree(BaseModel):
    """Contains itself, and no path."""

    name: str
    kids: "list[Tree]" = []


class Folder(BaseModel):
    """Contains itself, and a path."""

    path: WorkspacePath
    kids: "list[Folder]" = []


class Options(TypedDict, total=False):
    log: WorkspacePath


@tool(effect="write")
def shuffle(
    root: WorkspacePath,
    gone: EntryPath,
    files: list[WorkspacePath],
    moves: list[Move],
    options: Options | None = None,
    by_name: dict[str, list[WorkspacePath]] | None = None,
    either: Literal["-"] | WorkspacePath = "-",
    tree: Tree | None = None,
    text: str = "",
) -> WorkspacePath:
    """Move things about."""
    return root


def test_paths_are_found_wherever_they_stand() -> None:
    assert set(shuffle.spec.paths) == {
        ("root",),
        ("gone",),
        ("files", "*"),
        ("moves", "*", "source"),
        ("moves", "*", "target"),
        ("options", "log"),
        ("by_name", "*", "*"),
        ("either",),
    }
    assert set(shuffle.spec.entries) == {("gone",), ("moves", "*", "source")}


def test_paths_have_a_format_in_the_schema_and_are_plain_text_otherwise() -> None:
    properties = shuffle.spec.input_schema["properties"]
    assert isinstance(properties, dict)
    assert properties["root"] == {"format": "workspace-path", "type": "string"}
    assert properties["gone"] == {"format": "workspace-entry", "type": "string"}
    assert shuffle(root="a", gone="b", files=[], moves=[]) == "a"


def test_a_lone_path_may_be_given_by_position() -> None:
    def look(path: WorkspacePath) -> None: ...

    assert Tool.from_function(look).spec.positional[0] == "path"


def test_schemas_from_elsewhere_may_say_where_paths_are() -> None:
    made = Tool.from_schema(
        name="cat",
        input_schema={"properties": {"path": {"type": "string", "format": "workspace-path"}}},
        function=print,
    )
    assert made.spec.paths == (("path",),)


def in_recursion(folder: Folder) -> None: ...
def in_tuple(pair: tuple[WorkspacePath, int]) -> None: ...


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (in_recursion, "a workspace path inside a type that contains itself"),
        (in_tuple, "a workspace path as the key of a dict, inside a tuple"),
    ],
)
def test_a_path_that_policy_could_not_find_is_refused(
    function: Callable[..., object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        Tool.from_function(function)
    assert "policy must find every path" in caught.value.hint


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"patternProperties": {"x": {"format": "workspace-path"}}}}},
        {"properties": {"a": {"propertyNames": {"format": "workspace-path"}}}},
        {"if": {"properties": {"a": {"format": "workspace-path"}}}},
    ],
)
def test_paths_under_conditions_and_patterns_are_refused(schema: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="a workspace path as the key of a dict"):
        Tool.from_schema(name="cat", input_schema=schema, function=print)
