"""Policies from plain data and TOML, and what is said of mistakes."""

from typing import Any

import pytest

from lineshaft.errors import ConfigError
from lineshaft.policy import Policy, Rule

TOML = """
[tools]
modules = ["./tools.py"]

[policy]
mode = "ask"

[[policy.rules]]
id = "no-secrets"
verdict = "deny"
tool = "read_file"
path = ["secrets/**", "*.pem"]
reason = "not for models"

[[policy.rules]]
id = "prod"
verdict = "stop"
effect = ["exec", "external"]
namespace = "deploy"
origin = "script"
command = "kubectl *"
arguments = { target = "prod*", "options.force" = "true" }
"""

RULES = (
    Rule(
        "no-secrets",
        "deny",
        tool="read_file",
        path=("secrets/**", "*.pem"),
        reason="not for models",
    ),
    Rule(
        "prod",
        "stop",
        effect=("exec", "external"),
        namespace="deploy",
        origin="script",
        command="kubectl *",
        arguments={"target": "prod*", "options.force": "true"},
    ),
)


def test_toml_says_all_that_a_rule_can_say() -> None:
    assert Policy.from_toml(TOML) == Policy("ask", RULES)


def test_toml_without_a_policy_table_is_the_policy_itself() -> None:
    assert Policy.from_toml('mode = "plan"') == Policy("plan")


def test_where_no_mode_is_said_the_given_one_holds() -> None:
    assert Policy.from_toml("").mode == "auto"
    assert Policy.from_toml("", mode="open").mode == "open"
    assert Policy.from_dict({}, mode="read") == Policy("read")
    assert Policy.from_dict({"mode": "ask"}, mode="open").mode == "ask"


def rule(**changes: object) -> dict[str, object]:
    return {"rules": [{"id": "r", "verdict": "deny"} | changes]}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"mod": "ask"}, "policy.mod: unknown key; use mode, rules"),
        ({"mode": "yolo"}, "policy.mode: 'yolo' is unknown; use plan, read, ask, auto, open"),
        ({"mode": ["ask"]}, "policy.mode: ['ask'] is unknown; use plan"),
        ({"rules": {"id": "r"}}, "policy.rules: {'id': 'r'} (dict) given; use a list of tables"),
        ({"rules": ["deny"]}, "policy.rules[0]: 'deny' (str) given; use a table with id, verdict"),
        ({"rules": [{"id": "r"}]}, "policy.rules[0]: verdict is missing"),
        ({"rules": [{"verdict": "deny"}]}, "policy.rules[0]: id is missing"),
        (rule(paths="x"), "policy.rules[0].paths: unknown key; use id, verdict, tool"),
        (rule(id=7), "policy.rules[0].id: 7 (int) given; use a string"),
        (rule(id="a b"), "policy.rules[0]: the rule id 'a b' is not a name"),
        (rule(id="mode:x"), "the rule id 'mode:x' is taken"),
        (rule(verdict="no"), "verdict 'no' is unknown; use allow, ask, deny, stop"),
        (rule(effect="reads"), "effect 'reads' is unknown; use read, write, exec, external"),
        (rule(origin=["code", "web"]), "origin 'web' is unknown; use code, script, model, agent"),
        (rule(tool=7), "policy.rules[0].tool: 7 (int) given; use a string or a list of strings"),
        (rule(tool=["a", 7]), "policy.rules[0].tool[1]: 7 (int) given; use a string"),
        (rule(tool=""), "tool is empty; leave it out to match any tool"),
        (rule(path=[]), "path is empty; leave it out to match any path"),
        (rule(command=["a", ""]), "command is empty"),
        (rule(effect=[]), "effect is empty; leave it out to match any effect"),
        (rule(origin=[]), "origin is empty"),
        (rule(namespace=[]), "namespace is empty"),
        (rule(arguments={"a": []}), "rule 'r': arguments.a is empty"),
        (rule(reason=None), "policy.rules[0].reason: None (NoneType) given; use a string"),
        (rule(arguments="x"), "policy.rules[0].arguments: 'x' (str) given; use a table"),
        (rule(arguments={"a": True}), "policy.rules[0].arguments.a: True (bool) given"),
        (rule(arguments={"a": "[z"}), "rule 'r': the pattern '[z' has '[' without ']'"),
        (rule(tool="[z-a]"), "rule 'r': the pattern '[z-a]' has a bad set [z-a]"),
        (rule(path="a\\b"), "the pattern 'a\\\\b' has a backslash or NUL"),
        (rule(path="!a"), "the pattern '!a' starts with '!'"),
        (rule(path="../a"), "the pattern '../a' matches no path"),
        (rule(path="."), "the pattern '.' matches no path"),
        (rule(path="~/a"), "the pattern '~/a' matches no path"),
        (rule(path="a//b"), "the pattern 'a//b' matches no path"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_what_is_allowed(
    data: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        Policy.from_dict(data)
    assert message in caught.value.message


def test_lists_in_code_are_those_of_plain_data() -> None:
    lists: dict[str, Any] = {
        "tool": ["a", "b"],
        "effect": ["read", "exec"],
        "namespace": ["a"],
        "origin": ["script"],
        "path": ["a", "*.pem"],
        "command": ["git push *"],
        "arguments": {"x": ["a", "b"], "y": "c"},
    }
    made = Rule("r", "deny", **lists)
    assert Policy("auto", (made,)) == Policy.from_dict(rule(**lists), mode="auto")
    assert (made.tool, made.effect) == (("a", "b"), ("read", "exec"))
    assert made.arguments == {"x": ("a", "b"), "y": "c"}
    lists["tool"].append("c")
    assert made.tool == ("a", "b")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": 5}, "the rule id 5 is not a name; use letters"),
        ({"verdict": ["deny"]}, "rule 'r': verdict ['deny'] is unknown; use allow, ask"),
        ({"tool": 5}, "rule 'r': tool: 5 (int) given; use a string or a list of strings"),
        ({"tool": ["a", 5]}, "rule 'r': tool[1]: 5 (int) given; use a string"),
        ({"path": 5}, "rule 'r': path: 5 (int) given; use a string or a list of strings"),
        ({"command": {"a"}}, "rule 'r': command: {'a'} (set) given; use a string or a list"),
        ({"namespace": b"a"}, "rule 'r': namespace: b'a' (bytes) given; use a string or a list"),
        ({"effect": 5}, "rule 'r': effect: 5 (int) given; use a string or a list of strings"),
        ({"effect": ["reads"]}, "rule 'r': effect 'reads' is unknown; use read, write"),
        ({"origin": [None]}, "rule 'r': origin[0]: None (NoneType) given; use a string"),
        ({"arguments": [1]}, "rule 'r': arguments: [1] (list) given; use a dict of patterns"),
        ({"arguments": {5: "a"}}, "rule 'r': arguments: the name 5 (int) given; use a string"),
        ({"arguments": {"x": 5}}, "rule 'r': arguments.x: 5 (int) given; use a string or a list"),
        ({"arguments": {"x": ["a", 5]}}, "rule 'r': arguments.x[1]: 5 (int) given; use a string"),
        ({"reason": None}, "rule 'r': reason: None (NoneType) given; use a string"),
    ],
)
def test_a_wrong_type_in_code_is_named_with_its_field(
    changes: dict[str, Any], message: str
) -> None:
    given: dict[str, Any] = {"id": "r", "verdict": "deny", **changes}
    with pytest.raises(ConfigError) as caught:
        Rule(**given)
    assert message in caught.value.message


def test_two_rules_with_one_id_are_refused() -> None:
    with pytest.raises(ConfigError, match="two rules have the id 'r'; give each its own"):
        Policy("auto", (Rule("r", "deny"), Rule("r", "ask")))


def test_an_unknown_mode_is_refused_in_code_too() -> None:
    with pytest.raises(ConfigError, match="mode 'yolo' is unknown; use plan, read, ask"):
        Policy("yolo")  # pyright: ignore[reportArgumentType]  the mistake is the point


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mode = ", "the policy is not TOML: Invalid value"),
        ("mode = " + "1" * 5_000, "the policy is not TOML: "),
        ("mode = " + "[" * 5_000, "the policy is not TOML: it is nested too deeply"),
        ("policy = 7", "policy: 7 (int) given; use a table"),
        ("[policy]\nmodus = 'ask'", "policy.modus: unknown key"),
    ],
)
def test_text_that_is_no_policy_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Policy.from_toml(text)
    assert message in caught.value.message
