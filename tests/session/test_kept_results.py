"""Results that were cut for a model are kept whole, and read in parts by who has the handle."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lineshaft import Handled, Policy, Session
from lineshaft.store import Store

OPEN = Policy(mode="open")
LONG = "return '0123456789' * 1_000"


def handle_of(done: Handled) -> str:
    """Return the handle that the end of a text names."""
    found = re.search(r"read_result\('(result-[\w-]+)'\)", done.text)
    assert found is not None, done.text
    return found[1]


async def test_the_whole_is_read_in_parts(tmp_path: Path) -> None:
    async with Session(workspace=tmp_path, policy=OPEN, store=False) as session:
        handle = handle_of(await session.handle("run_script", {"code": LONG}))
        part = await session.call("read_result", {"handle": handle, "start": 9_995, "count": 50})
        beyond = await session.call("read_result", {"handle": handle, "start": 20_000})
        direct = await session.handle("read_result", {"handle": handle, "count": 10})
    assert part.value == {"text": "56789", "start": 9_995, "end": 10_000, "total": 10_000}
    assert beyond.value == {"text": "", "start": 10_000, "end": 10_000, "total": 10_000}
    assert '"0123456789"' in direct.text


async def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    async with Session(workspace=tmp_path, policy=OPEN, store=tmp_path / "s.db") as session:
        handle = handle_of(await session.handle("run_script", {"code": LONG}))
        for arguments, said in (
            ({"handle": "result-guessed"}, "there is no result 'result-guessed'"),
            ({"handle": "x" * 500}, "there is no result"),
            ({"handle": handle, "start": -1}, "start must be 0 or more"),
            ({"handle": handle, "count": 0}, "count 1 or more"),
        ):
            refused = await session.call("read_result", arguments)
            assert refused.error is not None
            assert refused.error.code == "E_INVALID_ARGS"
            assert said in refused.error.message


async def test_a_text_stays_as_long_as_the_store_keeps(tmp_path: Path) -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]

    def store() -> Store:
        return Store(tmp_path / "s.db", keep_days=2, clock=lambda: now[0])

    async with Session(workspace=tmp_path, policy=OPEN, store=store()) as session:
        handle = handle_of(await session.handle("run_script", {"code": LONG}))
    for days, known in ((1, True), (3, False)):
        now[0] = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=days)
        async with Session(workspace=tmp_path, policy=OPEN, store=store()) as session:
            read = await session.call("read_result", {"handle": handle, "count": 3})
        assert (read.error is None) is known
    async with store() as kept:
        await kept.prune()
        assert await kept.result_text(handle) is None


async def test_a_text_that_is_told_twice_is_kept_once(tmp_path: Path) -> None:
    async with Session(workspace=tmp_path, policy=OPEN, store=False) as session:
        texts = ["a" * 10_000, "b" * 10_000, "a" * 10_000]
        first, other, again = (re.findall(r"result-[\w-]+", session.shown(t)) for t in texts)
    assert first == again != other


async def test_policy_judges_who_reads(tmp_path: Path) -> None:
    rule = {"id": "no-parts", "tool": "read_result", "verdict": "deny"}
    policy = Policy.from_dict({"mode": "open", "rules": [rule]})
    async with Session(workspace=tmp_path, policy=policy, store=False) as session:
        handle = handle_of(await session.handle("run_script", {"code": LONG}))
        refused = await session.call("read_result", {"handle": handle})
    assert refused.error is not None
    assert refused.error.code == "E_DENIED"
