"""Results of an earlier segment of a run, or of an earlier execution of its script."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from msgspec import field

from lineshaft.gate._pause_point import Files
from lineshaft.values import Answer, Done, Finished, KeptCall, KeptScript, Struct


class RecordedResults:
    """Recorded results of calls, each given out once; the engine keeps their order.

    Args:
        finished: The calls that ended, in the order in which they ended.
        open_calls: Those that did not.
    """

    def __init__(
        self, finished: Iterable[Finished], *, open_calls: Iterable[KeptCall] = ()
    ) -> None:
        self._left = {each.call.key: each for each in finished}
        self._within = Counter(each.call.parent for each in self._left.values())
        known = {each.call.id: each.call for each in self._left.values()}
        known |= {call.id: call for call in open_calls}
        self.of_agents = sum(_is_under_agent(e.call, known) for e in self._left.values())
        """How many of the calls microagents made, themselves or by other containers."""

    @property
    def left(self) -> tuple[Finished, ...]:
        """The results that were not given out."""
        return tuple(self._left.values())

    def take(self, key: str) -> Done | None:
        """Return the result of a call, or None where none is recorded or it was given out."""
        found = self._left.pop(key, None)
        if found is None:
            return None
        self._within[found.call.parent] -= 1
        return found.done

    def left_in(self, container: str) -> bool:
        """Return whether results of calls that a container made were not given out."""
        return self._within[container] > 0


class ReplayLog(Struct, frozen=True, kw_only=True):
    """The state of an earlier segment of the run."""

    recorded: RecordedResults = field(default_factory=lambda: RecordedResults(()))
    """Results of calls that ended."""

    answers: Mapping[str, Answer] = field(default_factory=dict[str, Answer])
    """By key, for calls that waited."""

    shown: Mapping[str, Files] = field(default_factory=dict[str, Files])
    """Files that waiting calls would change, by key, as they were when a person was shown them."""

    schemas: Mapping[str, str] = field(default_factory=dict[str, str])
    """Digests of the input schemas of the tools of calls that waited, by the calls' keys."""

    rules: Mapping[str, str] = field(default_factory=dict[str, str])
    """The rules that asked about calls that waited, by the calls' keys."""

    for_the_run: Mapping[str, Answer] = field(default_factory=dict[str, Answer])
    """As `Asks.for_the_run`."""

    waited: Mapping[str, str] = field(default_factory=dict[str, str])
    """Ids of the calls that waited, by key."""

    dropped: Collection[str] = ()
    """Keys of calls that the script gave up before they ended."""

    standing: Collection[str] = ()
    """Keys of the containers around the calls that waited."""

    unknown: Collection[str] = ()
    """Keys of calls whose end is unknown, and that may not be made again."""

    ended: Collection[str] = ()
    """Keys of calls that had ended, and are made again: their staged changes are gone."""

    complete: bool = True
    """Each call of that part is known; False: its process died, and may have logged no more."""

    only: bool = False
    """A replay: a call that is not recorded ends it."""

    scripts: Mapping[str, KeptScript] = field(default_factory=dict[str, KeptScript])
    """The scripts of containers in the middle of which that part ended, by the containers' keys."""


def _is_under_agent(call: KeptCall, known: Mapping[str, KeptCall]) -> bool:
    around: KeptCall | None = call
    while around is not None and around.origin != "agent":
        around = known.get(around.parent or "")
    return around is not None
