"""Staging over any workspace: by its own reads, walks and writes, wherever its files are.

Above: the session, for a workspace that cannot keep changes back by itself. Below: that workspace,
through `values.Workspace` alone. `draft.py` holds what is to be, `view.py` is a run's view,
`landing.py` lands it. What is lacking is said: such a landing is not whole across a crash, and
nothing of it can be undone.
"""

from lineshaft.workspace.anywhere.workspace import StagedAnywhere

__all__ = ["StagedAnywhere"]
