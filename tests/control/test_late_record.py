"""The record of a run begins with its first deed, and says the same as its result."""

from pathlib import Path

import pytest

from lineshaft import Policy, Session, kit
from lineshaft.trace import summarise
from native import own_state
from support import Outside

SCRIPT = """
await write_file(path="a.txt", content="a")
await poke()
raise ValueError("here")
"""


async def test_what_was_staged_before_it_began_is_not_recorded_as_done_at_once(
    tmp_path: Path, outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_state(tmp_path / "state", monkeypatch)
    (tmp_path / "work").mkdir()
    tools = [outside.tool("poke", effect="external"), kit.tools()]
    async with Session(tools, workspace=tmp_path / "work", policy=Policy("open")) as session:
        result = await session.run(SCRIPT)
        assert session.store is not None
        recorded = summarise(await session.store.events(result.run_id))
    assert [call.staged_after for call in result.calls] == [0, None]
    assert [call.staged_after for call in recorded.calls] == [0, None]
