"""The run log of a session in memory, for runs that are not stored, or not yet."""

from collections.abc import Awaitable, Generator, Iterable, Sequence

from msgspec.structs import replace

from lineshaft.errors import RunBusy, RunUnknown
from lineshaft.store._fold import fold
from lineshaft.values import Event, LogRow, RunClaim, SavedRun

_MOST_BYTES = 16_000_000


class MemoryLog:
    """Keeps rows in this process, and ends with it."""

    def __init__(self) -> None:
        self._rows: dict[str, list[LogRow]] = {}
        self._lease_no: dict[str, int] = {}
        """0: the run was given up, or is over."""

        self._last_no = 1

    @property
    def most_bytes(self) -> int:
        """As `RunLog.most_bytes`: what memory may hold."""
        return _MOST_BYTES

    def append(
        self, claim: RunClaim, rows: Sequence[LogRow], *, durable: bool = False
    ) -> Awaitable[None]:
        """As `RunLog.append`; in memory nothing is durable."""
        del durable
        run_id = claim.run_id
        if self._lease_no.setdefault(run_id, claim.lease_no) != claim.lease_no:
            raise _taken(run_id)
        kept = self._rows.setdefault(run_id, [])
        for row in rows:
            if row.kind == "begin" and row.exact is not None and _is_kept(kept):
                raise RunBusy(f"the state of run {run_id!r} is kept already")
            kept.append(row)
            if row.kind in ("checkpoint", "end") and row.exact is not None:
                self._lease_no[run_id] = 0
        return _DONE

    def rows(self, run_id: str) -> list[LogRow]:
        """As `HeldLog.rows`."""
        return list(self._rows.get(run_id, ()))

    def drop_results(self, run_id: str) -> None:
        """As `HeldLog.drop_results`."""
        results = ("call", "ended", "turn")
        for number, row in enumerate(kept := self._rows.get(run_id, [])):
            if row.kind in results:
                kept[number] = replace(row, exact=None)

    async def take(self, run_id: str) -> tuple[SavedRun, RunClaim]:
        """As `RunLog.take`."""
        saved = await self.load(run_id)
        if saved.end is not None:
            raise RunBusy(f"run {run_id!r} is over", hint=f"`lineshaft show {run_id}`")
        if self._lease_no[run_id]:
            raise RunBusy(f"run {run_id!r} goes on: this process works on it")
        self._last_no += 1
        self._lease_no[run_id] = self._last_no
        return saved, RunClaim(run_id=run_id, workspace=saved.run.workspace, lease_no=self._last_no)

    def give_back(self, claim: RunClaim) -> Awaitable[None]:
        """As `RunLog.give_back`."""
        if self._lease_no.get(claim.run_id) != claim.lease_no:
            raise _taken(claim.run_id)
        self._lease_no[claim.run_id] = 0
        return _DONE

    async def renew(self) -> int:
        """As `RunLog.renew`."""
        return sum(map(bool, self._lease_no.values()))

    async def load(self, run_id: str) -> SavedRun:
        """As `RunLog.load`."""
        rows = self.rows(run_id)
        if not _is_kept(rows):
            raise RunUnknown(f"nothing of run {run_id!r} was kept")
        if rows[-1].kind == "end" and not rows[-1].exact:
            raise RunUnknown(
                f"run {run_id!r} is over, and nothing of it was kept to replay or go on with"
            )
        return fold(run_id, rows, last_seq=sum(len(row.shown) for row in rows))

    async def tail(self, run_id: str, after: int = 0) -> list[Event]:
        """As `RunLog.tail`."""
        if run_id not in self._rows:
            raise RunUnknown(f"no recorded run is called {run_id!r}")
        shown = (event for row in self._rows[run_id] for event in row.events(run_id))
        return [event for event in shown if event.seq > after]

    async def forget(self, run_ids: Iterable[str]) -> int:
        """As `RunLog.forget`."""
        found = 0
        for run_id in run_ids:
            self._lease_no.pop(run_id, None)
            found += _is_kept(self._rows.pop(run_id, ()))
        return found


def _taken(run_id: str) -> RunBusy:
    return RunBusy(f"run {run_id!r} is no longer this process's: another process took it")


def _is_kept(rows: Sequence[LogRow]) -> bool:
    return any(row.kind == "begin" and row.exact is not None for row in rows)


class _Done:
    """Return at once: no row waits to be written."""

    def __await__(self) -> Generator[None]:
        return
        yield


_DONE = _Done()
