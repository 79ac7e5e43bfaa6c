"""What holds for all policies: strictness only ever grows from above."""

import re
from typing import get_args

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lineshaft.policy import MODES, STRENGTH, Mode, Policy, Rule, Subject, judge
from lineshaft.values import Call, Effect, Origin, ToolSpec, VerdictKind

KINDS: list[VerdictKind] = ["allow", "ask", "deny", "stop"]
EFFECTS: list[Effect] = list(get_args(Effect))
ORIGINS: list[Origin] = list(get_args(Origin))
TOOLS = ["read_file", "write_file", "github.list", "github.close"]
PATHS = [".", "a", "a/b", "a/b/c", "docs/x.md", ".env", ".env.example", ".git/config", ".mcp.json"]
GLOBS = ["**", "a", "a/**", "a/b", "*.md", ".env", "docs/*", ".mcp.json", ".git/**"]
ARGUMENTS: list[dict[str, str]] = [{}, {"n": "1"}]
COMMANDS = ["git push", "git status", "ls"]

modes = st.sampled_from(MODES)


@st.composite
def rules(draw: st.DrawFn) -> tuple[Rule, ...]:
    names = draw(st.lists(st.sampled_from("abcdef"), unique=True, max_size=5))
    maybe = st.none()
    return tuple(
        Rule(
            name,
            draw(st.sampled_from(KINDS)),
            tool=draw(maybe | st.sampled_from([*TOOLS, "*", "github.*"])),
            effect=draw(maybe | st.sampled_from(EFFECTS)),
            namespace=draw(maybe | st.sampled_from(["", "github"])),
            origin=draw(maybe | st.sampled_from(ORIGINS)),
            path=draw(maybe | st.sampled_from(GLOBS) | st.just((".env", "a/**"))),
            command=draw(maybe | st.sampled_from(["git *", "* push"])),
            arguments=draw(st.sampled_from(ARGUMENTS)),
        )
        for name in names
    )


policies = st.builds(Policy, modes, rules())
subjects = st.builds(
    Subject,
    st.none()
    | st.builds(
        ToolSpec,
        name=st.sampled_from(TOOLS),
        effect=st.sampled_from(EFFECTS),
        destructive=st.booleans(),
        scriptable=st.booleans(),
        container=st.booleans(),
        jailed=st.booleans(),
        entries=st.just(()) | st.just((("path",),)),
    ),
    st.builds(
        Call,
        tool=st.just("x"),
        arguments=st.fixed_dictionaries(
            {}, optional={"command": st.sampled_from(COMMANDS), "n": st.sampled_from([1, "2"])}
        ),
        origin=st.sampled_from(ORIGINS),
    ),
    st.lists(st.sampled_from(PATHS), max_size=3).map(tuple),
)


def strength(policy: Policy, subject: Subject) -> int:
    return STRENGTH[judge(policy, subject).kind]


@given(policies, policies, subjects)
def test_a_project_never_loosens_its_user(user: Policy, project: Policy, subject: Subject) -> None:
    assert strength(user.tightened_by(project), subject) >= strength(user, subject)


@given(policies, policies, policies, subjects)
def test_tightening_by_several_projects_goes_in_any_grouping(
    user: Policy, one: Policy, other: Policy, subject: Subject
) -> None:
    by_one = user.tightened_by(one).tightened_by(other)
    assert judge(by_one, subject) == judge(user.tightened_by(one.tightened_by(other)), subject)
    assert strength(by_one, subject) >= strength(user.tightened_by(one), subject)


@given(policies, subjects)
def test_a_project_that_says_nothing_changes_nothing(user: Policy, subject: Subject) -> None:
    silent = Policy.from_dict({}, mode="open")
    assert judge(user.tightened_by(silent), subject) == judge(user, subject)


@given(policies, rules(), st.sampled_from(["deny", "stop"]), subjects)
def test_a_deny_on_top_never_allows_more(
    policy: Policy, more: tuple[Rule, ...], kind: VerdictKind, subject: Subject
) -> None:
    denies = tuple(
        Rule(
            f"top-{rule.id}",
            kind,
            tool=rule.tool,
            effect=rule.effect,
            path=rule.path,
            command=rule.command,
            arguments=rule.arguments,
        )
        for rule in more
    )
    stricter = Policy(policy.mode, (*denies, *policy.rules))
    before, after = judge(policy, subject), judge(stricter, subject)
    assert (
        after.kind == before.kind
        or after.kind == kind
        or STRENGTH[after.kind] > STRENGTH[before.kind]
    )
    assert STRENGTH[after.kind] >= min(STRENGTH[before.kind], STRENGTH[kind])


@given(modes, rules(), st.permutations(range(4)), subjects)
def test_the_order_of_rules_that_do_not_overlap_does_not_matter(
    mode: Mode, found: tuple[Rule, ...], order: list[int], subject: Subject
) -> None:
    apart = [
        Rule(rule.id, rule.verdict, tool=tool, path=rule.path, effect=rule.effect)
        for rule, tool in zip(found, TOOLS, strict=False)
    ]
    shuffled = [apart[at] for at in order if at < len(apart)]
    assert judge(Policy(mode, tuple(apart)), subject) == judge(
        Policy(mode, tuple(shuffled)), subject
    )


@given(st.lists(modes, min_size=2, max_size=2), rules(), subjects)
def test_a_stricter_mode_is_never_weaker(
    two: list[Mode], found: tuple[Rule, ...], subject: Subject
) -> None:
    strict, wide = sorted(two, key=MODES.index)
    asks_models = subject.spec is not None and subject.spec.effect == "model" and wide == "ask"
    assume(not (asks_models and strict == "read"))  # it lets what the user named answer
    assert strength(Policy(strict, found), subject) >= strength(Policy(wide, found), subject)


@given(policies, subjects)
def test_a_call_is_as_strict_as_the_strictest_of_its_paths(
    policy: Policy, subject: Subject
) -> None:
    alone = [strength(policy, Subject(subject.spec, subject.call, (p,))) for p in subject.paths]
    if alone:
        assert strength(policy, subject) == max(alone)


def test_the_mode_in_force_is_the_strictest() -> None:
    assert Policy("open").tightened_by(Policy("ask")).mode == "ask"
    assert Policy("plan").tightened_by(Policy("open")).mode == "plan"


def test_a_projects_rules_carry_its_mark() -> None:
    project = Policy("auto", (Rule("mine", "deny", tool="read_file"),))
    policy = Policy("open").tightened_by(project)

    def rule(tool: str, effect: Effect) -> str:
        spec = ToolSpec(name=tool, effect=effect)
        return judge(policy, Subject(spec, Call(tool=tool, arguments={}, origin="code"))).rule

    assert rule("read_file", "read") == "project:mine"
    assert rule("ls", "exec") == "project:mode:auto"
    assert rule("other", "read") == "mode:open"


def test_a_project_may_except_from_its_own_strictness_only() -> None:
    project = Policy("read", (Rule("docs", "allow", path="docs/**"),))

    def kind(user: Policy, path: str) -> str:
        spec = ToolSpec(name="write_file", effect="write")
        call = Call(tool="write_file", arguments={}, origin="script")
        return judge(user.tightened_by(project), Subject(spec, call, (path,))).kind

    assert kind(Policy("auto"), "docs/a") == "allow"
    assert kind(Policy("auto"), "src/a") == "deny"
    assert kind(Policy("ask"), "docs/a") == "ask"


def test_a_mode_may_only_narrow_the_users() -> None:
    user, project = Policy("auto", (Rule("a", "deny", path="a"),)), Policy("ask")
    for policy in (user, user.tightened_by(project)):
        narrowed = policy.no_wider_than("read")
        assert (narrowed.own_mode, narrowed.rules) == ("read", user.rules)
        assert narrowed.layers[1:] == policy.layers[1:]
        assert policy.no_wider_than("open") == policy


def test_a_mode_that_narrows_lets_no_model_answer_that_was_asked_about() -> None:
    allowed = Rule("mine", "allow", effect="model", tool="agents.mine")
    narrowed = Policy("ask", (allowed,)).no_wider_than("read")

    def kind(name: str) -> str:
        spec = ToolSpec(name=name, effect="model")
        return judge(narrowed, Subject(spec, Call(tool=name, arguments={}, origin="code"))).kind

    assert (kind("agents.mine"), kind("agents.other")) == ("allow", "ask")


@pytest.mark.parametrize(
    ("moved", "path", "known"),
    [
        ({".": "sub"}, "k", "sub/k"),
        ({".": "sub"}, ".", "sub"),
        ({".": "sub"}, "./@k", "sub/@k"),
        ({".": "@sub"}, "k", "./@sub/k"),
        ({"@up": "."}, "@up/k", "k"),
        ({"@up": "."}, "@up", "."),
        ({"@up": "."}, "@up/@k", "./@k"),
        ({"@up": "sub"}, "@up/k", "sub/k"),
        ({"@up": "sub"}, "@up", "sub"),
    ],
)
def test_what_a_project_placed_is_judged_by_the_persons_rules_under_both_names(
    moved: dict[str, str], path: str, known: str
) -> None:
    exact = re.sub(r"(^\.)(?=$|/)", "[.]", known)

    def said(*rules: Rule, mode: Mode = "open", moved: dict[str, str] = moved) -> VerdictKind:
        policy = Policy(mode, rules, moved=moved).tightened_by(Policy("open"))
        call = Call(tool="read_file", arguments={}, origin="script")
        subject = Subject(ToolSpec(name="read_file", effect="external"), call, (path,))
        return judge(policy, subject).kind

    assert said(Rule("no", "deny", path=f"/{exact}")) == "deny"
    assert said(Rule("no", "deny", path=f"/{exact}"), moved={"@other": "x"}) == "allow"
    own, both = f"/{re.sub(r'^[.]', '[.]', path)}", f"/{exact}"
    assert said(Rule("yes", "allow", path=own), mode="ask") == "ask"
    assert said(Rule("yes", "allow", path=both), mode="ask") == "ask"
    assert said(Rule("yes", "allow", path=(own, both)), mode="ask") == "allow"
    assert said(Rule("a", "allow", path=own), Rule("no", "deny", path=both)) == "deny"
