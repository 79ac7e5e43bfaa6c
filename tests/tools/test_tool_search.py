"""Finding tools by words."""

import pytest

from lineshaft.tools import search_specs
from lineshaft.values import ToolSpec


def spec(name: str, description: str = "", *parameters: str) -> ToolSpec:
    schema: dict[str, object] = {"properties": dict.fromkeys(parameters, True)}
    return ToolSpec(name=name, description=description, input_schema=schema)


SPECS = [
    spec("read_file", "Read a text file.", "path"),
    spec("write_file", "Write a file.\n\nParents are made.", "path", "content"),
    spec("github.list-issues", "List the issues of a repository.", "repo", "state"),
    spec("github.createIssue", "Open a new issue.", "repo", "title"),
    spec("weather.forecast", "Return how warm it will be.", "city"),
]


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("read", "read_file"),
        ("READ FILE", "read_file"),
        ("list issues", "github.list-issues"),
        ("create", "github.createIssue"),
        ("city", "weather.forecast"),
        ("parents", "write_file"),
        ("fore", "weather.forecast"),
        ("warmer", "weather.forecast"),
        ("write a file please", "write_file"),
    ],
)
def test_the_best_fitting_tool_comes_first(words: str, first: str) -> None:
    assert search_specs(SPECS, words)[0].name == first


def test_a_name_counts_for_more_than_a_description() -> None:
    both = [spec("other", "Sends mail."), spec("mail", "Sends things.")]
    assert [found.name for found in search_specs(both, "mail")] == ["mail", "other"]


def test_a_rare_word_counts_for_more_than_a_common_one() -> None:
    many = [spec(f"file_{n}") for n in range(20)] + [spec("zip_tree")]
    assert search_specs(many, "file zip")[0].name == "zip_tree"


def test_tools_without_any_of_the_words_are_left_out() -> None:
    assert search_specs(SPECS, "quantum") == ()
    assert {found.name for found in search_specs(SPECS, "issue")} == {
        "github.list-issues",
        "github.createIssue",
    }


def test_no_words_give_the_first_tools() -> None:
    assert search_specs(SPECS, "  !", limit=2) == tuple(SPECS[:2])
    assert len(search_specs(SPECS, "file issue forecast", limit=3)) == 3
