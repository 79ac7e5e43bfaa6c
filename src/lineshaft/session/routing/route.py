"""The result of the router."""

from collections.abc import Mapping

from lineshaft.values import Struct


class Route(Struct, frozen=True, kw_only=True):
    """The tools that a model gets for direct calls, and those that it has in scripts alone.

    The script tool always stays, and a script may call the direct ones, too.
    """

    direct: tuple[str, ...]
    """Canonical names, in the order of the catalogue: for `definitions(direct=route)`."""

    scripted: tuple[str, ...]
    """The others that a script can call."""

    reasons: Mapping[str, str]
    """Why, by tool."""

    runs: int = 0
    """Logged runs that the decision is made of; 0: of the catalogue alone."""
