"""The list of a bundle's files with their hashes, and the check against it."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from lineshaft.errors import PythonNotFound
from lineshaft.values import Struct

MANIFEST = "manifest.json"


class Manifest(Struct, frozen=True, kw_only=True):
    """The description of a bundle."""

    version: str
    """Of Python, such as `3.11.7`."""

    tag: str
    """Of compiled code, such as `cpython-311`."""

    platform: str
    executable: str
    """Relative to the bundle."""

    stdlib: str
    """Folder of the standard library, relative to the bundle."""

    source: str
    """Its origin, for people."""

    system: tuple[str, ...]
    """Files of the machine that it needs."""

    licences: tuple[str, ...]
    """Texts, relative to the bundle."""

    files: dict[str, str]
    """SHA-256 of each file, or the target of a link after `-> `."""


def fingerprints(root: Path) -> dict[str, str]:
    """Return the hash of each file of a folder but the manifest, by relative path."""
    return {
        path.relative_to(root).as_posix(): _fingerprint(path)
        for path in walk(root)
        if path != root / MANIFEST
    }


def walk(root: Path) -> Iterator[Path]:
    """Return all files and links below a folder."""
    for path in sorted(root.iterdir()):
        if path.is_dir() and not path.is_symlink():
            yield from walk(path)
        else:
            yield path


def write_manifest(root: Path, manifest: Manifest) -> None:
    """Write a bundle's manifest."""
    text = json.dumps(asdict(manifest), indent=1, sort_keys=True)
    (root / MANIFEST).write_text(text + "\n", encoding="utf-8")


def read_manifest(root: Path) -> Manifest:
    """Return a bundle's manifest.

    Raises:
        PythonNotFound: There is none, or it is damaged.
    """
    path = root / MANIFEST
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        data["system"], data["licences"] = tuple(data["system"]), tuple(data["licences"])
        return Manifest(**data)
    except FileNotFoundError:
        raise PythonNotFound(f"{str(root)!r} is no bundle: it has no {MANIFEST}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PythonNotFound(f"the manifest {str(path)!r} cannot be read: {error}") from error


def verify(root: Path) -> Manifest:
    """Return the manifest of a bundle of which every file is as it was built.

    Raises:
        PythonNotFound: A file is missing, changed or new.
    """
    manifest = read_manifest(root)
    there = fingerprints(root)
    if there != manifest.files:
        names = sorted(set(there.items()) ^ set(manifest.files.items()))
        raise PythonNotFound(
            f"the bundle {str(root)!r} was changed after it was built: {names[0][0]!r}",
            hint="remove the folder and build it again: `lineshaft python build`",
        )
    return manifest


def _fingerprint(path: Path) -> str:
    if path.is_symlink():
        return f"-> {path.readlink()}"
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
