"""The changes of landings, told from their journals: for a run whose process died after them."""

from collections.abc import Iterator
from contextlib import suppress

from msgspec.structs import replace

from lineshaft.errors import StateError
from lineshaft.values import Change
from lineshaft.workspace._ledger import Ledger
from lineshaft.workspace.disk import KEPT_BYTES, FileState, State
from lineshaft.workspace.journal import Journal, Journals


def changes_landed(journals: Journals, run_id: str) -> Iterator[Change]:
    """Return the changes of a run's landings that can be undone, in order of the landings."""
    for kept in journals.of(run_id):
        journal = journals.read(kept) if kept.fate == "journal" else None
        if journal is None:
            continue
        ledger = Ledger()
        for item in journal.header.items:
            if item.came is not None:
                ledger.moved(item.came.path, item.place.path, _state(journal, item.after))
        for item in journal.header.items:
            if item.place.path not in ledger.files:
                before, after = _state(journal, item.before), _state(journal, item.after)
                ledger.changed(item.place.path, before, after)
        for change in ledger.changes():
            yield replace(change, stage=journal.header.stage, undoable=True)


def _state(journal: Journal, thing: FileState) -> State:
    """Return a state with its content, unless that is large."""
    sha256, data = thing.sha256, None
    if sha256 is not None and thing.size <= KEPT_BYTES and journal.has(sha256):
        with suppress(OSError, StateError):  # damaged: an undo says so
            data = b"".join(journal.parts(sha256))
    return thing.state(data)
