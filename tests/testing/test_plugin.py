"""The fixture `scripted`, in the tests of a project that has Lineshaft installed."""

import subprocess
import sys

import pytest

from native import CACHE_HOME

pytest_plugins = ["pytester"]

PROJECT = """
from typing import Literal

import pytest
from pydantic import BaseModel

from lineshaft import Session, kit
from lineshaft.agents import Microagent
from lineshaft.errors import AgentError
from lineshaft.testing import ScriptedAgents, call, exit_with

class Verdict(BaseModel):
    label: Literal["bug", "question"]

triage = Microagent[Verdict](
    name="triage", instructions="Say its kind.", tools=[kit.tools("read_file")], model="openai:x"
)
other = Microagent[int](name="other", instructions="Count.", model="openai:x")
"""


@pytest.fixture(autouse=True)
def native_code_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a project of another home find the native code of the image."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(CACHE_HOME))


def passed(pytester: pytest.Pytester, tests: str, **counts: int) -> str:
    """Run tests of a project; return what pytest printed."""
    pytester.makepyfile(PROJECT + tests)
    done = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider")
    done.assert_outcomes(**counts)
    return done.stdout.str()


def test_an_agent_answers_as_the_test_has_written(pytester: pytest.Pytester) -> None:
    tests = """
def test_triage(scripted: ScriptedAgents, tmp_path):
    (tmp_path / "a.md").write_text("It crashes.")
    model = scripted(triage=[call("read_file", path="a.md"), exit_with(label="bug")])
    assert triage.run_sync(text="a.md", model=model, workspace=tmp_path).output.label == "bug"
    assert "It crashes." in model.requests[1].messages[-1].text

async def both(model):
    async with Session([triage.with_model(model), other.with_model(model)]) as session:
        script = '''
found = await asyncio.gather(agents.other(text="a"), agents.triage(text="b"))
return [found[0], found[1]["label"]]
'''
        return (await session.run(script)).raise_for_status().value

def test_one_model_speaks_to_each_agent(scripted):
    import asyncio
    assert asyncio.run(both(scripted(triage=[exit_with(label="bug")], other=[exit_with(7)]))) == [
        7, "bug"
    ]
"""
    passed(pytester, tests, passed=2)


def test_an_agent_without_replies_is_named(pytester: pytest.Pytester) -> None:
    tests = """
def test_no_more(scripted):
    triage.run_sync(text="a", model=scripted(triage=[call("read_file", path="a.md")]))

def test_never(scripted):
    triage.run_sync(text="a", model=scripted(other=[]))
"""
    said = passed(pytester, tests, failed=2)
    assert "scripted has 1 replies for the agent 'triage', and was asked once more" in said
    assert "scripted has no replies for the agent 'triage', only for: other" in said


def test_replies_that_nobody_asked_for_fail_the_test(pytester: pytest.Pytester) -> None:
    tests = """
def test_more(scripted):
    model = scripted(triage=[exit_with(label="bug"), call("read_file", path="a.md")], other=[])
    assert triage.run_sync(text="a", model=model).output.label == "bug"

def test_fails_by_itself(scripted):
    scripted(triage=[exit_with(label="bug")])
    assert 1 == 2
"""
    said = passed(pytester, tests, passed=1, failed=1, errors=1)
    assert "scripted: the agent 'triage' did not ask for 1 of its replies" in said


def test_a_project_that_does_not_use_it_pays_next_to_nothing() -> None:
    names = "('lineshaft', 'pydantic', 'anyio')"
    code = (
        "import sys, lineshaft.testing._plugin; "
        f"print([each for each in sys.modules if each.startswith({names})])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = ["lineshaft", "lineshaft.testing", "lineshaft.testing._plugin"]
    assert done.stdout.strip() == str(loaded)


def test_importing_lineshaft_loads_no_pytest() -> None:
    code = "import sys, lineshaft, lineshaft.agents; print('pytest' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
