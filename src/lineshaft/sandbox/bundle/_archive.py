"""Unpack an archive that may be hostile: whole and inside one folder, or not at all."""

import os
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from lineshaft.errors import PythonNotFound
from lineshaft.values import Struct

MOST_BYTES = 3 << 30
MOST_FILES = 100_000
_CHUNK = 1 << 20
_FAILURES = (tarfile.TarError, OSError, EOFError, zlib.error, ValueError)


class ArchiveBounds(Struct, frozen=True, kw_only=True):
    """How much an archive may unpack to."""

    bytes: int = MOST_BYTES
    files: int = MOST_FILES


class _Refused(Exception):
    """The archive has an entry that no honest archive needs."""


def unpack(archive: Path, target: Path, *, bounds: ArchiveBounds | None = None) -> None:
    """Unpack a `.tar.gz` or `.tar` into a folder that does not exist yet.

    Members may be files, folders, and links that stay inside; anything else refuses the whole.

    Raises:
        PythonNotFound: The archive is hostile, damaged or too large. Nothing is left of it.
    """
    target.mkdir(parents=True)
    try:
        with tarfile.open(archive, "r|*") as tar:
            _Unpacking(target, bounds or ArchiveBounds()).run(tar)
    except (_Refused, *_FAILURES) as error:
        shutil.rmtree(target, ignore_errors=True)
        raise PythonNotFound(f"the archive {str(archive)!r} is refused: {error}") from error
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise


class _Unpacking:
    """One archive on its way into one folder."""

    def __init__(self, target: Path, bounds: ArchiveBounds) -> None:
        self.target = target
        self.bytes_left = bounds.bytes
        self.files_left = bounds.files

    def run(self, tar: tarfile.TarFile) -> None:
        for member in tar:
            self.files_left -= 1
            if self.files_left < 0:
                raise _Refused("it has too many members")
            place = self.place(member.name)
            self.make_parents(place)
            if member.isdir():
                place.mkdir(exist_ok=True)
            elif member.issym():
                self.symlink(member, place)
            elif member.islnk():
                self.hard_link(member, place)
            elif member.isreg():
                source = tar.extractfile(member)
                if source is not None:
                    self.file(source, place, member.mode)
            else:
                raise _Refused(f"{member.name!r} is neither file nor folder nor link")

    def place(self, name: str) -> Path:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\0" in name or "\\" in name:
            raise _Refused(f"{name!r} leads out of the archive")
        return self.target / path

    def make_parents(self, place: Path) -> None:
        for folder in reversed(list(_up_to(place.parent, self.target))):
            if folder.is_symlink():
                raise _Refused(f"{place.name!r} lies behind a link")
            folder.mkdir(exist_ok=True)

    def symlink(self, member: tarfile.TarInfo, place: Path) -> None:
        words = PurePosixPath(member.linkname)
        ups = sum(1 for part in words.parts if part == "..")
        # Up first, and not above the top: a way back up behind another link leads anywhere.
        leads = words.parts[:ups] == ("..",) * ups
        depth = len(place.parent.relative_to(self.target).parts)
        if words.is_absolute() or not leads or ups > depth:
            raise _Refused(f"{member.name!r} links to {member.linkname!r}, outside of the archive")
        place.symlink_to(words)

    def hard_link(self, member: tarfile.TarInfo, place: Path) -> None:
        source = self.place(member.linkname)
        self.make_parents(source)
        if source.is_symlink() or not source.is_file():
            raise _Refused(f"{member.name!r} is a second name of {member.linkname!r}: no file")
        # A copy: what is written to one of two names must not appear under the other.
        with source.open("rb") as file:
            self.file(file, place, source.stat().st_mode)

    def file(self, source: IO[bytes], place: Path, mode: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(place, flags, 0o600), "wb") as file:
            while data := source.read(_CHUNK):
                self.bytes_left -= len(data)
                if self.bytes_left < 0:
                    raise _Refused("it unpacks to too many bytes")
                file.write(data)
        place.chmod(0o755 if mode & 0o100 else 0o644)


def _up_to(folder: Path, top: Path) -> Iterator[Path]:
    while folder != top:
        yield folder
        folder = folder.parent
