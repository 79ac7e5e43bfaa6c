"""The tools of a session that policy leaves open to those who come in by certain ways."""

from collections.abc import Callable

from lineshaft.policy import Policy, closed_by
from lineshaft.values import Origin, ToolSpec

Specs = tuple[ToolSpec, ...]


class OpenTools:
    """The tools that may be listed and described: not those whose every call policy denies.

    Args:
        specs: Gives all tools that are there now; the same tuple as long as nothing changed.
        policy: Decides.
    """

    def __init__(self, specs: Callable[[], Specs], policy: Policy) -> None:
        self._specs = specs
        self._policy = policy
        self._known: dict[tuple[Origin, ...], tuple[Specs, Specs]] = {}

    def to(self, *origins: Origin) -> Specs:
        """Return the tools that are open to one of some ways in; the same tuple until it changes.

        Args:
            *origins: The ways in which the reader could call.
        """
        specs = self._specs()
        known = self._known.get(origins)
        if known is None or known[0] is not specs:
            found = tuple(s for s in specs if closed_by(self._policy, s, origins) is None)
            known = self._known[origins] = (specs, found)
        return known[1]
