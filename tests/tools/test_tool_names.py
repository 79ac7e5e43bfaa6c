"""Names: canonical, in scripts, towards models."""

import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.errors import ConfigError
from lineshaft.tools import RESERVED, Toolset, model_name, script_name, tool
from lineshaft.tools._names import check_name


@pytest.mark.parametrize(
    ("canonical", "script", "model"),
    [
        ("read_file", "read_file", "read_file"),
        ("github.list-issues", "github.list_issues", "github__list-issues"),
        ("my server.x", "my_server.x", "my_server__x"),
        ("a/b", "a_b", "a_b"),
        ("2fa.3d", "_2fa._3d", "2fa__3d"),
        ("github.import", "github.import_", "github__import"),
        ("größe", "größe", "gr__e"),
        ("ﬁle", "file", "_le"),
        ("---", "___", "---"),
    ],
)
def test_names_have_a_form_for_scripts_and_one_for_models(
    canonical: str, script: str, model: str
) -> None:
    assert script_name(canonical) == script
    assert model_name(canonical) == model


def test_long_names_towards_models_end_in_a_hash() -> None:
    first, second = "a" * 70 + "1", "a" * 70 + "2"
    assert len(model_name(first)) == 48
    assert model_name(first) != model_name(second)
    assert model_name("a" * 48) == "a" * 48


names = st.text(min_size=1, max_size=20).filter(lambda text: "." not in text)


@given(names, names)
def test_every_name_becomes_one_that_scripts_and_models_can_use(space: str, name: str) -> None:
    for part in script_name(f"{space}.{name}").split("."):
        assert part.isidentifier()
        assert not keyword.iskeyword(part)
    assert set(model_name(f"{space}.{name}")) <= set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "must be text, not ''"),
        (None, "must be text, not None"),
        ("a b", "white space or control characters"),
        ("a\x00", "white space or control characters"),
        ("a\u202eb", "white space or control characters"),
        ("a" * 129, "is longer than 128 characters"),
        (".a", "is neither 'tool' nor 'namespace.tool'"),
        ("a.", "is neither 'tool' nor 'namespace.tool'"),
        ("a.b.c", "is neither 'tool' nor 'namespace.tool'"),
    ],
)
def test_names_that_nothing_may_have_are_refused(name: object, message: str) -> None:
    with pytest.raises(ConfigError, match="name") as caught:
        check_name(name)
    assert message in str(caught.value)


taken = ["exit", "Exit", "run_script", "search_tools", "describe_tool", "resume", "status"]
taken += ["tools", "agents", "asyncio", "json", "math", "re", "datetime", "toolerror", "retry"]
taken += ["json_parse", "batched", "table", "attempt", "print", "LIST", "len", "import", "async"]
taken += ["args"]  # of a model's script, which finds its own there
taken += ["__import__", "\uff45\uff58\uff49\uff54", "json.read", "Tools.read", "class.read"]


@pytest.mark.parametrize("name", taken)
def test_reserved_names_are_refused_in_any_spelling(name: str) -> None:
    @tool(name=name)
    def body() -> None: ...

    with pytest.raises(ConfigError, match="is reserved") as caught:
        Toolset([body])
    assert "rename" in caught.value.hint


def test_in_a_namespace_reserved_names_hide_nothing() -> None:
    @tool(name="github.list")
    def body() -> None: ...

    assert list(Toolset([body, body.with_name("github.exit")])) == ["github.exit", "github.list"]


def test_reserved_are_the_names_that_scripts_and_models_rely_on() -> None:
    assert {"exit", "run_script", "tools", "ToolError", "print", "import"} <= RESERVED
    assert not {"read_file", "edit", "search", "_"} & RESERVED
