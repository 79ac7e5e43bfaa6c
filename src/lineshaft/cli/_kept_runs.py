"""The runs that a window is told of: those of its folder, by the settings that hold there."""

import os
from pathlib import Path

from lineshaft.cli._options import settings_for
from lineshaft.config import kept_secrets, store_of
from lineshaft.remote.host import KeptRuns
from lineshaft.store import workspace_folder
from lineshaft.trace import Redactor, secret_values
from lineshaft.workspace import Folder


def kept_runs(root: Path) -> KeptRuns:
    """Return the reader of a folder's runs.

    Raises:
        ConfigError: The settings cannot be used.
    """
    settings = settings_for(root)
    redactor = Redactor([*secret_values(os.environ), *kept_secrets().values()])
    folder = Folder(root, journals=workspace_folder(root), keep_days=settings.store[1])
    return KeptRuns(store_of(settings), folder, redactor.acting.text)
