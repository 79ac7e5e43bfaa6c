"""Resolution of paths: confinement, decided on real paths.

Covered: absolute paths, NUL, `..`, symlinks (dangling, looping, in the middle, before a file that
does not exist yet), folders whose names only start alike, unknown aliases, and the folders that are
Lineshaft's own. Not covered here: files swapped between the decision and the opening;
`disk/access.py` opens without following symlinks.
"""

import errno
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec.structs import replace

from lineshaft.errors import ConfigError, OutsideWorkspace, WorkspaceError
from lineshaft.files import OwnFolders
from lineshaft.values import Resolved, Struct, beginning
from lineshaft.workspace.disk.buffers import Editor

PROJECT = "project"
"""The alias of the workspace itself."""

RUN = "state"
"""The alias of the private folder of each run."""

_LONGEST_PATH = 4_096
_MOST_LINKS = 40
_SURROGATE = re.compile("[\ud800-\udfff]")
_PLAIN = re.compile(r"[\w.][\w./-]{0,200}", re.ASCII)
"""The form of most paths, which need no closer look."""


ReadLink = Callable[[str], str | None]
"""Return the target of the symlink at a real path, or None where there is none."""


class Mount(Struct, frozen=True):
    """A folder that scripts reach by an alias.

    Args:
        path: The folder.
        writable: Whether files in it may be changed.
    """

    path: str | Path
    writable: bool = False


class Root(Struct, frozen=True, eq=False):
    """A mount, its folder decided."""

    __unshown__ = frozenset({"own", "editor"})

    alias: str
    real: str
    writable: bool
    own: OwnFolders | None = None
    """The paths closed in it; None: none, it is a run's own folder."""

    editor: Editor | None = None
    """The window that shows it; None: none does."""

    def __eq__(self, other: object) -> bool:
        """Compare the folders, not what is closed in them or shows them."""
        return isinstance(other, Root) and self._folder == other._folder

    def __hash__(self) -> int:
        """Hash what is compared."""
        return hash(self._folder)

    @property
    def _folder(self) -> tuple[str, str, bool]:
        return self.alias, self.real, self.writable

    def holds(self, real: str) -> bool:
        """Whether a real path is this folder or lies below it."""
        return _holds(self.real, real)


class Decided(str):
    """A path as `Place.resolved` gave it: it is opened as it is, without resolving it again.

    The judgement was about this place; a symlink that was put there since is an error.
    """

    __slots__ = ()


class Place(Struct, frozen=True):
    """A decided path: a mount, and the parts that lead from it without a symlink."""

    root: Root
    parts: tuple[str, ...]
    writable: bool

    @property
    def path(self) -> str:
        """Canonical path."""
        return canonical(self.root, self.parts)

    @property
    def real(self) -> str:
        """Path on this machine."""
        return os.path.join(self.root.real, *self.parts)  # noqa: PTH118  pathlib is ten times slower

    def on_disk(self) -> "Place":
        """Return the same place, whatever an editor shows there."""
        if self.root.editor is None:
            return self
        return Place(replace(self.root, editor=None), self.parts, self.writable)

    def resolved(self) -> Resolved:
        """Return the value that leaves this room."""
        return Resolved(
            path=Decided(self.path),
            real=self.real,
            alias=self.root.alias,
            writable=self.writable,
        )


def canonical(root: Root, parts: tuple[str, ...]) -> str:
    """Return the one name of a file."""
    if root.alias != PROJECT:
        return "/".join((f"@{root.alias}", *parts))
    if parts and parts[0].startswith("@"):
        return "/".join((".", *parts))  # or it would be taken for an alias
    return "/".join(parts) or "."


class Mounts:
    """The workspace's folder and what is mounted beside it.

    Args:
        root: The workspace.
        aliases: More mounts by alias.
        editor: The window that shows the workspace.

    Raises:
        ConfigError: A folder is missing, or an alias is not a name.
    """

    def __init__(
        self, root: str | Path, aliases: Mapping[str, Mount], editor: Editor | None = None
    ) -> None:
        self.own = OwnFolders()
        project = _root(PROJECT, Mount(root, writable=True), self.own)
        self.roots = {PROJECT: replace(project, editor=editor)}
        for alias, mount in aliases.items():
            name = alias.removeprefix("@")
            if name in (*self.roots, RUN):
                raise ConfigError(f"the alias {alias!r} is taken: choose another name")
            self.roots[name] = _root(name, mount, self.own)

        self._make: Mapping[str, Callable[[], None]] = {}
        self.link: ReadLink = read_link

    def with_mount(self, alias: str, path: str, make: Callable[[], None]) -> "Mounts":
        """Return these mounts and one more, writable.

        Args:
            alias: Its alias.
            path: Its real folder, which need not be there yet.
            make: Called whenever a path names the alias, to see that the folder is there.
        """
        more = Mounts.__new__(Mounts)
        more.roots = {**self.roots, alias: Root(alias, path, writable=True)}
        more._make = {**self._make, alias: make}
        more.link, more.own = self.link, self.own
        return more

    def with_links(self, read: "ReadLink") -> "Mounts":
        """Return the same mounts, with symlinks as another tree has them."""
        other = Mounts.__new__(Mounts)
        other.roots, other._make, other.link = self.roots, self._make, read
        other.own = self.own
        return other

    def place(self, path: str, *, follow: bool = True) -> Place:
        """Resolve a path.

        Args:
            path: As given.
            follow: Whether the last part is followed if it is a symlink.

        Raises:
            OutsideWorkspace: It leads out of the mounts, or to one of Lineshaft's own folders.
        """
        root, parts = self._parse(path)
        if isinstance(path, Decided):
            return self._named(os.path.join(root.real, *parts), path)  # noqa: PTH118  as above
        return self._named(self._real(root.real, parts, follow=follow, given=path), path)

    def behind(self, link: Place, target: str) -> Place:
        """Resolve the target of a symlink that is to be made.

        Args:
            link: Its place.
            target: Its text.

        Raises:
            OutsideWorkspace: It would lead out of the workspace, or its text is not valid.
        """
        if not target or "\0" in target or _SURROGATE.search(target):
            raise OutsideWorkspace(f"{link.path!r} cannot be a symlink to {_short(target)}")
        folder = os.path.dirname(link.real)  # noqa: PTH120  as above
        given = f"{link.path} -> {target}"
        if os.path.isabs(target):  # noqa: PTH117  as above
            folder = os.path.abspath(os.sep)  # noqa: PTH100  as above
        real = self._real(folder, list(_parts(target)), follow=True, given=given)
        return self._named(real, given)

    def named(self, place: Place) -> Place:
        """Return a place by its one name, where it was reached by way of a mount around it."""
        if len(self.roots) == 1 or place.root.alias == PROJECT:
            return place
        return self._named(place.real, place.path)

    def at(self, real: str) -> Place:
        """Return the place of a real path.

        Raises:
            OutsideWorkspace: It lies in none of the mounts, or is Lineshaft's own.
        """
        return self._named(real, real)

    def must_stay(self, *places: Place) -> None:
        """Refuse to replace a place that leads to Lineshaft's own folders, or to another mount.

        A mount that went elsewhere would be under the rules of that place, its alias without it.

        Raises:
            OutsideWorkspace: One of them is the place or below it, or would be.
        """
        for place in places:
            if self.own.are_below(place.real):
                raise OutsideWorkspace(
                    f"{place.path!r} holds folders of Lineshaft's own: "
                    "it is not moved, replaced or deleted"
                )
            inner = [root for root in self.roots.values() if _holds(place.real, root.real)]
            if inner and place.parts:  # else it is itself a mount, whatever is in it
                raise OutsideWorkspace(
                    f"{place.path!r} holds the folder that is mounted as '@{inner[0].alias}': "
                    "it is not moved, replaced or deleted",
                    hint="Move what is in it one by one.",
                )

    def _inside(self, path: str) -> str | None:
        """Return an absolute path as the workspace has it; None: it leads elsewhere."""
        project = self.roots.get(PROJECT)
        if project is None or not f"{path}{os.sep}".startswith(f"{project.real}{os.sep}"):
            return None
        if ".." in _parts(path):
            return None
        return path[len(project.real) :].strip(os.sep) or "."

    def _parse(self, path: str) -> tuple[Root, list[str]]:
        reason = _unusable(path)
        if reason:
            inside = self._inside(path)
            told = (
                f"{_short(path)} {reason}" if inside is None else f"write {_short(inside)}: {_RULE}"
            )
            raise OutsideWorkspace(told)
        parts = [part for part in path.replace(os.sep, "/").split("/") if part not in ("", ".")]
        alias = PROJECT
        if path.startswith("@"):
            alias = parts.pop(0).removeprefix("@")
        depth = 0
        for part in parts:
            depth += -1 if part == ".." else 1
            if depth < 0:
                raise _leads_out(path)
        if alias not in self.roots:
            raise OutsideWorkspace(
                f"{_short(path)}: no folder is mounted as '@{alias}'",
                hint=f"Mounted: {', '.join(f'@{name}' for name in sorted(self.roots))}. "
                "Write './@name' for a file whose name starts with '@'.",
            )
        if alias in self._make:
            self._make[alias]()
        return self.roots[alias], parts

    def _real(self, base: str, parts: list[str], *, follow: bool, given: str) -> str:
        """Follow a path part by part; parts that do not exist are taken as written."""
        current = base
        waiting = parts[::-1]
        links = 0
        while waiting:
            part = waiting.pop()
            if part in ("", "."):
                continue
            if part == "..":
                current = os.path.dirname(current)  # noqa: PTH120  as above
                continue
            step = os.path.join(current, part)  # noqa: PTH118  as above
            target = None if not waiting and not follow else self._followed(step, given)
            if target is None:
                current = step
                continue
            links += 1
            if links > _MOST_LINKS:
                raise OutsideWorkspace(f"{_short(given)} leads through a loop of symlinks")
            if os.path.isabs(target):  # noqa: PTH117  as above
                current = os.path.abspath(os.sep)  # noqa: PTH100  as above
            waiting.extend(_parts(target)[::-1])
        return current

    def _followed(self, path: str, given: str) -> str | None:
        try:
            return self.link(path)
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise WorkspaceError(f"{_short(given)} cannot be looked up: {reason}") from error

    def _named(self, real: str, given: str) -> Place:
        holders = [root for root in self.roots.values() if root.holds(real)]
        if not holders:
            raise _leads_out(given)
        if self.own.hold(real):
            raise is_own(_short(given))
        # One file has one name, else a rule for the one is no rule for the other.
        depth = max(len(root.real) for root in holders)
        deepest = [root for root in holders if len(root.real) == depth]
        project = self.roots[PROJECT]
        root = project if project in holders else min(deepest, key=lambda root: root.alias)
        inner = real[len(root.real) :].strip(os.sep)
        return Place(root, _parts(inner), all(root.writable for root in deepest))


def _holds(folder: str, real: str) -> bool:
    return real == folder or real.startswith(folder.rstrip(os.sep) + os.sep)


def is_own(given: str) -> OutsideWorkspace:
    """Return the error for a path that leads to Lineshaft's own folders."""
    return OutsideWorkspace(f"{given} is in a folder of Lineshaft's own, which is closed to tools")


def _root(alias: str, mount: Mount, own: OwnFolders) -> Root:
    if not alias.replace("-", "_").isidentifier():
        raise ConfigError(f"the alias {alias!r} is not a name: use letters, digits, '_' and '-'")
    path = Path(mount.path)
    if not path.is_dir():
        what = "the workspace" if alias == PROJECT else f"the folder of '@{alias}'"
        raise ConfigError(f"{what}, {str(path)!r}, is not a folder")
    real = str(path.resolve())
    if own.hold(real):
        what = "the workspace" if alias == PROJECT else f"the folder of '@{alias}'"
        raise ConfigError(
            f"{what}, {str(path)!r}, is a folder of Lineshaft's own: it is closed to tools",
            hint="name another folder",
        )
    return Root(alias, real, mount.writable, own)


_RULE = "paths are relative to the workspace"


def _unusable(path: str) -> str:
    """Return why a path cannot be one of the workspace, or an empty string.

    Raises:
        TypeError: It is no text.
    """
    try:
        if _PLAIN.fullmatch(path):
            return ""
    except TypeError:
        kind = type(path).__name__
        raise TypeError(f"a path must be text, not {kind}: path.as_posix()") from None
    drive, rest = os.path.splitdrive(path)
    reasons = {
        "is empty: name a file, or '.' for the workspace": not path.strip(),
        "holds a NUL character": "\0" in path,
        "is not text: it holds a lone surrogate": _SURROGATE.search(path) is not None,
        f"is longer than {_LONGEST_PATH:,} characters": len(path) > _LONGEST_PATH,
        "is absolute: name it relative to the workspace": drive or rest.startswith((os.sep, "/")),
        "starts at a home folder: name it relative to the workspace": f"{path}/".startswith("~/"),
    }
    return next((reason for reason, applies in reasons.items() if applies), "")


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split(os.sep) if part)  # noqa: PTH206  as above


def read_link(path: str) -> str | None:
    """Return the place that a symlink leads to, or None where there is none."""
    try:
        return os.readlink(path)  # noqa: PTH115  as above
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT, errno.ENOTDIR):
            return None
        raise


def _leads_out(path: str) -> OutsideWorkspace:
    return OutsideWorkspace(
        f"{_short(path)} leads out of the workspace", hint="Use paths inside the workspace."
    )


def _short(path: str) -> str:
    return repr(path if len(path) <= 200 else f"{beginning(path, 200)}...")
