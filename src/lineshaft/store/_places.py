"""Where Lineshaft keeps a person's own files. Only names: nothing is opened."""

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

from lineshaft.errors import ConfigError


def state_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of records, run states and approvals; it need not exist.

    It lies outside every workspace, so that a run neither dirties the tree nor reads it.
    """
    return own_folder("XDG_STATE_HOME", ".local/state", environ)


def own_folder(variable: str, fallback: str, environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of Lineshaft in one of the XDG base folders; it need not exist.

    Args:
        variable: Names the base folder.
        fallback: The base folder below the home folder, where the variable is not set.
        environ: Variables; those of the process where nothing is given.

    Raises:
        ConfigError: There is no base folder.
    """
    values = os.environ if environ is None else environ
    given = values.get(variable, "")
    if Path(given).is_absolute():
        return Path(given) / "lineshaft"
    home = values.get("HOME") or values.get("USERPROFILE") or ""
    if not Path(home).is_absolute():
        raise ConfigError(f"neither {variable} nor HOME names an absolute folder; set one of them")
    return Path(home) / fallback / "lineshaft"


def workspace_name(root: str | Path) -> str:
    """Return what the store calls a workspace: the real path of its root."""
    return os.path.realpath(root)


def workspace_folder(root: str | Path, environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of a workspace's journals; it need not exist."""
    real = workspace_name(root)
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:12]
    name = re.sub(r"[^A-Za-z0-9._-]", "_", Path(real).name)[:40] or "root"
    return state_folder(environ) / "workspaces" / f"{name}-{digest}"


def private_folder(path: Path) -> Path:
    """Make a folder that only its owner may enter, and those above it that are missing.

    Raises:
        ConfigError: It cannot be made.
    """
    try:
        for missing in reversed([each for each in (path, *path.parents) if not each.exists()]):
            missing.mkdir(mode=0o700, exist_ok=True)
        if not path.is_dir():
            raise NotADirectoryError(20, "it is not a folder")
    except OSError as error:
        message = f"the folder {str(path)!r} cannot be made: {error.strerror}"
        raise ConfigError(message, hint="set XDG_STATE_HOME to a folder you can write") from error
    return path
