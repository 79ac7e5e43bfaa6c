"""How well tools are found among many: the corpus in `tests/corpora/search`, and hostile ones."""

import json
from pathlib import Path

import pytest

from lineshaft.tools import search_specs
from lineshaft.values import ToolSpec

CORPUS = Path(__file__).parents[1] / "corpora" / "search"


def catalogue() -> tuple[ToolSpec, ...]:
    return tuple(
        ToolSpec(
            name=tool["name"], description=tool["description"], input_schema=tool["inputSchema"]
        )
        for tool in json.loads((CORPUS / "tools.json").read_text(encoding="utf-8"))
    )


TOOLS = catalogue()


def found(words: str, limit: int = 5, *, namespace: str | None = None) -> list[str]:
    return [spec.name for spec in search_specs(TOOLS, words, limit, namespace=namespace)]


@pytest.mark.parametrize(
    ("name", "count", "enough"),
    [
        ("queries.json", 100, 90),
        ("queries_development.json", 100, 90),
        ("queries_later.json", 40, 32),
        ("queries_purpose.json", 60, 50),
    ],
)
def test_the_expected_tool_is_among_the_first_five(name: str, count: int, enough: int) -> None:
    queries = json.loads((CORPUS / name).read_text(encoding="utf-8"))
    assert len(queries) == count
    missed = [query for query in queries if query["tool"] not in found(query["words"])]
    right = len(queries) - len(missed)
    assert right >= enough, f"{right} of {len(queries)} found; missed: {missed}"


def words_of(name: str) -> list[str]:
    return [query["words"] for query in json.loads((CORPUS / name).read_text(encoding="utf-8"))]


def test_nothing_fits_what_no_tool_serves_and_is_said_of_little_else() -> None:
    nothing, purposes = words_of("queries_nothing.json"), words_of("queries_purpose.json")
    assert (len(nothing), len(purposes)) == (20, 60)
    wrongly_found = [words for words in nothing if found(words)]
    assert len(wrongly_found) <= 5, wrongly_found
    wrongly_refused = [words for words in purposes if not found(words)]
    assert len(wrongly_refused) <= 2, wrongly_refused


def test_a_request_that_names_a_server_always_fits() -> None:
    assert found("water the tomatoes with mongo")
    assert found("frobnicate the kubernetes")


def test_the_expected_tools_are_there() -> None:
    names = {spec.name for spec in TOOLS}
    assert len(TOOLS) == len(names) >= 500
    for name in ("queries.json", "queries_development.json", "queries_purpose.json"):
        queries = json.loads((CORPUS / name).read_text(encoding="utf-8"))
        assert {query["tool"] for query in queries} <= names


@pytest.mark.parametrize("spec", TOOLS[::40], ids=lambda spec: spec.name)
def test_a_tool_is_found_by_its_name_in_any_spelling(spec: ToolSpec) -> None:
    assert found(spec.name, 1) == [spec.name]
    assert spec.name in found(spec.name.replace(".", " ").replace("_", " ").replace("-", " "))


@pytest.mark.parametrize(
    "words", ["quantum entanglement", "photosynthesis", "zzzz", "knit a sweater", "make coffee"]
)
def test_what_no_tool_does_is_not_found(words: str) -> None:
    assert found(words) == []


def test_a_word_that_nobody_knows_does_not_hide_the_others() -> None:
    assert "github.create_issue" in found("open an issue about frobnication on github")


@pytest.mark.parametrize(
    ("words", "namespace"), [("pstgres", "postgres"), ("kubernets", "kubernetes")]
)
def test_one_slip_in_a_word_is_forgiven(words: str, namespace: str) -> None:
    assert {name.partition(".")[0] for name in found(words)} == {namespace}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("createIssue github", "github.create_issue"),
        ("CREATE-ISSUE GITLAB", "gitlab.create_issue"),
        ("creating an issue in linear", "linear.create_issue"),
    ],
)
def test_spelling_and_endings_do_not_matter(words: str, expected: str) -> None:
    assert found(words)[0] == expected


def test_a_search_may_be_within_one_server() -> None:
    assert set(found("delete", 50, namespace="gmail")) >= {"gmail.delete_email"}
    assert all(name.startswith("gmail.") for name in found("delete", 50, namespace="gmail"))
    assert found("", 2, namespace="redis") == ["redis.get", "redis.set"]
    assert found("delete", namespace="nowhere") == []
    assert found("delete", namespace="") == []
    own = ToolSpec(name="delete_file", description="Delete a file.")
    far = ToolSpec(name="my-server.delete_file", description="Delete a file.")
    assert search_specs([own, far], "delete", namespace="") == (own,)
    assert search_specs([own, far], "delete", namespace="my_server") == (far,)


def test_tools_that_come_and_go_are_found_as_they_are_now() -> None:
    one = ToolSpec(name="a.translate", description="Translate a text.")
    other = ToolSpec(name="b.paint", description="Paint a wall.")
    assert search_specs([one], "paint") == ()
    assert search_specs([one, other], "paint") == (other,)
    assert search_specs([one], "translate") == (one,)
    assert search_specs([], "translate") == ()


HOSTILE = [
    '" OR name MATCH *',
    "'; drop table tools;--",
    "NEAR(a b) AND ^x {name}: -y",
    "a" * 100_000,
    "create " * 50_000,
    "\0\x1b[2J\u202e",
    "(((((((((",
    "%_\\%",
    "слово 文件 ملف",
    "\ud800",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_may_be_searched_and_be_searched_for(text: str) -> None:
    assert len(found(text)) <= 5
    hostile = ToolSpec(
        name=f"evil.{text[:50]}",
        description=text,
        input_schema={"properties": {text: {"description": text}, "x": [text], "y": {"type": 3}}},
    )
    assert search_specs([*TOOLS, hostile], "refund in stripe", 1)[0].name == "stripe.create_refund"
    search_specs([hostile], text)


def test_a_description_that_has_all_words_does_not_come_first() -> None:
    every = " ".join(f"{spec.name} {spec.description}" for spec in TOOLS)
    stuffed = ToolSpec(name="evil.helper", description=f"Best tool.\n{every * 20}")
    with_it = [*TOOLS, stuffed]
    queries = json.loads((CORPUS / "queries_development.json").read_text(encoding="utf-8"))
    first = [search_specs(with_it, query["words"], 1)[0].name for query in queries]
    assert "evil.helper" not in first


def test_a_schema_that_is_no_schema_is_no_obstacle() -> None:
    odd = ToolSpec(name="odd.one", description="Frobnicate.", input_schema={"properties": [1, 2]})
    assert search_specs([odd], "frobnicate") == (odd,)
