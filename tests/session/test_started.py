"""Runs that go on in the background, and what host code may give to a session."""

import anyio
import pytest

from lineshaft import Context, Event, Run, Session, tool
from lineshaft.values import Call, Value


@tool(effect="read")
async def label(names: dict[str, str]) -> int:
    """Count labels."""
    return len(names)


@tool(effect="read", container=True)
async def box(context: Context) -> str:
    """Call a tool with what is no JSON."""
    done = await context.dispatch(Call(tool="label", arguments={"names": {1: "a"}}, origin="code"))
    return "ok" if isinstance(done, Value) else done.code


class Broken(dict[str, str]):
    """A mapping that cannot be read."""

    def items(self) -> object:  # pyright: ignore[reportIncompatibleMethodOverride]  it is broken
        """Fail."""
        raise ZeroDivisionError("broken")


@tool(effect="read", container=True)
async def breaks(context: Context) -> None:
    """Call a tool with what breaks whoever looks at it."""
    await context.dispatch(Call(tool="label", arguments={"names": Broken(a="b")}, origin="code"))


@pytest.mark.parametrize("names", [{1: "a"}, {None: "a"}, {("a", 1): {2: "x"}}])
async def test_a_key_that_is_no_text_is_refused_as_any_argument_is(
    names: dict[object, object],
) -> None:
    async with Session([label, box]) as session:
        called = await session.call("label", {"names": names})
        ran = await session.run("return await box()")
    assert called.error is not None
    assert called.error.code == "E_INVALID_ARGS"
    assert "which is no text" in called.error.message
    assert ran.value == "E_INVALID_ARGS"


async def test_a_run_that_cannot_be_settled_harms_no_other() -> None:
    async with Session([label, breaks], store=False) as session:
        run = await session.start("await breaks()")
        with pytest.raises(ZeroDivisionError):
            await run.result()
        following = await session.start("return await label(names={'a': 'b'})")
        assert (await following.result()).value == 1


async def test_every_reader_has_all_events() -> None:
    seen: list[list[Event]] = []

    async def read(run: Run) -> None:
        seen.append([event async for event in run])

    async with Session([label]) as session:
        run = await session.start("for n in range(5): await label(names={})")
        async with anyio.create_task_group() as group:
            group.start_soon(read, run)
            group.start_soon(read, run)
        await read(run)
    first, second, after = seen
    assert first == second == after
    assert (first[0].kind, first[-1].kind) == ("run_started", "run_finished")
