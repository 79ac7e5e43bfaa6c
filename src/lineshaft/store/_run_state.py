"""The state of one run, kept while it goes on."""

from collections.abc import Mapping

from lineshaft.store._asking import Desk
from lineshaft.store._books import Books
from lineshaft.store._texts import call_data, done_data, dumped
from lineshaft.values import Done, KeptCall, KeptPause


def finished_row(told: Mapping[str, object], of: int | None, done: Done) -> bytes:
    """Return what is kept of a call that ended.

    Args:
        told: The call.
        of: Ordinal of the row of its start, where that holds its arguments.
        done: How it ended.
    """
    return dumped({"call": told, "of": of, "done": done_data(done)})


class KeptState:
    """Keeps one run; `values.RunState` says what its methods promise.

    Args:
        desk: Takes work to the store.
        run_id: The run.
        lock: The number of this process's lock on it.
    """

    def __init__(self, desk: Desk, run_id: str, lock: int) -> None:
        self._desk = desk
        self._run_id = run_id
        self._lock = lock
        self._open: dict[str, tuple[int, KeptCall]] = {}

    async def started(self, call: KeptCall) -> None:
        """Keep that a call is about to act."""
        if call.effect == "read" or call.staged:
            return  # nothing of it is left behind where it does not end

        def act(books: Books) -> int:
            data = dumped({"call": call_data(call)})
            return books.states.append(self._run_id, self._lock, "started", data)

        self._open[call.key] = await self._desk.ask(act, durable=True), call

    async def finished(self, call: KeptCall, done: Done) -> None:
        """Keep how a call ended."""
        of, begun = self._open.pop(call.key, (None, None))
        told = call_data(call)
        if begun is not None and begun.arguments == call.arguments:
            told["arguments"] = {}
        else:
            of = None

        def act(books: Books) -> None:
            data = finished_row(told, of, done)
            books.states.append(self._run_id, self._lock, "finished", data)

        if begun is None and (call.effect == "read" or call.staged):
            await self._desk.leave(act)
        else:
            await self._desk.ask(act, durable=True)

    async def flush(self) -> None:
        """Put all that was kept so far on the disk."""
        await self._desk.flush(durable=True)

    async def paused(self, pause: KeptPause) -> None:
        """Keep that the run waits for answers."""

        def act(books: Books) -> None:
            books.states.pause(self._run_id, self._lock, pause)

        await self._desk.ask(act, durable=True)

    async def over(self, *, replayable: bool, end: Mapping[str, object] | None = None) -> None:
        """Keep no more than a replay needs, or nothing."""

        def act(books: Books) -> None:
            books.states.over(self._run_id, self._lock, replayable=replayable, end=end)

        await self._desk.ask(act)
