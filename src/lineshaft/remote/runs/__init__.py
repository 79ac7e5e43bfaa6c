"""Runs of one workspace, told to who looks at them: a window's list, its diffs, its panel.

Above: the host. Below: the store's reader and the journals of landings. Only the redacted column of
a run's log is read, and what journals keep is redacted before it is told.
"""

from lineshaft.remote.runs.kept import KeptRuns
from lineshaft.remote.runs.shown import event_told

__all__ = ["KeptRuns", "event_told"]
