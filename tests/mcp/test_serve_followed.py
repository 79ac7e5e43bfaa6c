"""Runs behind a front that clients follow: what each is told, and a client that is gone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from fronts import OPEN
from lineshaft import Context, Session, tool
from lineshaft.mcp.front import Front
from lineshaft.mcp.front.client import AskedWhen, Note, Question, Said, ToolReply
from lineshaft.values import Askable


@dataclass
class Follower:
    """A client that can be asked nothing."""

    heard: list[str] = field(default_factory=list[str])
    follows: anyio.Event = field(default_factory=anyio.Event)
    is_gone: bool = False
    offers: frozenset[Askable] = frozenset()
    asks: AskedWhen = "never"
    trace: Mapping[str, str] = field(default_factory=dict[str, str])
    state: str = ""
    said: Mapping[str, Said] = field(default_factory=dict[str, Said])

    @property
    def reach(self) -> AskedWhen:
        """Never; looked at once there is nothing more to tell."""
        self.follows.set()
        return "never"

    async def ask(self, question: Question) -> Said:
        raise AssertionError(question)

    async def tell(self, note: Note) -> None:
        if self.is_gone:
            raise anyio.BrokenResourceError
        self.heard.append(note.text)


@pytest.mark.parametrize("count", [3, 250])
async def test_each_who_follows_a_run_hears_all_of_it(count: int, tmp_path: Path) -> None:
    go_on = anyio.Event()

    @tool(effect="read")
    async def steps(context: Context) -> None:
        """Take steps once all follow."""
        await go_on.wait()
        for number in range(count):
            context.progress(number)

    first, second = Follower(), Follower()
    async with Session(
        [steps], workspace=tmp_path, policy=OPEN, store=tmp_path / "s.db"
    ) as session:
        front = Front(session)
        async with front.opened():
            begun = await front.call(
                "run", {"code": "await steps()", "background": True}, Follower()
            )
            assert isinstance(begun, ToolReply)
            assert begun.run is not None
            run_id = begun.run["run_id"]

            async def follow(client: Follower) -> None:
                await front.call("resume", {"run_id": run_id}, client)

            async with anyio.create_task_group() as group:
                for client in (first, second):
                    group.start_soon(follow, client)
                    await client.follows.wait()
                go_on.set()
            later = Follower()
            await follow(later)
    newest = [f"steps {number}" for number in range(count)][-200:]
    assert first.heard[-len(newest) :] == newest
    assert second.heard[-len(newest) :] == newest
    assert not later.heard


async def test_a_run_ends_when_nothing_can_be_told_to_its_client(tmp_path: Path) -> None:
    ended = anyio.Event()

    @tool(effect="read")
    async def wait(context: Context) -> None:
        """Wait for ever."""
        context.progress(1)
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    arguments: Mapping[str, Any] = {"code": "await wait()"}
    async with Session([wait], workspace=tmp_path, policy=OPEN, store=False) as session:
        front = Front(session)
        async with front.opened():
            with pytest.raises(anyio.BrokenResourceError):
                await front.call("run", arguments, Follower(is_gone=True))
            with anyio.fail_after(10):
                await ended.wait()
