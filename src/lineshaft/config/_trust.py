"""Which modules of which projects a person has approved, by the hash of their content.

A project's file comes with the project, so whoever wrote the project wrote it. The modules it
names run with the person's rights, outside policy; hence they start only once a person has said
so, and again after every change of their content.

Covered: of a file, the bytes that are executed are the bytes that were hashed; of an importable
module, its own file and those of its packages are hashed before any of them runs. Not covered: what
an approved module imports or reads in its turn, and an environment that others can write to.
"""

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from lineshaft.config._files import read_bytes
from lineshaft.errors import ConfigError
from lineshaft.store import private_folder, state_folder

_FILE = "trusted.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unapproved:
    """A module that a project's file names and nobody has approved yet."""

    project: Path
    """The project's file."""

    name: str
    """The module, as the file names it."""

    sha256: str
    """Of its content now."""

    files: tuple[Path, ...]
    """What would be executed."""


def is_approved(module: Unapproved, *, environ: Mapping[str, str] | None = None) -> bool:
    """Return whether a person has approved just this content for this project."""
    return _read(environ).get(_key(module)) == module.sha256


def approve(module: Unapproved, *, environ: Mapping[str, str] | None = None) -> None:
    """Remember that a person approved the module as it is now.

    Raises:
        ConfigError: The state folder cannot be written.
    """
    folder = private_folder(state_folder(environ))
    approved = {**_read(environ), _key(module): module.sha256}
    text = json.dumps({"version": 1, "modules": approved}, indent=2, sort_keys=True)
    try:
        handle, name = tempfile.mkstemp(dir=folder, prefix=_FILE)  # mode 0600
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        Path(name).replace(folder / _FILE)
    except OSError as error:
        raise ConfigError(
            f"the approval cannot be kept in {str(folder)!r}: {error.strerror}"
        ) from error


def _key(module: Unapproved) -> str:
    return f"{os.path.realpath(module.project)}::{module.name}"


def _read(environ: Mapping[str, str] | None) -> dict[str, str]:
    path = state_folder(environ) / _FILE
    if not os.path.lexists(path):
        return {}
    try:
        content = cast("object", json.loads(read_bytes(path)))
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"{str(path)!r} is not readable as JSON", hint="delete it and approve again"
        ) from error
    modules = cast("dict[str, object]", content).get("modules") if _is_dict(content) else None
    if not _is_dict(modules):
        raise ConfigError(f"{str(path)!r} holds no approvals", hint="delete it and approve again")
    return {name: str(sha256) for name, sha256 in cast("dict[str, object]", modules).items()}


def _is_dict(value: object) -> bool:
    return isinstance(value, dict)
