"""Judgement of a call by a policy."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from msgspec.structs import replace

from lineshaft.policy._builtin import BUILT_IN, EXAMPLES, SECRETS, SOURCE, TOOL_CONFIG, WORDS
from lineshaft.policy._modes import mode_verdict
from lineshaft.policy._policy import Policy
from lineshaft.policy._rules import Matcher, several
from lineshaft.policy._sieve import Sieve
from lineshaft.policy._subject import Subject
from lineshaft.values import Effect, Origin, ToolSpec, Verdict, VerdictKind

STRENGTH: dict[VerdictKind, int] = {"allow": 0, "ask": 1, "deny": 2, "stop": 3}

BY_MODE = ("mode:", "project:mode:")
"""How ids of verdicts begin that a mode gives."""

_UNKNOWN = Verdict(
    kind="deny", rule="builtin:unknown-tool", reason="there is no such tool", source=SOURCE
)
_NOT_SCRIPTABLE = Verdict(
    kind="deny",
    rule="builtin:not-scriptable",
    reason="this tool cannot be called from a script; call it directly",
    source=SOURCE,
)
_SIEVE = Sieve(pattern for rule in BUILT_IN for pattern in several(rule.path))


def judge(policy: Policy, subject: Subject) -> Verdict:
    """Return the verdict of a policy about a call.

    Each path is judged as if it were the call's only one, and the strictest verdict holds: one
    path is enough to refuse a call, and all must be allowed to allow it. The user's rules and the
    built-in ones judge it under every name that they know it by.

    Args:
        policy: The user's, tightened by the project's.
        subject: The call; it is not run.

    Returns:
        The verdict, with the id of the rule that gave it; several ids joined by ` & ` where
        several rules ask, so that an answer to one of them is none to the others.
    """
    spec = subject.spec
    if spec is None:
        return _UNKNOWN
    if subject.call.origin == "script" and not spec.scriptable:
        return _NOT_SCRIPTABLE
    if not subject.paths:
        said = _said(policy, subject, spec, None)
        return said[0] if len(said) == 1 else _strictest(said)
    paths = dict.fromkeys(subject.paths)
    return _strictest([said for path in paths for said in _said(policy, subject, spec, f"{path}/")])


def sight(policy: Policy, subject: Subject) -> Callable[[str], bool]:
    """Return which further paths a permitted call may look at, for tools that walk folders.

    A search of the whole workspace names no secrets file, and must not read one. A path is
    visible where the call, had it named that path, would have been allowed, or asked about by no
    rule that did not ask about it already; a permission settles asks of the mode.

    Args:
        policy: The policy that permitted the call.
        subject: The call.
    """
    said = judge(policy, subject)

    def visible(path: str) -> bool:
        one = judge(policy, replace(subject, paths=(path,)))
        if one.kind != "ask" or said.kind == "allow":
            return one.kind == "allow"
        return is_answered(one.rule, said.rule)

    return visible


def is_answered(asks: str, answered: str) -> bool:
    """Return whether a yes to what some rules asked is one to what some ask now.

    Any yes settles asks of the mode.

    Args:
        asks: The rules that ask, as `Verdict.rule` has them.
        answered: Those that a person has answered.
    """
    settled = answered.split(" & ")
    return all(rule in settled or rule.startswith(BY_MODE) for rule in asks.split(" & "))


def along(policy: Policy, subject: Subject) -> Callable[[str], bool]:
    """Return which further paths a permitted call may take along without being asked about again.

    Those of which no rule says anything that was not said of the call already.

    Args:
        policy: The policy that permitted the call.
        subject: The call, with the paths that it was permitted for.
    """
    said = judge(policy, subject)
    return lambda path: _is_settled(judge(policy, replace(subject, paths=(path,))), said)


def asked_by_path(policy: Policy, subject: Subject) -> Callable[[str], bool]:
    """Return of which paths a rule asks about a call that does not ask about it as such.

    Args:
        policy: The policy that permitted the call.
        subject: The call.
    """
    said = judge(policy, replace(subject, paths=()))

    def asks(path: str) -> bool:
        return not _is_settled(judge(policy, replace(subject, paths=(path,))), said)

    return asks


def likewise(policy: Policy, subject: Subject) -> Callable[[Mapping[str, object]], bool]:
    """Return with which other arguments a permitted call may go on without being asked about again.

    Those of which no rule says anything that was not said of the call already. They name no paths
    but the call's.

    Args:
        policy: The policy that permitted the call.
        subject: The call; what the other arguments leave out stays as it is.
    """

    def may(arguments: Mapping[str, object]) -> bool:
        call = replace(subject.call, arguments={**subject.call.arguments, **arguments})
        return _is_settled(judge(policy, replace(subject, call=call)), judge(policy, subject))

    return may


def _is_settled(one: Verdict, said: Verdict) -> bool:
    """Return whether a verdict says nothing that a permitted call's own does not."""
    asks = set(one.rule.split(" & "))
    return one.kind == "allow" or (one.kind == "ask" and asks.issubset(said.rule.split(" & ")))


def closed_by(policy: Policy, spec: ToolSpec, origins: Iterable[Origin]) -> Verdict | None:
    """Return the verdict that closes a tool, with any arguments, to every one of some origins.

    A rule that allows or asks for some arguments keeps a tool open, and one that denies only some
    does not close it. What guards and middleware refuse does not count.

    Args:
        policy: The user's, tightened by the project's.
        spec: The tool.
        origins: The ways in which calls of it could come; at least one.

    Returns:
        The verdict on a call by the first of them; None where one of them is open.
    """
    found = [_closed_to(policy, spec, origin) for origin in origins]
    return found[0] if all(found) else None


def _closed_to(policy: Policy, spec: ToolSpec, origin: Origin) -> Verdict | None:
    if origin == "script" and not spec.scriptable:
        return _NOT_SCRIPTABLE
    user, *projects = policy.layers or (policy,)
    said = [_always(user, spec, origin)]
    for project in projects:
        found = _always(project, spec, origin)
        said.append(found and replace(found, rule=f"{project.label}:{found.rule}"))
    closing = [verdict for verdict in said if verdict is not None]
    return _strictest(closing) if closing else None


def _always(layer: Policy, spec: ToolSpec, origin: Origin) -> Verdict | None:
    """Return the verdict of one layer that denies every call of a tool by one way in."""
    for matcher in layer.matchers:
        denies = matcher.verdict.kind in ("deny", "stop")
        if matcher.is_about(spec, (origin,)) and not (denies and matcher.is_conditional):
            return matcher.verdict if denies else None
    said = mode_verdict(layer.mode, spec)
    return said if said.kind == "deny" else None


def built_in_verdict(path: str, effect: Effect) -> Verdict | None:
    """Return what a built-in rule says about a folder and all in it; None where none does.

    Args:
        path: Of the folder.
        effect: Of the calls that may come.
    """
    found = (rule for rule in _built_in() if rule.effects is None or effect in rule.effects)
    return next((rule.verdict for rule in found if rule.covers(f"{path}/")), None)


def touched_by_builtins(path: str) -> bool:
    """Return whether a built-in rule may match a path; False is certain."""
    return _SIEVE.holds(f"{path}/")


def _said(policy: Policy, subject: Subject, spec: ToolSpec, path: str | None) -> list[Verdict]:
    """Return what the built-in rules, the user and each project say about one path."""
    said: list[Verdict] = []
    user, *projects = policy.layers or (policy,)
    for name in (None,) if path is None else user.names_of(path):
        own = _first(user, subject, name)
        if name is not None and _SIEVE.holds(name):
            said += _floor(policy, subject, name, own)
        said.append(own.verdict if own else mode_verdict(user.mode, spec))
    for project in projects:
        rule = _first(project, subject, path)
        verdict = rule.verdict if rule else mode_verdict(project.mode, spec)
        if verdict.kind != "allow":
            said.append(replace(verdict, rule=f"{project.label}:{verdict.rule}"))
    return said


def _first(policy: Policy, subject: Subject, path: str | None) -> Matcher | None:
    for matcher in policy.matchers:
        if matcher.matches(subject, path):
            return matcher
    return None


@cache
def _built_in() -> tuple[Matcher, ...]:
    """Return the built-in rules, compiled once a path is first theirs: it takes milliseconds."""
    return tuple(Matcher(rule) for rule in BUILT_IN)


@cache
def _examples() -> Matcher:
    return Matcher(EXAMPLES)


@cache
def _words() -> Matcher:
    return Matcher(WORDS)


def _adds_words(subject: Subject, path: str) -> bool:
    spec = subject.spec
    return spec is not None and spec.words_only and _words().matches(subject, path)


def _floor(policy: Policy, subject: Subject, path: str, own: Matcher | None) -> Iterator[Verdict]:
    """Yield the verdicts of the built-in rules; a rule of the user's own may lift one."""
    for matcher in _built_in():
        rule = matcher.verdict.rule
        if rule == SECRETS:
            lifted = _examples().matches(subject, path) or (own is not None and own.names(path))
        else:
            lifted = rule == TOOL_CONFIG and (policy.mode == "open" or _adds_words(subject, path))
        if not lifted and matcher.matches(subject, path):
            yield matcher.verdict


def _strictest(said: Sequence[Verdict]) -> Verdict:
    """Return the first of the strictest; where several rules ask, all of them."""
    if len(said) == 1:
        return said[0]
    strength = max(STRENGTH[each.kind] for each in said)
    strictest = [each for each in said if STRENGTH[each.kind] == strength]
    if strength != STRENGTH["ask"]:
        return strictest[0]
    rules = {each.rule: each for each in strictest if "mode:" not in each.rule}
    if len(rules) < 2:
        return next((each for each in strictest if each.rule in rules), strictest[0])
    return Verdict(
        kind="ask",
        rule=" & ".join(rules),
        reason="; ".join(_told(each.reason for each in rules.values())),
        source=" & ".join(_told(each.source for each in rules.values())),
    )


def _told(texts: Iterable[str]) -> Iterator[str]:
    """Yield each text once, empty ones not."""
    return (text for text in dict.fromkeys(texts) if text)
