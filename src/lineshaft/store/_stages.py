"""Which landing took each staged change, told from the order of a run's rows."""

from collections.abc import Collection

_DROPPED = -1


class Stages:
    """The changes of a run's calls, as far as its rows were read.

    A call's changes are held by the container that made it, or by the run; a merge hands them to
    what stands around the container, a landing takes those of the run and of the containers that it
    names.
    """

    def __init__(self) -> None:
        self.taken: dict[str, int] = {}
        """By call: the landing that took its changes, counted from 0; -1: they were dropped. Absent
        where nothing did."""

        self._held: dict[str | None, list[str]] = {}
        self._parents: dict[str, str | None] = {}
        self._last: tuple[int, dict[str | None, list[str]]] | None = None

    def called(self, call: str, parent: str | None) -> None:
        """Take a call."""
        self._parents[call] = parent

    def ended(self, call: str, *, staged: bool, failed: bool) -> None:
        """Take the end of a call.

        Args:
            call: Its id.
            staged: Whether it changed what is kept back.
            failed: Whether it ended without a result; what its own calls changed is dropped.
        """
        if staged:
            self._held.setdefault(self._parents.get(call), []).append(call)
        if failed:
            self.taken.update(dict.fromkeys(self._held.pop(call, ()), _DROPPED))

    def merged(self, container: str) -> None:
        """Take the merge of a container's changes."""
        into = self._held.setdefault(self._parents.get(container), [])
        into += self._held.pop(container, [])

    def lost(self) -> None:
        """Take the death of the host: what had not landed is gone, and made again."""
        self._held.clear()

    def landing(self, stage: int, layers: Collection[str]) -> None:
        """Take the begin of a landing; a second one with the same number follows one that failed.

        Args:
            stage: How many landings came before.
            layers: The containers whose changes land, beside those of the run.
        """
        if self._last is not None and self._last[0] == stage:
            for holder, calls in self._last[1].items():
                self._held.setdefault(holder, []).extend(calls)
                for call in calls:
                    self.taken.pop(call, None)
        took = {holder: self._held.pop(holder, []) for holder in (None, *layers)}
        self._last = stage, took
        for calls in took.values():
            self.taken.update(dict.fromkeys(calls, stage))
