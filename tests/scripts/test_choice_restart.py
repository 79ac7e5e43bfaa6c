"""A script that the small engine stops begins again once, if it has only read."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lineshaft.errors import EngineError, NoBoundary, ToolError
from lineshaft.gate import Gate
from lineshaft.policy import Policy
from lineshaft.scripts import Control, Engines, Ground, Job, Runner, new_run_id
from lineshaft.tools import Tool
from lineshaft.trace import Redactor, summarise
from lineshaft.values import Engine, Event, Limits, RunResult
from lineshaft.workspace import Folder
from scripts.standin import Full

STOPS = "\nreturn getattr('abc', 'up' + 'per')()"
"""Nothing that reading sees; the small engine has no methods as values."""


class House:
    """A runner over counting tools, with full Python or without."""

    def __init__(self, folder: Path) -> None:
        self.made: list[str] = []
        """Calls that reached their tool."""

        self.full = Full()
        self.there = True
        self.engines = Engines("auto", makers={"cpython": self._full})
        self.events: list[Event] = []
        self._folder = folder

    def _full(self) -> Engine:
        if not self.there:
            raise NoBoundary("nothing here can hold it")
        return self.full

    def _tools(self) -> dict[str, Tool]:
        async def look(what: str) -> str:
            """Read something."""
            self.made.append(f"look {what}")
            if what == "nothing":
                raise ToolError("E_FILE_NOT_FOUND", "there is nothing")
            return f"{what} {len(self.made)}"

        async def put(what: str) -> str:
            """Write something."""
            self.made.append(f"put {what}")
            return what

        return {
            "look": Tool.from_function(look, effect="read"),
            "put": Tool.from_function(put, effect="write"),
        }

    async def run(self, script: str, *, calls: int = 20) -> RunResult:
        """Run a script."""
        gate = Gate(tools=self._tools(), policy=Policy(mode="open"), redactor=Redactor())
        runner = Runner(
            gate,
            ground=Ground(workspace=Folder(self._folder)),
            engines=self.engines,
            check="error",
            sinks=(self.events.append,),
        )
        limits = Limits(seconds=20, calls=calls)
        return await runner.run(
            Job(script=script, limits=limits), run_id=new_run_id(), control=Control(20)
        )


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """Return a house; its engines end with the test."""
    made = House(tmp_path)
    yield made
    await made.engines.aclose()


def _calls(result: RunResult) -> list[tuple[str, str]]:
    return [(call.tool, call.status) for call in result.calls]


async def test_reads_are_answered_from_the_record_and_listed_once(house: House) -> None:
    result = await house.run(
        "a = await look(what='x')\nb = await look(what='x')\nprint(a)\nprint(b)" + STOPS
    )
    assert (result.status, result.value, result.engine) == ("success", "ABC", "cpython")
    assert house.made == ["look x", "look x"]
    assert result.stdout == "x 1\nx 2\n"
    assert _calls(result) == [("look", "done"), ("look", "done")]
    assert result.usage is not None
    assert result.usage.calls == {"look": 2}


async def test_the_reason_says_where_it_stopped_and_what_is_known(house: House) -> None:
    result = await house.run("await look(what='x')" + STOPS)
    assert result.engine_reason == (
        "the small engine stopped (line 2: 'str' object has no attribute 'upper');"
        " begun again with 1 reads known"
    )


async def test_the_record_tells_the_restart_and_gives_the_result_back(house: House) -> None:
    result = await house.run("print(await look(what='x'))" + STOPS)
    kinds = [event.kind for event in house.events]
    assert kinds.count("run_restarted") == kinds.count("call_started") == 1
    assert kinds[0] == "run_started"
    assert summarise(house.events) == result


async def test_a_failed_read_fails_again_without_being_made(house: House) -> None:
    script = (
        "try:\n    await look(what='nothing')\nexcept ToolError as e:\n    print(e.code)" + STOPS
    )
    result = await house.run(script)
    assert (result.value, result.stdout) == ("ABC", "E_FILE_NOT_FOUND\n")
    assert house.made == ["look nothing"]
    assert _calls(result) == [("look", "failed")]


async def test_calls_that_are_new_in_full_python_are_made(house: House) -> None:
    script = "a = await look(what='x')\nb = getattr(a, 'up' + 'per')()\nawait put(what=b)\nreturn b"
    result = await house.run(script)
    assert result.value == "X 1"
    assert house.made == ["look x", "put X 1"]
    assert _calls(result) == [("look", "done"), ("put", "done")]
    assert len({call.id for call in result.calls}) == 2


async def test_known_reads_count_once_against_the_limit_of_calls(house: House) -> None:
    script = "for _ in range(2):\n    await look(what='x')\nx = getattr('a', 'up' + 'per')\n"
    more = "await look(what='y')\nreturn x()"
    assert (await house.run(script + more, calls=3)).value == "A"
    over = await house.run(script + more, calls=2)
    assert over.error is not None
    assert over.error.code == "E_CALL_LIMIT"


async def test_after_any_other_call_it_is_an_error_that_says_so(house: House) -> None:
    result = await house.run("await look(what='x')\nawait put(what='y')" + STOPS)
    assert (result.status, result.engine) == ("error", "monty")
    assert result.error is not None
    assert "not begun again in full Python: it had called 'put'" in result.error.message
    assert "'str' object has no attribute 'upper'" in result.engine_reason
    assert house.made == ["look x", "put y"]
    assert house.full.scripts == []


async def test_an_error_of_the_script_itself_is_no_reason(house: House) -> None:
    for script in ("return {}['a']", "return None.x", "class A:\n    pass\nA().y", "1 / 0"):
        result = await house.run(f"await look(what='x')\n{script}")
        assert (result.status, result.engine) == ("error", "monty"), script
    assert house.full.scripts == []


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("import pathlib\nreturn str(min(map(pathlib.Path, ['b', 'a'])))", "a"),
        (
            "import datetime\nhours = 1.5\nreturn str(datetime.timedelta(hours=2) * hours)",
            "3:00:00",
        ),
        ("import re\nreturn re.findall(b'a', b'aa') == [b'a', b'a']", True),
        ("powers = [-1]\nreturn [pow(3, power, 7) for power in powers]", [5]),
        ("return int(''.join([chr(0x663), '4']))", 34),
        ("return float(''.join([chr(0x663), '.5']))", 3.5),
    ],
)
async def test_errors_that_full_python_does_not_have_begin_again(
    house: House, script: str, value: object
) -> None:
    assert (await house.run(script)).value == value
    assert len(house.full.scripts) == 1


async def test_it_begins_again_once(house: House) -> None:
    script = "await look(what='x')\ngetattr('abc', 'up' + 'per')\nraise ValueError('in the end')"
    result = await house.run(script)
    assert result.error is not None
    assert result.error.message == "ValueError: in the end"
    assert len(house.full.scripts) == 1


async def test_without_full_python_the_small_engines_error_stands(house: House) -> None:
    house.there = False
    result = await house.run("await look(what='x')" + STOPS)
    assert (result.status, result.engine) == ("error", "monty")
    assert result.error is not None
    assert "no attribute 'upper'" in result.error.message
    assert house.made == ["look x"]


async def test_what_full_python_is_needed_for_goes_there_at_once(house: House) -> None:
    result = await house.run("x = {'a': 1}\ndel x['a']\nreturn await look(what='x')")
    assert (result.value, result.engine) == ("x 1", "cpython")
    assert result.engine_reason == "line 2: `del` of an item"
    assert not [event for event in house.events if event.kind == "run_restarted"]


async def test_a_full_python_that_does_not_start_is_an_error_with_its_code(house: House) -> None:
    class Broken(Full):
        async def run(self, *positional: object, **named: object) -> object:  # pyright: ignore[reportIncompatibleMethodOverride]  it never looks
            raise EngineError("it does not start", hint="look elsewhere")

    house.full = Broken()
    result = await house.run("x = {'a': 1}\ndel x['a']")
    assert result.error is not None
    assert (result.error.code, result.status) == ("E_ENGINE", "error")
    assert result.error.message == "it does not start; look elsewhere"
