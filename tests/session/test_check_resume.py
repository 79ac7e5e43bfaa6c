"""`Session.check_resume`: whether a run could go on here, before a person is asked."""

from pathlib import Path

import pytest

from lineshaft import ConfigError, Policy, Session, tool
from lineshaft.errors import StateError
from lineshaft.values import Answer, PythonOptions

ASKS = Policy.from_dict({"rules": [{"id": "ask", "tool": "send", "verdict": "ask"}]})


@tool(effect="read")
async def send(to: str) -> str:
    """Send something."""
    return to


@tool(effect="read")
async def other() -> None:
    """Do nothing."""


async def test_a_run_whose_tools_are_here_passes_and_others_are_refused(tmp_path: Path) -> None:
    def session(*tools: object) -> Session:
        return Session(tools, workspace=tmp_path, policy=ASKS, store=tmp_path / "runs.db")

    async with session(send, other) as first:
        run = await first.run("await send(to='a')\nawait other()")
        assert run.status == "paused"
        await first.check_resume(run.run_id)
    for here in ((send,), (other,)):
        async with session(*here) as second:
            with pytest.raises(ConfigError, match=f"run '{run.run_id}' cannot go on"):
                await second.check_resume(run.run_id)
    async with session(send, other) as third:
        done = await third.resume(run.run_id, {"*": Answer(allow=True)})
        assert done.status == "success"
        with pytest.raises(StateError, match="is over"):
            await third.check_resume(run.run_id)
        with pytest.raises(StateError):
            await third.check_resume("nobody")


async def test_a_run_whose_module_changed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("WORD = 1")
    options = PythonOptions(workspace_imports=True)
    async with Session(
        [send], workspace=tmp_path, policy=ASKS, store=tmp_path / "runs.db", python=options
    ) as session:
        run = await session.run("import helper\nawait send(to='a')")
        assert run.status == "paused"
        await session.check_resume(run.run_id)
        (tmp_path / "helper.py").write_text("WORD = 2")
        with pytest.raises(StateError, match=r"imported 'helper.py', which is another file now"):
            await session.check_resume(run.run_id)
