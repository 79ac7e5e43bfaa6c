"""Results of the kit's tools."""

import os

from typing_extensions import TypedDict

from lineshaft.values import Change, ChangeKind, Entry, EntryKind


class FileText(TypedDict):
    """Lines of a text file."""

    path: str
    """In the workspace, links followed."""

    content: str
    """The lines as they are, line breaks included."""

    start: int
    """Number of the first line in `content`; the first line of a file is 1."""

    end: int
    """Number of the last line in `content`; `start - 1` where there is none."""

    total_lines: int
    """Lines of the whole file."""

    sha256: str
    """Of the whole file, for `if_match`."""

    truncated: bool
    """Whether `content` of a direct call was cut at 50,000 bytes; go on at `end + 1`. Never true in
    a script."""


class FileEntry(TypedDict):
    """One file or folder."""

    path: str
    """In the workspace, with `/`."""

    kind: EntryKind
    """`file`, `folder`, `symlink` or `other`."""

    size: int
    """Bytes; 0 for folders."""

    hidden: bool
    """Some part of the path starts with a dot."""

    symlink: bool
    """Whether it is a symbolic link."""


class Entries(TypedDict):
    """Files and folders."""

    entries: list[FileEntry]
    """What was found."""

    truncated: bool
    """Whether there are more, which a direct call left out. Never true in a script."""

    unreadable: list[str]
    """Paths of folders below it that could not be looked into."""


class Match(TypedDict):
    """One line that matches."""

    path: str
    """Of the file, in the workspace."""

    line: int
    """Its number; the first line of a file is 1."""

    text: str
    """The line; in a direct call at most 2,000 characters of it, with a sign of what was cut."""

    before: list[str]
    """The lines before it, as many as `context` asked for."""

    after: list[str]
    """The lines after it."""


class Matches(TypedDict):
    """Lines that match."""

    matches: list[Match]
    """What was found, file by file."""

    truncated: bool
    """Whether there may be more, which a direct call left out. Never true in a script."""

    unreadable: list[str]
    """Paths of what could not be read, and so was not searched; pipes and devices, too."""


class FileChange(TypedDict):
    """A change that was made to a file."""

    path: str
    """In the workspace, with `/`."""

    kind: ChangeKind
    """What was done."""

    sha256: str | None
    """Of the content after it; null where the file is gone."""

    added: int
    """Lines."""

    removed: int
    """Lines."""


class CommandResult(TypedDict):
    """How a command ended."""

    exit_code: int
    """0 where all went well; minus the number of the signal that ended it."""

    stdout: str
    """What it printed, as far as it was kept."""

    stderr: str
    """What it wrote to standard error, as far as it was kept."""

    duration_ms: float
    """Milliseconds from start to end."""

    stdout_truncated: bool
    """Whether the middle was left out."""

    stderr_truncated: bool
    """The same of standard error."""

    replaced_bytes: int
    """Bytes of the output that are not UTF-8: they stand in it as `U+FFFD`, and are lost."""

    changes: list[FileChange]
    """What files of the workspace it changed."""


def entry(found: Entry) -> FileEntry:
    """Return an entry as the tools give it."""
    return {
        "path": found.path,
        "kind": found.kind,
        "size": found.size,
        "hidden": found.hidden,
        "symlink": found.symlink,
    }


def change(made: Change) -> FileChange:
    """Return a change as the tools give it."""
    return {
        "path": _text(made.path),
        "kind": made.kind,
        "sha256": made.sha256,
        "added": made.added,
        "removed": made.removed,
    }


def _text(path: str) -> str:
    """Return a path with a sign in place of each byte that is no text, as folders list it."""
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "replace")
