"""A verdict says in which file and on which line its rule is written."""

import tomllib
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.policy import BUILT_IN, Policy, Rule, Subject, judge, rule_sources
from lineshaft.policy._lines import table_lines
from lineshaft.values import Call, ToolSpec, Verdict

WRITE = ToolSpec(name="write_file", effect="write")

TOML = '''# [[policy.rules]] in a comment
note = """
[[policy.rules]]
id = "text"
"""

[[ policy . "rules" ]]  # the first
id = "first"
verdict = "ask"
path = "a/**"
reason = "[[policy.rules]]"

[limits]
calls = 5

[[policy.rules]]
id = "second"
verdict = "deny"
path = "b/**"
reason = """
[[policy.rules]]"""
'''


def verdict(policy: Policy, *paths: str) -> Verdict:
    call = Call(tool="write_file", arguments={}, origin="script")
    return judge(policy, Subject(WRITE, call, paths))


def test_a_verdict_names_the_line_of_its_rule() -> None:
    policy = Policy.from_toml(TOML.replace("note =", "[x]\nnote =", 1), name="lineshaft.toml")
    assert verdict(policy, "a/x").source == "lineshaft.toml:8"
    assert verdict(policy, "b/x").source == "lineshaft.toml:17"


def test_rules_of_a_project_keep_their_lines() -> None:
    project = Policy.from_toml(TOML, mode="open", name="p.toml")
    said = verdict(Policy("open").tightened_by(project), "b/x")
    assert (said.rule, said.source) == ("project:second", "p.toml:16")


def test_several_rules_that_ask_are_all_named() -> None:
    own = Policy("open", (Rule("mine", "ask", effect="write"),))
    project = Policy.from_toml(TOML, mode="open", name="p.toml")
    said = verdict(own.tightened_by(project), "a/x")
    assert (said.rule, said.source) == ("mine & project:first", "p.toml:7")
    both = Policy("open", (Rule("mine", "ask", effect="write", source="u.toml:1"),))
    assert verdict(both.tightened_by(project), "a/x").source == "u.toml:1 & p.toml:7"


def test_modes_and_rules_made_in_code_are_written_nowhere() -> None:
    assert verdict(Policy("auto"), "a").source == ""
    assert verdict(Policy("auto", (Rule("x", "deny"),)), "a").source == ""
    assert Policy.from_toml(TOML).rules[0].source == ""


def test_built_in_rules_say_so() -> None:
    assert {rule.source for rule in BUILT_IN} == {"built in"}
    assert verdict(Policy("open"), ".git/config").source == "built in"
    call = Call(tool="nobody", arguments={}, origin="script")
    assert judge(Policy(), Subject(None, call)).source == "built in"


def test_where_a_rule_is_written_makes_no_other_rule_of_it() -> None:
    assert Rule("x", "deny", source="a:1") == Rule("x", "deny", source="b:2")


@pytest.mark.parametrize(
    ("text", "keys", "lines"),
    [
        (
            "[policy]\nrules = [\n  {id='a'}, {id='b'},\n  {id=']', x={y=1}},\n]\n",
            "policy rules",
            [3, 3, 4],
        ),
        ("policy.rules = [{id='a'}]\n", "policy rules", [1]),
        ("rules = [\n\n{id='a'}]", "rules", [3]),
        ("[tool.lineshaft]\n[[tool.lineshaft.policy.rules]]\n", "tool lineshaft policy rules", [2]),
        ("[other]\nrules = [{id='a'}]\n[[policy.others]]\n", "policy rules", []),
        ("[[policy.rules.x]]\n", "policy rules", []),
        ("a = '''\n'''\r\n[[policy.rules]]\r\n", "policy rules", [3]),
        ("", "policy rules", []),
    ],
)
def test_both_ways_to_write_a_list_of_tables_are_found(
    text: str, keys: str, lines: list[int]
) -> None:
    assert table_lines(text, *keys.split()) == lines


def test_where_the_line_is_not_certain_only_the_file_is_named() -> None:
    text = "policy = { rules = [{ id = 'a', verdict = 'deny' }] }"
    rules = tomllib.loads(text)["policy"]["rules"]
    assert rule_sources("x.toml", text, ("policy", "rules"), rules) == ("x.toml",)
    assert Policy.from_toml(text, name="x.toml").rules[0].source == "x.toml"


TEXTS = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=12)
FILLERS = st.sampled_from(
    [
        "\n",
        "# [[policy.rules]]\n",
        "[limits]\ncalls = 5\n",
        "[x]\ny = ['[[policy.rules]]', {z = 1}]\n",
        'k = """\n[[policy.rules]]\nid = "no"\n"""\n',
        "k = '''\n[[policy.rules]]\n'''\n",
        "k = 1979-05-27T07:32:00Z\n",
        'k = "\\"\\\\"\n',
    ]
)


def _literal(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@given(st.lists(st.tuples(st.lists(FILLERS, max_size=3), TEXTS), max_size=5))
def test_each_line_found_is_the_line_of_that_rule(parts: list[tuple[list[str], str]]) -> None:
    text = ""
    for at, (fillers, word) in enumerate(parts):
        for filler in fillers:  # each key of its own table
            text += f"[t{text.count('[')}]\n{filler}" if filler.startswith("k") else ""
            text += filler if filler[0] in "#\n" else ""
        text += f"[[policy.rules]]\nid = {at}\nword = {_literal(word)}\n"
    parsed = tomllib.loads(text)
    rules = cast("list[dict[str, object]]", parsed.get("policy", {}).get("rules", []))
    lines = table_lines(text, "policy", "rules")
    assert [text.split("\n")[line] for line in lines] == [f"id = {rule['id']}" for rule in rules]
