"""MicroPython asked for by name: what it lacks is said before a run, and no more is promised."""

import re
import sys
from collections.abc import Sequence

import pytest

from lineshaft import Session, Tool
from lineshaft.engines import make_micropython, micropython_lacks
from lineshaft.errors import NoBoundary
from lineshaft.scripts import Engines, prepare
from lineshaft.values import Program, ToolSpec

Specs = Sequence[ToolSpec]

LACKING = {
    "a module": ("import pathlib", 1, "the module pathlib", "`pathlib` is not here"),
    "a module with a rewrite": ("x = 1\nimport uuid", 2, "the module uuid", "hashlib.sha256"),
    "a member": ("from statistics import quantiles", 1, "statistics.quantiles", "has no `quantil"),
    "an async generator": ("async def f():\n    yield 1", 1, "generators", "collect the items"),
    "except*": ("try:\n    1\nexcept* ValueError:\n    2", 1, "`except*`", "`except ToolError as"),
    "a frozen dataclass": (
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass A:\n    x: int",
        3,
        "frozen",
        "write `@dataclass` alone",
    ),
    "private names": ("class A:\n    def f(self): self.__x = 1", 2, "private", "one underscore"),
    "views": ("{'a': 1}.keys() - {'b'}", 1, "keys or items", "`set(a) - set(b)`"),
    "order": ("def f(**k): return list(k)", 1, "order of keyword", "take one dict"),
}


@pytest.fixture(autouse=True)
def _there() -> None:
    try:
        make_micropython()
    except NoBoundary as error:
        pytest.skip(f"needs the engine micropython: {error.message}")


@pytest.mark.parametrize(("script", "line", "what", "hint"), LACKING.values(), ids=LACKING)
async def test_what_it_lacks_ends_the_choice_with_the_rewrite(
    script: str, line: int, what: str, hint: str, specs: Specs
) -> None:
    choice = await Engines("micropython").choose(prepare(script, specs=specs))
    assert choice.engine is None
    problem = choice.problem
    assert problem is not None
    assert (problem.code, problem.line) == ("E_UNSUPPORTED", line)
    assert what in problem.message
    assert hint in problem.hint


@pytest.mark.parametrize(
    "script",
    [
        "return [x async for x in y] if False else 1",
        "x = = 1",
        "import github\nfrom tools import fetch\nreturn fetch, os, anext",
        "try:\n    import pathlib\nexcept ImportError:\n    pass",
    ],
)
async def test_what_it_may_have_is_left_to_it(script: str, specs: Specs) -> None:
    engines = Engines("micropython")
    choice = await engines.choose(prepare(script, specs=specs), ["os", "anext"])
    assert (choice.name, choice.problem) == ("micropython", None)
    await engines.aclose()


async def test_a_long_script_is_looked_through_too(specs: Specs) -> None:
    script = "x = 1\n" * 5_000 + "import pathlib"
    choice = await Engines("micropython").choose(prepare(script, specs=specs))
    assert choice.problem is not None
    assert choice.problem.line == 5_001


async def test_the_run_ends_before_anything_of_it_runs() -> None:
    made: list[str] = []

    async def poke(what: str) -> None:
        """Poke something."""
        made.append(what)

    tools = [Tool.from_function(poke, effect="read")]
    async with Session(tools, engine="micropython") as session:
        result = await session.run("print('x')\nawait poke(what='a')\nimport pathlib")
        assert (result.status, result.stdout, result.calls, made) == ("error", "", (), [])
        assert result.error is not None
        assert (result.error.code, result.error.line) == ("E_UNSUPPORTED", 3)
        assert "micropython" in result.error.message
        assert result.error.hint
        assert (await session.run("await poke(what='a')\nreturn 1")).value == 1


def _promised() -> tuple[str, list[str]]:
    """Return what scripts may be written in, and the modules named there."""
    text = str(Session(engine="micropython").definitions("mcp")[0]["description"])
    spoken = re.search(r"- (MicroPython: .*?\.)\n- ", text, re.DOTALL)
    assert spoken is not None
    modules = re.search(r"no others: (?P<names>[\w, \n]+)\.", spoken[1])
    assert modules is not None
    return spoken[1], [name.strip() for name in modules["names"].split(",")]


IN_SCOPE = {"asyncio", "json", "math", "re", "datetime"}
UNSAID = {"__future__", "builtins"}
"""There, but of no use to say."""


async def test_the_modules_that_are_promised_are_those_that_there_are() -> None:
    _, promised = _promised()
    there = {
        name
        for name in sys.stdlib_module_names
        if micropython_lacks(Program(source=f"import {name}")) is None
    }
    assert there - IN_SCOPE - UNSAID == set(promised)
    async with Session(engine="micropython") as session:
        result = await session.run("\n".join(f"import {name}" for name in promised))
    assert result.status == "success", result.error


FEATURES = {
    "generators": "def f():\n    yield 1\nreturn list(f())",
    "classes": "class A:\n    x = 1\nclass B(A):\n    pass\nreturn [B().x]",
    "match": "match 1:\n    case 1:\n        return [1]",
    "dataclasses": (
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\nreturn [A(1).x]"
    ),
}

LACKS = {
    "metaclasses": "class A(metaclass=type): pass",
    "async\n  generators": LACKING["an async generator"][0],
    "except*": LACKING["except*"][0],
    "frozen dataclasses": LACKING["a frozen dataclass"][0],
    "private names": LACKING["private names"][0],
}


async def test_the_features_that_are_promised_are_there_and_the_others_not() -> None:
    spoken, _ = _promised()
    has, _, lacks = spoken.partition("; no ")
    async with Session(engine="micropython") as session:
        for name, script in FEATURES.items():
            assert name in has
            assert (await session.run(script)).value == [1], name
        for name, script in LACKS.items():
            assert name in lacks
            result = await session.run(script)
            assert result.error is not None
            assert result.error.code == "E_UNSUPPORTED", name
