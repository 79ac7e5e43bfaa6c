"""The turns of a run's scripts as the run's log keeps them, so that each can be executed again."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from lineshaft.errors import RecordError, StateError
from lineshaft.gate._call_entry import CallEntry
from lineshaft.values import KeptScript, ReplayInputs, Struct, inner_seed, packed

TORN = "it read clocks more often than is kept"


class _ScriptTurns(Struct, kw_only=True):
    """How far the turns of one script are recorded."""

    replay: ReplayInputs
    call_id: str | None
    """Of the container that executes it; None: it is the run's own."""

    unpausable: str
    """Why the run cannot pause in the middle of it."""

    turns: int
    readings: int
    torn: bool = False

    @property
    def rest(self) -> tuple[Sequence[int], bytes]:
        """The turns and readings that are not recorded yet."""
        return self.replay.turns[self.turns :], self.replay.readings[self.readings :]

    @property
    def why_not(self) -> str:
        """Why it cannot be executed again over what is kept; empty where it can."""
        return self.unpausable or (TORN if self.replay.torn else "")


class TurnLog:
    """Appends the turns of the run's own script, and of those that its containers execute.

    Args:
        append: Appends a turn's data for the container of an id, or None: the run's own script.
        wanted: Says whether turns are still recorded.
        broken: Called with the reason when a turn cannot be recorded and no caller can be told.
    """

    def __init__(
        self,
        append: Callable[[Mapping[str, object], str | None], object],
        *,
        wanted: Callable[[], bool],
        broken: Callable[[Exception], None],
    ) -> None:
        self._append = append
        self._wanted = wanted
        self._broken = broken
        self._own: _ScriptTurns | None = None
        self._inner: dict[str, _ScriptTurns] = {}
        """Of the scripts that containers execute, by the container's id."""

    @property
    def torn(self) -> bool:
        """Whether the run's own script read clocks more often than is kept."""
        return self._own is not None and self._own.replay.torn

    @property
    def so_far(self) -> Mapping[str, int]:
        """How many turns and bytes of readings of the run's own script are recorded."""
        own = self._own
        return {
            "turns": 0 if own is None else own.turns,
            "readings": 0 if own is None else own.readings,
        }

    def why_inner_cannot(self) -> str:
        """Return why a container's script cannot be executed again; empty where all can."""
        return next((why for each in self._inner.values() if (why := each.why_not)), "")

    def begin(self, replay: ReplayInputs) -> None:
        """Record the turns of the run's own script from here on."""
        self._own = self._followed(replay, None, "")

    def begin_inner(
        self,
        entry: CallEntry,
        *,
        seed: str,
        earlier: KeptScript | None,
        begins: Mapping[str, object],
        unpausable: str,
    ) -> ReplayInputs:
        """Record the turns of a container's script from here on.

        Args:
            entry: The container's call.
            seed: Of the scripts of the run's containers.
            earlier: What an earlier segment of the run has kept of the script.
            begins: What is kept of its beginning; an earlier segment of the run has kept that.
            unpausable: Why the run cannot pause in the middle of it; empty where it can.

        Returns:
            The script's inputs beside its calls.

        Raises:
            StateError: Its beginning cannot be kept.
        """
        again = earlier is not None
        replay = earlier.replay if again else ReplayInputs(seed=inner_seed(seed, entry.key))
        script = self._inner[entry.id] = self._followed(replay, entry.id, unpausable)
        if not again:
            self._record(script, (), b"", begins=begins)
        return replay

    def end_inner(self, entry: CallEntry) -> None:
        """Record the last turns of a container's script: it has ended, or stands still."""
        script = self._inner.get(entry.id)
        if script is not None:
            self._passed(script, *script.rest)

    def forget(self, entry: CallEntry) -> None:
        """Record no further turns of a container's script: its call has ended."""
        self._inner.pop(entry.id, None)

    def flush(self) -> None:
        """Record the turns that were not recorded yet: the scripts have ended, or stand still.

        Raises:
            StateError: They cannot be kept.
        """
        own = () if self._own is None else (self._own,)
        for script in (*own, *self._inner.values()):
            self._record(script, *script.rest)

    def _followed(self, replay: ReplayInputs, call_id: str | None, unpausable: str) -> _ScriptTurns:
        """Record the turns of a script as they pass."""
        script = _ScriptTurns(
            replay=replay,
            call_id=call_id,
            unpausable=unpausable,
            turns=len(replay.turns),
            readings=len(replay.readings),
        )
        replay.passed = partial(self._passed, script)
        return script

    def _passed(self, script: _ScriptTurns, turns: Sequence[int], readings: bytes) -> None:
        try:
            self._record(script, turns, readings)
        except (StateError, RecordError) as error:
            self._broken(error)

    def _record(
        self,
        script: _ScriptTurns,
        turns: Sequence[int],
        readings: bytes,
        *,
        begins: Mapping[str, object] | None = None,
    ) -> None:
        """Record what ended turns of a script, and what it read of clocks until then."""
        nothing = not (turns or readings or script.replay.torn or begins)
        if nothing or script.torn or not self._wanted():
            return
        script.torn = script.replay.torn
        script.turns += len(turns)
        script.readings += len(readings)
        exact: dict[str, object] = {
            "turns": list(turns),
            "readings": packed(readings),
            "torn": script.torn,
        }
        if begins is not None:
            exact["script"] = begins
        self._append(exact, script.call_id)
