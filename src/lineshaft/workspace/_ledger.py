"""What one view of the workspace saw and changed.

Canonical paths are the keys. Pure: it is told what happened and never looks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from lineshaft.errors import StaleFile
from lineshaft.values import Change, ChangeKind
from lineshaft.workspace._count import changed_lines
from lineshaft.workspace._disk import MISSING, State

_KEPT_BYTES = 16_000_000
"""Of all contents together; beyond, the lines of several changes of one file are added up."""

_ABSENT = "absent"


@dataclass(slots=True)
class _File:
    """One path that was changed."""

    first: State
    """What was there before the first change."""

    now: State
    source: str
    """The path whose first content this is a version of; another one after a move."""

    added: int = 0
    """Lines, all changes added up."""

    removed: int = 0

    def lines(self, base: State) -> tuple[int, int]:
        """Return how many lines it has gained and lost since a first content."""
        if _known(base) and _known(self.now):
            return changed_lines(base.data, self.now.data)
        return self.added, self.removed


@dataclass(slots=True)
class Ledger:
    """The memory of one view."""

    _seen: dict[str, str] = field(default_factory=dict[str, str])
    _reported: set[str] = field(default_factory=set[str])
    _files: dict[str, _File] = field(default_factory=dict[str, _File])
    _kept: int = 0

    @property
    def touched(self) -> bool:
        """Whether anything was changed."""
        return bool(self._files)

    def saw(self, path: str, sha256: str | None) -> None:
        """Note what a file was at first sight; None: it was not there.

        A later sight does not replace the first, on which the run may have built; unless the run
        was told that the file is stale, and looks again.
        """
        if path in self._reported:
            self._reported.discard(path)
            self._seen.pop(path, None)
        self._seen.setdefault(path, sha256 or _ABSENT)

    def check(self, path: str, state: State) -> None:
        """Raise if somebody else changed a file since it was seen.

        Raises:
            StaleFile: It is not what it was.
        """
        seen = self._seen.get(path)
        if seen is None or seen == _token(state):
            return
        self._reported.add(path)
        happened = "deleted" if state.kind == "missing" else "changed"
        if seen == _ABSENT:
            happened = "created"
        raise StaleFile(
            f"{path!r} was {happened} by somebody else since this run read it",
            hint="Read it again, then decide.",
        )

    def knows(self, path: str, state: State) -> bool:
        """Whether this is what the view saw last: it was touched, not changed."""
        return self._seen.get(path) == _token(state)

    def changed(self, path: str, before: State, after: State) -> Change:
        """Note that this view changed a file.

        Returns:
            The change from what was there before.
        """
        self._seen[path] = _token(after)
        added, removed = changed_lines(before.data, after.data)
        file = self._files.get(path)
        if file is None:
            file = self._files[path] = _File(self._keep(before), before, path)
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
            source: Where it was.
            target: Where it is.
            state: What it is; without its sha256 where nobody looked.
        """
        old = self._files.get(source)
        if old is None:
            old = self._files[source] = _File(kept := self._keep(state), kept, source)
        elif state.sha256 is None:
            state = old.now
        new = self._files.setdefault(target, _File(MISSING, MISSING, target))
        new.now, new.added, new.removed = old.now, old.added, old.removed
        new.source = old.source if self._files[old.source].first.kind != "missing" else target
        old.now, old.source, old.added, old.removed = MISSING, source, 0, 0
        seen = self._seen.get(source) if state.sha256 is None else state.sha256
        self._seen[source] = _ABSENT
        if seen is not None:
            self._seen[target] = seen
        return Change(path=target, kind="moved", moved_from=source, sha256=state.sha256)

    def changes(self) -> tuple[Change, ...]:
        """Return the net effect on each path, in order of first change."""
        moved = {
            file.source: path
            for path, file in self._files.items()
            if file.now.kind != "missing" and self._came(path, file)
        }
        return tuple(self._net(moved))

    def _net(self, moved: dict[str, str]) -> Iterator[Change]:
        for path, file in self._files.items():
            source = file.source if moved.get(file.source) == path else None
            if _token(file.first) == _token(file.now):
                continue
            if file.now.kind == "missing" and path in moved:
                continue
            added, removed = file.lines(self._files[source or path].first)
            yield Change(
                path=path,
                kind="moved" if source else _kind(file.first, file.now),
                moved_from=source,
                added=added,
                removed=removed,
                sha256=file.now.sha256,
            )

    def _came(self, path: str, file: _File) -> bool:
        """Whether what is at a path came from another, where now nothing is."""
        source = self._files[file.source]
        return file.source != path and file.first.kind == "missing" and source.now.kind == "missing"

    def _keep(self, state: State) -> State:
        """Keep a content as long as there is room."""
        size = len(state.data or b"")
        if self._kept + size > _KEPT_BYTES:
            return State(state.kind, state.sha256)
        self._kept += size
        return state


def _known(state: State) -> bool:
    return state.data is not None or state.kind == "missing"


def _token(state: State) -> str:
    if state.kind == "missing":
        return _ABSENT
    return state.sha256 or state.kind


def _kind(before: State, after: State) -> ChangeKind:
    if before.kind == "missing":
        return "created"
    return "deleted" if after.kind == "missing" else "modified"
