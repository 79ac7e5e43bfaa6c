"""Narrowing: what a container leaves to its calls, as a policy of its own."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from lineshaft.policy._policy import Policy
from lineshaft.policy._rules import Rule

ROOT = "."
"""The workspace's own folder; other mounts are not in it."""

_ELSEWHERE = "what called it may not go there"

LABEL = "narrowed"
"""Stands before the ids of rules that a container set for its calls."""


def narrowed(policy: Policy, by: Policy) -> Policy:
    """Return a policy, made stricter where another is stricter, and never wider.

    Args:
        policy: What judges the container's own call.
        by: Its rules appear as `narrowed:ID` in verdicts.
    """
    return policy.tightened_by(replace(by, label=LABEL))


def within_folders(
    *, read: Sequence[str], write: Sequence[str], unconfined: Iterable[str] = ()
) -> Policy:
    """Return the policy that leaves some folders of the workspace, and nothing else of it.

    Args:
        read: Canonical folders and files that may be read.
        write: Those that may be changed, and read.
        unconfined: Canonical names of tools that see other files than those they name; denied.
    """
    names, both = tuple(unconfined), (*read, *write)
    rules: list[Rule] = []
    if names:
        why = "it is not kept to folders, and what called it was not given it by name"
        rules.append(Rule("unconfined", "deny", tool=names, reason=why))
    if below := _at_and_below(both):
        above = tuple(dict.fromkeys(_above(both)))
        rules.append(Rule("read", "allow", effect="read", path=below))
        rules.append(Rule("above", "allow", effect="read", path=above))
    if below := _at_and_below(write):
        rules.append(Rule("write", "allow", path=below))
    if ROOT in both:
        rules.append(Rule("mounts", "deny", path="/@*/**", reason=_ELSEWHERE))
        rules.append(Rule("read-all", "allow", effect="read", path="**"))
    if ROOT in write:
        rules.append(Rule("write-all", "allow", path="**"))
    rules.append(Rule("folders", "deny", path="**", reason=_ELSEWHERE))
    return Policy(mode="open", rules=tuple(rules))


def _at_and_below(places: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"/{_literal(place)}/**" for place in dict.fromkeys(places) if place != ROOT)


def _above(places: Iterable[str]) -> Iterator[str]:
    """Yield the folders on the way to a place: a list of one shows the place, and no sibling."""
    for place in places:
        yield "/[.]"
        parts = place.split("/")
        for count in range(1, len(parts)):
            yield "/" + _literal("/".join(parts[:count]))


def _literal(path: str) -> str:
    """Return a pattern that matches a path alone."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in path)
