"""Folding of a run's rows into its state, from which a resume or a replay goes on."""

from collections.abc import Iterable, Mapping
from typing import cast

from msgspec.structs import replace

from lineshaft.errors import UntrustedState
from lineshaft.store._json import Data, call_of, done_of, pause_of
from lineshaft.store._stages import Stages
from lineshaft.values import (
    Failure,
    Finished,
    KeptCall,
    KeptPause,
    KeptRun,
    KeptScript,
    LogRow,
    ReplayInputs,
    SavedRun,
    Struct,
    decode,
    inner_seed,
    unpacked,
)

_GOES_ON = frozenset({"call", "started", "ended", "turn", "merged", "landing"})
"""After such a row a run no longer stands where it was paused."""


def fold(run_id: str, rows: Iterable[LogRow], *, last_seq: int) -> SavedRun:
    """Return the state that the rows of a run give.

    Args:
        run_id: The run.
        rows: All of them, in order, the blobs of the last checkpoint in it.
        last_seq: Number of the last event.

    Raises:
        UntrustedState: They do not start with the beginning of the run.
    """
    state = _State(run_id)
    for row in rows:
        if row.exact is not None:
            state.take(row, row.exact)
    return state.saved(last_seq)


class _Script(Struct, frozen=True):
    """The beginning of a container's script, in its first `turn`."""

    engine: str
    identity: Mapping[str, str]
    source: str


class _Turn(Struct, frozen=True):
    """The data of a `turn`."""

    turns: list[int]
    readings: str
    torn: bool
    script: _Script | None = None


class _Landing(Struct, frozen=True):
    """The data of a `landing`."""

    stage: int
    layers: tuple[str, ...] = ()


class _Resumption(Struct, frozen=True):
    """The data of a `resumed`: how much of the turns and readings stays."""

    turns: int
    readings: int
    scripts: tuple[str, ...] = ()


class _State:
    """The state of a run, as far as its rows were read."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._run: KeptRun | None = None
        self._pause: KeptPause | None = None
        self._calls: dict[str, KeptCall] = {}
        """Those without an end, by id."""

        self._begun: dict[str, KeptCall] = {}
        """Those that started and did not end, by key."""

        self._finished: list[Finished] = []
        self._turns: list[int] = []
        self._readings = bytearray()
        self._torn = False
        self._cuts: list[tuple[int, int]] = []
        self._scripts: dict[str, KeptScript] = {}
        """Of containers, by key."""

        self._end: Data | None = None
        self._stages = Stages()

    def take(self, row: LogRow, exact: Mapping[str, object]) -> None:
        """Take the next row."""
        if row.kind == "resumed" and self._pause is None:
            self._stages.lost()
        if row.kind in _GOES_ON:
            self._pause = None
        match row.kind:
            case "begin":
                self._run = decode(KeptRun, {"run_id": self._run_id, **exact})
            case "call":
                call = call_of(exact)
                self._calls[call.id] = call
                self._stages.called(call.id, call.parent)
            case "started":
                call = self._calls.get(row.call_id or "")
                if call is not None:
                    self._begun[call.key] = call
            case "ended":
                self._ended(row, exact)
            case "merged":
                self._stages.merged(row.call_id or "")
            case "landing":
                begun = decode(_Landing, exact)
                self._stages.landing(begun.stage, begun.layers)
            case "turn":
                self._turned(row, decode(_Turn, exact))
            case "checkpoint":
                self._pause = pause_of(exact, row.blobs)
            case "resumed":
                kept = decode(_Resumption, exact)
                del self._turns[kept.turns :]
                del self._readings[kept.readings :]
                self._cuts = [cut for cut in self._cuts if cut[0] <= len(self._turns)]
                self._scripts = {k: s for k, s in self._scripts.items() if k in kept.scripts}
            case "end":
                self._end = cast("Data | None", exact.get("end"))
            case _:
                pass

    def _turned(self, row: LogRow, turn: _Turn) -> None:
        if row.call_id is not None:
            self._turned_inside(row.call_id, turn)
            return
        self._turns += turn.turns
        self._readings += unpacked(turn.readings)
        self._torn = self._torn or turn.torn
        self._cuts.append((len(self._turns), len(self._readings)))

    def _turned_inside(self, call_id: str, turn: _Turn) -> None:
        """Take turns of a container's script."""
        container = self._calls.get(call_id)
        if container is None or self._run is None:
            return  # its beginning was too much to be kept
        key = container.key
        if turn.script is not None:
            seed = inner_seed(str(self._run.document.get("seed", "")), key)
            self._scripts[key] = KeptScript(
                engine=turn.script.engine,
                identity=turn.script.identity,
                source=turn.script.source,
                replay=ReplayInputs(seed=seed),
            )
        if (script := self._scripts.get(key)) is not None:
            script.replay.turns.extend(turn.turns)
            script.replay.readings += unpacked(turn.readings)
            script.replay.torn = script.replay.torn or turn.torn

    def _ended(self, row: LogRow, exact: Mapping[str, object]) -> None:
        told = cast("Data", exact["call"])
        known = self._calls.pop(row.call_id or "", None)
        if known is None and "key" not in told:
            return  # its beginning was too much to be kept
        call = call_of(told) if known is None else replace(known, **told)
        self._begun.pop(call.key, None)
        done = done_of(exact["done"])
        self._finished.append(Finished(call=call, done=done))
        self._stages.ended(call.id, staged=call.staged, failed=isinstance(done, Failure))

    def saved(self, last_seq: int) -> SavedRun:
        """Return it."""
        if self._run is None:
            raise UntrustedState("the row of the run's beginning is missing")
        seed = self._run.document.get("seed")
        replay = None
        if seed:
            replay = ReplayInputs(
                seed=str(seed),
                readings=bytes(self._readings),
                turns=self._turns,
                torn=self._torn,
            )
        asked = (call for call in self._calls.values() if call.key not in self._begun)
        return SavedRun(
            run=self._run,
            pause=self._pause,
            finished=tuple(self._finished),
            unknown=tuple(self._begun.values()),
            last_seq=last_seq,
            end=self._end,
            asked=tuple(asked),
            taken=self._stages.taken,
            cuts=tuple(self._cuts),
            replay=replay,
            scripts=self._scripts,
        )
