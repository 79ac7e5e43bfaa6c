"""A run that waits for a person leaves the event loop in peace."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from lineshaft import Answer, Pending, Session, tool
from lineshaft.testing import ScriptedEngine
from lineshaft.values import Call

TURNS = 200


@tool(effect="external")
async def act(number: int) -> int:
    """Do it."""
    return number


async def test_nothing_is_done_while_a_person_thinks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[object] = []

    async def think(pending: Sequence[Pending]) -> Mapping[str, Answer]:
        loop = asyncio.get_running_loop()
        usual = loop.call_soon

        def counted(callback: Callable[..., object], *args: object, **more: object) -> object:
            done.append(callback)
            return usual(callback, *args, **more)  # pyright: ignore[reportArgumentType]  as given

        with monkeypatch.context() as patch:
            patch.setattr(loop, "call_soon", counted)
            for _ in range(TURNS):
                await asyncio.sleep(0)
        return {each.id: Answer(allow=True) for each in pending}

    both = [Call(tool="act", arguments={"number": each}, origin="script") for each in (1, 2)]
    engine = ScriptedEngine([both])
    async with Session([act], workspace=tmp_path, engine=engine, approver=think) as session:
        result = await session.run("anything")
    assert [call.status for call in result.calls] == ["done", "done"]
    assert TURNS <= len(done) < TURNS * 1.5, "only the person's own turns"
