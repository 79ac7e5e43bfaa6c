"""From the rows of a run to what they say, each checked first."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from lineshaft.store._seals import Seals, changed
from lineshaft.store._texts import Data, call_data, call_of, done_of, loaded, pause_of
from lineshaft.values import Finished, KeptCall, KeptPause, KeptRun, SavedRun

Rows = Mapping[tuple[str, int], bytes]
"""By part and ordinal."""

_IN_CHAIN = ("run", "started", "finished", "end")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a run's own row says of the others."""

    run_id: str
    count: int
    """How many rows its chain has."""

    head: bytes
    """Signature of the last of them."""

    pause: bytes
    """Signature of its pause; empty where it has none."""


def saved_run(rows: Rows, seals: Seals, standing: Standing, *, last_seq: int) -> SavedRun:
    """Return what the rows of a run say.

    Args:
        rows: All of them.
        seals: Check them.
        standing: What they must be.
        last_seq: Of its record.

    Raises:
        UntrustedState: They are not what was kept.
        StateError: Another version kept them.
    """
    run_id = standing.run_id
    told = _Told(run_id)
    chained = sorted((o, p, row) for (p, o), row in rows.items() if p in _IN_CHAIN)
    if [ordinal for ordinal, _, _ in chained] != list(range(standing.count)):
        raise changed()
    before = b""
    for ordinal, part, row in chained:
        data, before = seals.unwrap(row, run_id, part, ordinal, before)
        told.take(part, ordinal, loaded(data))
    if before != standing.head or told.run is None:
        raise changed()
    return SavedRun(
        run=told.run,
        pause=_pause(rows, seals, standing) if standing.pause else None,
        finished=tuple(told.finished),
        unknown=tuple(told.open.values()),
        last_seq=last_seq,
        end=told.end,
    )


class _Told:
    """What the rows have told so far."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._started: dict[int, KeptCall] = {}
        self.run: KeptRun | None = None
        self.finished: list[Finished] = []
        self.open: dict[str, KeptCall] = {}
        self.end: Data | None = None

    def take(self, part: str, ordinal: int, data: Data) -> None:
        """Take the next row."""
        match part:
            case "run":
                document = cast("Data", data["document"])
                workspace = str(data["workspace"])
                self.run = KeptRun(run_id=self._run_id, workspace=workspace, document=document)
            case "started":
                call = call_of(data["call"])
                self._started[ordinal] = self.open[call.key] = call
            case "finished":
                call = self._call(data)
                self.open.pop(call.key, None)
                self.finished.append(Finished(call=call, done=done_of(data["done"])))
            case _:
                self.end = cast("Data | None", data["end"])

    def _call(self, data: Data) -> KeptCall:
        told = cast("Data", data["call"])
        of = data.get("of")
        if isinstance(of, int):  # its arguments stand where it started
            told = {**told, "arguments": call_data(self._started[of])["arguments"]}
        return call_of(told)


def _pause(rows: Rows, seals: Seals, standing: Standing) -> KeptPause:
    run_id, row = standing.run_id, rows.get(("pause", 0))
    if row is None:
        raise changed()
    packed, found = seals.unwrap(row, run_id, "pause", 0, standing.head)
    data = loaded(packed)
    if found != standing.pause:
        raise changed()
    blobs: dict[str, bytes] = {}
    for ordinal, (name, expected) in enumerate(cast("dict[str, str]", data["blobs"]).items()):
        row = rows.get(("blob", ordinal))
        if row is None:
            raise changed()
        blobs[name], found = seals.unwrap(row, run_id, "blob", ordinal, b"")
        if found.hex() != expected:
            raise changed()
    return pause_of(data, blobs)
