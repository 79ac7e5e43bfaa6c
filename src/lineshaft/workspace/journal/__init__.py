"""Journals of landings: written ahead, carried out, recovered and undone. No run is needed."""

from lineshaft.workspace.journal.contents import LandedContents, landed_contents
from lineshaft.workspace.journal.failpoints import reached
from lineshaft.workspace.journal.folder import Journals, forget_landings
from lineshaft.workspace.journal.recovery import carry_out, finish, others_in
from lineshaft.workspace.journal.sources import FromDisk, FromStage
from lineshaft.workspace.journal.steps import Task
from lineshaft.workspace.journal.storage import (
    Header,
    Item,
    Journal,
    Source,
    thing_facts,
)
from lineshaft.workspace.journal.undoing import undo

__all__ = [
    "FromDisk",
    "FromStage",
    "Header",
    "Item",
    "Journal",
    "Journals",
    "LandedContents",
    "Source",
    "Task",
    "carry_out",
    "finish",
    "forget_landings",
    "landed_contents",
    "others_in",
    "reached",
    "thing_facts",
    "undo",
]
