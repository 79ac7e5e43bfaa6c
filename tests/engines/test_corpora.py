"""Programs give on every engine what plain CPython gives: value, output and calls."""

import asyncio
import json
from typing import Any

import anyio
import pytest

from corpora.plain import CORPORA, Observed, as_data, expectations, observe, programs
from corpora.session import Worlds
from lineshaft import Policy, RunResult, Session
from lineshaft.trace import Redactor
from lineshaft.values import CallRecord

AT_ONCE = 8

Answers = dict[str, str]
"""What each program came to: `same`, `differs`, or its error."""


ENGINES = ("auto", "wasm", "cpython")


@pytest.fixture(scope="module")
def usable() -> frozenset[str]:
    """Return the engines that work on this machine."""

    async def works(engine: str) -> bool:
        async with Session(engine=engine) as session:
            return (await session.run("1")).value == 1

    return frozenset(engine for engine in ENGINES if asyncio.run(works(engine)))


async def _answers(engine: str, corpus: str) -> Answers:
    texts, expected = programs(corpus), expectations(corpus)
    found: Answers = {}
    limit = anyio.CapacityLimiter(AT_ONCE)
    policy = Policy(mode="open")
    async with Session(Worlds().tools(), policy=policy, engine=engine) as session:

        async def one(name: str) -> None:
            async with limit:
                result = await session.run(texts[name], name=f"{name}.py")
            found[f"{corpus}/{name}"] = _judged(result, expected[name])

        async with anyio.create_task_group() as group:
            for name in texts:
                group.start_soon(one, name)
    return found


def _judged(result: RunResult, expected: dict[str, Any]) -> str:
    if result.status == "success":
        seen = as_data(Observed(result.value, result.stdout, _grouped(result, expected["calls"])))
        wanted = {**expected, "calls": _recorded(expected["calls"])}
        return "same" if _text(seen) == _text(wanted) else "differs"
    error = result.error
    assert error is not None
    return f"{error.code}: {error.message}"


def _text(data: object) -> str:
    """Return data in a form that tells 1, 1.0 and True apart."""
    return json.dumps(data, sort_keys=True)


def _grouped(result: RunResult, groups: list[list[Any]]) -> list[list[Any]]:
    """Return a run's calls in groups of the sizes that they should have."""
    calls = iter([{"tool": c.tool, "arguments": dict(c.arguments)} for c in result.calls])
    found = [[call for _, call in zip(group, calls, strict=False)] for group in groups]
    left = list(calls)
    return [*found, left] if left else found


def _recorded(groups: list[list[Any]]) -> list[list[Any]]:
    """Return calls as records show them: long texts by their size and hash."""
    clean = Redactor().arguments
    shown = [[{**call, "arguments": clean(None, call["arguments"])} for call in g] for g in groups]
    return as_data(Observed(groups=shown))["calls"]


@pytest.mark.parametrize("corpus", CORPORA)
def test_expectations_are_what_plain_python_gives(corpus: str) -> None:
    found = {name: as_data(observe(text, name=name)) for name, text in programs(corpus).items()}
    assert {n: _text(e) for n, e in found.items()} == {
        n: _text(e) for n, e in expectations(corpus).items()
    }


def test_the_corpora_are_whole() -> None:
    assert len(programs("programs")) == 200
    assert len(programs("features")) >= 83


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("engine", ENGINES)
async def test_an_engine_gives_what_python_gives(
    engine: str, corpus: str, usable: frozenset[str]
) -> None:
    if engine not in usable:
        pytest.skip(f"the engine {engine!r} does not work on this machine")
    answers = await _answers(engine, corpus)
    assert {program: answer for program, answer in answers.items() if answer != "same"} == {}


def test_an_answer_that_is_another_is_told_apart() -> None:
    a: dict[str, object] = {"tool": "a", "arguments": {}}
    b = {**a, "tool": "b"}
    expected: dict[str, Any] = {"value": 1, "stdout": "", "calls": [[a], [b]]}
    assert _judged(_ran("a", "b"), expected) == "same"
    for calls in (("b", "a"), ("a",), ("a", "b", "b"), ()):
        assert _judged(_ran(*calls), expected) == "differs"
    assert _judged(_ran("b", "a"), {**expected, "calls": [[a, b]]}) == "same"
    for other in ({"value": True}, {"value": 1.0}, {"stdout": "x"}):
        assert _judged(_ran("a", "b"), {**expected, **other}) == "differs"


def _ran(*tools: str) -> RunResult:
    calls = [CallRecord(id="1", tool=tool, arguments={}, status="done") for tool in tools]
    return RunResult(run_id="r", status="success", value=1, calls=tuple(calls))
