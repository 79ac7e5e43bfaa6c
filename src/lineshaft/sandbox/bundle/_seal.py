"""The check of a bundle before it is used: whole at first, afterwards only for changes."""

import hashlib
from pathlib import Path

from lineshaft.errors import PythonNotFound
from lineshaft.sandbox.bundle._build import Bundle
from lineshaft.sandbox.bundle._manifest import read_manifest, verify, walk
from lineshaft.sandbox.bundle._places import cache_folder


def check(root: Path) -> Bundle:
    """Return a bundle that is as it was built.

    All hashes are compared once; as long as size, time and inode of every file stay as they were
    then, they are not compared again.

    Raises:
        PythonNotFound: It was changed, or is no bundle.
    """
    root = root.resolve()
    try:
        looks = _looks(root)
    except OSError as error:
        raise PythonNotFound(f"the bundle {str(root)!r} cannot be read: {error}") from error
    seal = _seal_of(root)
    if _read(seal) == looks:
        return Bundle(root=root, manifest=read_manifest(root))
    manifest = verify(root)
    seal.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    seal.write_text(looks, encoding="ascii")
    return Bundle(root=root, manifest=manifest)


def _looks(root: Path) -> str:
    digest = hashlib.sha256()
    for path in walk(root):
        found = path.lstat()
        words = (path, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        digest.update(repr(words).encode())
    return digest.hexdigest()


def _seal_of(root: Path) -> Path:
    name = hashlib.sha256(str(root).encode()).hexdigest()
    return cache_folder() / "seals" / name


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""
