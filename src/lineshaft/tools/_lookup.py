"""Looking up a tool by a name as somebody spells it."""

from collections.abc import Iterable

from lineshaft.tools._names import model_name, script_name
from lineshaft.values import ToolSpec


def spec_named(specs: Iterable[ToolSpec], name: str) -> ToolSpec | None:
    """Return the tool of a name: canonical, as in scripts, or as towards models.

    Args:
        specs: All tools; no two share a spelling.
        name: The name.
    """
    for spec in specs:
        if name in (spec.name, script_name(spec.name), model_name(spec.name)):
            return spec
    return None
