"""Files and commands of a run: the resolution of paths, the permission to change, the changes.

Above: sessions, the gate and the kit's tools, which know only `values.Workspace`.
"""

from lineshaft.workspace._folder import Folder
from lineshaft.workspace._folder_view import FolderView
from lineshaft.workspace.anywhere import StagedAnywhere
from lineshaft.workspace.disk import Editor, EditorEdit, EditorReview, Mount, SavedFile, Unsaved
from lineshaft.workspace.guards import (
    Companion,
    Level,
    MergeMarkers,
    Secrets,
    Syntax,
    guarded,
    with_built_in,
)
from lineshaft.workspace.journal import LandedContents, forget_landings

__all__ = [
    "Companion",
    "Editor",
    "EditorEdit",
    "EditorReview",
    "Folder",
    "FolderView",
    "LandedContents",
    "Level",
    "MergeMarkers",
    "Mount",
    "SavedFile",
    "Secrets",
    "StagedAnywhere",
    "Syntax",
    "Unsaved",
    "forget_landings",
    "guarded",
    "with_built_in",
]
