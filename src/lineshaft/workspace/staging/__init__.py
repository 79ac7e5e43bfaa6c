"""A view whose changes stay in it until they land together."""

from lineshaft.workspace.staging.landed import changes_landed
from lineshaft.workspace.staging.view import StagedView

__all__ = [
    "StagedView",
    "changes_landed",
]
