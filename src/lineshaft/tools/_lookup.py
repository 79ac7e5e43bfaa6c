"""Lookup of a tool by a name, in any of its spellings."""

from collections.abc import Iterable

from lineshaft.tools._names import model_name, script_name
from lineshaft.values import ToolSpec


def spec_named(specs: Iterable[ToolSpec], name: str) -> ToolSpec | None:
    """Return the tool of a name: canonical, as in scripts, towards models, or as its server has it.

    Args:
        specs: All tools; no two share a spelling of ours.
        name: The name; that of a server's tool follows its namespace: `github.issues/list`.
    """
    of_server: ToolSpec | None = None
    for spec in specs:
        if name in (spec.name, script_name(spec.name), model_name(spec.name)):
            return spec
        if of_server is None and spec.own_name and name == f"{spec.namespace}.{spec.own_name}":
            of_server = spec
    return of_server
