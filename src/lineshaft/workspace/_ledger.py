"""Ledger of the files that one view of the workspace saw and changed.

Canonical paths are the keys. Pure: it takes notes and never looks at the disk.
"""

from collections.abc import Collection, Iterable, Iterator

import msgspec
from msgspec.structs import replace

from lineshaft.errors import StaleFile
from lineshaft.values import Change, ChangeKind, Struct
from lineshaft.workspace._count import changed_lines
from lineshaft.workspace.disk import MISSING, State

_KEPT_BYTES = 16_000_000
"""Of all contents together; beyond, the lines of several changes of one file are added up."""

_ABSENT = "absent"


class Touched(Struct):
    """One path that was changed."""

    first: State
    """The state before the first change."""

    now: State
    source: str
    """The path of the first content from which this one comes; after a move, the old path."""

    added: int = 0
    """Lines, all changes added up."""

    removed: int = 0
    _counted: tuple[State, State, tuple[int, int]] | None = None
    """Two contents, and their difference, which is asked for several times."""

    def lines(self, base: State) -> tuple[int, int]:
        """Return how many lines it has gained and lost since a first content."""
        if _known(base) and _known(self.now):
            if self._counted is None or self._counted[:2] != (base, self.now):
                self._counted = base, self.now, changed_lines(base.data, self.now.data)
            return self._counted[2]
        return self.added, self.removed


class Seen(Struct):
    """The versions of files that one view has seen."""

    tokens: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    reported: set[str] = msgspec.field(default_factory=set[str])

    def copy(self) -> "Seen":
        """Return the same, to be used apart."""
        return Seen(dict(self.tokens), set(self.reported))

    def saw(self, path: str, sha256: str | None) -> None:
        """Note a file's first version that was seen; None: it was not there.

        A later sight does not replace the first, on which the run may have built; unless the run
        was told that the file is stale, and looks again.
        """
        if path in self.reported:
            self.reported.discard(path)
            self.tokens.pop(path, None)
        self.tokens.setdefault(path, sha256 or _ABSENT)

    def check(self, path: str, state: State) -> None:
        """Raise if another program changed a file since it was seen.

        Raises:
            StaleFile: Its version is another one.
        """
        seen = self.tokens.get(path)
        if seen is None or seen == _token(state):
            return
        if seen == _ABSENT and state.kind == "folder":
            return  # perhaps of this run's own making, on the way to a file
        happened = "deleted" if state.kind == "missing" else "changed"
        raise self.stale(path, "created" if seen == _ABSENT else happened)

    def stale(self, path: str, happened: str = "changed") -> StaleFile:
        """Note that the run is told of a stale file, and return the error."""
        self.reported.add(path)
        return StaleFile(
            f"{path!r} was {happened} from outside since this run read it",
            hint="Read it again, then decide.",
        )

    def unread(self, path: str) -> StaleFile:
        """Note that the run is told of what an editor has not saved, and return the error."""
        self.reported.add(path)
        return StaleFile(
            f"{path!r} has changes in the editor that are not saved, and this run has not read it",
            hint="Read it, then decide.",
        )

    def knows(self, path: str, state: State) -> bool:
        """Whether this is the version that the view saw last: it was touched, not changed."""
        return self.tokens.get(path) == _token(state)


class Ledger(Struct):
    """The changes that one view made."""

    seen: Seen = msgspec.field(default_factory=Seen)
    files: dict[str, Touched] = msgspec.field(default_factory=dict[str, Touched])
    _kept: int = 0

    @property
    def touched(self) -> bool:
        """Whether anything was changed."""
        return bool(self.files)

    def copy(self, seen: Seen) -> "Ledger":
        """Return the same, to be used apart.

        Args:
            seen: The versions seen, for the copy.
        """
        files = {path: replace(file) for path, file in self.files.items()}
        return Ledger(seen, files, self._kept)

    def put(self, path: str, file: Touched) -> None:
        """Take a path as another ledger knew it."""
        self.files[path] = replace(file, first=self._keep(file.first), now=self._keep(file.now))

    def absorb(self, other: "Ledger", *, without: Collection[str] = ()) -> None:
        """Take over the changes of a ledger of the same files, made on top of these.

        Args:
            other: The other ledger.
            without: Paths whose change has been made here by now.
        """
        old = {path: replace(file) for path, file in self.files.items()}
        for path, file in other.files.items():
            if path in without:
                continue
            came = file.source
            built_on, mine = old.get(came), old.get(path)
            source = came if built_on is None else built_on.source
            origin = old.get(source) or other.files[source]
            if file.now.kind == "missing" or origin.first.kind == "missing":
                source = path
            if mine is not None:
                self._kept -= len(mine.now.data or b"")
            self.files[path] = Touched(
                mine.first if mine is not None else self._keep(file.first),
                self._keep(file.now),
                source,
                file.added + (built_on.added if built_on is not None else 0),
                file.removed + (built_on.removed if built_on is not None else 0),
            )
        self.seen.tokens.update(other.versions())

    def versions(self) -> dict[str, str]:
        """Return the present version of each path that was changed, as `Seen` has it."""
        tokens = self.seen.tokens
        return {path: tokens[path] for path in self.files if path in tokens}

    def forget(self, path: str) -> bool:
        """Take back a change to the file at a path, if no other change builds on it."""
        file = self.files.get(path)
        others = (other.source for place, other in self.files.items() if place != path)
        if file is None or file.source != path or path in others:
            return False
        del self.files[path]
        self.seen.tokens.pop(path, None)
        return True

    def take_back(self, path: str) -> None:
        """Take back all changes of a path; the version that is seen there is the first again."""
        file = self.files.get(path)
        if file is None:
            return
        self._kept -= len(file.now.data or b"")
        self.seen.tokens[path] = _token(file.first)
        if any(other.source == path for place, other in self.files.items() if place != path):
            self.files[path] = Touched(file.first, self._keep(file.first), path)
            return
        self._kept -= len(file.first.data or b"")
        del self.files[path]

    def drop(self) -> None:
        """Take back all changes; the versions seen of their files no longer count."""
        for path in self.files:
            self.seen.tokens.pop(path, None)
        self.files.clear()
        self._kept = 0

    def changed(self, path: str, before: State, after: State) -> Change:
        """Note that this view changed a file.

        Returns:
            The change from the state before.
        """
        self.seen.tokens[path] = _token(after)
        added, removed = changed_lines(before.data, after.data)
        file = self.files.get(path)
        if file is None:
            file = self.files[path] = Touched(self._keep(before), before, path)
        else:
            self._kept -= len(file.now.data or b"")
        if after.kind == "missing":
            file.source = path
        file.now = self._keep(after)
        file.added, file.removed = file.added + added, file.removed + removed
        return Change(
            path=path,
            kind=_kind(before, after),
            added=added,
            removed=removed,
            sha256=after.sha256,
        )

    def moved(self, source: str, target: str, state: State) -> Change:
        """Note that this view moved a file.

        Args:
            source: Its old place.
            target: Its new place.
            state: Its state; without its sha256 where the content was not read.
        """
        old = self.files.get(source)
        if old is None:
            old = self.files[source] = Touched(kept := self._keep(state), kept, source)
        elif state.sha256 is None:
            state = old.now
        new = self.files.setdefault(target, Touched(MISSING, MISSING, target))
        new.now, new.added, new.removed = old.now, old.added, old.removed
        new.source = old.source if self.files[old.source].first.kind != "missing" else target
        old.now, old.source, old.added, old.removed = MISSING, source, 0, 0
        known = state.sha256 is not None or state.target is not None
        seen = _token(state) if known else self.seen.tokens.get(source)
        self.seen.tokens[source] = _ABSENT
        if seen is not None:
            self.seen.tokens[target] = seen
        return Change(path=target, kind="moved", moved_from=source, sha256=state.sha256)

    def changes(self, new_folders: Iterable[str] = ()) -> tuple[Change, ...]:
        """Return the net effect on each path, in order of first change.

        A folder is listed only where it was or is empty; otherwise its files show it.

        Args:
            new_folders: Folders that were made, on the way to files too: one whose contents were
                taken back comes last.
        """
        moved = {
            file.source: path
            for path, file in self.files.items()
            if file.now.kind != "missing" and self._came(path, file)
        }
        net = list(self._net(moved))
        full = set[str]()
        for change in net:
            _add_above(full, change)
        told = [
            change
            for change in net
            if change.path not in full
            or change.kind == "modified"
            or not self._is_folder(change.path)
        ]
        made = [Change(path=path, kind="created") for path in new_folders]
        full.update(change.path for change in told)
        for change in made:
            _add_above(full, change)
        return (*told, *(change for change in made if change.path not in full))

    def _is_folder(self, path: str) -> bool:
        file = self.files[path]
        kinds = {file.first.kind, file.now.kind}
        return "folder" in kinds and kinds <= {"folder", "missing"}

    def _net(self, moved: dict[str, str]) -> Iterator[Change]:
        for path, file in self.files.items():
            source = file.source if moved.get(file.source) == path else None
            if _token(file.first) == _token(file.now) and _keeps_mode(file.first, file.now):
                continue
            if file.now.kind == "missing" and path in moved:
                continue
            added, removed = file.lines(self.files[source or path].first)
            yield Change(
                path=path,
                kind="moved" if source else _kind(file.first, file.now),
                moved_from=source,
                added=added,
                removed=removed,
                sha256=file.now.sha256,
            )

    def _came(self, path: str, file: Touched) -> bool:
        """Whether the file at a path was moved there from a path that is now free."""
        source = self.files[file.source]
        return file.source != path and file.first.kind == "missing" and source.now.kind == "missing"

    def _keep(self, state: State) -> State:
        """Keep a content as long as there is room."""
        size = len(state.data or b"")
        if self._kept + size > _KEPT_BYTES:
            return replace(state, data=None)
        self._kept += size
        return state


def _add_above(full: set[str], change: Change) -> None:
    """Add the folders that a change implies; with a folder, those above it are there already."""
    for path in (change.path, change.moved_from or ""):
        above = path.rpartition("/")[0]
        while above and above not in full:
            full.add(above)
            above = above.rpartition("/")[0]


def _known(state: State) -> bool:
    return state.data is not None or state.kind == "missing"


def _keeps_mode(before: State, after: State) -> bool:
    """Whether a mode stays as it was; a file without one of its own keeps the present one."""
    return None in (before.mode, after.mode) or before.mode == after.mode


def _token(state: State) -> str:
    if state.kind == "missing":
        return _ABSENT
    if state.target is not None:
        return f"symlink {state.target}"
    return state.sha256 or state.kind


def _kind(before: State, after: State) -> ChangeKind:
    if before.kind == "missing":
        return "created"
    return "deleted" if after.kind == "missing" else "modified"
