"""The language as users meet it: the same scripts, through a session, on every engine."""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.from_thread import start_blocking_portal

from lineshaft import Limits, Policy, RunResult, Session, Tool
from lineshaft.errors import ConfigError, ToolError

SCRIPTS: list[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "scripts.toml").read_text(encoding="utf-8")
)["script"]

RunScript = Callable[[Mapping[str, Any]], RunResult]


def _is_there(engine: str) -> bool:
    try:
        Session(engine=engine)
    except ConfigError:
        return False
    return True


ENGINES = [name for name in ("auto", "wasm", "cpython") if _is_there(name)]


class Tools:
    """What the scripts call."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Forget who met."""
        self._here = 0
        self._all_here = anyio.Event()

    def tools(self) -> list[Tool]:
        """Return the tools; none of them touches anything."""
        return [
            Tool.from_function(self.big, effect="read"),
            Tool.from_function(self.meet, effect="read"),
            Tool.from_function(self.hang, effect="read"),
            *(Tool.from_function(self.give, name=name, effect="read") for name in _both("give")),
            *(Tool.from_function(self.fail, name=name, effect="read") for name in _both("fail")),
            Tool.from_function(self.break_down, effect="read"),
            Tool.from_schema(
                name="own",
                description="Return what is given.",
                input_schema={"type": "object", "properties": {"self": {"type": "integer"}}},
                function=_given,
                effect="read",
            ),
        ]

    async def give(self, value: Any = None) -> Any:
        """Return what is given."""
        return value

    async def fail(self, code: str, message: str) -> None:
        """Fail."""
        raise ToolError(code, message)

    async def break_down(self, value: int) -> None:
        """Fail by mistake."""
        raise ZeroDivisionError(value)

    async def big(self, n: int) -> str:
        """Return a long text."""
        return "x" * n

    async def meet(self, n: int) -> str:
        """Return when n calls of it are under way."""
        self._here += 1
        if self._here == n:
            self._all_here.set()
        await self._all_here.wait()
        return "met"

    async def hang(self) -> None:
        """Do not return."""
        await anyio.sleep_forever()


async def _given(**arguments: int) -> int:
    return arguments["self"]


def _both(name: str) -> tuple[str, str]:
    return name, f"ns.{name}"


@pytest.fixture(scope="module")
def run(request: pytest.FixtureRequest) -> Iterator[RunScript]:
    """Return what runs a script on an engine, in one session for all."""
    tools = Tools()

    async def run(session: Session, script: Mapping[str, Any]) -> RunResult:
        tools.begin()
        limits = Limits(**{"seconds": 30, **script.get("limits", {})})
        with anyio.fail_after(60):
            return await session.run(script["text"], inputs=script.get("inputs"), limits=limits)

    session = Session(tools.tools(), engine=request.param, policy=Policy(mode="read"))
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(session) as opened,
    ):
        yield lambda script: portal.call(run, opened, script)


def _with_nothing(value: Any) -> Any:
    """Put back the None that TOML does not have."""
    if isinstance(value, dict):
        return {key: _with_nothing(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]  any data
    if isinstance(value, list):
        return [_with_nothing(item) for item in value]  # pyright: ignore[reportUnknownVariableType]  any data
    return None if value == "<null>" else value


def _wrong(script: dict[str, Any], result: RunResult) -> list[str]:
    """Return what is not as it must be."""
    wanted: dict[str, Any] = script.get("error", {})
    error = result.error
    seen: dict[str, object] = {
        "status": result.status,
        "value": repr(result.value),
        "stdout": result.stdout,
        "stderr": result.stderr,
        "calls": [call.tool for call in result.calls],
    }
    must: dict[str, object] = {
        "status": wanted.get("status", "error" if wanted else "success"),
        "value": repr(_with_nothing(script.get("value"))),
        "stdout": script.get("stdout", ""),
        "stderr": script.get("stderr", ""),
        "calls": script.get("calls", []),
    }
    if error is not None and wanted:
        seen |= {"code": error.code, "line": error.line}
        must |= {"code": wanted.get("code", error.code), "line": wanted.get("line", error.line)}
        seen["part"] = wanted.get("part", "") if wanted.get("part", "") in error.message else error
        must["part"] = wanted.get("part", "")
    return [
        f"{name}: {seen[name]!r}, not {wanted!r} ({error and error.message})"
        for name, wanted in must.items()
        if wanted != "*" and seen[name] != wanted
    ]


@pytest.mark.parametrize("script", SCRIPTS, ids=[script["name"] for script in SCRIPTS])
@pytest.mark.parametrize("run", ENGINES, indirect=True)
def test_a_script_gives_the_same_on_every_engine(run: RunScript, script: dict[str, Any]) -> None:
    assert _wrong(script, run(script)) == []
