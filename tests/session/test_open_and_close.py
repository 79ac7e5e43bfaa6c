"""A session is opened and closed by whichever task, in whichever order."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from lineshaft import ConfigError, Session, Toolset, tool
from lineshaft.tools import Provider


@tool(effect="read")
async def one() -> int:
    """Return one."""
    return 1


class Place:
    """A provider that tells whether it is open."""

    name = "place"
    problem = ""
    tools = Toolset()

    def __init__(self, *, fails: bool = False) -> None:
        self.is_open = False
        self._fails = fails

    @asynccontextmanager
    async def opened(self, changed: Callable[[], None]) -> AsyncGenerator[None]:
        """Be open."""
        del changed
        if self._fails:
            raise ConfigError("the place is closed today")
        self.is_open = True
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(anyio.sleep_forever)
                yield
                group.cancel_scope.cancel()
        finally:
            self.is_open = False

    async def ready(self) -> None:
        """Return at once."""


def session_with(place: Provider) -> Session:
    return Session([one, place], store=False)


async def test_two_sessions_are_closed_in_the_order_in_which_they_were_opened() -> None:
    places = Place(), Place()
    first, second = (session_with(place) for place in places)
    await first.__aenter__()
    await second.__aenter__()
    await first.__aexit__(None, None, None)
    assert [place.is_open for place in places] == [False, True]
    assert (await second.run("return await one()")).value == 1
    await second.__aexit__(None, None, None)
    assert not places[1].is_open


async def test_one_task_opens_a_session_and_another_closes_it() -> None:
    place = Place()
    session = session_with(place)
    await asyncio.create_task(session.__aenter__())
    run = await (await asyncio.create_task(session.start("return await one()"))).result()
    assert run.value == 1
    await asyncio.create_task(session.__aexit__(None, None, None))
    assert not place.is_open


async def test_a_session_that_cannot_be_opened_says_why_and_closes_what_it_had_opened() -> None:
    place = Place()
    with pytest.raises(ConfigError, match="closed today"):
        async with Session([place, _other(Place(fails=True))], store=False):
            pytest.fail("it was opened")
    assert not place.is_open


def _other(place: Place) -> Place:
    place.name = "other"
    return place


async def test_a_cancelled_block_closes_its_session() -> None:
    place = Place()
    with anyio.CancelScope() as scope:
        async with session_with(place):
            scope.cancel()
            await anyio.sleep_forever()
    assert not place.is_open


def test_a_session_that_nobody_closed_is_closed_with_its_loop() -> None:
    place = Place()

    async def main() -> None:
        await session_with(place).__aenter__()
        assert place.is_open

    asyncio.run(main())
    assert not place.is_open


def test_a_session_says_that_it_belongs_to_another_loop() -> None:
    session = session_with(Place())

    async def enter() -> None:
        await session.__aenter__()
        assert (await session.call("one")).value == 1

    asyncio.run(enter())
    later: list[Callable[[], Coroutine[Any, Any, object]]] = [
        lambda: session.run("return 1"),
        lambda: session.start("return 1"),
        lambda: session.preview("return 1"),
        lambda: session.check("return 1"),
        lambda: session.call("one"),
        lambda: session.__aexit__(None, None, None),
    ]
    for use in later:
        with pytest.raises(ConfigError, match="the event loop in which it was entered") as caught:
            asyncio.run(use())
        assert "asyncio.run" in caught.value.hint
