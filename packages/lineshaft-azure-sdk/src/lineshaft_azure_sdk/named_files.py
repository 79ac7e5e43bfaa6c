"""The files of a repository that a command names, for a person's approval.

Found by what the words say, so rather one file too many: a path as a word, in a word after `=` or
between other signs, in a text for `-c`, behind a short option, without its suffix, or as a dotted
module of Python. A folder stands for all that is in it. What files read or start in their turn is
not found.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal

from lineshaft.errors import ConfigError

MOST_FILES = 500
MOST_BYTES = 10_000_000

VARIABLE = re.compile(r"\{([A-Za-z][A-Za-z0-9_]*)\}")
REPOSITORY = re.compile(r"\{SdkRepoPath\}", re.IGNORECASE | re.ASCII)
"""The variable whose value is known before a call."""

_BETWEEN = re.compile(r"""[\s;&|<>()$`"'=,:@*?!#\[\]{}\\]+""")
_TEXT = re.compile(r"""[\s;&|<>()$`"']""")
_MODULE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_SUFFIXES = ("", ".py", ".js", ".cjs", ".mjs", ".ts", ".sh", ".ps1", ".cmd", ".bat", ".exe")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFiles:
    """What a command names."""

    files: Sequence[Path]
    """Real paths, all in the repository."""

    unknown: Sequence[str]
    """Words that may stand for files which nobody can know before a call."""


def named_files(words: Sequence[str], root: Path) -> NamedFiles:
    """Return the files that the words of a command name.

    Args:
        words: The program and its arguments, as they are configured.
        root: The repository, a real path.

    Raises:
        ConfigError: A path or a link leads out of the repository, or too much is named.
    """
    found = _Found(root=root)
    unknown: list[str] = []
    for at, said in enumerate(words):
        word = REPOSITORY.sub(".", said)
        known = bool(found.files)
        if at == 0 and found.is_elsewhere(word):
            continue  # a program of the machine, as its name on the PATH would be
        if VARIABLE.search(word):
            found.refuse_outside(word)
            if not known or "/" in VARIABLE.sub("", word):
                unknown.append(said)
            continue
        for path, is_whole in _paths(word):
            found.add(path, said, is_whole=is_whole, folders=at > 0)
        if _TEXT.search(word) or (not known and found.is_root(word)):
            unknown.append(said)
    return NamedFiles(files=tuple(found.files), unknown=tuple(unknown))


def _paths(word: str) -> Iterator[tuple[str, bool]]:
    """Return what may be a path in a word, and whether it is the whole of an argument."""
    whole = [word, word.partition("=")[2], word[2:] if re.match(r"-\w", word) else ""]
    for part in dict.fromkeys(filter(None, (*whole, *_BETWEEN.split(word)))):
        yield part, part in whole
        name = part[2:] if re.match(r"-\w", part) else part
        if _MODULE.fullmatch(name):
            names = name.split(".")
            yield "/".join(names), False
            for depth in range(1, len(names)):
                yield "/".join((*names[:depth], "__init__")), False


@dataclass(slots=True, kw_only=True)
class _Found:
    root: Path
    files: dict[Path, None] = field(default_factory=dict[Path, None])
    size: int = 0
    folders: set[Path] = field(default_factory=set[Path])

    def add(self, path: str, word: str, *, is_whole: bool, folders: bool) -> None:
        """Add what a path leads to, if it is there.

        Args:
            path: From the repository's root, or absolute.
            word: Where it stands.
            is_whole: Whether it is the whole of an argument.
            folders: Whether a folder stands for what is in it.
        """
        if self.is_elsewhere(path):
            if is_whole and path != os.devnull and _kind(Path(path)):
                raise _leads_out(word)
            return
        for suffix in _SUFFIXES:
            real = self._real(path + suffix, word)
            kind = _kind(real)
            if kind == "file":
                self._add_file(real, word)
            elif kind == "folder" and folders and real != self.root:
                self._add_folder(real, word)
            elif kind == "other":
                raise ConfigError(f"{word!r} names {path!r}, which is no regular file")

    def refuse_outside(self, word: str) -> None:
        """Refuse a word with a variable that leads out, or may do so."""
        found = VARIABLE.search(word)
        start = re.split(r"[=,:]", word[: found.start() if found else None])[-1]
        folder = start.rpartition("/")[0] or ("/" if start.startswith("/") else "")
        if ".." in re.split(r"[/=,:]", word):
            raise _leads_out(word)
        self._real(folder, word)

    def is_elsewhere(self, path: str) -> bool:
        """Return whether a path is absolute, and not one of the repository as it is written."""
        return Path(path).is_absolute() and not Path(os.path.normpath(path)).is_relative_to(
            self.root
        )

    def is_root(self, word: str) -> bool:
        """Return whether a word is the whole repository."""
        return _resolved(self.root / word) == self.root

    def _real(self, path: str, word: str) -> Path:
        real = _resolved(self.root / path)
        if not real.is_relative_to(self.root):
            raise _leads_out(word)
        return real

    def _add_folder(self, folder: Path, word: str) -> None:
        if folder in self.folders:
            return
        self.folders.add(folder)
        try:
            with os.scandir(folder) as entries:
                names = sorted(entry.name for entry in islice(entries, MOST_FILES + 1))
        except OSError as error:
            raise ConfigError(f"{word!r} names a folder that cannot be read: {error}") from error
        if len(names) > MOST_FILES or len(self.folders) > MOST_FILES:
            raise _too_much(word)
        for name in names:
            real = self._real(str(folder / name), word)
            kind = _kind(real)
            if kind == "folder":
                self._add_folder(real, word)
            elif kind == "file":
                self._add_file(real, word)
            else:
                raise ConfigError(f"{word!r} names a folder with {name!r}, which is no file")

    def _add_file(self, path: Path, word: str) -> None:
        if path in self.files:
            return
        self.files[path] = None
        try:
            self.size += path.stat().st_size
        except OSError as error:
            raise ConfigError(f"{word!r} names a file that cannot be read: {error}") from error
        if len(self.files) > MOST_FILES or self.size > MOST_BYTES:
            raise _too_much(word)


def _resolved(path: Path) -> Path:
    return Path(os.path.realpath(path))  # also where links lead in a circle


def _kind(path: Path) -> Literal["file", "folder", "other"] | None:
    """Return what is there; None where nothing is."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return None
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else "other"


def _leads_out(word: str) -> ConfigError:
    return ConfigError(
        f"{word!r} leads out of the repository: nobody can approve what is there",
        hint="name files by paths from the repository's root, without links out of it",
    )


def _too_much(word: str) -> ConfigError:
    return ConfigError(
        f"{word!r} names too much to be approved: over {MOST_FILES:,} files or"
        f" {MOST_BYTES // 1_000_000} MB",
        hint="name the file that runs, or a smaller folder",
    )
