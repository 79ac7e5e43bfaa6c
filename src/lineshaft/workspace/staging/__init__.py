"""A view whose changes stay in it until they land together."""

from lineshaft.workspace.staging.view import StagedView

__all__ = [
    "StagedView",
]
