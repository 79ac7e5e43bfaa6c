"""A view whose changes stay in it until they land together.

What another stage needs, too, is here: diffs, packs, ledgers in packs, the words for stale files.
"""

from lineshaft.workspace.staging.diff import DiffEntry, unified
from lineshaft.workspace.staging.landed import changes_landed
from lineshaft.workspace.staging.landing import stale_files
from lineshaft.workspace.staging.ledgers import TouchedFacts, ledger_facts, ledger_from
from lineshaft.workspace.staging.merging import stale_below
from lineshaft.workspace.staging.pack import Json, Packing, unpacked
from lineshaft.workspace.staging.view import StagedView

__all__ = [
    "DiffEntry",
    "Json",
    "Packing",
    "StagedView",
    "TouchedFacts",
    "changes_landed",
    "ledger_facts",
    "ledger_from",
    "stale_below",
    "stale_files",
    "unified",
    "unpacked",
]
