"""A store that cannot be used: the run's result says so, and nothing is done that is not kept."""

from pathlib import Path

import pytest

from lineshaft import Policy, Session
from lineshaft.errors import RecordError
from support import Outside

NO_DATABASE = b"this is no database" * 1_000
OPEN = Policy(mode="open")


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """Return a store file that is none."""
    path = tmp_path / "runs.db"
    path.write_bytes(NO_DATABASE)
    return path


async def test_a_call_that_cannot_be_kept_is_not_made(
    tmp_path: Path, damaged: Path, outside: Outside
) -> None:
    poke = outside.tool("poke", effect="external")
    async with Session([poke], workspace=tmp_path, policy=OPEN, store=damaged) as session:
        result = await session.run(
            "try:\n    await poke()\nexcept Exception:\n    return 'went on'"
        )
    assert outside.total == 0
    assert result.status == "error"
    assert result.error is not None
    assert result.error.code == "E_STORE"
    assert "'runs.db' is damaged: the file is no database" in result.error.message
    assert damaged.read_bytes() == NO_DATABASE


async def test_a_run_whose_end_cannot_be_kept_says_so_once(tmp_path: Path, damaged: Path) -> None:
    async with Session(workspace=tmp_path, store=damaged) as session:
        result = await session.run("return 1")
    assert result.status == "error"
    assert result.error is not None
    assert "the file is no database" in result.error.message


async def test_a_record_that_was_lost_without_a_word_is_told_of_at_the_end(
    tmp_path: Path, damaged: Path, outside: Outside
) -> None:
    session = Session([outside.tool("poke")], workspace=tmp_path, policy=OPEN, store=damaged)
    await session.__aenter__()
    made = await session.call("poke")
    assert (outside.total, made.error) == (1, None)
    with pytest.raises(RecordError, match="the file is no database"):
        await session.__aexit__(None, None, None)
