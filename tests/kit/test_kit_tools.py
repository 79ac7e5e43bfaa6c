"""The toolset as a whole."""

from typing import cast

import pytest

from lineshaft import kit
from lineshaft.errors import ConfigError
from lineshaft.tools import describe

EFFECTS = {
    "read_file": "read",
    "list_files": "read",
    "find_files": "read",
    "search_text": "read",
    "write_file": "write",
    "edit_file": "write",
    "move_file": "write",
    "delete_file": "write",
    "run_command": "exec",
    "python_run": "exec",
}


def test_every_tool_says_what_it_touches() -> None:
    specs = kit.tools().specs

    assert {spec.name: spec.effect for spec in specs} == EFFECTS
    assert [spec.name for spec in specs if spec.destructive] == ["delete_file"]
    assert {spec.lane for spec in specs if spec.effect != "read"} == {"workspace"}
    assert all(spec.lane is None for spec in specs if spec.effect == "read")
    assert [spec.name for spec in specs if spec.jailed] == ["python_run"]


def test_paths_are_known_to_be_paths() -> None:
    paths = {spec.name: (spec.paths, spec.entries) for spec in kit.tools().specs}

    assert paths["read_file"] == ((("path",),), ())
    assert paths["search_text"] == ((("path",),), ())
    assert paths["delete_file"] == ((("path",),), (("path",),))
    assert paths["move_file"] == ((("source",), ("target",)),) * 2
    assert paths["run_command"] == ((), ())
    assert paths["python_run"] == ((("file",),), ())


def test_every_parameter_and_result_is_described() -> None:
    for spec in kit.tools().specs:
        properties = cast("dict[str, dict[str, str]]", spec.input_schema["properties"])
        assert "call" not in properties
        assert all(parameter["description"] for parameter in properties.values())
        assert spec.description
        assert spec.output_schema is not None
        assert describe(spec).startswith(("async def", "class "))


def test_some_of_the_tools_may_be_chosen() -> None:
    assert sorted(kit.tools("read_file", "edit_file")) == ["edit_file", "read_file"]
    assert sorted(kit.tools()) == sorted(EFFECTS)


def test_a_tool_that_is_not_in_the_kit_is_named_with_those_that_are() -> None:
    with pytest.raises(ConfigError, match="'read_fil'") as caught:
        kit.tools("read_file", "read_fil")

    assert "read_file" in caught.value.hint
