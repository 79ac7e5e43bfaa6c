"""Places of a person's own settings, and names of a project's."""

import os
from collections.abc import Mapping
from pathlib import Path

from lineshaft.files import config_folder

PROJECT_FILE = "lineshaft.toml"
PYPROJECT = "pyproject.toml"


def user_file(environ: Mapping[str, str] | None = None) -> Path:
    """Return the path of the person's own settings; it need not exist."""
    return config_folder(environ) / PROJECT_FILE


def repository_of(folder: Path) -> Path:
    """Return the folder of the repository that a folder lies in; itself where none shows."""
    for each in (folder, *folder.parents):
        if os.path.lexists(each / ".git"):
            return each
    return folder
