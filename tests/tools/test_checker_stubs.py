"""The stubs for the checker, in the checker itself: what it takes, and what it refuses."""

import enum
from typing import Literal

import pytest
from typing_extensions import TypedDict

from lineshaft.checker import TyChecker
from lineshaft.tools import Tool, Toolset, checker_stubs, record_tools, tool


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Edit(TypedDict):
    old: str
    new: str


class Patch(TypedDict):
    line: int
    text: str


class Match(TypedDict):
    path: str
    line: int


class Found(TypedDict):
    matches: list[Match]
    truncated: bool


@tool(effect="read")
async def temperature(city: str) -> float: ...  # pyright: ignore[reportReturnType]  a stub has no body


@tool(effect="write")
def edit_file(
    path: str,
    edits: list[Edit] | None = None,
    old: str | None = None,
    patches: list[Patch] | None = None,
    colour: Colour = Colour.RED,
) -> Found: ...  # pyright: ignore[reportReturnType]  a stub has no body


@tool(effect="read")
def search(
    pattern: str,
    kinds: list[Literal["file", "folder"]] | None = None,
    sizes: list[float] | None = None,
    where: dict[str, int] | None = None,
    pair: tuple[int, str] = (1, "a"),
) -> Found: ...  # pyright: ignore[reportReturnType]  a stub has no body


@tool(effect="read")
def pair(x: int) -> tuple[int, str]: ...  # pyright: ignore[reportReturnType]  a stub has no body


@tool(effect="read")
def maybe(x: int) -> Found | None: ...


async def call(**arguments: object) -> object:
    return arguments


ITEM = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "odd-key": {"type": "string"},
        "parent": {"$ref": "#/items"},
        "list": {"type": "array", "items": {"type": "string"}},
    },
}

github = Tool.from_schema(
    name="github.list",
    input_schema={
        "type": "object",
        "properties": {
            "repo": {"type": "string"},
            "state": {"enum": ["open", "closed"]},
            "labels": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["repo"],
    },
    output_schema={"type": "array", "items": ITEM},
    function=call,
)

STUBS = checker_stubs(
    Toolset([temperature, edit_file, search, pair, maybe, github]).specs,
)

RIGHT = """
await temperature("Oslo")
---
await temperature(city="Oslo") + 1
---
edits = [{"old": "a", "new": "b"}]
await edit_file(path="x", edits=edits)
---
edits = []
for x in ["a"]:
    edits.append({"old": x, "new": "b"})
await edit_file(path="x", edits=edits)
---
await edit_file(path="x", edits=[{"old": x, "new": x} for x in "abc"])
---
edits = [dict(old="a", new="b")]
await edit_file(path="x", edits=edits)
---
edit = {"old": "a"}
edit["new"] = "b"
await edit_file(path="x", edits=[edit])
---
patches = [{"line": 1, "text": "b"}]
await edit_file(path="x", patches=patches)
---
patches = []
patches.append({"line": 1, "text": "b"})
await edit_file(path="x", patches=patches)
---
for colour in ["red", "blue"]:
    await edit_file(path="x", colour=colour)
---
kinds = ["file", "folder"]
await search("x", kinds=kinds)
---
sizes = [1, 2]
await search("x", sizes=sizes)
---
await search("x", sizes=(1.5, 2))
---
where = {}
where["a"] = 1
await search("x", where=where)
---
await search("x", pair=[1, "a"])
---
await search("x", pair=(1, "a"))
---
a, b = await pair(x=1)
a + 1
await temperature(b)
---
r = await search("x")
for m in r["matches"]:
    print(m["path"].upper(), m["line"] + 1)
    await temperature(m["path"])
---
found = sorted((await search("x"))["matches"], key=lambda m: m["line"])
out = [await temperature(city=m["path"]) for m in found]
---
r = await maybe(x=1)
if r:
    r["matches"]
---
import github
issues = await github.list(repo="x", state="open", labels=["a"])
issues[0]["id"] + 1
issues[0]["odd-key"].upper()
issues[0]["parent"]["id"]
issues[0]["list"][0].upper()
---
import github
labels = ("a", "b")
await github.list(repo="x", labels=labels)
---
from tools import temperature as t
await t("Oslo")
---
import tools
r = await tools.search("Oslo")
r["matches"][0]["line"] + 1
---
await edit_file(path="x", old=None)
---
r = await search("x")
await edit_file(path="x", edits=[{"old": m["path"], "new": "y"} for m in r["matches"]])
"""

WRONG = """
await temperature(5)
---
await temperature()
---
await temperature(town="x")
---
await temperature("a", "b")
---
await edit_file("x", 5)
---
await edit_file(path="x", edits=[{"old": 1, "new": "b"}])
---
await edit_file(path="x", edits="abc")
---
await edit_file(path="x", patches=[1])
---
await search("x", kinds="file")
---
await search("x", sizes=["a"])
---
await search("x", sizes="abc")
---
await search("x", where={"a": "b"})
---
await github.list(repo=1)
---
await github.lst(repo="x")
---
await github.list(repo="x", state=3)
---
await github.list(repo="x", labels="a")
---
r = await search("x")
r["nope"]
---
await temprature("x")
---
temperature("a") + 1
"""


@pytest.mark.parametrize("script", [text.strip() for text in RIGHT.split("---")])
async def test_the_checker_takes_what_is_right(checker: TyChecker, script: str) -> None:
    assert await checker.check(script, stubs=STUBS, inputs={}) == ()


@pytest.mark.parametrize("script", [text.strip() for text in WRONG.split("---")])
async def test_the_checker_refuses_what_is_wrong(checker: TyChecker, script: str) -> None:
    assert await checker.check(script, stubs=STUBS, inputs={}) != ()


@pytest.fixture(scope="module")
def checker() -> object:
    """Share one checker: its process starts once."""
    made = TyChecker()
    yield made
    made.close()


def test_keys_are_certain_only_where_a_result_is_one_record() -> None:
    def answers(**properties: object) -> Tool:
        return Tool.from_schema(
            name="answers",
            description="",
            input_schema={"type": "object"},
            output_schema={"type": "object", "properties": properties, "required": [*properties]},
            function=call,
        )

    def record(*keys: str) -> dict[str, object]:
        properties = {key: {"type": "string"} for key in keys}
        closed = {"additionalProperties": False, "required": [*keys]}
        return {"type": "object", "properties": properties, **closed}

    one = record_tools([answers(inner=record("a")).spec])
    assert ("answers",) in one.values()
    several = record_tools([answers(inner={"anyOf": [record("a"), record("b")]}).spec])
    inner = [name for name in several if name not in one or "Inner" in name]
    assert inner
    assert {several[name] for name in inner} == {()}


class Price(TypedDict):
    """A result."""

    price: float


class Failure(TypedDict):
    """Another one."""

    error: str


def test_a_record_is_certain_only_where_all_its_tools_give_it_alone() -> None:
    @tool(effect="read")
    def one() -> Price:
        """Give the record alone."""
        raise NotImplementedError

    @tool(effect="read")
    def two() -> Price:
        """Give the record alone too."""
        raise NotImplementedError

    @tool(effect="read")
    def either() -> Price | Failure:
        """Give one of two records."""
        raise NotImplementedError

    assert record_tools([one.spec, two.spec]) == {"Price": ("one", "two")}
    for several in ([one, either], [either, one]):
        assert record_tools([each.spec for each in several]) == {"Price": (), "Failure": ()}
