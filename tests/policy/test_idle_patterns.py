"""A pattern that fits no tool is found: a misspelt rule forbids nothing."""

import pytest

from lineshaft.policy import Policy, Rule, idle_patterns
from lineshaft.values import ToolSpec

SPECS = (
    ToolSpec(name="run_command", effect="exec"),
    ToolSpec(name="files.read", effect="read", own_name="read-all"),
)


def found(rule: Rule) -> list[tuple[str, str, str]]:
    idle = idle_patterns(Policy("auto", (rule,)), SPECS, namespaces=("github",))
    return [(each.key, each.pattern, each.near) for each in idle]


@pytest.mark.parametrize(
    "tool",
    [
        "run_command",
        "RUN_*",
        "files.read",
        "files.read-all",
        "*",
        "*.delete",
        "github.*",
        "GitHub.drop",
        "git*",
        "github.drop_[ab]",
    ],
)
def test_a_pattern_that_fits_a_tool_or_may_is_not_idle(tool: str) -> None:
    assert found(Rule("no", "deny", tool=tool)) == []


@pytest.mark.parametrize(
    ("tool", "near"),
    [
        ("run_comand", "run_command"),
        ("githb.*", "github.*"),
        ("githb", "github"),
        ("gitlab", ""),
        ("github", "github"),
        ("files.red", "files.read"),
        ("zzz.*", ""),
        ("zzz", ""),
    ],
)
def test_a_pattern_that_fits_none_is_named_with_what_may_be_meant(tool: str, near: str) -> None:
    assert found(Rule("no", "deny", tool=("run_command", tool))) == [("tool", tool, near)]


def test_a_namespace_that_is_not_there_is_idle() -> None:
    assert found(Rule("no", "deny", namespace=("", "files", "git*", "githb"))) == [
        ("namespace", "githb", "github")
    ]


def test_rules_of_every_layer_are_looked_at() -> None:
    user = Policy("auto", (Rule("mine", "deny", tool="run_comand"), Rule("all", "ask")))
    project = Policy("open", (Rule("theirs", "deny", tool="rn_command"),))
    idle = idle_patterns(user.tightened_by(project), SPECS)
    assert [each.rule.id for each in idle] == ["mine", "theirs"]
