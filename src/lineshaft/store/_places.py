"""Names of the store's files for a workspace; no file is opened."""

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

from lineshaft.files import state_folder


def workspace_name(root: str | Path) -> str:
    """Return the store's name for a workspace: the real path of its root."""
    return os.path.realpath(root)


def workspace_folder(root: str | Path, environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of a workspace's journals; it need not exist."""
    real = workspace_name(root)
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:12]
    name = re.sub(r"[^A-Za-z0-9._-]", "_", Path(real).name)[:40] or "root"
    return state_folder(environ) / "workspaces" / f"{name}-{digest}"
