"""Foreign code, run for so long and no longer."""

import asyncio
import sys
import threading

import anyio
import pytest

from lineshaft.gate import _bounded
from lineshaft.gate._bounded import Ending, bounded


@pytest.fixture(autouse=True)
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_bounded, "GRACE_SECONDS", 0.05)


async def value() -> object:
    return 5


async def test_what_ends_in_time_gives_its_value() -> None:
    ending = Ending()
    await bounded(value, seconds=5, ending=ending)
    assert (ending.value, ending.error, ending.told_to_end) == (5, None, False)


async def test_an_error_is_kept_and_not_raised() -> None:
    async def fails() -> object:
        raise ValueError("no")

    ending = Ending()
    await bounded(fails, seconds=5, ending=ending)
    assert repr(ending.error) == "ValueError('no')"


async def test_a_tool_that_exits_ends_only_itself() -> None:
    async def leaves() -> object:
        sys.exit(3)

    ending = Ending()
    await bounded(leaves, seconds=5, ending=ending)
    assert "sys.exit(3)" in str(ending.error)


async def test_a_tool_that_cancels_itself_has_failed() -> None:
    async def cancels() -> object:
        raise anyio.get_cancelled_exc_class()

    ending = Ending()
    await bounded(cancels, seconds=5, ending=ending)
    assert "cancelled itself" in str(ending.error)
    assert not ending.told_to_end


async def test_what_takes_too_long_is_cancelled_and_awaited() -> None:
    cleaned: list[str] = []

    async def slow() -> object:
        try:
            await anyio.sleep_forever()
        finally:
            cleaned.append("up")

    ending = Ending()
    await bounded(slow, seconds=0.01, ending=ending)
    assert ending.told_to_end
    assert not ending.left_behind
    assert cleaned == ["up"]


async def test_what_does_not_end_when_told_is_left_behind_and_its_result_dropped() -> None:
    let_go = anyio.Event()

    async def stubborn() -> object:
        while not let_go.is_set():
            try:
                await let_go.wait()
            except BaseException:  # noqa: BLE001, S112  the tool under test swallows cancellation
                continue
        return "late"

    ending = Ending()
    with anyio.fail_after(5):
        await bounded(stubborn, seconds=0.01, ending=ending)
    assert ending.left_behind
    assert ending.value is None
    let_go.set()
    await anyio.wait_all_tasks_blocked()
    assert ending.value is None


async def test_cancelling_the_caller_ends_the_tool_first() -> None:
    seen: list[str] = []
    started = anyio.Event()

    async def slow() -> object:
        started.set()
        try:
            await anyio.sleep_forever()
        finally:
            seen.append("ended")

    ending = Ending()
    async with anyio.create_task_group() as group:

        async def caller() -> None:
            try:
                await bounded(slow, seconds=60, ending=ending)
            finally:
                seen.append("returned")

        group.start_soon(caller)
        await started.wait()
        group.cancel_scope.cancel()
    assert seen == ["ended", "returned"]
    assert ending.told_to_end


async def test_a_thread_that_hangs_does_not_hold_the_caller() -> None:
    let_go = threading.Event()

    async def in_thread() -> object:
        return await anyio.to_thread.run_sync(let_go.wait, abandon_on_cancel=True)

    ending = Ending()
    try:
        with anyio.fail_after(5):
            await bounded(in_thread, seconds=0.01, ending=ending)
    finally:
        let_go.set()
    assert ending.told_to_end


async def test_cancelling_the_caller_twice_does_not_cut_the_tools_end_short() -> None:
    cleaned: list[str] = []
    started, cleaning = asyncio.Event(), asyncio.Event()

    async def slow() -> object:
        started.set()
        try:
            await anyio.sleep_forever()
        finally:
            cleaning.set()
            await asyncio.sleep(0.01)
            cleaned.append("up")

    ending = Ending()
    caller = asyncio.ensure_future(bounded(slow, seconds=60, ending=ending))
    await started.wait()
    caller.cancel()
    await cleaning.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert cleaned == ["up"]


class Outcome(BaseException):
    """Such as a test runner's own, which derive from no `Exception`."""


@pytest.mark.parametrize("error", [Outcome(), GeneratorExit(), BaseExceptionGroup("", [Outcome()])])
async def test_what_is_no_exception_is_kept_too(error: BaseException) -> None:
    async def fails() -> object:
        raise error

    ending = Ending()
    await bounded(fails, seconds=None, ending=ending)
    assert ending.error is error
