"""The engines of a session: by name, by reading, and where there is no full Python."""

from collections.abc import Callable, Sequence

import pytest

from lineshaft.errors import ConfigError, NoBoundary
from lineshaft.scripts import Engines, prepare
from lineshaft.values import Engine, ToolSpec
from scripts.standin import Full

Specs = Sequence[ToolSpec]

GENERATOR = "def f():\n    yield 1\nreturn list(f())"


def _none() -> Engine:
    raise NoBoundary("nothing here can hold it", hint="install a boundary")


def _engines(wanted: str, cpython: Callable[[], Engine]) -> Engines:
    return Engines(wanted, makers={"cpython": cpython})


async def test_auto_takes_the_small_engine_where_it_does(specs: Specs) -> None:
    choice = await _engines("auto", _none).choose(prepare("return 1", specs=specs))
    assert (choice.name, choice.problem) == ("monty", None)
    assert choice.reason == "the small engine has all that the script uses"


async def test_auto_goes_up_and_says_where_and_why(specs: Specs) -> None:
    full = Full()
    choice = await _engines("auto", lambda: full).choose(prepare(GENERATOR, specs=specs))
    assert choice.engine is full
    assert choice.reason == "line 2: generators"


@pytest.mark.parametrize(
    ("script", "line", "hint"),
    [
        (GENERATOR, 2, "collect the items in a list and return it"),
        ("d = {}\ndel d['a']", 2, "write `d.pop('a', None)`"),
        ("import statistics", 1, "`statistics` is not here: mean: `sum(xs) / len(xs)`"),
        ("x = 1\nm = map(f, x)", 2, "make it a list: `list(map(...))`"),
        ("asyncio.create_task(f())", 1, "keep the calls in a list"),
        ("class A(Exception): pass", 1, "use dicts and functions"),
    ],
)
async def test_without_full_python_the_choice_is_an_error_with_the_rewrite(
    script: str, line: int, hint: str, specs: Specs
) -> None:
    choice = await _engines("auto", _none).choose(prepare(script, specs=specs))
    assert choice.engine is None
    assert choice.problem is not None
    assert (choice.problem.code, choice.problem.line) == ("E_UNSUPPORTED", line)
    assert "nothing here can hold it" in choice.problem.message
    assert hint in choice.problem.hint


async def test_without_full_python_a_mere_doubt_runs_on_the_small_engine(specs: Specs) -> None:
    choice = await _engines("auto", _none).choose(prepare("print(set(xs))", specs=specs))
    assert choice.name == "monty"
    assert choice.reason == "line 1: the order of a set; there is no full Python here"


async def test_an_engine_asked_for_by_name_is_not_replaced(specs: Specs) -> None:
    full = Full()
    for wanted, name in (("monty", "monty"), ("cpython", "cpython")):
        choice = await _engines(wanted, lambda: full).choose(prepare(GENERATOR, specs=specs))
        assert (choice.name, choice.reason) == (name, "the session asks for it")
        assert not choice.restarts


async def test_an_engine_that_cannot_be_made_says_why(specs: Specs) -> None:
    choice = await _engines("cpython", _none).choose(prepare("return 1", specs=specs))
    assert choice.problem is not None
    assert choice.problem.code == "E_NO_BOUNDARY"
    assert choice.problem.hint == "install a boundary"


async def test_an_engine_that_was_given_runs_everything(specs: Specs) -> None:
    full = Full()
    engines = Engines(full)
    assert (await engines.choose(prepare("return 1", specs=specs))).engine is full
    assert engines.wanted == "cpython"


def test_an_unknown_engine_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ConfigError, match=r"'fortran'.*auto, monty, cpython, micropython"):
        Engines("fortran")


def test_full_python_is_promised_only_where_it_is() -> None:
    assert _engines("auto", Full).promises_full_python
    assert _engines("cpython", Full).promises_full_python
    assert not _engines("auto", _none).promises_full_python
    assert not _engines("monty", Full).promises_full_python
    assert not _engines("micropython", Full).promises_full_python


async def test_an_engine_is_made_once_and_closed_with_the_session(specs: Specs) -> None:
    made: list[Full] = []

    def make() -> Engine:
        made.append(Full())
        return made[-1]

    engines = _engines("auto", make)
    for _ in range(2):
        await engines.choose(prepare(GENERATOR, specs=specs))
    assert engines.promises_full_python
    await engines.aclose()
    assert [full.closed for full in made] == [True]
