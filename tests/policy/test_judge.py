"""What policy says of calls."""

import unicodedata
from dataclasses import replace

import pytest

from lineshaft.policy import MODES, Mode, Policy, Rule, Subject, judge, likewise, sight
from lineshaft.values import Call, Origin, ToolSpec, Verdict

READ = ToolSpec(name="read_file", effect="read")
WRITE = ToolSpec(name="write_file", effect="write")
MOVE = ToolSpec(name="move_file", effect="write", entries=(("source",), ("target",)))
RUN = ToolSpec(name="run_command", effect="exec")
ISSUE = ToolSpec(name="github.create_issue", effect="external")


def said(
    policy: Policy,
    spec: ToolSpec | None,
    *paths: str,
    origin: Origin = "script",
    given: dict[str, object] | None = None,
) -> Verdict:
    call = Call(tool=spec.name if spec else "nobody", arguments=given or {}, origin=origin)
    return judge(policy, Subject(spec, call, paths))


def one(verdict: Verdict) -> tuple[str, str]:
    return verdict.kind, verdict.rule


@pytest.mark.parametrize(
    ("mode", "verdicts"),
    [
        # read, same but destructive, write, same but destructive, exec, jailed, external,
        # container, model, same but destructive
        ("plan", "allow deny deny deny deny deny deny deny deny deny"),
        ("read", "allow deny deny deny deny deny deny allow allow deny"),
        ("ask", "allow ask ask ask ask ask ask allow ask ask"),
        ("auto", "allow ask allow ask ask allow ask allow allow ask"),
        ("open", "allow allow allow allow allow allow allow allow allow allow"),
    ],
)
def test_a_mode_decides_where_no_rule_matches(mode: Mode, verdicts: str) -> None:
    specs = [
        READ,
        ToolSpec(name="a", effect="read", destructive=True),
        WRITE,
        ToolSpec(name="a", effect="write", destructive=True),
        RUN,
        ToolSpec(name="a", effect="exec", jailed=True),
        ISSUE,
        ToolSpec(name="a", effect="external", container=True),
        ToolSpec(name="a", effect="model"),
        ToolSpec(name="a", effect="model", destructive=True),
    ]
    found = [said(Policy(mode), spec) for spec in specs]
    assert [each.kind for each in found] == verdicts.split()
    assert {each.rule for each in found} == {f"mode:{mode}"}
    assert all(each.reason for each in found if each.kind != "allow")


def test_the_default_mode_is_auto() -> None:
    assert Policy().mode == "auto"


@pytest.mark.parametrize("mode", MODES)
def test_a_tool_that_does_not_exist_is_denied_in_every_mode(mode: Mode) -> None:
    assert one(said(Policy(mode), None)) == ("deny", "builtin:unknown-tool")


def test_a_tool_that_is_not_scriptable_is_denied_to_scripts_alone() -> None:
    install = ToolSpec(name="install", effect="read", scriptable=False)
    policy = Policy("open", (Rule("all", "allow"),))
    assert one(said(policy, install)) == ("deny", "builtin:not-scriptable")
    assert said(policy, install, origin="model").kind == "allow"


def test_the_first_rule_that_matches_decides() -> None:
    policy = Policy(
        "read",
        (
            Rule("drafts", "allow", path="drafts/**", reason="drafts are free"),
            Rule("writes", "ask", effect="write", reason="look first"),
            Rule("never", "stop"),
        ),
    )
    assert said(policy, WRITE, "drafts/a.md") == Verdict(
        kind="allow", rule="drafts", reason="drafts are free"
    )
    assert said(policy, WRITE, "a.md") == Verdict(kind="ask", rule="writes", reason="look first")
    assert one(said(policy, READ, "a.md")) == ("stop", "never")


@pytest.mark.parametrize(
    ("rule", "matches", "misses"),
    [
        (Rule("r", "deny", tool="github.*"), ISSUE, READ),
        (Rule("r", "deny", tool=("read_*", "x")), READ, ISSUE),
        (Rule("r", "deny", tool="READ_FILE"), READ, WRITE),
        (Rule("r", "deny", effect="exec"), RUN, READ),
        (Rule("r", "deny", effect=("exec", "external")), ISSUE, READ),
        (Rule("r", "deny", namespace="git*"), ISSUE, READ),
        (Rule("r", "deny", namespace=""), READ, ISSUE),
    ],
)
def test_a_rule_matches_on_what_is_known_of_the_tool(
    rule: Rule, matches: ToolSpec, misses: ToolSpec
) -> None:
    policy = Policy("open", (rule,))
    assert one(said(policy, matches)) == ("deny", "r")
    assert said(policy, misses).kind == "allow"


def test_a_rule_matches_on_the_origin() -> None:
    policy = Policy("open", (Rule("r", "deny", origin=("model", "script")),))
    assert said(policy, READ, origin="script").kind == "deny"
    assert said(policy, READ, origin="shell").kind == "allow"


def test_everything_that_a_rule_names_must_match() -> None:
    policy = Policy("open", (Rule("r", "deny", tool="write_*", path="a/**", origin="model"),))
    assert said(policy, WRITE, "a/b", origin="model").kind == "deny"
    assert said(policy, WRITE, "a/b", origin="shell").kind == "allow"
    assert said(policy, WRITE, "b", origin="model").kind == "allow"
    assert said(policy, READ, "a/b", origin="model").kind == "allow"


def test_a_rule_with_a_path_does_not_match_a_call_without_one() -> None:
    assert said(Policy("open", (Rule("r", "deny", path="**"),)), READ).kind == "allow"


def test_one_path_is_enough_to_refuse_a_call() -> None:
    policy = Policy("auto", (Rule("keep", "deny", path="keep/**"),))
    assert one(said(policy, MOVE, "a", "keep/a")) == ("deny", "keep")
    assert one(said(policy, MOVE, "keep/a", "a")) == ("deny", "keep")


def test_all_paths_must_be_allowed_to_allow_a_call() -> None:
    policy = Policy("ask", (Rule("a", "allow", path="a/**"), Rule("b", "allow", path="b/**")))
    assert one(said(policy, MOVE, "a/x", "c/x")) == ("ask", "mode:ask")
    assert one(said(policy, MOVE, "a/x", "b/x")) == ("allow", "a")


def test_a_deny_on_one_path_wins_over_an_earlier_ask_on_another() -> None:
    policy = Policy("open", (Rule("a", "ask", path="a/**"), Rule("b", "deny", path="b/**")))
    assert one(said(policy, MOVE, "a/x", "b/x")) == ("deny", "b")


def test_an_answer_to_one_rule_cannot_stand_for_two_that_ask() -> None:
    rules = (
        Rule("a", "ask", path="a/**", reason="mind a"),
        Rule("b", "ask", path="b/**"),
        Rule("c", "ask", path="c/**", reason="mind c"),
    )
    verdict = said(Policy("open", rules), MOVE, "a/x", "b/x", "c/x")
    assert verdict == Verdict(kind="ask", rule="a & b & c", reason="mind a; mind c")


def test_a_rule_that_asks_is_named_before_a_mode_that_asks() -> None:
    policy = Policy("ask", (Rule("b", "ask", path="b/**"),))
    assert one(said(policy, MOVE, "a/x", "b/x")) == ("ask", "b")


def test_rules_that_restrict_ignore_case_and_cover_what_lies_below() -> None:
    policy = Policy("open", (Rule("r", "deny", path="secrets"),))
    assert said(policy, READ, "Secrets").kind == "deny"
    assert said(policy, READ, "x/SECRETS/deep/key").kind == "deny"


def test_rules_that_restrict_know_an_accented_letter_however_it_is_written() -> None:
    one_character, two = (unicodedata.normalize(form, "caf\u00e9") for form in ("NFC", "NFD"))
    assert one_character != two
    for written, asked in ((one_character, two), (two, one_character)):
        policy = Policy("open", (Rule("r", "deny", path=f"{written}/**"),))
        assert said(policy, READ, f"{asked}/key").kind == "deny"
        assert said(policy, MOVE, asked, "x").kind == "deny"
        policy = Policy("open", (Rule("r", "deny", arguments={"q": f"*{written}*"}),))
        assert said(policy, READ, given={"q": f"the {asked} here"}).kind == "deny"
        policy = Policy("read", (Rule("r", "allow", path=f"{written}/*"),))
        assert said(policy, WRITE, f"{asked}/key").kind == "deny"


def test_rules_that_allow_mind_case_and_cover_the_path_alone() -> None:
    policy = Policy("read", (Rule("r", "allow", path="docs/*"),))
    assert said(policy, WRITE, "docs/a").kind == "allow"
    assert said(policy, WRITE, "Docs/a").kind == "deny"
    assert said(policy, WRITE, "docs/a/b").kind == "deny"


def test_a_folder_that_is_moved_takes_along_what_rules_protect_in_it() -> None:
    policy = Policy("open", (Rule("r", "deny", path=("a/b/secrets/**", "x/**/keys")),))
    assert said(policy, MOVE, "a", "c").kind == "deny"
    assert said(policy, MOVE, "a/b", "c").kind == "deny"
    assert said(policy, MOVE, ".", "c").kind == "deny"
    assert said(policy, MOVE, "x", "c").kind == "deny"
    assert said(policy, MOVE, "b", "c").kind == "allow"
    assert said(policy, READ, "a/b").kind == "allow"


@pytest.mark.parametrize(
    ("pattern", "arguments"),
    [
        ("git push *", {"command": "git", "args": ["push", "--force"]}),
        ("git push *", {"command": "git push --force"}),
        ("git push *", {"command": "git push"}),
        ("git push *", {"command": "/usr/bin/GIT  push"}),
        ("git push *", {"command": "C:\\Git\\git.exe", "args": ["push"]}),
        ("rm -rf /", {"command": "rm", "args": ["-rf /"]}),
        ("* 'oops", {"command": "echo 'oops"}),
    ],
)
def test_a_command_pattern_that_restricts_sees_through_spellings(
    pattern: str, arguments: dict[str, object]
) -> None:
    policy = Policy("open", (Rule("r", "deny", command=pattern),))
    assert said(policy, RUN, given=arguments).kind == "deny"


@pytest.mark.parametrize(
    ("arguments", "verdict"),
    [
        ({"command": "git", "args": ["status", "-s"]}, "allow"),
        ({"command": "git status"}, "allow"),
        ({"command": "/opt/evil/git", "args": ["status"]}, "ask"),
        ({"command": "git", "args": ["status -s"]}, "ask"),
        ({"command": "git statusx"}, "ask"),
        ({"command": "  "}, "ask"),
        ({"command": ["git", "status"]}, "ask"),
    ],
)
def test_a_command_pattern_that_allows_takes_the_command_as_it_is(
    arguments: dict[str, object], verdict: str
) -> None:
    policy = Policy("auto", (Rule("r", "allow", command="git status *"),))
    assert said(policy, RUN, given=arguments).kind == verdict


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("prod", "deny"),
        ("PROD-eu", "deny"),
        ("test", "allow"),
        (["test", "prod"], "deny"),
        ({"deep": [{"er": "prod"}]}, "deny"),
        ([], "allow"),
        (None, "allow"),
    ],
)
def test_an_argument_restricts_by_any_value_in_it(value: object, kind: str) -> None:
    policy = Policy("open", (Rule("r", "deny", arguments={"target": "prod*"}),))
    assert said(policy, ISSUE, given={"target": value}).kind == kind


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("test", "allow"),
        ("Test", "ask"),
        (["test", "test"], "allow"),
        (["test", "prod"], "ask"),
        ([], "ask"),
    ],
)
def test_an_argument_allows_by_all_values_in_it(value: object, kind: str) -> None:
    policy = Policy("auto", (Rule("r", "allow", arguments={"target": "test"}),))
    assert said(policy, ISSUE, given={"target": value}).kind == kind


def test_values_that_are_no_text_are_matched_as_json() -> None:
    def kind(pattern: str, value: object) -> str:
        return said(
            Policy("open", (Rule("r", "deny", arguments={"a": pattern}),)),
            ISSUE,
            given={"a": value},
        ).kind

    assert kind("true", True) == "deny"
    assert kind("null", None) == "deny"
    assert kind("4?", 42) == "deny"
    assert kind("", []) == "deny"
    assert kind("?*", {}) == "allow"


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        ("1000", 1000.0),
        ("1000", [{"x": 1e3}]),
        ("1e3", 1000),
        ("1E+3", 1000),
        ("1000.0", 1000),
        ("+1000.", 1000),
        (("7", "1000"), 1000.0),
        ("1*", 1000.0),
        ("100?", 1000.0),
        ("1*0000", 1e16),
        ("10000000000000000", 1e16),
        ("1e16", 10**16),
        ("0", -0.0),
        ("0", 0.0),
        ("-0.0", 0),
        ("[0]", -0.0),
        (".5", 0.5),
        ("0.0000001", 1e-7),
        ("0.000000[1]", 1e-7),
        ("1[.]0", 1),
        ("*.5", 2.5),
        ("NaN", float("nan")),
        ("infinity", float("inf")),
    ],
)
def test_a_number_restricts_by_its_value(pattern: str, value: object) -> None:
    policy = Policy("open", (Rule("r", "deny", arguments={"a": pattern}),))
    assert said(policy, ISSUE, given={"a": value}).kind == "deny"


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        ("1000", 1000.5),
        ("1", True),
        ("0", False),
        ("1000", "1e3"),
        ("1.1", "1.10"),
        ("1", float("inf")),
        ("9007199254740993", 9007199254740992),
        ("1e99999", 1.0),
    ],
)
def test_other_values_are_no_such_number(pattern: str, value: object) -> None:
    policy = Policy("open", (Rule("r", "deny", arguments={"a": pattern}),))
    assert said(policy, ISSUE, given={"a": value}).kind == "allow"


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"anyOf": [{"type": "number"}, {"type": "string"}]}, "deny"),
        ({"type": "array", "items": {"type": ["integer", "string"]}}, "deny"),
        ({"$ref": "#/$defs/Amount"}, "deny"),
        ({"type": "string"}, "allow"),
        ({}, "allow"),
    ],
)
@pytest.mark.parametrize("text", ["1e3", " 1_000.0", "\uff11000.00"])
def test_a_text_is_a_number_where_the_tool_takes_numbers(
    text: str, schema: dict[str, object], kind: str
) -> None:
    spec = ToolSpec(name="pay", input_schema={"type": "object", "properties": {"a": schema}})
    policy = Policy("open", (Rule("r", "deny", arguments={"a": "1000"}),))
    assert said(policy, spec, given={"a": text}).kind == kind
    policy = Policy("open", (Rule("r", "deny", arguments={"a.b": "1000"}),))
    assert said(policy, spec, given={"a": {"b": text}}).kind == kind


def test_a_number_is_allowed_by_the_spelling_of_the_rule_alone() -> None:
    policy = Policy("ask", (Rule("r", "allow", arguments={"a": "1000"}),))
    assert said(policy, ISSUE, given={"a": 1000}).kind == "allow"
    assert said(policy, ISSUE, given={"a": 1000.0}).kind == "ask"


def test_a_dot_leads_into_an_argument() -> None:
    policy = Policy("open", (Rule("r", "deny", arguments={"options.force": "true"}),))
    assert said(policy, ISSUE, given={"options": {"force": True}}).kind == "deny"
    assert (
        said(policy, ISSUE, given={"options": [{"force": False}, {"force": True}]}).kind == "deny"
    )
    assert said(policy, ISSUE, given={"options": {"other": True}}).kind == "allow"
    assert said(policy, ISSUE, given={"options": True}).kind == "allow"
    assert said(policy, ISSUE, given={"options.force": True}).kind == "deny"


@pytest.mark.parametrize(
    "given",
    [
        {"options": {"force": True}, "options.force": False},
        {"options": {"force": False}, "options.force": True},
        {"options": [{"force": True}], "options.force": None},
        {"options.force": {"x": True}},
    ],
)
def test_a_name_with_dots_hides_no_value_that_it_names_besides(given: dict[str, object]) -> None:
    policy = Policy("open", (Rule("r", "deny", arguments={"options.force": "true"}),))
    assert said(policy, RUN, given=given).kind == "deny"
    policy = Policy("ask", (Rule("r", "allow", arguments={"options.force": "false"}),))
    assert said(policy, RUN, given=given).kind == "ask"


def test_a_key_inside_an_argument_may_have_dots() -> None:
    policy = Policy("open", (Rule("r", "deny", arguments={"env.a.b": "1"}),))
    assert said(policy, RUN, given={"env": {"a.b": "1"}}).kind == "deny"
    assert said(policy, RUN, given={"env": {"a": {"c": "1"}}}).kind == "allow"


def test_a_key_inside_an_argument_left_out_has_its_default() -> None:
    policy = Policy("open", (Rule("r", "deny", arguments={"options.force": "true"}),))
    schema = {"type": "object", "properties": {"options": {"default": {"force": True}}}}
    spec = ToolSpec(name="push", input_schema=schema)
    assert said(policy, spec, given={}).kind == "deny"
    assert said(policy, spec, given={"options": {}}).kind == "allow"


def test_an_argument_left_out_has_its_default() -> None:
    policy = Policy("open", (Rule("r", "deny", arguments={"force": "true"}),))

    def kind(schema: dict[str, object]) -> str:
        return said(policy, ToolSpec(name="a", input_schema=schema)).kind

    assert kind({"properties": {"force": {"default": True}}}) == "deny"
    assert kind({"properties": {"force": {"default": False}}}) == "allow"
    assert kind({"properties": {"force": {}}}) == "allow"
    assert kind({"properties": {"force": True}}) == "allow"
    assert kind({"properties": {}}) == "allow"
    assert kind({}) == "allow"


def test_arguments_nested_ten_thousand_deep_are_judged() -> None:
    value: object = "prod"
    for _ in range(10_000):
        value = [value]
    policy = Policy("open", (Rule("r", "deny", arguments={"a": "prod"}),))
    assert said(policy, ISSUE, given={"a": value}).kind == "deny"


def test_a_walk_sees_what_the_call_might_have_named() -> None:
    policy = Policy("auto", (Rule("r", "deny", path="private/**"), Rule("q", "ask", path="q/**")))
    visible = sight(
        policy, Subject(READ, Call(tool="read_file", arguments={}, origin="code"), (".",))
    )
    paths = ["src/a.py", ".env", "private/a", "private", ".git/config", "q/a"]
    assert [path for path in paths if visible(path)] == ["src/a.py"]


def test_a_walk_that_a_person_permitted_sees_what_the_same_question_covers() -> None:
    policy = Policy("auto", (Rule("q", "ask", path="q/**"), Rule("s", "stop", path="s/**")))
    visible = sight(
        policy, Subject(READ, Call(tool="read_file", arguments={}, origin="code"), ("q",))
    )
    paths = ["q/a", "src/a.py", ".env", "s/a"]
    assert [path for path in paths if visible(path)] == ["q/a", "src/a.py"]


def test_a_walk_that_a_person_permitted_sees_nothing_that_another_question_covers() -> None:
    asks = (Rule("pay", "ask", path="pay/**"), Rule("search", "ask", tool="read_file"))
    subject = Subject(READ, Call(tool="read_file", arguments={}, origin="code"), (".",))
    visible = sight(Policy("open", asks), subject)
    assert [path for path in ("a", "pay/a") if visible(path)] == ["a"]
    both = sight(Policy("open", asks), replace(subject, paths=(".", "pay")))
    assert both("pay/a")


def test_a_walk_of_a_refused_call_sees_nothing_more_for_being_refused() -> None:
    policy = Policy("auto", (Rule("s", "stop", tool="read_file"),))
    visible = sight(
        policy, Subject(READ, Call(tool="read_file", arguments={}, origin="code"), (".",))
    )
    assert not visible("a")


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ((), True),
        ((Rule("r", "allow", arguments={"url": "*/b"}),), True),
        ((Rule("r", "ask", arguments={"url": "*"}),), True),
        ((Rule("r", "ask", arguments={"url": "*/b"}),), False),
        ((Rule("r", "deny", arguments={"url": "*/b"}),), False),
        ((Rule("r", "deny", arguments={"url": "*/b", "force": "true"}),), False),
        ((Rule("r", "deny", arguments={"url": "*/b", "force": "false"}),), True),
    ],
)
def test_other_arguments_go_likewise_where_no_rule_says_more_of_them(
    rules: tuple[Rule, ...], *, expected: bool
) -> None:
    call = Call(tool="get", arguments={"url": "http://x/a", "force": True}, origin="code")
    subject = Subject(ToolSpec(name="get", effect="external"), call)
    assert likewise(Policy("auto", rules), subject)({"url": "http://x/b"}) is expected


@pytest.mark.parametrize(
    "value",
    [
        "file:///srv/payroll/a",
        "FILE:///srv/Payroll/a",
        "file:///srv/x/../payroll/a",
        "file:///srv/./payroll/a",
        "file:///srv//payroll/a",
        "file:///srv/%70ayroll/a",
        "file:///srv/payroll%2Fa",
        "file://localhost/srv/payroll/a",
        "file:/srv/payroll/a",
        "file:\\\\\\srv\\payroll\\a",
        " file:///srv/pay\nroll/a",
        "file:///srv/payroll/a#b",
        "file:///srv/payroll",
        "file:///srv/payroll/",
        "file:///srv/%23/../payroll/a",
        "file:srv/payroll/a",
        "file:////srv/payroll/a",
    ],
)
def test_an_address_restricts_in_every_spelling(value: str) -> None:
    policy = Policy("open", (Rule("r", "deny", arguments={"a": "file:///srv/payroll/*"}),))
    assert said(policy, ISSUE, given={"a": value}).kind == "deny"
    assert said(policy, ISSUE, given={"a": [value]}).kind == "deny"


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        ("/srv/payroll/*", "/srv/x/../payroll/a"),
        ("/srv/payroll/*", "/../srv//payroll/./a"),
        ("secrets/*", "./a/../secrets/b"),
        ("../x/*", "a/../../x/b"),
        ("secrets/*", "secrets"),
        ("git:a/b", "git:a/x/../b"),
        ("git://h/a/*", "GIT://h/x/../a/b"),
        ("secrets/**", "./secrets/"),
        ("https://h.example/a/*", "HTTPS://H.example:443/b/../a/c"),
        ("https://h.example/a/*", "https://h.example/x/../a/s?q=/../../b"),
        ("https://h.example/a/*", "https://h.example:/a/x"),
        ("https://h.example/a/*", "https:/h.example/a/x"),
        ("https://h.example/a/*", "https:\\\\h.example\\a\\x"),
        ("https://h.example/a/*", "https://user:word@h.example/a/x"),
        ("https://h.example/a/*", "https://h.example./a/x"),
        ("https://h.example/a/*", "https://h.example:443/a/x%2F..%2F..%2Fb"),
        ("https://h.example/a?id=*", "https://h.example/./a?id=7"),
    ],
)
def test_a_path_among_arguments_restricts_in_its_plainest_spelling(
    pattern: str, value: str
) -> None:
    policy = Policy("open", (Rule("r", "deny", arguments={"a": pattern}),))
    assert said(policy, ISSUE, given={"a": value}).kind == "deny"


@pytest.mark.parametrize(
    "value",
    [
        "file:///srv/payrolls/a",
        "file://srv/payroll/a",
        "/srv/payroll",
        "the payroll: a/b",
        "a/b",
        "",
    ],
)
def test_other_addresses_are_no_such_address(value: str) -> None:
    policy = Policy("open", (Rule("r", "deny", arguments={"a": "file:///srv/payroll/*"}),))
    assert said(policy, ISSUE, given={"a": value}).kind == "allow"


def test_an_address_is_allowed_in_the_spelling_of_the_rule_alone() -> None:
    policy = Policy("ask", (Rule("r", "allow", arguments={"a": "file:///srv/open/*"}),))
    assert said(policy, ISSUE, given={"a": "file:///srv/open/a"}).kind == "allow"
    assert said(policy, ISSUE, given={"a": "file:/srv/open/a"}).kind == "ask"
    assert said(policy, ISSUE, given={"a": "file:///srv/open/../payroll/a"}).kind == "ask"
    assert said(policy, ISSUE, given={"a": "file:///srv/open/%2e%2e/payroll/a"}).kind == "ask"
    assert said(policy, ISSUE, given={"a": "file:///srv/open/x/../a"}).kind == "allow"


def test_a_pattern_of_folders_matches_no_other_text() -> None:
    policy = Policy("open", (Rule("r", "deny", arguments={"a": "*/"}),))
    assert said(policy, ISSUE, given={"a": "a/b"}).kind == "allow"
