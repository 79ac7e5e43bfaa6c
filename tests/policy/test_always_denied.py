"""Tools that a policy denies whatever their arguments and the origin of the call."""

import pytest

from lineshaft import Policy
from lineshaft.policy import denies_always
from lineshaft.values import ToolSpec

WRITE = ToolSpec(name="write_file", effect="write")
ISSUES = ToolSpec(name="github.list_issues", effect="external")

ALWAYS: dict[str, tuple[dict[str, object], ToolSpec]] = {
    "by the mode": ({"mode": "read"}, WRITE),
    "by name": ({"rules": [{"id": "a", "tool": "write_*", "verdict": "deny"}]}, WRITE),
    "by effect": ({"rules": [{"id": "a", "effect": "write", "verdict": "stop"}]}, WRITE),
    "by namespace": ({"rules": [{"id": "a", "namespace": "github", "verdict": "deny"}]}, ISSUES),
    "after a conditional denial": (
        {
            "rules": [
                {"id": "a", "tool": "write_file", "path": "x/**", "verdict": "deny"},
                {"id": "b", "tool": "write_file", "verdict": "deny"},
            ]
        },
        WRITE,
    ),
    "after a rule about another tool": (
        {
            "mode": "read",
            "rules": [{"id": "a", "tool": "edit_file", "verdict": "allow"}],
        },
        WRITE,
    ),
}

SOMETIMES: dict[str, tuple[dict[str, object], ToolSpec]] = {
    "asked about": ({"mode": "ask"}, WRITE),
    "allowed": ({"mode": "open"}, WRITE),
    "denied for a path": (
        {"rules": [{"id": "a", "tool": "write_file", "path": "x/**", "verdict": "deny"}]},
        WRITE,
    ),
    "denied for an origin": (
        {"rules": [{"id": "a", "tool": "write_file", "origin": "mcp", "verdict": "deny"}]},
        WRITE,
    ),
    "allowed for a path first": (
        {
            "mode": "read",
            "rules": [{"id": "a", "tool": "write_file", "path": "x/**", "verdict": "allow"}],
        },
        WRITE,
    ),
    "denied where another rule allowed it": (
        {
            "rules": [
                {"id": "a", "effect": "write", "verdict": "allow"},
                {"id": "b", "tool": "write_file", "verdict": "deny"},
            ]
        },
        WRITE,
    ),
}


@pytest.mark.parametrize(("policy", "spec"), ALWAYS.values(), ids=ALWAYS)
def test_a_tool_is_always_denied(policy: dict[str, object], spec: ToolSpec) -> None:
    assert denies_always(Policy.from_dict(policy), spec)


@pytest.mark.parametrize(("policy", "spec"), SOMETIMES.values(), ids=SOMETIMES)
def test_a_tool_is_sometimes_permitted(policy: dict[str, object], spec: ToolSpec) -> None:
    assert not denies_always(Policy.from_dict(policy), spec)
