"""The store: one log for each run, which is its record and the state from which it goes on.

Above: sessions and the command line. Below: one file of SQLite. The exact part of a log is read
    only to go on or to replay, and is never shown; every row is signed.
"""

from lineshaft.files import private_folder, state_folder
from lineshaft.store._memory import MemoryLog
from lineshaft.store._places import workspace_folder, workspace_name
from lineshaft.store._store import Store
from lineshaft.store._summaries import Pruned, RunSummary

__all__ = [
    "MemoryLog",
    "Pruned",
    "RunSummary",
    "Store",
    "private_folder",
    "state_folder",
    "workspace_folder",
    "workspace_name",
]
