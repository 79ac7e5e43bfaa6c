"""Files and commands of a run: where a path leads, what may be changed, what was changed.

Above: sessions, the gate and the kit's tools, which know only `values.Workspace`.
"""

from lineshaft.workspace._folder import Folder
from lineshaft.workspace._guards import guarded
from lineshaft.workspace._guards_built_in import (
    MergeMarkers,
    Secrets,
    Syntax,
    with_built_in,
)
from lineshaft.workspace._guards_companion import Companion
from lineshaft.workspace._guards_contents import Level
from lineshaft.workspace._journals import forget_landings
from lineshaft.workspace._mounts import Mount
from lineshaft.workspace._view import FolderView

__all__ = [
    "Companion",
    "Folder",
    "FolderView",
    "Level",
    "MergeMarkers",
    "Mount",
    "Secrets",
    "Syntax",
    "forget_landings",
    "guarded",
    "with_built_in",
]
