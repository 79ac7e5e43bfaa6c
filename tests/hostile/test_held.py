"""No hostile script gets its way on an engine; the host and the session go on as before."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from hostile.cases import Case, cases, groups
from hostile.target import Target
from lineshaft import Limits, Policy, RunResult, Session, Tool
from lineshaft.errors import ConfigError

LIMITS = Limits(seconds=0.5, memory_mb=128, calls=50, stdout_bytes=10_000, stderr_bytes=10_000)
PATIENT = Limits(seconds=15)
BESIDE = "return [await give(value=n) for n in range(3)]"

LONGEST = 20.0
"""Seconds within which any run has to be settled."""

GROWTH = 200_000_000
LATE = 0.6
"""Seconds in which a late call would come."""

POLICY = {"mode": "open", "rules": [{"id": "shut", "tool": "vault", "verdict": "deny"}]}


def _is_there(engine: str) -> bool:
    try:
        Session(engine=engine)
    except ConfigError:
        return False
    return True


ENGINES = [name for name in ("monty", "cpython", "micropython") if _is_there(name)]


@pytest.fixture(scope="module")
def usable() -> frozenset[str]:
    """Return the engines that work on this machine."""

    async def works(engine: str) -> bool:
        async with Session(engine=engine) as session:
            return (await session.run("1")).value == 1

    return frozenset(engine for engine in ENGINES if asyncio.run(works(engine)))


class Siege:
    """One session, and what is around it."""

    def __init__(self, session: Session, target: Target, calls: list[str]) -> None:
        self._session = session
        self._target = target
        self._calls = calls
        self._memory = psutil.Process().memory_info().rss

    async def breaches(self, case: Case) -> list[str]:
        """Run a case and return what it got."""
        inputs = self._target.inputs(case.id)
        before = len(self._calls)
        with anyio.fail_after(LONGEST):
            result, beside = await asyncio.gather(
                self._session.run(case.script, inputs=inputs),
                self._session.run(BESIDE, limits=PATIENT),
            )
        after = len(self._calls)
        if case.sign == "calls" and "Module" not in str(result.error):
            await anyio.sleep(LATE)
        seen = [
            *_got(case, result, self._target),
            *("a call came after the end" for _ in self._calls[after:]),
            *("what is shut was opened" for what in self._calls[before:] if what == "vault"),
        ]
        if beside.value != [0, 1, 2]:
            seen.append(f"a run beside it gave {beside.value!r} ({beside.error})")
        return seen + await self._after()

    async def _after(self) -> list[str]:
        with anyio.fail_after(LONGEST):
            following = await self._session.run("return 40 + 2", limits=PATIENT)
        if following.value != 42:
            return [f"the run after it gave {following.value!r} ({following.error})"]
        grown = psutil.Process().memory_info().rss - self._memory
        return [f"the host grew by {grown} bytes"] if grown > GROWTH else []


def _got(case: Case, result: RunResult, target: Target) -> Iterator[str]:
    """Yield what a script got that it should not have."""
    error = result.error
    if target.told(result.value, result.stdout, result.stderr, error and error.message):
        yield "a secret was told"
    if target.written():
        yield "a file was written"
    if case.sign == "connects" and target.heard():
        yield "somebody connected"
    if case.sign == "signals" and target.hurt():
        yield "a neighbour was hurt"
    if left := target.left(case.id):
        yield f"{len(left)} processes were left"
    if result.status == "success" and case.sign == "floods":
        yield "it was let go on"
    if len(result.stdout) > 2 * LIMITS.stdout_bytes or len(result.stderr) > 2 * LIMITS.stderr_bytes:
        yield "its output was kept"
    if result.status == "success" and case.sign == "forges" and result.value != "honest":
        yield f"its value is {result.value!r}"


@pytest.mark.parametrize("group", groups())
@pytest.mark.parametrize("engine", ENGINES)
async def test_no_case_gets_its_way(
    engine: str, group: str, usable: frozenset[str], tmp_path: Path
) -> None:
    if engine not in usable:
        pytest.skip(f"the engine {engine!r} does not work on this machine")
    calls: list[str] = []

    async def give(value: Any = None) -> Any:
        return value

    async def poke(what: str = "") -> None:
        calls.append(what)

    async def vault(what: str = "") -> None:
        calls.append("vault")

    found: dict[str, list[str]] = {}
    tools = [Tool.from_function(give), Tool.from_function(poke), Tool.from_function(vault)]
    with Target() as target:
        async with Session(
            tools,
            workspace=tmp_path,
            engine=engine,
            policy=Policy.from_dict(POLICY),
            limits=LIMITS,
            check="off",
        ) as session:
            assert (await session.run("1", limits=PATIENT)).value == 1
            siege = Siege(session, target, calls)
            for case in cases(group):
                if breaches := await siege.breaches(case):
                    found[case.name] = breaches
    assert found == {}
