"""Checks of changes before they land: those of every session, and how all are asked."""

from lineshaft.workspace.guards.asking import guarded
from lineshaft.workspace.guards.built_in import MergeMarkers, Secrets, Syntax, with_built_in
from lineshaft.workspace.guards.companion import Companion
from lineshaft.workspace.guards.contents import Level

__all__ = [
    "Companion",
    "Level",
    "MergeMarkers",
    "Secrets",
    "Syntax",
    "guarded",
    "with_built_in",
]
