"""Two answers to one pause: the later one is for the calls that it was given for."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio

from control.world import Open
from lineshaft import Answer, Tool, Toolset

YES = Answer(allow=True)
ASKS = {"id": "ask-act", "tool": "shop.act", "verdict": "ask"}


class Shop:
    """A provider that may be waited for."""

    name = "shop"
    problem = ""

    def __init__(self, acted: list[str], *, open_: bool = True) -> None:
        async def act(what: str) -> str:
            acted.append(what)
            return what

        self.tools = Toolset([Tool.from_function(act, name="shop.act", effect="external")])
        self.asked, self.may_answer = anyio.Event(), anyio.Event()
        if open_:
            self.may_answer.set()

    @asynccontextmanager
    async def opened(self, changed: Callable[[], None]) -> AsyncGenerator[None]:
        """Be there for as long as the block lasts."""
        del changed
        yield

    async def ready(self) -> None:
        """Wait until it may answer."""
        self.asked.set()
        await self.may_answer.wait()


async def test_an_answer_for_all_calls_is_for_those_that_waited_when_it_was_given(
    opened: Open,
) -> None:
    acted: list[str] = []
    slow = Shop(acted, open_=False)
    statuses: list[str] = []
    async with (
        opened(Shop(acted), rules=[ASKS]) as first,
        opened(slow, rules=[ASKS]) as second,
        anyio.create_task_group() as tasks,
    ):
        waits = await first.run("await shop.act('harmless')\nreturn await shop.act('other')")

        async def late() -> None:
            statuses.append((await second.resume(waits.run_id, {"*": YES})).status)

        tasks.start_soon(late)
        await slow.asked.wait()
        again = await first.resume(waits.run_id, {"*": YES})
        assert again.status == "paused"
        slow.may_answer.set()
    assert statuses == ["paused"]
    assert acted == ["harmless"]
