"""The four folders in which Lineshaft keeps a person's files; they need not exist."""

import os
from collections.abc import Mapping
from pathlib import Path

from lineshaft.errors import ConfigError


def cache_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of files that can be made again at any time."""
    return _folder("XDG_CACHE_HOME", ".cache", environ)


def state_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of records, run states, approvals and the hashes of the cache.

    It lies outside every workspace, so that a run neither dirties the tree nor reads it.
    """
    return _folder("XDG_STATE_HOME", ".local/state", environ)


def data_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of Pythons and packages that a person built or installed."""
    return _folder("XDG_DATA_HOME", ".local/share", environ)


def config_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of a person's own settings."""
    return _folder("XDG_CONFIG_HOME", ".config", environ)


def _folder(variable: str, fallback: str, environ: Mapping[str, str] | None) -> Path:
    values = os.environ if environ is None else environ
    given = values.get(variable, "")
    if Path(given).is_absolute():
        return Path(given) / "lineshaft"
    home = values.get("HOME") or values.get("USERPROFILE") or ""
    if not Path(home).is_absolute():
        raise ConfigError(f"neither {variable} nor HOME names an absolute folder; set one of them")
    return Path(home) / fallback / "lineshaft"
