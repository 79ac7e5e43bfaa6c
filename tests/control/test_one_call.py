"""A call by itself that waits for an answer: a run of one call, taken up later or elsewhere."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from control.world import ASK, ASK_WRITE, Open
from lineshaft import Answer, Context, Pending, Session, tool
from lineshaft.errors import StateError
from lineshaft.values import Call, Dispatch, Done
from support import Outside

YES = Answer(allow=True)
NO = Answer(allow=False, reason="not this one")
ASK_PUT = {"id": "ask-put", "tool": "put", "verdict": "ask"}


@pytest.fixture
def engine() -> str:
    """Return the engine of sessions here, which no call by itself needs."""
    return "wasm"


async def test_a_call_that_nobody_answers_waits_and_is_made_once_it_is_answered(
    opened: Open, outside: Outside
) -> None:
    async with opened() as session:
        waits = await session.call("poke", {"what": "it"})
        assert (waits.status, waits.value, waits.exit_code) == ("pending", None, 5)
        assert waits.error is not None
        assert waits.error.code == "E_PAUSED"
        assert f"lineshaft resume {waits.run_id}" in waits.error.hint
        assert [each.arguments for each in waits.pending] == [{"what": "it"}]
        assert waits.expires_at
    assert outside.total == 0
    async with opened() as session:
        assert await session.pending(waits.run_id) == waits.pending
        done = await session.resume(waits.run_id, {waits.call_id: YES})
        assert (done.status, done.value, outside.counts["poke:it"]) == ("success", 1, 1)
        assert [(call.id, call.status) for call in done.calls] == [(waits.call_id, "done")]
        with pytest.raises(StateError, match="is over"):
            await session.resume(waits.run_id, {"*": YES})
        replayed = await session.replay(waits.run_id)
    assert (replayed.difference, replayed.run.value) == (None, 1)
    assert outside.total == 1


async def test_a_refused_one_is_not_made_and_one_may_wait_again(
    opened: Open, outside: Outside
) -> None:
    async with opened() as session:
        waits = await session.call("poke")
        again = await session.resume(waits.run_id)
        assert (again.status, again.pending[0].id) == ("paused", waits.call_id)
        done = await session.resume(waits.run_id, {"*": NO})
    assert done.error is not None
    assert (done.error.code, done.exit_code) == ("E_DENIED", 3)
    assert "not this one" in done.error.message
    assert outside.total == 0


async def test_what_the_approver_leaves_open_waits_too(opened: Open, outside: Outside) -> None:
    async def later(pending: tuple[Pending, ...]) -> Mapping[str, Answer]:
        return {}

    async with opened(approver=later) as session:
        waits = await session.call("poke")
        assert (waits.status, len(waits.pending)) == ("pending", 1)
        await session.cancel(waits.run_id)
        with pytest.raises(StateError):
            await session.resume(waits.run_id, {"*": YES})
    assert outside.total == 0


async def test_what_it_changes_lands_when_it_is_made(opened: Open, workspace: Path) -> None:
    async with opened() as session:
        waits = await session.call("write_file", {"path": "asked/a.txt", "content": "a\n"})
        assert "+a" in waits.pending[0].diff
        assert not (workspace / "asked").exists()
        done = await session.resume(waits.run_id, {"*": YES})
        assert (done.landed, (workspace / "asked/a.txt").read_text()) == (True, "a\n")
        await session.undo(waits.run_id)
    assert not (workspace / "asked/a.txt").exists()


async def test_policy_is_asked_again_when_it_is_made(opened: Open, outside: Outside) -> None:
    async with opened() as session:
        waits = await session.call("poke")
    deny = {"id": "no-poke", "tool": "poke", "verdict": "deny"}
    async with opened(rules=[deny]) as session:
        done = await session.resume(waits.run_id, {"*": YES})
    assert done.error is not None
    assert (done.error.code, outside.total) == ("E_DENIED", 0)


async def test_without_a_store_nobody_there_means_no(opened: Open, outside: Outside) -> None:
    async with opened(store=False) as session:
        refused = await session.call("poke")
    assert refused.error is not None
    assert (refused.status, refused.error.code, refused.pending) == ("refused", "E_DENIED", ())
    assert outside.total == 0


async def test_a_model_is_told_that_it_waits_and_not_to_make_it_again(opened: Open) -> None:
    async with opened() as session:
        told = await session.handle("poke", {})
    assert not told.is_error
    assert told.text.startswith("paused: poke waits for an approval")
    assert "Do not make it again" in told.text


async def test_where_middleware_has_made_other_calls_it_is_refused_and_none_is_made_twice(
    opened: Open, outside: Outside
) -> None:
    def noting(inner: Dispatch) -> Dispatch:
        async def dispatch(call: Call) -> Done:
            await inner(Call(tool="note", arguments={}, origin=call.origin))
            return await inner(call)

        return dispatch

    async with opened(middleware=[noting]) as session:
        refused = await session.call("poke")
    assert refused.error is not None
    assert refused.error.code == "E_DENIED"
    assert (outside.counts["note"], outside.counts["poke"]) == (1, 0)


@tool(effect="read", container=True)
async def contains(context: Context) -> object:
    """Poke from inside."""
    done = await context.dispatch(Call(tool="poke", arguments={}, origin="code"))
    return getattr(done, "code", None)


async def test_what_a_tool_calls_is_no_pause_and_no_wait_for_ever(
    opened: Open, outside: Outside
) -> None:
    """A tool cannot be stopped in the middle: neither where nobody is there, nor where they go."""

    async def later(pending: tuple[Pending, ...]) -> Mapping[str, Answer]:
        return {}

    async def both(session: Session) -> list[object]:
        run = await session.run("return await contains()")
        return [run.value, (await session.call("contains")).value]

    async with opened(contains) as session:
        assert await both(session) == ["E_NO_PAUSE", "E_NO_PAUSE"]
    async with opened(contains, approver=later) as session:
        assert await both(session) == ["E_DENIED", "E_DENIED"]
    assert outside.total == 0


async def test_one_inside_another_run_is_refused(opened: Open, outside: Outside) -> None:
    sessions: list[Session] = []

    @tool(effect="read", container=True)
    async def nests() -> str:
        """Make a call of its own."""
        done = await sessions[0].call("poke")
        return done.error.code if done.error else ""

    async with opened(nests, rules=[ASK, ASK_WRITE, ASK_PUT]) as session:
        sessions.append(session)
        assert (await session.call("nests")).value == "E_DENIED"
    assert outside.total == 0
