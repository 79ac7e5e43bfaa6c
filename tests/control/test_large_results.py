"""Results that come to many megabytes: the store keeps up, up to a bound that a person sets."""

import asyncio
from pathlib import Path

import pytest

from lineshaft import Answer, Session, Tool
from lineshaft.store import Store
from support import Outside

SCRIPT = "n = 0\nfor _ in range(count):\n    n += len(await large())\nreturn [n, await poke()]"
MEGABYTE = 1_000_000


def session(folder: Path, poke: Tool, *, keep_mb: float = 1_000) -> Session:
    async def large() -> str:
        """Return eight megabytes."""
        await asyncio.sleep(0)
        return "x" * (8 * MEGABYTE)

    tools = [poke, Tool.from_function(large, effect="read")]
    return Session(tools, workspace=folder, store=Store(folder / "runs.db", keep_mb=keep_mb))


@pytest.mark.long
async def test_a_run_that_read_much_pauses_and_goes_on(tmp_path: Path, outside: Outside) -> None:
    poke = outside.tool("poke", effect="external")
    async with session(tmp_path, poke) as host:
        first = await host.run(SCRIPT, inputs={"count": 12})
        assert (first.status, [each.tool for each in first.pending]) == ("paused", ["poke"])
    async with session(tmp_path, poke) as host:
        second = await host.resume(first.run_id, {"*": Answer(allow=True)})
    assert second.error is None
    assert second.value[0] == 96 * MEGABYTE
    assert outside.total == 1


@pytest.mark.parametrize("megabytes", [0, 20])
async def test_beyond_the_bound_a_run_cannot_pause_and_says_why(
    tmp_path: Path, outside: Outside, megabytes: int
) -> None:
    poke = outside.tool("poke", effect="external")
    async with session(tmp_path, poke, keep_mb=megabytes) as host:
        result = await host.run(SCRIPT, inputs={"count": 3})
    assert result.error is not None
    assert result.error.code == "E_NO_PAUSE"
    assert f"it read more than {megabytes} MB" in result.error.message
    assert outside.total == 0
