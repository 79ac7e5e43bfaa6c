"""The modes, which decide where no rule matches."""

from typing import Literal, get_args

from lineshaft.values import ToolSpec, Verdict, VerdictKind

Mode = Literal["plan", "read", "ask", "auto", "open"]
"""From the strictest to the widest."""

MODES: tuple[Mode, ...] = get_args(Mode)

_KINDS: tuple[VerdictKind, ...] = ("allow", "ask", "deny")


def mode_verdict(mode: Mode, spec: ToolSpec) -> Verdict:
    """Return what a mode says about a call of a tool."""
    kind: VerdictKind = "ask"
    if mode == "open":
        kind = "allow"
    elif spec.container:
        kind = "deny" if mode == "plan" else "allow"
    elif spec.effect == "read" and not spec.destructive:
        kind = "allow"
    elif mode == "plan":
        kind = "deny"
    elif spec.effect == "model" and mode != "ask" and not spec.destructive:
        kind = "allow"
    elif mode == "read":
        kind = "deny"
    elif mode == "auto" and not spec.destructive and (spec.effect == "write" or spec.jailed):
        kind = "allow"
    return _VERDICTS[mode, kind]


_REASONS: dict[tuple[Mode, VerdictKind], str] = {
    ("plan", "deny"): "in mode plan only calls that read run, and no scripts",
    ("read", "deny"): "in mode read only calls that read run",
    ("ask", "ask"): "in mode ask every call that does more than read is asked about",
    ("auto", "ask"): "in mode auto processes, the world outside and destructive calls"
    " are asked about",
}

_VERDICTS = {
    (mode, kind): Verdict(kind=kind, rule=f"mode:{mode}", reason=_REASONS.get((mode, kind), ""))
    for mode in MODES
    for kind in _KINDS
}
