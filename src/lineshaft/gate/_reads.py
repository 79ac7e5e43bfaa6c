"""What a run has read, kept as long as it has done nothing else: it may begin again."""

from collections.abc import Mapping

from lineshaft.gate._book import Entry
from lineshaft.values import Done, Failure

MOST_BYTES = 64_000_000
"""Results beyond this are not kept: the run cannot begin again."""


class Reads:
    """Results of the reads of a run, by key."""

    def __init__(self) -> None:
        self._answers: dict[str, Done] = {}
        self.spoiled = ""
        """Why the run cannot begin again; empty where it can."""

    @property
    def answers(self) -> Mapping[str, Done]:
        """Results by key; none once the run cannot begin again."""
        return self._answers

    def take(self, entry: Entry, done: Done, *, bytes_in: int) -> None:
        """Take note of how a call ended.

        Args:
            entry: The call.
            done: Its result.
            bytes_in: Size of all results so far.
        """
        if self.spoiled:
            return
        if entry.spec is None or entry.spec.effect != "read":
            self._spoil(f"it had called {entry.call.tool!r}, which is no read")
        elif bytes_in > MOST_BYTES:
            self._spoil(f"it had read more than {MOST_BYTES // 1_000_000} MB")
        elif entry.key and not (isinstance(done, Failure) and done.status in _UNANSWERED):
            self._answers[entry.key] = done

    def _spoil(self, why: str) -> None:
        self.spoiled = why
        self._answers.clear()


_UNANSWERED = frozenset({"cancelled", "unknown"})
