"""A run that began again in full Python is kept as any other: its reads are made once."""

import pytest

from control.world import Open
from lineshaft import Answer
from support import Outside

STOPS = "letters = getattr('ab', 'up' + 'per')()\n"
"""Nothing that reading sees; the small engine has no methods as values."""

YES = {"*": Answer(allow=True)}


@pytest.fixture
def engine(usable_engines: frozenset[str]) -> str:
    """Return the choice between both engines."""
    if "cpython" not in usable_engines:
        pytest.skip("there is no full Python here")
    return "auto"


async def test_it_ends_well_and_can_be_replayed(opened: Open, outside: Outside) -> None:
    look = outside.tool("look", effect="read")
    async with opened(look) as session:
        done = await session.run(f"print(await look(what='a'))\n{STOPS}return letters")
        assert (done.status, done.engine, done.value) == ("success", "cpython", "AB"), done.error
        assert (await session.replay(done.run_id)).difference is None
    assert outside.total == 1


async def test_it_pauses_and_goes_on_without_reading_twice(opened: Open, outside: Outside) -> None:
    look = outside.tool("look", effect="read")
    script = f"seen = await look(what='a')\n{STOPS}await poke()\nreturn [seen, letters]"
    async with opened(look) as session:
        paused = await session.run(script)
        assert (paused.status, paused.engine) == ("paused", "cpython"), paused.error
    async with opened(look) as session:
        done = await session.resume(paused.run_id, YES)
        assert (done.status, done.value) == ("success", [1, "AB"]), done.error
        assert (await session.replay(done.run_id)).difference is None
    assert (outside.counts["look:a"], outside.counts["poke"]) == (1, 1)
