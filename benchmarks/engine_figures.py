"""The engines beside each other, beside bare processes and beside the image by itself.

Figures are medians, taken in turns; the ratio is to the first line of each table. A line whose
part this machine lacks says so.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Collection, Generator, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Literal

from bare import Bare

from lineshaft import Limits, Policy, Session, tool
from lineshaft.checker import TyChecker
from lineshaft.engines import make_cpython, make_wasm
from lineshaft.errors import LineshaftError
from lineshaft.sandbox.webassembly import Asker
from lineshaft.scripts import Reading
from lineshaft.scripts.reading import through
from lineshaft.values import Call, Engine, Program, PythonOptions, Returned, Value

CALLS = 300
ONE = "return await add(a=1, b=2)"
MANY = f"n = 0\nfor i in range({CALLS}):\n    n = await add(a=n, b=1)\nreturn n"
ROOMY = Limits(seconds=600, calls=1_000_000)
PAUSE = 0.02
WARMING = 2
MISSING = (LineshaftError, OSError, subprocess.SubprocessError)

PYTHON = (sys.executable, "-I", "-c", "pass")
BUBBLEWRAP = (
    *("bwrap", "--unshare-all", "--die-with-parent"),
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
)

STANDARD = ("statistics", "decimal")
STANDARD_USE = """\
import statistics
from decimal import Decimal
values = [Decimal(i) / 7 for i in range(10)]
spread = str(statistics.pstdev(values))
"""
PANDAS_USE = """\
import pandas
frame = pandas.DataFrame({"key": [i % 7 for i in range(200)], "value": range(200)})
sums = frame.groupby("key")["value"].sum().tolist()
"""

FUNCTION = """\
async def totals_{i}(rows: list[dict[str, int]], factor: int = 2) -> dict[str, int]:
    found: dict[str, int] = {{}}
    for position, row in enumerate(rows):
        name = f"row {{position}} of {{len(rows)}}"
        value = row.get("value", 0) * factor
        if value > {i} and position % 2 == 0:
            found[name] = await add(a=value, b=position)
        elif not value:
            continue
        else:
            found.setdefault(name, 0)
            found[name] += sum(n for n in row.values() if n > {i})
    try:
        best = max(found, key=lambda name: found[name])
    except ValueError as error:
        print(f"nothing found: {{error}}")
        return {{}}
    words = [word.strip().lower() for word in best.split(" ") if word]
    found[" ".join(words)] = len(words)
    return {{name: count for name, count in found.items() if count}}

"""
LINES = 200
FUNCTIONS = "".join(FUNCTION.format(i=i) for i in range(9))
STEP = "rows = [row for row in rows if row['value'] != 5]\n"
STEPS = STEP * (LINES - 2 - FUNCTIONS.count("\n"))
SCRIPT = (
    f"{FUNCTIONS}rows = [{{'value': n}} for n in range(10)]\n{STEPS}return await totals_3(rows)\n"
)
"""All of it is read."""


class NotHere(LineshaftError):
    """A script did not return."""


async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def dispatch(call: Call) -> Value:
    """Answer a call as simply as can be."""
    a, b = call.arguments["a"], call.arguments["b"]
    return Value(a + b if isinstance(a, int) and isinstance(b, int) else None)


class Alone:
    """An engine without gate and session, made when it is first used.

    Args:
        make: Makes it.
    """

    def __init__(self, make: Callable[[], Engine]) -> None:
        self._make = make
        self._engine: Engine | None = None

    async def run(self, source: str) -> None:
        """Execute a script."""
        if self._engine is None:
            self._engine = self._make()
        outcome = await self._engine.run(
            Program(source=source, tools=frozenset({"add"})),
            dispatch,
            limits=ROOMY,
            output=lambda _stream, _text: None,
            waiting=_wait,
        )
        if not isinstance(outcome, Returned):
            raise NotHere(str(outcome))

    async def aclose(self) -> None:
        """End its processes."""
        if self._engine is not None:
            await self._engine.aclose()


async def _wait(_calls: Collection[str]) -> Literal["wait"]:
    return "wait"


@dataclass(frozen=True, slots=True)
class Subject:
    """One thing that is measured."""

    name: str
    run: Callable[[str], Awaitable[object]]
    source: str = ONE
    pause: float = PAUSE
    """Before each turn, in which an engine makes ready for its next run."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What came of it."""

    name: str
    value: float | None
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Figures whose first one is what the others are compared with."""

    title: str
    figures: Sequence[Figure]

    def __str__(self) -> str:
        first = self.figures[0].value
        lines = [
            f"| {self.title:<57} | {'median':>8} | ratio |",
            f"| {'-' * 57} | {'-' * 7}: | {'-' * 4}: |",
        ]
        for figure in self.figures:
            value = "-" if figure.value is None else f"{figure.value:.2f}"
            ratio = f"{figure.value / first:.2f}" if figure.value and first else "-"
            name = f"{figure.name} (not here: {figure.missing})" if figure.missing else figure.name
            lines.append(f"| {name:<57} | {value:>8} | {ratio:>5} |")
        return "\n".join(lines)


async def milliseconds(subject: Subject) -> float:
    """Measure one turn."""
    start = time.perf_counter()
    await subject.run(subject.source)
    return (time.perf_counter() - start) * 1000


async def warmed(subject: Subject) -> str:
    """Return why a subject cannot be measured here, or an empty string."""
    try:
        for _ in range(WARMING):
            await subject.run(subject.source)
    except MISSING as error:
        return " ".join(str(error).split())[:100]
    return ""


async def in_turns(subjects: Sequence[Subject], turns: int) -> list[Figure]:
    """Return medians in milliseconds, taken in turns."""
    missing = [await warmed(subject) for subject in subjects]
    times: list[list[float]] = [[] for _ in subjects]
    for _ in range(turns):
        for subject, why, kept in zip(subjects, missing, times, strict=True):
            if not why:
                if subject.pause:
                    await asyncio.sleep(subject.pause)
                kept.append(await milliseconds(subject))
    return [
        Figure(subject.name, statistics.median(kept) if kept else None, why)
        for subject, kept, why in zip(subjects, times, missing, strict=True)
    ]


def process(*argv: str) -> Callable[[str], Awaitable[object]]:
    """Return what starts a process and waits for its end, whatever the script."""

    async def started(_source: str) -> None:
        subprocess.run(argv, check=True, capture_output=True)  # noqa: ASYNC221  nothing else runs

    return started


async def in_session(
    stack: AsyncExitStack, engine: str, check: Literal["error", "off"]
) -> Callable[[str], Awaitable[object]]:
    """Return what runs scripts in a session."""
    tools = [tool(effect="read")(add)]
    held = Session(tools, engine=engine, policy=Policy(mode="read"), limits=ROOMY, check=check)
    await stack.enter_async_context(held)

    async def run(source: str) -> None:
        (await held.run(source)).raise_for_status()

    return run


def alone(stack: AsyncExitStack, make: Callable[[], Engine]) -> Alone:
    """Return an engine that is closed with the stack."""
    made = Alone(make)
    stack.push_async_callback(made.aclose)
    return made


def full(*, packages: tuple[str, ...] = (), preload: tuple[str, ...] = ()) -> Callable[[], Engine]:
    """Return what makes the engine `cpython`."""
    return lambda: make_cpython(PythonOptions(packages=packages, preload=preload))


async def driven(stack: AsyncExitStack) -> list[Subject]:
    """Return all that can run a script, the image by itself first."""
    bare = await stack.enter_async_context(Bare({"add": add}))
    wasm = alone(stack, lambda: make_wasm(PythonOptions()))
    return [
        Subject("bare image, driven through an event loop", bare.run),
        Subject("wasm, engine alone", wasm.run),
        Subject("wasm, session, unchecked", await in_session(stack, "wasm", "off")),
        Subject("wasm, session, checked", await in_session(stack, "wasm", "error")),
        Subject("cpython, engine alone", alone(stack, full()).run),
        Subject("cpython, session, unchecked", await in_session(stack, "cpython", "off")),
        Subject("cpython, session, checked", await in_session(stack, "cpython", "error")),
    ]


async def fresh(subjects: Sequence[Subject], turns: int) -> Table:
    """Compare whole runs with one call."""
    rows = [
        Subject("bare process: python -I -c pass", process(*PYTHON)),
        Subject("bare bubblewrap: the same in bwrap", process(*BUBBLEWRAP, *PYTHON)),
    ]
    for subject in subjects:
        rows.append(subject)
        if subject.name.endswith("engine alone"):
            name = subject.name.replace("engine alone", "alone, straight after a run")
            rows.append(Subject(name, subject.run, pause=0))
    return Table("fresh run with one call, ms", await in_turns(rows, turns))


async def trips(subjects: Sequence[Subject], turns: int) -> Table:
    """Compare the further calls of a run that makes many."""
    pairs = [Subject(s.name, s.run, source) for s in subjects for source in (ONE, MANY)]
    measured = await in_turns(pairs, turns)
    figures = [
        Figure(one.name, _trip(one.value, many.value), one.missing or many.missing)
        for one, many in zip(measured[::2], measured[1::2], strict=True)
    ]
    by_name = {figure.name: figure.value for figure in figures}
    for engine in ("wasm", "cpython"):
        with_gate, without = (
            by_name[f"{engine}, {how}"] for how in ("session, unchecked", "engine alone")
        )
        if with_gate is not None and without is not None:
            figures.append(Figure(f"what gate and session add, {engine}", with_gate - without))
    return Table("a further awaited call's round trip, us", figures)


def _trip(one: float | None, many: float | None) -> float | None:
    if one is None or many is None:
        return None
    return (many - one) / (CALLS - 1) * 1000


async def preloaded(stack: AsyncExitStack, turns: int, *, install: bool) -> Table:
    """Compare runs that use what was imported before them with one that does not."""
    modules, use = STANDARD, STANDARD_USE
    ready = alone(stack, full(preload=("pandas",), packages=("pandas",)))
    with nullcontext() if install else offline():
        lacking = await warmed(Subject("", ready.run, PANDAS_USE + ONE))
    if lacking:
        ready, cold = alone(stack, full(preload=STANDARD)), alone(stack, full())
    else:
        modules, use = ("pandas",), PANDAS_USE
        cold = alone(stack, full(packages=("pandas",)))
    names = " and ".join(modules)
    rows = [
        Subject(f"cpython, {names} preloaded and not used", ready.run),
        Subject(f"cpython, {names} preloaded and used", ready.run, use + ONE),
        Subject(f"cpython, {names} imported by the script", cold.run, use + ONE),
    ]
    figures = await in_turns(rows, turns)
    if lacking:
        figures.append(Figure("pandas, offline", None, lacking.partition(":")[0]))
    return Table("run with one call and a package, ms", figures)


@contextmanager
def offline() -> Generator[None]:
    """Keep installers of packages from the network."""
    before = dict(os.environ)
    os.environ.update(UV_OFFLINE="1", PIP_NO_INDEX="1")
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


async def readings(turns: int) -> Table:
    """Compare the reading of a new script with its check, and with the checker's start."""
    specs = (tool(effect="read")(add).spec,)
    asker, checker = Asker(), TyChecker()
    reading = Reading(through(asker))
    names = (
        "the reader's start and the first reading",
        "the checker's start and the first check",
        "one line, reading and repair of `await`s",
        "one line, check",
        f"{LINES} lines, reading and repair of `await`s",
        f"{LINES} lines, check",
    )
    times: list[list[float]] = [[] for _ in names]
    try:
        for turn in range(turns):
            for at, text in ((2, "return await add(a=1, b={})"), (4, SCRIPT + "# {}\n")):
                source = text.replace("{}", str(turn)) if at == 2 else f"{text}# {turn}"
                start = time.perf_counter()
                prepared = await reading.read(source, specs=specs)
                read = time.perf_counter()
                await reading.check(prepared, checker=checker, inputs={})
                end = time.perf_counter()
                first = 0 if turn == 0 and at == 2 else at
                times[first].append((read - start) * 1000)
                times[first + 1].append((end - read) * 1000)
    finally:
        await checker.aclose()
        await asyncio.to_thread(asker.close)
    figures = [Figure(n, statistics.median(t)) for n, t in zip(names, times, strict=True)]
    return Table("a new script before it runs, ms", [figures[2], *figures[:2], *figures[3:]])


BUSY = "while True:\n    sum(range(1000))"
HELD = {
    "an endless loop": "while True:\n    pass",
    "caught": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "a regular expression": "import re\nre.match(r'(a+)+$', 'a' * 40 + 'b')",
    "a large number": "9 ** 9 ** 9",
    "a sleep": "import time\ntime.sleep(1e9)",
}


async def cancels(turns: int) -> Table:
    """Measure from the cancel of a run to its end, alone and beside 20 that compute."""
    figures: list[Figure] = []
    limits = Limits(seconds=600)
    async with Session(engine="wasm", policy=Policy(mode="read"), check="off", store=False) as held:

        async def cancelled(script: str) -> float:
            run = await held.start(script, limits=limits)
            await asyncio.sleep(0.05)
            start = time.perf_counter()
            run.cancel()
            await run.result()
            return (time.perf_counter() - start) * 1000

        for beside in (0, 20):
            busy = [await held.start(BUSY, limits=limits) for _ in range(beside)]
            await asyncio.sleep(0.5 if busy else 0)
            for name, script in HELD.items():
                took = [await cancelled(script) for _ in range(max(turns // 2, 3))]
                label = f"{name}{', beside 20 that compute' if beside else ''}"
                figures.append(Figure(f"{label}: longest of {len(took)}", max(took)))
            for run in busy:
                run.cancel()
            for run in busy:
                await run.result()
    return Table("from a cancel to the end of the run, ms", figures)


async def lateness(turns: int) -> Table:
    """Measure how late the host's event loop is while instances are made and scripts compute."""
    late: list[float] = []

    async def tick() -> None:
        while True:
            due = time.perf_counter() + 0.001
            await asyncio.sleep(0.001)
            late.append((time.perf_counter() - due) * 1000)

    def figures(name: str) -> Iterator[Figure]:
        ordered = sorted(late)
        late.clear()
        yield Figure(f"{name}, median", ordered[len(ordered) // 2])
        yield Figure(f"{name}, 99th of 100", ordered[len(ordered) * 99 // 100])

    rows: list[Figure] = []
    limits = Limits(seconds=600)
    async with Session(engine="wasm", policy=Policy(mode="read"), check="off", store=False) as held:
        await held.run("return 1")
        ticking = asyncio.create_task(tick())
        await asyncio.sleep(1)
        rows += figures("idle")
        busy = [await held.start(BUSY, limits=limits) for _ in range(20)]
        for _ in range(turns):
            await held.run("return 1", limits=limits)
        rows += figures("20 scripts compute, others begin")
        for run in busy:
            run.cancel()
        for run in busy:
            await run.result()
        ticking.cancel()
    return Table("lateness of the host's event loop, ms", rows)


async def show(turns: int, *, install: bool) -> None:
    """Print all that is said of engines.

    Args:
        turns: Of what takes longest; quicker things get more.
        install: Whether pandas may be installed, from the network, where it is not there yet.
    """
    async with AsyncExitStack() as stack:
        subjects = await driven(stack)
        print(f"\n{await fresh(subjects, turns * 2)}", flush=True)
        print(f"\n{await trips(subjects, max(3, turns // 3))}", flush=True)
        print(f"\n{await preloaded(stack, turns * 2, install=install)}", flush=True)
        print(f"\n{await readings(turns * 2)}", flush=True)
    print(f"\n{await cancels(turns)}", flush=True)
    print(f"\n{await lateness(turns)}", flush=True)
