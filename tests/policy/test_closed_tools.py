"""Tools that a policy denies whatever their arguments, to every way in."""

from typing import get_args

import pytest

from lineshaft import Policy
from lineshaft.policy import closed_by
from lineshaft.values import Origin, ToolSpec

ORIGINS: tuple[Origin, ...] = get_args(Origin)

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
    "one way in after the other": (
        {
            "rules": [
                {"id": "a", "tool": "write_file", "origin": ["mcp", "model"], "verdict": "deny"},
                {
                    "id": "b",
                    "origin": ["agent", "code", "script", "shell", "editor"],
                    "verdict": "stop",
                },
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
    assert closed_by(Policy.from_dict(policy), spec, ORIGINS)


@pytest.mark.parametrize(("policy", "spec"), SOMETIMES.values(), ids=SOMETIMES)
def test_a_tool_is_sometimes_permitted(policy: dict[str, object], spec: ToolSpec) -> None:
    assert closed_by(Policy.from_dict(policy), spec, ORIGINS) is None


def test_a_tool_is_closed_to_those_ways_in_that_a_rule_names() -> None:
    rule = {"id": "a", "tool": "write_file", "origin": ["script", "model"], "verdict": "deny"}
    policy = Policy.from_dict({"mode": "open", "rules": [rule]})
    verdict = closed_by(policy, WRITE, ("model", "script"))
    assert verdict is not None
    assert verdict.rule == "a"
    assert closed_by(policy, WRITE, ("script", "shell")) is None


def test_a_tool_that_scripts_may_not_call_is_closed_to_them_alone() -> None:
    spec = ToolSpec(name="install", effect="read", scriptable=False)
    verdict = closed_by(Policy(mode="open"), spec, ("script",))
    assert verdict is not None
    assert verdict.rule == "builtin:not-scriptable"
    assert closed_by(Policy(mode="open"), spec, ("model",)) is None


def test_a_project_closes_a_tool_by_a_rule_that_names_it_as_the_projects() -> None:
    project = Policy.from_dict({"rules": [{"id": "a", "effect": "write", "verdict": "deny"}]})
    policy = Policy(mode="open").tightened_by(project)
    verdict = closed_by(policy, WRITE, ORIGINS)
    assert verdict is not None
    assert verdict.rule == "project:a"
    assert closed_by(policy, ToolSpec(name="look", effect="read"), ORIGINS) is None
