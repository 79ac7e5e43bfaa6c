"""Programs of the machine in a view of their own: a jail over a private copy of the workspace.

Above: packs, whose verifiers and generators are arbitrary code of a project. Below: the jail of
`python_run`. What a program writes is thrown away, or becomes changes of the run; the folder itself
is as it was either way.
"""

from lineshaft.kit.view.copy import origin_of
from lineshaft.kit.view.run import ViewedProgram, jail_for_views, run_in_view

__all__ = [
    "ViewedProgram",
    "jail_for_views",
    "origin_of",
    "run_in_view",
]
