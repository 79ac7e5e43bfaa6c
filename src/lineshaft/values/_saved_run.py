"""The exact state of a run, from which it goes on, is replayed or undone; never shown.

`repr` of these values leaves out everything from a script or a tool.
"""

from collections.abc import Mapping

from msgspec import field

from lineshaft.values._calls import Done, Effect, Origin, Pending
from lineshaft.values._engines import ReplayInputs
from lineshaft.values._inner_script import KeptScript
from lineshaft.values._struct import Struct


class KeptCall(Struct, frozen=True, kw_only=True):
    """One call, exactly as it was made."""

    __unshown__ = frozenset({"arguments"})

    key: str
    """Its identity in the run."""

    id: str
    tool: str
    arguments: Mapping[str, object]
    origin: Origin = "script"
    parent: str | None = None
    effect: Effect = "external"
    staged: bool = False
    """All it did is in the changes that had not landed when it ended."""

    stage: int = 0
    """How many times changes had landed before it started."""

    rule: str = ""


class KeptRun(Struct, frozen=True, kw_only=True):
    """The state with which a run begins."""

    __unshown__ = frozenset({"document"})

    run_id: str
    workspace: str
    """Which workspace, as the store tells them apart: the real path of its root."""

    document: Mapping[str, object] = field(default_factory=dict[str, object])
    """Script, inputs, limits and all else that is needed to go on; JSON-like."""


class KeptPause(Struct, frozen=True, kw_only=True):
    """The state of a run that waits for answers."""

    __unshown__ = frozenset({"document", "blobs", "pending"})

    document: Mapping[str, object]
    """JSON-like."""

    blobs: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """An interpreter's state, staged changes."""

    pending: tuple[Pending, ...] = ()
    """As shown to the approver."""

    expires_at: str = ""
    """UTC, ISO 8601."""


class Finished(Struct, frozen=True, kw_only=True):
    """A call of a kept run that had ended, in the order in which they ended."""

    __unshown__ = frozenset({"done"})

    call: KeptCall
    done: Done


class SavedRun(Struct, frozen=True, kw_only=True):
    """The kept state of one run, read back and verified."""

    __unshown__ = frozenset({"finished", "end"})

    run: KeptRun
    pause: KeptPause | None
    """None: it did not pause; its host died, or it is over and kept for replay."""

    finished: tuple[Finished, ...]
    unknown: tuple[KeptCall, ...]
    """Started and not known to have ended."""

    last_seq: int
    """Number of the last event in its record."""

    end: Mapping[str, object] | None = None
    """Its last row; None: it is not over."""

    asked: tuple[KeptCall, ...] = ()
    """Calls that were made and neither started nor ended."""

    taken: Mapping[str, int] = field(default_factory=dict[str, int])
    """By call id: the landing that took what it changed, counted from 0; -1: its container failed,
    and that was dropped. Absent where nothing did."""

    cuts: tuple[tuple[int, int], ...] = ()
    """Points at which the replay inputs may be cut: numbers of turns, and bytes of readings."""

    replay: ReplayInputs | None = None
    """The inputs of its script beside its calls; None: there is no script."""

    scripts: Mapping[str, KeptScript] = field(default_factory=dict[str, KeptScript])
    """The scripts of containers, by the container's key."""
