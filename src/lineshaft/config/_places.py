"""Where Lineshaft keeps a person's own files."""

import os
from collections.abc import Mapping
from pathlib import Path

from lineshaft.errors import ConfigError

PROJECT_FILE = "lineshaft.toml"
PYPROJECT = "pyproject.toml"


def user_file(environ: Mapping[str, str] | None = None) -> Path:
    """Return the path of the person's own settings; it need not exist."""
    return _folder("XDG_CONFIG_HOME", ".config", environ) / PROJECT_FILE


def state_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of records and approvals; it need not exist.

    It lies outside every workspace, so that a run neither dirties the tree nor reads it.
    """
    return _folder("XDG_STATE_HOME", ".local/state", environ)


def private_folder(path: Path) -> Path:
    """Make a folder that only its owner may enter, and return it.

    Raises:
        ConfigError: It cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        message = f"the folder {str(path)!r} cannot be made: {error.strerror}"
        raise ConfigError(message, hint="set XDG_STATE_HOME to a folder you can write") from error
    return path


def _folder(variable: str, fallback: str, environ: Mapping[str, str] | None) -> Path:
    values = os.environ if environ is None else environ
    given = values.get(variable, "")
    if Path(given).is_absolute():
        return Path(given) / "lineshaft"
    home = values.get("HOME") or values.get("USERPROFILE") or ""
    if not Path(home).is_absolute():
        raise ConfigError(f"neither {variable} nor HOME names an absolute folder; set one of them")
    return Path(home) / fallback / "lineshaft"
