"""Walk over folders, sorted, without following symlinks."""

import os
from collections.abc import Iterator

from msgspec.structs import replace

from lineshaft.errors import FileMissing, OutsideWorkspace, WorkspaceError
from lineshaft.files import identity_of
from lineshaft.values import Entry, EntryKind, Struct
from lineshaft.workspace.disk.access import Kind, kind_of, missing, own_identities, told
from lineshaft.workspace.disk.edits import is_temporary
from lineshaft.workspace.disk.ignore import Ignore
from lineshaft.workspace.disk.mounts import Mounts, Place, canonical
from lineshaft.workspace.disk.tree import DISK, Files


class Found(Struct, frozen=True):
    """One entry of a walk."""

    place: Place
    kind: Kind
    status: os.stat_result
    closed: bool = False
    """Whether it is a folder that may not be read."""


def scan(
    folder: Place,
    *,
    ignore: Ignore | None,
    depth: int | None = None,
    files_too: bool = True,
    tree: Files = DISK,
) -> Iterator[Found]:
    """Return everything below a folder, each folder before its contents.

    Lineshaft's own folders are left out.

    Args:
        folder: The start.
        ignore: The rules that hold in it; None: nothing is left out.
        depth: How many folders deep; None: all.
        files_too: Whether ignored files are left out as well as ignored folders.
        tree: The tree to walk over.
    """

    def entries(folder: Place, rules: Ignore | None) -> list[Found]:
        return _entries(tree, folder, rules, files_too=files_too)

    levels = [(iter(entries(folder, ignore)), ignore)]
    while levels:
        found_here, rules = levels[-1]
        found = next(found_here, None)
        if found is None:
            levels.pop()
            continue
        if found.kind == "folder" and (depth is None or len(levels) < depth):
            try:
                inner = None if rules is None else rules.within(found.place)
                below = entries(found.place, inner)
            except (FileNotFoundError, FileMissing):
                below, inner = [], None  # it is gone by now
            except (OSError, WorkspaceError):
                yield replace(found, closed=True)
                continue
            yield found
            levels.append((iter(below), inner))
        else:
            yield found


def _entries(tree: Files, folder: Place, rules: Ignore | None, *, files_too: bool) -> list[Found]:
    found: list[Found] = []
    own = folder.root.own
    names = set[str]() if own is None else own.names_in(folder.real)
    identities = own_identities(folder)
    for name, status in tree.entries(folder):
        kind = kind_of(status.st_mode)
        if own is not None and own.is_named(name, names):
            continue
        if kind == "folder" and identity_of(status) in identities:
            continue
        place = Place(folder.root, (*folder.parts, name), folder.writable)
        is_folder = kind == "folder"
        asked = rules if files_too or is_folder else None
        hidden = asked is not None and asked.hides(place.parts, folder=is_folder)
        if not hidden and not is_temporary(name):
            found.append(Found(place, kind, status))
    found.sort(key=lambda one: one.place.parts)
    return found


def start_of_walk(mounts: Mounts, path: str, tree: Files = DISK) -> Place:
    """Return the folder at a path.

    Raises:
        FileMissing: No file is there.
        WorkspaceError: It is no folder.
    """
    place = mounts.place(path)
    at = tree.status(place)
    if at is None:
        raise missing(place.path)
    if kind_of(at.st_mode) != "folder":
        raise WorkspaceError(f"{place.path!r} is not a folder")
    return place


def walk(
    mounts: Mounts, root: str, *, ignore: bool, depth: int | None, tree: Files = DISK
) -> Iterator[Entry]:
    """Return all entries below a folder.

    Args:
        mounts: The mounts that symlinks may lead to.
        root: Path of the folder.
        ignore: Whether `.gitignore` files and `.git` are respected.
        depth: How many folders deep; None: all.
        tree: The tree to walk over.
    """
    start = start_of_walk(mounts, root, tree)
    rules = Ignore.at(start, tree) if ignore else None
    with told(start.path):
        for found in scan(start, ignore=rules, depth=depth, tree=tree):
            yield entry_of(mounts, found, tree)


def both_names(source: Place, target: Place, tree: Files = DISK) -> list[str]:
    """Return every path below a folder that is to be moved, under its old and its new name.

    Args:
        source: The folder; of anything else, there is nothing below.
        target: Its new place.
        tree: The tree in which it is moved.

    Raises:
        WorkspaceError: A folder below it cannot be read.
    """
    at = tree.status(source)
    if at is None or kind_of(at.st_mode) != "folder":
        return []
    names: list[str] = []
    for found in scan(source, ignore=None, tree=tree):
        if found.closed:
            raise WorkspaceError(f"{found.place.path!r} cannot be looked into: it is not moved")
        below = found.place.parts[len(source.parts) :]
        names += (found.place.path, canonical(target.root, (*target.parts, *below)))
    return names


def entry_of(mounts: Mounts, found: Found, tree: Files = DISK) -> Entry:
    """Return the public entry for a found one."""
    place, status_of = mounts.named(found.place), found.status
    parts = tuple(map(_printable, place.parts))
    kind = found.kind
    if parts != place.parts:
        kind = "other"  # its name is no text, so no call can name it
    elif kind == "symlink":
        kind, status_of = _behind(mounts, place, status_of, tree)
    return Entry(
        path=canonical(place.root, parts),
        kind=_entry_kind(kind),
        size=status_of.st_size if kind == "file" else 0,
        hidden=any(part.startswith(".") for part in parts),
        symlink=found.kind == "symlink",
        closed=found.closed,
    )


def _behind(
    mounts: Mounts, link: Place, own: os.stat_result, tree: Files
) -> tuple[Kind, os.stat_result]:
    """Return the target of a symlink, if it is in the workspace."""
    try:
        behind = tree.status(mounts.place(link.path))
    except (OutsideWorkspace, WorkspaceError):
        return "symlink", own
    return ("symlink", own) if behind is None else (kind_of(behind.st_mode), behind)


def _entry_kind(kind: Kind) -> EntryKind:
    return "other" if kind == "missing" else kind


def _printable(name: str) -> str:
    if name.isascii():
        return name
    return os.fsencode(name).decode("utf-8", "replace")
