"""Install a Python from an archive, such as those of python-build-standalone, or from a mirror."""

import hashlib
import os
import re
import shutil
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from lineshaft.errors import PythonNotFound
from lineshaft.sandbox.bundle._archive import MOST_BYTES, ArchiveBounds, unpack
from lineshaft.sandbox.bundle._build import Bundle, build
from lineshaft.sandbox.bundle._places import installed_folder
from lineshaft.sandbox.bundle._subject import ask

_ROOTS = ("python/install", "python", ".", "*")
_PROGRAM = re.compile(r"python3\.\d+")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SECONDS = 60
_CHUNK = 1 << 20


def install(
    source: str,
    *,
    sha256: str | None = None,
    home: Path | None = None,
    bounds: ArchiveBounds | None = None,
) -> Bundle:
    """Install a Python for scripts.

    Args:
        source: A `.tar.gz` with an interpreter that can be moved: a path, or the `https` address
            of an archive on a mirror.
        sha256: The archive's expected hash; None: the hash in the file beside it whose name ends
            with `.sha256`.
        home: Folder of the bundles; None: the data folder.
        bounds: The most that it may unpack to.

    Raises:
        PythonNotFound: The archive is missing, hostile, has another hash, or holds no Python that
            runs here. Nothing is left of it.
    """
    home = installed_folder() if home is None else home
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".install-", dir=home) as folder:
        archive = _fetched(source, Path(folder))
        _check(archive, source, sha256 or _promised(source, Path(folder)))
        unpack(archive, Path(folder, "tree"), bounds=bounds)
        interpreter = _interpreter(Path(folder, "tree"))
        subject = ask(interpreter)
        target = home / f"{subject.version}-{subject.platform}"
        if target.exists():
            shutil.rmtree(target)
        return build(target, interpreter=interpreter)


def _fetched(source: str, folder: Path) -> Path:
    """Return the archive's path, downloaded where it is an address."""
    if source.endswith((".zst", ".xz", ".zip")):
        raise PythonNotFound(
            f"{source!r} is not packed as we can unpack", hint="take the `install_only.tar.gz`"
        )
    if not source.startswith("https://"):
        path = Path(source).expanduser()
        if not path.is_file():
            raise PythonNotFound(f"there is no archive {source!r}")
        return path
    target = folder / "archive.tar.gz"
    _download(source, target)
    return target


def _promised(source: str, folder: Path) -> str:
    beside = Path(f"{source}.sha256").expanduser()
    if source.startswith("https://"):
        beside = folder / "promised"
        _download(f"{source}.sha256", beside)
    try:
        words = beside.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError):
        words = []
    if not words:
        raise PythonNotFound(
            f"the hash that {source!r} must have is not given",
            hint=f"give its SHA-256, or put it into {source}.sha256",
        )
    return words[0]


def _check(archive: Path, source: str, promised: str) -> None:
    if not _SHA256.fullmatch(promised.lower()):
        raise PythonNotFound(f"{promised!r} is no SHA-256")
    with archive.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != promised.lower():
        raise PythonNotFound(f"the archive {source!r} has the hash {found}, not {promised}")


def _download(address: str, target: Path) -> None:
    left = MOST_BYTES
    try:
        with (
            urllib.request.urlopen(address, timeout=_SECONDS) as answer,  # noqa: S310  https only
            target.open("wb") as file,
        ):
            while data := answer.read(_CHUNK):
                left -= len(data)
                if left < 0:
                    raise PythonNotFound(f"{address!r} does not end")
                file.write(data)
    except OSError as error:
        raise PythonNotFound(f"{address!r} cannot be fetched: {error}") from error


def _interpreter(tree: Path) -> Path:
    for root in _ROOTS:
        for program in _programs(tree, root):
            if _PROGRAM.fullmatch(program.name) and os.access(program, os.X_OK):
                return program
    raise PythonNotFound("the archive holds no bin/python3.N")


def _programs(tree: Path, root: str) -> Iterator[Path]:
    yield from sorted(path for path in tree.glob(f"{root}/bin/python3.*") if path.is_file())
