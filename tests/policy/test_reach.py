"""What a program in a jail may do with files, out of what policy says of calls."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.policy import MODES, Mode, Policy, Rule, Subject, judge, reach
from lineshaft.values import Call, Reach, ToolSpec, VerdictKind

PROGRAM = ToolSpec(name="python_run", effect="exec", jailed=True)


def look(policy: Policy, path: str, *, spec: ToolSpec = PROGRAM, named: str = "") -> Reach:
    call = Call(tool=spec.name, arguments={"code": "..."}, origin="script")
    return reach(policy, Subject(spec, call, (named,) if named else ()))(path)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.py", "open"),
        ("src", "open"),
        (".git", "hidden"),
        ("sub/.git/hooks", "hidden"),
        (".env", "hidden"),
        ("deep/in/key.PEM", "hidden"),
        (".env.example", "open"),
        ("lineshaft.toml", "readonly"),
        (".vscode", "readonly"),
    ],
)
@pytest.mark.parametrize("rules", [(), (Rule("other", "allow", path="elsewhere"),)])
def test_the_built_in_rules_close_paths(path: str, expected: Reach, rules: tuple[Rule]) -> None:
    assert look(Policy("auto", rules), path) == expected


def test_the_built_in_rules_close_paths_of_mounts_that_a_project_placed() -> None:
    assert look(Policy(moved={".": ".git"}), "config") == "hidden"
    assert look(Policy(moved={"@g": ".git"}), "@g/config") == "hidden"
    assert look(Policy(moved={"@g": ".git"}), "config") == "open"


def test_mode_open_opens_tool_configuration_and_no_secrets() -> None:
    assert look(Policy("open"), "lineshaft.toml") == "open"
    assert look(Policy("open"), ".env") == "hidden"


@pytest.mark.parametrize("mode", ["ask", "auto", "open"])
def test_what_the_mode_would_ask_is_settled_by_the_permission(mode: Mode) -> None:
    assert look(Policy(mode), "a.py") == "open"


def test_where_the_mode_only_reads_an_allowed_program_only_reads() -> None:
    policy = Policy("read", (Rule("mine", "allow", tool="python_run"),))
    assert look(policy, "a.py") == "readonly"
    assert look(policy, ".env") == "hidden"


def test_a_rule_of_the_user_that_names_a_secrets_file_opens_it() -> None:
    policy = Policy(rules=(Rule("mine", "allow", path=".env"),))
    assert look(policy, ".env") == "open"
    assert look(policy, "other.env") == "hidden"


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Rule("r", "deny", tool="read_file", path="data/**"), "hidden"),
        (Rule("r", "ask", tool="read_file", path="data/**"), "hidden"),
        (Rule("r", "deny", effect="read", path="data/**"), "hidden"),
        (Rule("r", "deny", tool="read_file", arguments={"path": "data/*"}), "hidden"),
        (Rule("r", "deny", tool="write_file", path="data/**"), "readonly"),
        (Rule("r", "ask", tool="write_file", path="data/**"), "readonly"),
        (Rule("r", "deny", tool="python_run", path="data/**"), "hidden"),
        (Rule("r", "stop", path="data/**"), "hidden"),
        (Rule("r", "deny", tool="list_files", path="data/**"), "open"),
        (Rule("r", "deny", tool="read_file", path="data/**", origin="model"), "open"),
    ],
)
def test_rules_for_files_hold_for_programs(rule: Rule, expected: Reach) -> None:
    policy = Policy(rules=(rule,))
    assert look(policy, "data/a") == expected
    assert look(policy, "elsewhere") == "open"


def test_what_was_asked_for_the_call_is_not_asked_again_but_what_was_not_stays_closed() -> None:
    policy = Policy(rules=(Rule("watched", "ask", tool="python_run"),))
    assert look(policy, "a.py") == "open"
    assert look(policy, "lineshaft.toml") == "readonly"


def test_a_program_allowed_by_its_name_sees_the_rest_of_the_workspace() -> None:
    policy = Policy("ask", (Rule("mine", "allow", tool="python_run", path="scripts/**"),))
    assert look(policy, "data/a", named="scripts/x.py") == "open"


def test_a_project_closes_what_the_user_left_open() -> None:
    project = Policy("open", (Rule("no-data", "deny", path="data/**"),))
    assert look(Policy().tightened_by(project), "data/a") == "hidden"
    assert look(Policy().tightened_by(project), "a") == "open"


PATTERNS = ["a", "b/**", "*.pem", ".env", "lineshaft.toml", "b/c"]
PATHS = [*PATTERNS[::3], "a", "b", "b/c", "x.pem", ".git/config", "README.md"]
STRICT: tuple[VerdictKind, ...] = ("ask", "deny", "stop")


def make_rule(number: int, verdict: VerdictKind, tool: str | None, path: str | None) -> Rule:
    return Rule(f"r{number}", verdict, tool=tool, path=path)


RULES = st.builds(
    make_rule,
    st.integers(0, 10**9),
    st.sampled_from(STRICT),
    st.sampled_from([None, "read_file", "write_file", "python_run", "*"]),
    st.sampled_from([None, *PATTERNS]),
)
ORDER = ("open", "readonly", "hidden")


@given(st.sampled_from(MODES), st.lists(RULES, max_size=3, unique_by=lambda r: r.id), RULES)
def test_a_stricter_rule_on_top_never_opens_a_path(
    mode: Mode, rules: list[Rule], more: Rule
) -> None:
    if any(rule.id == more.id for rule in rules):
        return
    before, after = Policy(mode, tuple(rules)), Policy(mode, (more, *rules))
    call = Call(tool="python_run", arguments={}, origin="script")
    asked = [judge(policy, Subject(PROGRAM, call)) for policy in (before, after)]
    if asked[0] != asked[1]:
        return  # another question was asked, and what it settled differs
    for path in PATHS:
        assert ORDER.index(look(after, path)) >= ORDER.index(look(before, path))
