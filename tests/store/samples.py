"""What the tests of the store keep, and hosts in processes of their own."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from textwrap import dedent
from weakref import WeakKeyDictionary

from lineshaft.store import Store
from lineshaft.values import (
    ROW_OF,
    Done,
    Effect,
    Event,
    EventKind,
    KeptCall,
    KeptPause,
    KeptRun,
    LogRow,
    Pending,
    RunClaim,
    RunLog,
    SavedRun,
    Sink,
    call_data,
    done_data,
)

Open = Callable[[], Store]
"""Opens the store once more, as another session does."""

KEY = b"a key that has thirty-two bytes or more"
AT = "2030-01-01T00:00:00.000Z"

_PRELUDE = """
import asyncio, os, sys
from datetime import UTC, datetime
from pathlib import Path
from lineshaft.store import Store
from lineshaft.values import *
from store.samples import *
store = Store(Path(sys.argv[1]), key=KEY, clock=lambda: datetime(2030, 1, 1, tzinfo=UTC))
"""


_CLAIMS: "WeakKeyDictionary[RunLog, dict[str, RunClaim]]" = WeakKeyDictionary()


def claim(log: RunLog, run_id: str, workspace: str = "/w") -> RunClaim:
    """Return the claim of a log's process on a run."""
    return _CLAIMS.setdefault(log, {}).setdefault(
        run_id, RunClaim(run_id=run_id, workspace=workspace)
    )


def sink(log: RunLog, workspace: str) -> Sink:
    """Return what adds events to the logs of their runs, one row each."""

    def record(event: Event) -> None:
        row = LogRow(
            kind=ROW_OF[event.kind],
            at=event.at,
            call_id=event.call_id,
            event_seq=event.seq,
            shown=((event.kind, event.data),),
        )
        log.append(claim(log, event.run_id, workspace), [row])

    return record


class Steps:
    """Adds the exact steps of one run to its log."""

    def __init__(self, log: RunLog, of: RunClaim) -> None:
        self._log = log
        self._claim = of
        self._begun: set[str] = set()

    async def started(self, call: KeptCall) -> None:
        """Add that a call is about to act."""
        if call.effect == "read" or call.staged:
            return
        rows = [_called(call), LogRow(kind="started", at=AT, call_id=call.id, exact={})]
        await self._log.append(self._claim, rows, durable=True)
        self._begun.add(call.id)

    async def finished(self, call: KeptCall, done: Done) -> None:
        """Add how a call ended."""
        begun = call.id in self._begun
        self._begun.discard(call.id)
        exact = {"call": call_data(call) if begun else {}, "done": done_data(done)}
        ended = LogRow(kind="ended", at=AT, call_id=call.id, exact=exact)
        rows = [ended] if begun else [_called(call), ended]
        durable = begun or not (call.effect == "read" or call.staged)
        written = self._log.append(self._claim, rows, durable=durable)
        if durable:
            await written

    async def flush(self) -> None:
        """Add that changes are about to land."""
        row = LogRow(kind="landing", at=AT, exact={"stage": 0})
        await self._log.append(self._claim, [row], durable=True)

    async def paused(self, pause: KeptPause) -> None:
        """Add where the run stands, and give it up."""
        exact = {
            "document": pause.document,
            "pending": [asdict(each) for each in pause.pending],
            "expires_at": pause.expires_at,
        }
        row = LogRow(kind="checkpoint", at=AT, exact=exact, blobs=pause.blobs)
        await self._log.append(self._claim, [row], durable=True)

    async def over(self, *, replayable: bool, end: Mapping[str, object] | None = None) -> None:
        """Add the end; nothing exact stays unless the run can be replayed."""
        row = LogRow(kind="end", at=AT, exact={"end": end or {}} if replayable else {})
        await self._log.append(self._claim, [row])


def _called(call: KeptCall) -> LogRow:
    return LogRow(kind="call", at=AT, call_id=call.id, exact=call_data(call))


async def begin(log: RunLog, kept: KeptRun) -> Steps:
    """Begin to keep a run; on the disk when this returns."""
    mine = claim(log, kept.run_id, kept.workspace)
    exact = {"workspace": kept.workspace, "document": kept.document}
    await log.append(mine, [LogRow(kind="begin", at=AT, exact=exact)], durable=True)
    return Steps(log, mine)


async def resume(log: RunLog, run_id: str) -> tuple[SavedRun, Steps]:
    """Take a run for this process."""
    saved, taken = await log.take(run_id)
    _CLAIMS.setdefault(log, {})[run_id] = taken
    return saved, Steps(log, taken)


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_(self, **time: float) -> None:
        """Let time pass."""
        self.now += timedelta(**time)


def call(n: int | str, effect: Effect = "external", *, staged: bool = False) -> KeptCall:
    """Return a call like others."""
    return KeptCall(
        key=f"r/{n}/0",
        id=f"c{n}",
        tool="post",
        arguments={"n": n},
        effect=effect,
        staged=staged,
        stage=1,
        rule="mode:open",
    )


def run(run_id: str = "r", workspace: str = "/w", **document: object) -> KeptRun:
    """Return what a run was begun with."""
    return KeptRun(run_id=run_id, workspace=workspace, document={"script": "1", **document})


def pause(*ids: str, expires_at: str = "2031-01-01T00:00:00Z", **blobs: bytes) -> KeptPause:
    """Return a pause that waits for some calls."""
    pending = tuple(
        Pending(id=each, tool="post", arguments={"n": 1}, reason="may it?", rule="ask-first")
        for each in ids
    )
    document = {"seconds": 1.5}
    return KeptPause(document=document, blobs=blobs, pending=pending, expires_at=expires_at)


def event(
    seq: int, kind: EventKind = "log", run_id: str = "r", call_id: str | None = None, **data: object
) -> Event:
    """Return an event of a run."""
    at = f"2030-01-01T00:00:{seq % 60:02d}.000Z"
    return Event(run_id=run_id, seq=seq, at=at, kind=kind, call_id=call_id, data=data)


def started(run_id: str = "r", seq: int = 1) -> Event:
    """Return the first event of a run."""
    return event(seq, "run_started", run_id, name="s.py", engine="auto", origin="shell")


def finished(seq: int, run_id: str = "r", status: str = "success", **data: object) -> Event:
    """Return the last event of a run."""
    end = event(seq, "run_finished", run_id, status=status, duration_ms=5)
    return replace(end, data={**end.data, **data})


def host(body: str, path: Path) -> "subprocess.Popen[str]":
    """Start a process that works on a store; `store` is open there.

    Args:
        body: The body of an async function.
        path: The store.
    """
    return subprocess.Popen(
        [sys.executable, "-c", program(body), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )


def program(body: str) -> str:
    """Return the program of such a process."""
    lines = "\n".join(f"    {line}" for line in dedent(body).strip().splitlines())
    return f"{_PRELUDE}\nasync def main():\n{lines}\n\nasyncio.run(main())\n"


def environment() -> Mapping[str, str]:
    """Return variables with which a process finds this file."""

    return {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}


def left_by(body: str, path: Path) -> None:
    """Run such a process to its end, which is without ceremony."""
    with host(dedent(body) + "\nos.kill(os.getpid(), 9)", path) as process:
        process.communicate(timeout=60)
        assert process.returncode == -9
