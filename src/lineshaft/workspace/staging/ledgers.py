"""A ledger in a packed view: JSON-like data, contents by number."""

from collections.abc import Callable, Mapping

from lineshaft.values import Struct, as_dict
from lineshaft.workspace._ledger import Ledger, Seen, Touched
from lineshaft.workspace.disk import Kind, State
from lineshaft.workspace.staging.pack import Json, Packing

ReadContent = Callable[[int], bytes]


class _StateFacts(Struct, frozen=True):
    """A state, as a pack has it: its content by number."""

    kind: Kind
    sha256: str | None
    data: int | None
    mode: int | None
    target: str | None


class TouchedFacts(Struct, frozen=True):
    """A path that was changed, as a pack has it."""

    first: _StateFacts
    now: _StateFacts
    source: str
    added: int
    removed: int


def ledger_facts(ledger: Ledger, packing: Packing) -> Json:
    """Return a ledger as a pack has it."""
    return {
        path: {
            "first": _state_facts(file.first, packing),
            "now": _state_facts(file.now, packing),
            "source": file.source,
            "added": file.added,
            "removed": file.removed,
        }
        for path, file in ledger.files.items()
    }


def ledger_from(facts: Mapping[str, TouchedFacts], content: ReadContent, seen: Seen) -> Ledger:
    """Return a ledger again; `seen` are the versions that its view has seen."""
    ledger = Ledger(seen)
    for path, file in facts.items():
        first, now = _state_from(file.first, content), _state_from(file.now, content)
        ledger.put(path, Touched(first, now, file.source, file.added, file.removed))
    return ledger


def _state_facts(state: State, packing: Packing) -> Json:
    return {**as_dict(state), "data": None if state.data is None else packing.put(state.data)}


def _state_from(facts: _StateFacts, content: ReadContent) -> State:
    data = None if facts.data is None else content(facts.data)
    return State(facts.kind, facts.sha256, data, facts.mode, facts.target)
