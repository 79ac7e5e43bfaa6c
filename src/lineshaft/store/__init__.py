"""The store: the record of every run, and the state of runs that may go on.

Above: sessions and the command line. Below: one SQLite file, or a shared database by URL. What is
kept exactly is signed, is read only in order to go on or to replay, and is never shown.
"""

from lineshaft.store._places import (
    private_folder,
    state_folder,
    workspace_folder,
    workspace_name,
)
from lineshaft.store._store import Store
from lineshaft.store._summaries import Pruned, RunSummary

__all__ = [
    "Pruned",
    "RunSummary",
    "Store",
    "private_folder",
    "state_folder",
    "workspace_folder",
    "workspace_name",
]
