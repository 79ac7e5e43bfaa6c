"""What one view of the workspace saw and changed.

Canonical paths are the keys. Pure: it is told what happened and never looks.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import cast

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

    def beside(self) -> "Ledger":
        """Return a ledger for further changes, that shares what was seen."""
        return Ledger(self._seen, self._reported)

    def copy(self, beside: "Ledger | None" = None) -> "Ledger":
        """Return the same, to be used apart.

        Args:
            beside: The ledger that the copy shares what was seen with.
        """
        seen = dict(self._seen) if beside is None else beside._seen
        told = set(self._reported) if beside is None else beside._reported
        files = {path: replace(file) for path, file in self._files.items()}
        return Ledger(seen, told, files, self._kept)

    def facts(self, put: Callable[[bytes], int]) -> dict[str, object]:
        """Return it as JSON-like data.

        Args:
            put: Takes a content and returns its number.
        """
        return {
            "seen": self._seen,
            "told": sorted(self._reported),
            "files": {
                path: {
                    "first": _state_facts(file.first, put),
                    "now": _state_facts(file.now, put),
                    "source": file.source,
                    "added": file.added,
                    "removed": file.removed,
                }
                for path, file in self._files.items()
            },
        }

    @classmethod
    def from_facts(
        cls,
        facts: Mapping[str, object],
        content: Callable[[int], bytes],
        beside: "Ledger | None" = None,
    ) -> "Ledger":
        """Return it again.

        Args:
            facts: As `facts` gave them.
            content: Gives a content by its number.
            beside: The ledger that it shares what was seen with.
        """
        made = cls() if beside is None else beside.beside()
        made._seen.update(cast("dict[str, str]", facts["seen"]))
        made._reported.update(cast("list[str]", facts["told"]))
        for path, file in cast("dict[str, dict[str, object]]", facts["files"]).items():
            made._files[path] = _File(
                made._keep(_state_from(file["first"], content)),
                made._keep(_state_from(file["now"], content)),
                str(file["source"]),
                cast("int", file["added"]),
                cast("int", file["removed"]),
            )
        return made

    def forget(self, path: str) -> bool:
        """Take back a change to the file at a path, if no other change builds on it."""
        file = self._files.get(path)
        others = (other.source for place, other in self._files.items() if place != path)
        if file is None or file.source != path or path in others:
            return False
        del self._files[path]
        self._seen.pop(path, None)
        return True

    def drop(self) -> None:
        """Take back all changes; what was seen of their files counts no longer."""
        for path in self._files:
            self._seen.pop(path, None)
        self._files.clear()
        self._kept = 0

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
        happened = "deleted" if state.kind == "missing" else "changed"
        raise self.stale(path, "created" if seen == _ABSENT else happened)

    def stale(self, path: str, happened: str = "changed") -> StaleFile:
        """Note that the run is told of a file that somebody else changed, and return the error."""
        self._reported.add(path)
        return StaleFile(
            f"{path!r} was {happened} by somebody else since this run read it",
            hint="Read it again, then decide.",
        )

    def told(self, path: str) -> bool:
        """Whether the run was told that a file is stale, and has not looked again."""
        return path in self._reported

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
        known = state.sha256 is not None or state.target is not None
        seen = _token(state) if known else self._seen.get(source)
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
            if _token(file.first) == _token(file.now) and file.first.mode == file.now.mode:
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
            return replace(state, data=None)
        self._kept += size
        return state


def _state_facts(state: State, put: Callable[[bytes], int]) -> dict[str, object]:
    return {**asdict(state), "data": None if state.data is None else put(state.data)}


def _state_from(facts: object, content: Callable[[int], bytes]) -> State:
    state = State(**cast("dict[str, str]", facts))  # pyright: ignore[reportArgumentType]  as packed
    number = cast("int | None", state.data)
    return replace(state, data=None if number is None else content(number))


def _known(state: State) -> bool:
    return state.data is not None or state.kind == "missing"


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
