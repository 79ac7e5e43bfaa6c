"""Sets of tools, and the sets made from them."""

from typing import Any

import pytest

from lineshaft.errors import ConfigError
from lineshaft.tools import Tool, Toolset, tool


@tool(effect="read")
async def read_file(path: str) -> str:
    """Read a file."""
    return path


@tool(effect="write")
async def write_file(path: str, content: str) -> None:
    """Write a file."""


def send(text: str) -> None:
    """Send a text."""


def named(name: str) -> Tool:
    return read_file.with_name(name)


def test_a_set_maps_canonical_names_to_tools_in_one_order() -> None:
    tools = Toolset([named("web.get"), write_file, named("b"), read_file, named("a.z")])
    assert list(tools) == ["b", "read_file", "write_file", "a.z", "web.get"]
    assert tools["write_file"] is write_file
    assert [spec.name for spec in tools.specs] == list(tools)
    assert len(tools) == 5
    assert "nothing" not in tools
    assert repr(Toolset([read_file])) == "Toolset(read_file)"


def test_a_plain_function_comes_in_with_effects_on_the_world() -> None:
    tools = Toolset([send, Toolset([read_file])])
    assert tools["send"].spec.effect == "external"
    assert "read_file" in tools


def test_filter_keeps_some() -> None:
    tools = Toolset([read_file, write_file])
    assert list(tools.filter(lambda tool: tool.spec.effect == "read")) == ["read_file"]
    assert list(tools) == ["read_file", "write_file"]


def test_rename_takes_a_mapping_or_a_function() -> None:
    tools = Toolset([read_file, write_file])
    assert list(tools.rename({"read_file": "cat"})) == ["cat", "write_file"]
    assert list(tools.rename(str.upper)) == ["READ_FILE", "WRITE_FILE"]
    with pytest.raises(ConfigError, match="no tool is named 'read_fil'") as caught:
        tools.rename({"read_fil": "cat"})
    assert caught.value.hint == "did you mean 'read_file'?"


async def test_a_renamed_tool_still_runs_and_has_its_schema() -> None:
    renamed = Toolset([read_file]).rename({"read_file": "disk.cat"})["disk.cat"]
    assert await renamed("a") == "a"
    assert renamed.spec.input_schema == read_file.spec.input_schema
    assert renamed.spec.namespace == "disk"


def test_prefix_puts_tools_into_a_namespace() -> None:
    tools = Toolset([read_file, write_file]).prefix("disk")
    assert list(tools) == ["disk.read_file", "disk.write_file"]
    assert tools["disk.write_file"].spec.lane == "disk"
    with pytest.raises(ConfigError, match=r"'disk\.read_file' is in a namespace already"):
        tools.prefix("other")
    with pytest.raises(
        ConfigError, match=r"namespace 'json' of tool 'json\.read_file' is reserved"
    ):
        Toolset([read_file]).prefix("json")


def test_sets_are_combined() -> None:
    both = Toolset([read_file]) | Toolset([write_file])
    assert list(both) == ["read_file", "write_file"]
    assert list(Toolset().combine([read_file], [send])) == ["read_file", "send"]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("get", "get", "two tools are called 'get'"),
        ("get", "GET", "'GET' and 'get' are one name: case makes no difference"),
        ("a.get", "A.Get", "'A.Get' and 'a.get' are one name"),
        ("get-it", "get_it", "'get_it' in scripts is 'get_it', and so is 'get-it'"),
        ("a.get", "a__get", "'a.get' towards models is 'a__get', and so is 'a__get'"),
        ("web", "web.get", "'web.*' in scripts is 'web', and so is 'web'"),
        ("my-web.get", "my_web.put", "'my_web.*' in scripts is 'my_web', and so is 'my-web.*'"),
    ],
)
def test_two_tools_with_one_name_in_some_spelling_are_refused(
    first: str, second: str, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        Toolset([named(first), named(second)])
    assert message in str(caught.value)
    assert "Toolset.rename" in caught.value.hint
    with pytest.raises(ConfigError):
        Toolset([named(first)]).combine(Toolset([named(second)]))


def test_many_tools_of_one_namespace_go_together() -> None:
    assert len(Toolset([named("web.get"), named("web.put")])) == 2


def test_the_runtime_may_use_reserved_names_and_nobody_else() -> None:
    own = Toolset.of_runtime([named("search_tools"), named("agents.critic")])
    both = Toolset([write_file]) | own
    assert list(both) == ["search_tools", "write_file", "agents.critic"]
    assert list(both.filter(lambda tool: tool.name == "search_tools")) == ["search_tools"]
    with pytest.raises(ConfigError, match="two tools are called 'search_tools'"):
        own.combine(own)
    with pytest.raises(ConfigError, match="tool name 'exit' is reserved"):
        Toolset([write_file]).rename({"write_file": "exit"})
    with pytest.raises(ConfigError, match="tool name 'describe_tool' is reserved"):
        own.combine([named("describe_tool")])


def test_a_tool_is_found_by_any_spelling_of_its_name() -> None:
    tools = Toolset([named("github.list-issues"), read_file])
    for spelling in ("github.list-issues", "github.list_issues", "github__list-issues"):
        assert tools.find(spelling) is tools["github.list-issues"]
    assert tools.find("list_issues") is None
    assert tools.similar("github.list_issue") == ("github.list-issues",)
    assert tools.similar("raed_file") == ("read_file",)
    assert tools.similar("zzzzzz") == ()


def test_a_wrong_name_is_a_key_error_that_names_the_nearest_tool() -> None:
    tools = Toolset([read_file])
    with pytest.raises(KeyError, match="no tool is called 'raed_file'; did you mean 'read_file'"):
        tools["raed_file"]
    with pytest.raises(KeyError, match=r"no tool is called 'zzzzzz'\"$"):
        tools["zzzzzz"]
    assert ("raed_file" in tools, "read_file" in tools) == (False, True)
    assert (tools.get("raed_file"), tools.get("raed_file", 1)) == (None, 1)


@pytest.mark.parametrize("given", [read_file, "read_file", 5])
def test_what_is_no_list_of_tools_is_refused(given: Any) -> None:
    with pytest.raises(ConfigError, match="tools must be a list of tools, not "):
        Toolset(given)
