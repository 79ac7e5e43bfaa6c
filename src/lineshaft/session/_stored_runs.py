"""Actions on stored runs: resume, cancel, undo, replay."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import cast

from lineshaft.errors import ConfigError, RunBusy, RunUnknown, StateError
from lineshaft.scripts import Reply, Resumer
from lineshaft.session._live_runs import LiveRuns
from lineshaft.session._validation import refuse_unusable
from lineshaft.store import RunSummary, Store
from lineshaft.values import Answer, Caller, Pending, Replay, RunResult, Undone, Workspace


class StoredRunActions(ABC):
    """The half of a session that works on runs which stand still or are over."""

    store: Store | None
    """The log that keeps runs; None: they are not kept."""

    @abstractmethod
    def _later(self, run_id: str) -> tuple[LiveRuns, Resumer, Workspace]:
        """Return the resumer of runs.

        Raises:
            ConfigError: The session was not entered, or keeps nothing; or a run is not named by
                its id.
        """

    async def summary(self, run_id: str) -> RunSummary:
        """Return the result of a run, as far as its record has it.

        Raises:
            StateError: It has no record, or belongs to another workspace.
        """
        _, resumer, _ = self._later(run_id)
        found = await self.store.summary(run_id) if self.store else None
        if found is None or not resumer.works_in(found.workspace):
            raise RunUnknown(f"no run {run_id!r} of this workspace is recorded")
        return found

    async def pending(self, run_id: str) -> tuple[Pending, ...]:
        """Return the calls that a paused run waits for; none where it does not wait.

        Raises:
            StateError: The run is not known, or belongs to another workspace.
        """
        _, resumer, _ = self._later(run_id)
        return await resumer.pending(run_id)

    async def undecided(self, run_id: str) -> Mapping[str, str]:
        """Return the calls of which `repeat` of `resume` must decide, before it is called.

        They had started when the run's host died, their end is not known, and their tools do not
        say that they are idempotent.

        Returns:
            The tools' names by id of the call; empty where nothing has to be decided.

        Raises:
            StateError: The run is not known, or belongs to another workspace.
        """
        _, resumer, _ = self._later(run_id)
        return {call.id: call.tool for call in await resumer.undecided(run_id)}

    async def check_resume(self, run_id: str) -> None:
        """Refuse a run that could not go on here, whatever the answers: call it before you ask.

        Waits for the providers of the tools that the run names. `resume` checks the same by itself.

        Raises:
            ConfigError: A tool that the run needs is not here.
            StateError: The run cannot go on: it is unknown, one of another workspace, over, or what
                it was begun with is another now (engine, packages, modules of the workspace).
        """
        _, resumer, _ = self._later(run_id)
        await resumer.check(run_id)

    async def resume(
        self,
        run_id: str,
        answers: Mapping[str, Answer] | None = None,
        *,
        repeat: Collection[str] | None = None,
        caller: Caller | None = None,
    ) -> RunResult:
        """Continue a run that was paused, or whose host died. No call is made twice.

        Args:
            run_id: The run.
            answers: By id of the pending call, `*` for all others. Calls without an answer are
                shown to the session's approver, or the run is paused again.
            repeat: Ids of calls that had started when the host died and may be made again although
                their effect is not known; `*` for all. Those that are not named are not made, and
                the script is told that their end is unknown. A tool that says it is idempotent
                needs none. None: not decided; a run with such a call is refused then, and stays.
            caller: The caller of the run from here on, instead of the session's.

        Returns:
            The result of the run, which may wait again.

        Raises:
            ConfigError: An answer is for a call that does not wait.
            StateError: The run cannot go on: it is unknown, one of another workspace, over,
                expired, in use, or not what was stored, `repeat` has to be decided, or the session
                was closed before it went on.
        """
        live, resumer, _ = self._later(run_id)
        refuse_unusable(caller=caller)
        with live.taking_up(run_id):
            if await self._goes_on(run_id):
                busy = RunBusy(f"run {run_id!r} goes on already", hint="wait for its end")
                raise await resumer.elsewhere(run_id) or busy
            decided = None if repeat is None else frozenset(repeat)
            reply = Reply(answers=_checked(answers), repeat=decided, caller=caller)
            resumed = await resumer.resume(run_id, reply)
        with live.holding(resumed.context.control):
            return await resumed.carry_on()

    async def cancel(self, run_id: str) -> None:
        """End a paused run: it does not go on, and its changes that have not landed are dropped.

        Raises:
            StateError: It does not wait.
        """
        _, resumer, _ = self._later(run_id)
        if (error := await resumer.elsewhere(run_id)) is not None:
            raise error
        if self.store is not None:
            await self.store.cancel(run_id)

    async def replay(self, run_id: str) -> Replay:
        """Execute a run's script again over its recorded results; no tool is called.

        Returns:
            The result, and the first difference from the record.

        Raises:
            StateError: The run's state is not kept, or no longer enough of it; or the run waits, or
                goes on.
        """
        live, resumer, _ = self._later(run_id)
        try:
            if await resumer.pending(run_id):
                raise RunBusy(
                    f"run {run_id!r} waits for answers; it can be replayed once it is over",
                    hint=f"`lineshaft resume {run_id}`",
                )
            await self._must_be_over(run_id)
            replaying = await resumer.replay(run_id)
        except RunUnknown as error:
            if not await self._is_single_call(run_id):
                raise
            raise RunUnknown(
                f"run {run_id!r} is a single call: it has no script to replay",
                hint=f"`lineshaft show {run_id}` tells how it went; to make it again, call it anew",
            ) from error
        with live.holding(replaying.context.control):
            return await replaying.carry_on()

    async def undo(self, run_id: str) -> Undone:
        """Take back all changes of files that a run landed, whole or not at all.

        A run that waits, or whose process died, is ended before: going on, it would stand on
        changes that are no longer there.

        Returns:
            The changes on the disk.

        Raises:
            StaleFile: Some of the files were changed since; they are named, nothing was done.
            StateError: The run's changes are not known, or no longer all of them; or it goes on.
        """
        _, resumer, workspace = self._later(run_id)
        await self._must_not_go_on(run_id)
        await workspace.recover()

        async def end() -> None:
            if self.store is not None:
                with suppress(StateError):  # it is over, or has no record that could be trusted
                    await self.store.cancel(run_id)
            await self._must_not_go_on(run_id)  # another process may have taken it meanwhile

        try:
            return await workspace.undo(run_id, confirm=end)
        except RunUnknown as error:
            raise (await resumer.elsewhere(run_id) or error) from None

    async def _must_not_go_on(self, run_id: str) -> None:
        if await self._goes_on(run_id):
            raise RunBusy(
                f"run {run_id!r} goes on: it would change on what is taken back",
                hint="wait for it, or end it, and undo it then",
            )

    async def _must_be_over(self, run_id: str) -> None:
        """Refuse to replay a run whose record has no end yet: its next call would differ."""
        status = await self._status(run_id)
        if status == "running":
            text, hint = f"run {run_id!r} goes on", "wait for its end"
        elif status == "interrupted":
            text = f"run {run_id!r} was cut off when its process died"
            hint = f"`lineshaft resume {run_id}` goes on with it"
        else:
            return
        raise RunBusy(f"{text}; it can be replayed once it is over", hint=hint)

    async def _is_single_call(self, run_id: str) -> bool:
        """Return whether a run of which nothing is kept but its record was a call, and no script.

        No engine is asked for in such a run.
        """
        with suppress(StateError):
            events = [] if self.store is None else await self.store.events(run_id)
            return any(e.kind == "run_started" and e.data.get("engine") == "" for e in events)
        return False

    async def _goes_on(self, run_id: str) -> bool:
        return await self._status(run_id) == "running"

    async def _status(self, run_id: str) -> str:
        if self.store is not None:
            with suppress(StateError):  # no record, or an unreadable one: undo does not need it
                return (await self.store.summary(run_id)).status
        return ""


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
