"""Patterns of rules that fit no tool: a misspelt rule forbids nothing."""

import re
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from typing import Literal

from lineshaft.policy._policy import Policy
from lineshaft.policy._rules import Matcher, Rule, several
from lineshaft.values import Struct, ToolSpec

_WILD = re.compile(r"[*?\[]")
_LIKENESS = 0.75


class IdlePattern(Struct, frozen=True, kw_only=True):
    """One pattern that fits no tool."""

    rule: Rule
    key: Literal["tool", "namespace"]
    """The rule's key that it is in."""

    pattern: str
    near: str = ""
    """The name that may be meant; empty where none is like it."""


def idle_patterns(
    policy: Policy, specs: Collection[ToolSpec], *, namespaces: Collection[str] = ()
) -> tuple[IdlePattern, ...]:
    """Return the patterns over tools and namespaces that fit none, in the order of the rules.

    Args:
        policy: The policy; of one that was tightened, the rules of all its layers.
        specs: The tools that there are.
        namespaces: Namespaces that may have more tools than these.
    """
    return tuple(
        IdlePattern(rule=rule, key=key, pattern=pattern, near=_near(pattern, names))
        for layer in policy.layers or (policy,)
        for rule in layer.rules
        for key, pattern, fits, names in _asked(rule, specs, namespaces)
        if not fits
    )


def _asked(
    rule: Rule, specs: Collection[ToolSpec], namespaces: Collection[str]
) -> "Iterator[tuple[Literal['tool', 'namespace'], str, bool, set[str]]]":
    """Yield each pattern of a rule: its key, whether it fits, and the names that there are."""
    spaces = {*namespaces, *(spec.namespace for spec in specs)}
    for pattern in several(rule.tool):
        matcher = Matcher(Rule(rule.id, rule.verdict, tool=pattern))
        fits = any(matcher.is_about(spec, ()) for spec in specs)
        may = fits or any(_may_name(pattern, name) for name in namespaces)
        yield "tool", pattern, may, {spec.name for spec in specs} | spaces
    for pattern in several(rule.namespace):
        matcher = Matcher(Rule(rule.id, rule.verdict, namespace=pattern))
        some = (ToolSpec(name=f"{name}.any" if name else "any", effect="read") for name in spaces)
        yield "namespace", pattern, any(matcher.is_about(spec, ()) for spec in some), spaces


def _may_name(pattern: str, namespace: str) -> bool:
    """Return whether a pattern could fit a tool of a namespace whose tools are not known."""
    start, wild = _WILD.split(pattern.casefold(), maxsplit=1)[0], _WILD.search(pattern)
    space = f"{namespace.casefold()}."
    return start.startswith(space) or (wild is not None and space.startswith(start))


def _near(pattern: str, names: Collection[str]) -> str:
    """Return the name like a pattern, with what follows its namespace; empty where none is."""
    space, dot, rest = pattern.partition(".")
    known = [name for name in names if name]
    if dot and space not in known and (close := get_close_matches(space, known, 1, _LIKENESS)):
        return f"{close[0]}.{rest}"
    return next(iter(get_close_matches(pattern, known, 1, _LIKENESS)), "")
