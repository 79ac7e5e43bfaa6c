"""What may be done with a run later: let it go on, take it back, execute it again."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import cast

from lineshaft.errors import ConfigError, RunBusy, RunUnknown, StateError
from lineshaft.scripts import Reply, Resumer
from lineshaft.session._live_runs import LiveRuns
from lineshaft.store import RunSummary, Store
from lineshaft.values import Answer, Caller, Change, Pending, Replay, RunResult, Workspace


class Afterwards(ABC):
    """The half of a session that works on runs which stand still or are over."""

    store: Store | None
    """Where runs are kept; None: nowhere."""

    @abstractmethod
    def _later(self) -> tuple[LiveRuns, Resumer, Workspace]:
        """Return what takes runs up again.

        Raises:
            ConfigError: The session was not entered, or keeps nothing.
        """

    async def summary(self, run_id: str) -> RunSummary:
        """Return how a run stands, as far as its record tells.

        Raises:
            StateError: Nothing is recorded of it, or it is one of another workspace.
        """
        _, resumer, _ = self._later()
        found = await self.store.summary(run_id) if self.store else None
        if found is None or not resumer.works_in(found.workspace):
            raise RunUnknown(f"no run {run_id!r} of this workspace is recorded")
        return found

    async def pending(self, run_id: str) -> tuple[Pending, ...]:
        """Return the calls that a paused run waits for; none where it does not wait.

        Raises:
            StateError: Nothing is known of the run, or it is one of another workspace.
        """
        _, resumer, _ = self._later()
        return await resumer.pending(run_id)

    async def resume(
        self,
        run_id: str,
        answers: Mapping[str, Answer] | None = None,
        *,
        repeat: Collection[str] = (),
        caller: Caller | None = None,
    ) -> RunResult:
        """Let a run go on that was paused, or whose host died. No call is made twice.

        Args:
            run_id: The run.
            answers: By id of the pending call, `*` for all others. Calls without an answer are
                shown to the session's approver, or the run is paused again.
            repeat: Ids of calls that had started when the host died and may be made again though
                nobody knows what they did; `*` for all. A tool that says it is idempotent needs
                none.
            caller: Who is behind the run from here on, instead of whoever is behind the session.

        Returns:
            How the run ended, or that it waits again.

        Raises:
            ConfigError: An answer is for a call that does not wait.
            StateError: The run cannot go on: it is unknown, one of another workspace, over,
                expired, in use, or not what was stored.
        """
        live, resumer, _ = self._later()
        reply = Reply(answers=_checked(answers), repeat=frozenset(repeat), caller=caller)
        resumed = await resumer.resume(run_id, reply)
        with live.holding(resumed.context.control):
            return await resumed.carry_on()

    async def cancel(self, run_id: str) -> None:
        """End a paused run: it will not go on, and what it had not landed is dropped.

        Raises:
            StateError: It does not wait.
        """
        _, resumer, _ = self._later()
        if (error := await resumer.elsewhere(run_id)) is not None:
            raise error
        if self.store is not None:
            await self.store.cancel(run_id)

    async def replay(self, run_id: str) -> Replay:
        """Execute a run's script again over its recorded results; no tool is called.

        Returns:
            How it went, and the first thing that is not as recorded.

        Raises:
            StateError: Nothing, or no longer enough, is kept of the run; or it waits.
        """
        live, resumer, _ = self._later()
        if await resumer.pending(run_id):
            raise RunBusy(
                f"run {run_id!r} waits for answers; it can be replayed once it is over",
                hint=f"lineshaft resume {run_id}",
            )
        replaying = await resumer.replay(run_id)
        with live.holding(replaying.context.control):
            return await replaying.carry_on()

    async def undo(self, run_id: str) -> tuple[Change, ...]:
        """Take back all changes of files that a run landed, whole or not at all.

        Returns:
            What was changed on the disk.

        Raises:
            StaleFile: Somebody changed some of the files since; they are named, nothing was done.
            StateError: Nothing, or no longer everything, is known of the run's changes; or it
                goes on.
        """
        _, resumer, workspace = self._later()
        if await self._goes_on(run_id):
            raise RunBusy(
                f"run {run_id!r} goes on: it would change on what is taken back",
                hint="wait for it, or end it, and undo it then",
            )
        await workspace.recover()
        try:
            return await workspace.undo(run_id)
        except RunUnknown as error:
            raise (await resumer.elsewhere(run_id) or error) from None

    async def _goes_on(self, run_id: str) -> bool:
        if self.store is None:
            return False
        with suppress(StateError):  # nothing recorded, or not to be read: undo needs it not
            return (await self.store.summary(run_id)).status == "running"
        return False


def _checked(answers: object) -> Mapping[str, Answer]:
    if answers is None:
        return {}
    fits = isinstance(answers, Mapping) and all(
        isinstance(key, str) and isinstance(answer, Answer)
        for key, answer in cast("Mapping[object, object]", answers).items()
    )
    if not fits:
        raise ConfigError(
            f"answers must map ids of pending calls to Answer, not {answers!r}",
            hint="{'*': Answer(allow=True)} approves all",
        )
    return cast("Mapping[str, Answer]", answers)
