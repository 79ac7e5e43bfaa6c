"""What a user's type checker sees of microagents: pyright, run over this file, and ty, run here."""

import subprocess
import sys
from pathlib import Path
from typing import Any, Literal, assert_type

import pytest
from pydantic import BaseModel

from lineshaft.agents import AgentResult, Microagent
from lineshaft.testing import ScriptedModel, exit_with
from lineshaft.values import Context

GOOD = """
from typing import Literal, assert_type
from pydantic import BaseModel
from lineshaft.agents import AgentResult, AgentUsage, Microagent
from lineshaft.errors import AgentError, AgentPaused
from lineshaft.values import Context, Pending

class Verdict(BaseModel):
    label: Literal["bug", "question"]
    why: str

def short(verdict: Verdict) -> str | None:
    return None if verdict.why else "say why"

async def with_context(verdict: Verdict, context: Context) -> bool:
    return bool(context.run_id and verdict.why)

def number(result: int) -> bool:
    return result > 0

triage = Microagent[Verdict](name="triage", instructions="Say it.", validate=short)
again = Microagent[Verdict](name="again", instructions="Say it.", validate=with_context)
counting = Microagent[int](name="count", instructions="Count.", validate=number)

async def main() -> None:
    result = await triage.run(text="x")
    assert_type(result, AgentResult[Verdict])
    assert_type(result.output, Verdict)
    assert_type(counting.run_sync(text="x").output, int)
    try:
        await triage.run(text="x", history=result.messages)
    except AgentPaused as paused:
        assert_type(paused.pending, tuple[Pending, ...])
    except AgentError as error:
        assert_type(error.usage, AgentUsage | None)
        await triage.run(text="once more", history=error.history)
"""
BAD = "wrong = Microagent[Verdict](name='wrong', instructions='Say it.', validate=number)\n"


class Verdict(BaseModel):
    """A kind and why."""

    label: Literal["bug", "question"]
    why: str


def short(verdict: Verdict) -> str | None:
    return None if verdict.why else "say why"


async def with_context(verdict: Verdict, context: Context) -> bool:
    return bool(context.run_id and verdict.why)


async def test_an_agents_result_has_the_declared_type(tmp_path: Path) -> None:
    model = ScriptedModel([exit_with(label="bug", why="x")] * 2)
    plain = Microagent[Verdict](name="a", instructions="Say.", model=model, validate=short)
    result = await plain.run(text="x", workspace=tmp_path)
    assert_type(result, AgentResult[Verdict])
    assert_type(result.output, Verdict)
    assert result.output == Verdict(label="bug", why="x")
    more = Microagent[Verdict](name="b", instructions="Say.", model=model, validate=with_context)
    assert (await more.run(text="x", workspace=tmp_path)).output.why == "x"


def checked(command: list[str], file: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*command, str(file)], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("checker", ["pyright", "ty"])
def test_type_checkers_know_the_result_and_refuse_a_validator_of_another(
    tmp_path: Path, checker: str
) -> None:
    interpreter: dict[str, list[str]] = {
        "pyright": [sys.executable, "-m", "pyright", "--pythonpath", sys.executable],
        "ty": [str(Path(sys.executable).with_name("ty")), "check", "--python", sys.executable],
    }
    pytest.importorskip(checker, reason=f"{checker} is not installed")
    file = tmp_path / "agents.py"
    file.write_text(GOOD)
    good = checked(interpreter[checker], file)
    assert good.returncode == 0, good.stdout
    file.write_text(GOOD + BAD)
    bad = checked(interpreter[checker], file)
    assert bad.returncode == 1
    assert f"agents.py:{GOOD.count(chr(10)) + 1}" in bad.stdout
    told: Any = "1 error" if checker == "pyright" else "1 diagnostic"
    assert told in bad.stdout
