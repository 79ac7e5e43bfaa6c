"""Where hostile scripts are let loose: the engines of sessions, and `python_run`."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol, cast

import anyio

from hostile.cases import Case
from lineshaft import Limits, Policy, Session, Tool, kit
from lineshaft.values import WASM_BOUNDARY, PythonOptions

LIMITS = Limits(seconds=0.5, memory_mb=128, calls=50, stdout_bytes=10_000, stderr_bytes=10_000)
PATIENT = Limits(seconds=15)
BESIDE = "return [await give(value=n) for n in range(3)]"

PROGRAM_SECONDS = 1.5
"""A program's time; a new interpreter starts in it."""

LATE = 0.6
"""Seconds in which a late call would come."""

POLICY = {"mode": "open", "rules": [{"id": "shut", "tool": "vault", "verdict": "deny"}]}
CHILD = Path(__file__).with_name("child.py").read_text(encoding="utf-8")

Kind = Literal["wasm", "cpython", "python_run"]


@dataclass(frozen=True, slots=True)
class Way:
    """One way for a script to be run, behind one boundary."""

    kind: Kind
    boundary: str | None = None
    """None: the engine has its own."""

    @property
    def id(self) -> str:
        """What to call it."""
        return f"{self.kind}-{self.boundary}" if self.boundary else self.kind

    def options(self, python: str | None) -> PythonOptions:
        """Return which Python runs it.

        Args:
            python: Where that is; None: the usual places.
        """
        path = None if self.boundary == WASM_BOUNDARY else python  # it has a Python of its own
        return PythonOptions(path=path, boundary=self.boundary, seconds=PROGRAM_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What one script showed to whoever had it run."""

    said: tuple[object, ...]
    """Everything that came back."""

    value: object
    stdout: str
    stderr: str
    most: tuple[int, int]
    """How much of both streams may be kept."""

    ended_well: bool
    amiss: tuple[str, ...] = ()
    """What is wrong whatever the script was after."""


class Ground(Protocol):
    """Runs scripts, one at a time."""

    async def run(self, case: Case, inputs: Mapping[str, Any]) -> Shown:
        """Run a case, and something harmless beside it and after it."""
        ...


class Scripts:
    """Runs cases as scripts of one session.

    Args:
        session: The session.
        calls: What its tools note.
    """

    def __init__(self, session: Session, calls: list[str]) -> None:
        self._session = session
        self._calls = calls

    async def run(self, case: Case, inputs: Mapping[str, Any]) -> Shown:
        """Run a case, and something harmless beside it and after it."""
        before = len(self._calls)
        result, beside = await asyncio.gather(
            self._session.run(case.script, inputs=inputs),
            self._session.run(BESIDE, limits=PATIENT),
        )
        after = len(self._calls)
        if case.sign == "calls" and "Module" not in str(result.error):
            await anyio.sleep(LATE)
        following = await self._session.run("return 40 + 2", limits=PATIENT)
        amiss = [
            *("a call came after the end" for _ in self._calls[after:]),
            *("what is shut was opened" for what in self._calls[before:] if what == "vault"),
            *_unlike("a run beside it", beside.value, [0, 1, 2], beside.error),
            *_unlike("the run after it", following.value, 42, following.error),
        ]
        return Shown(
            said=(
                result.value,
                result.stdout,
                result.stderr,
                result.error and result.error.message,
            ),
            value=result.value,
            stdout=result.stdout,
            stderr=result.stderr,
            most=(2 * LIMITS.stdout_bytes, 2 * LIMITS.stderr_bytes),
            ended_well=result.status == "success",
            amiss=tuple(amiss),
        )


@asynccontextmanager
async def scripts(way: Way, folder: Path, python: str | None) -> AsyncGenerator[Scripts]:
    """Open a session in which a script has run already."""
    calls: list[str] = []

    async def give(value: Any = None) -> Any:
        return value

    async def poke(what: str = "") -> None:
        calls.append(what)

    async def vault(what: str = "") -> None:
        calls.append("vault")

    async with Session(
        [Tool.from_function(give), Tool.from_function(poke), Tool.from_function(vault)],
        workspace=folder,
        engine=way.kind,
        policy=Policy.from_dict(POLICY),
        limits=LIMITS,
        check="off",
        python=way.options(python),
    ) as session:
        assert (await session.run("1")).value == 1
        yield Scripts(session, calls)


class Programs:
    """Runs each case as a program in a workspace of its own.

    Args:
        folder: For the workspaces.
        options: Which Python, behind which boundary.
    """

    def __init__(self, folder: Path, options: PythonOptions) -> None:
        self._folder = folder
        self._empty = folder / "empty"
        self._empty.mkdir()
        self._options = options

    async def run(self, case: Case, inputs: Mapping[str, Any]) -> Shown:
        """Run a case, and something harmless beside it and after it."""
        workspace = self._folder / case.id
        workspace.mkdir()
        job = {"source": case.script, "inputs": inputs, "calls": "calls", "value": 1}
        order = json.dumps({**job, "limits": {}, "user": None})
        (workspace / "order.json").write_text(order, encoding="utf-8")
        async with self._session(workspace, self._options) as session:
            answer = await _answer(session, code=CHILD, args=["order.json"])
        amiss = [f"it did not run: {answer}"] if _did_not_run(answer) else []
        if case.sign in _AFTERMATH:
            patient = replace(self._options, seconds=PATIENT.seconds)
            async with self._session(self._empty, patient) as session:
                following = await _answer(session, code="print(42)")
            amiss += _unlike("a program after it", following.get("stdout"), "42\n", following)
        return _shown(answer, tuple(amiss))

    def _session(self, workspace: Path, options: PythonOptions) -> Session:
        tools = kit.tools("python_run")
        return Session(tools, workspace=workspace, policy=Policy(mode="open"), python=options)


_AFTERMATH = frozenset({"breaks", "eats", "outlives", "signals"})
"""What a script is after that could spoil more than its own jail; each program has one."""


@asynccontextmanager
async def programs(way: Way, folder: Path, python: str | None) -> AsyncGenerator[Programs]:
    """Return a place for programs."""
    yield Programs(folder, way.options(python))


async def _answer(session: Session, **arguments: object) -> dict[str, Any]:
    called = await session.call("python_run", arguments)
    assert called.error is None, called.error
    return cast("dict[str, Any]", called.value)


def _did_not_run(answer: dict[str, Any]) -> bool:
    """Return whether nothing can be learned from a program, because there was none."""
    return not answer["ok"] and answer["error"]["code"].startswith(("PYTHON_EX", "PYTHON_NOT"))


def _shown(answer: dict[str, Any], amiss: tuple[str, ...]) -> Shown:
    details = answer if answer["ok"] else answer["error"]["details"]
    stdout, stderr = details.get("stdout", ""), details.get("stderr", "")
    ended_well = answer["ok"] and answer["exitCode"] == 0
    last = stdout.rstrip("\n").rpartition("\n")[2]
    return Shown(
        said=(answer,),
        value="honest" if ended_well and last.endswith('"honest"') else last,
        stdout=stdout,
        stderr=stderr,
        most=(2 * 50_000, 2 * 10_000),
        ended_well=ended_well,
        amiss=amiss,
    )


def _unlike(what: str, found: object, expected: object, error: object) -> list[str]:
    return [] if found == expected else [f"{what} gave {found!r} ({error})"]


Open = Callable[[Way, Path, str | None], AbstractAsyncContextManager[Ground]]


def ground(way: Way, folder: Path, python: str | None) -> AbstractAsyncContextManager[Ground]:
    """Return where the scripts of a way are run."""
    opened: Open = programs if way.kind == "python_run" else scripts
    return opened(way, folder, python)
