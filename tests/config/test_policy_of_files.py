"""Whose policy holds: a project's file can tighten the person's, never loosen it."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from lineshaft.config import policy, read_settings
from lineshaft.errors import ConfigError
from lineshaft.policy import Subject, judge
from lineshaft.values import Call, Effect, ToolSpec


@dataclass
class Home:
    """A project's file, a person's file, and the verdict they lead to."""

    project: Path
    user_file: Path
    environ: dict[str, str]

    def verdict(self, effect: Effect, *paths: str, mode: str | None = None) -> str:
        flags = {} if mode is None else {"policy.mode": mode}
        settings = read_settings(self.project, flags=flags, environ=self.environ)
        call = Call(tool="probe", arguments={}, origin="shell")
        subject = Subject(ToolSpec(name="probe", effect=effect), call, paths)
        return judge(policy(settings, environ=self.environ), subject).kind

    def files(self, *, project: str = "", user: str = "") -> None:
        (self.project / "lineshaft.toml").write_text(project)
        self.user_file.write_text(user)


@pytest.fixture
def home(project: Path, user_file: Path, environ: dict[str, str]) -> Home:
    return Home(project, user_file, environ)


DENY = '[[policy.rules]]\nid = "no"\npath = "docs/**"\nverdict = "deny"'
ALLOW = '[[policy.rules]]\nid = "yes"\neffect = "external"\nverdict = "allow"'


def test_a_project_cannot_open_what_the_person_keeps_closed(home: Home) -> None:
    home.files(project='[policy]\nmode = "open"', user='[policy]\nmode = "read"')
    assert home.verdict("write") == "deny"
    home.files(project=f'[policy]\nmode = "open"\n{ALLOW}')
    assert home.verdict("external") == "ask"


def test_a_project_can_close_what_the_person_keeps_open(home: Home) -> None:
    home.files(project='[policy]\nmode = "read"', user='[policy]\nmode = "open"')
    assert home.verdict("write") == "deny"
    home.files(project=DENY, user='[policy]\nmode = "open"')
    assert home.verdict("write", "docs/a.md") == "deny"
    assert home.verdict("write", "src/a.py") == "allow"


def test_a_project_without_a_policy_changes_nothing(home: Home) -> None:
    home.files(project="[limits]\ncalls = 5", user='[policy]\nmode = "open"')
    assert home.verdict("exec") == "allow"


def test_a_project_cannot_rename_what_the_person_keeps_closed(home: Home) -> None:
    user = DENY.replace("docs", "secrets")
    home.files(project='[workspace]\nroot = "secrets"', user=user)
    assert home.verdict("read", "k") == "deny"
    assert home.verdict("read", ".") == "deny"
    home.files(project='[workspace]\nroot = "sub"\naliases.up = "."', user=user)
    assert home.verdict("read", "@up/secrets/k") == "deny"
    assert home.verdict("write", "@up/.git/config") == "deny"
    assert home.verdict("write", "@up/lineshaft.toml") == "ask"
    assert home.verdict("read", "@up/sub/k", "k") == "allow"


def test_a_mode_given_by_hand_replaces_the_mode_and_keeps_the_rules(home: Home) -> None:
    home.files(project=f'[policy]\nmode = "read"\n{DENY}')
    assert home.verdict("exec", mode="open") == "allow"
    assert home.verdict("write", "docs/a.md", mode="open") == "deny"
    home.environ["LINESHAFT_POLICY_MODE"] = "plan"
    assert home.verdict("write") == "deny"


def test_a_bad_rule_is_refused_with_its_file(home: Home) -> None:
    home.files(project='[[policy.rules]]\nid = "x"\nverdict = "maybe"')
    with pytest.raises(ConfigError, match=r"lineshaft\.toml.*maybe"):
        home.verdict("read")


def test_records_and_approvals_inside_the_workspace_are_closed_to_tools(home: Home) -> None:
    home.environ["XDG_STATE_HOME"] = str(home.project / ".state")
    home.files(user='[policy]\nmode = "open"')
    assert home.verdict("read", ".state/lineshaft/runs/x.jsonl") == "deny"
    assert home.verdict("write", ".state/lineshaft/trusted.json") == "deny"
    assert home.verdict("write", "notes.txt") == "allow"


def test_a_verdict_names_the_file_and_line_of_its_rule(home: Home) -> None:
    user = '# mine\n[[policy.rules]]\nid = "ask"\nverdict = "ask"\neffect = "external"'
    home.files(project=f"\n{DENY}", user=user)

    def source(effect: Effect, *paths: str) -> str:
        settings = read_settings(home.project, environ=home.environ)
        call = Call(tool="probe", arguments={}, origin="shell")
        subject = Subject(ToolSpec(name="probe", effect=effect), call, paths)
        return judge(policy(settings, environ=home.environ), subject).source

    assert source("write", "docs/a.md") == f"{home.project / 'lineshaft.toml'}:2"
    assert source("external") == f"{home.user_file}:2"
    assert source("read") == ""


def test_a_rule_in_pyproject_has_its_line_there(home: Home) -> None:
    path = home.project / "pyproject.toml"
    path.write_text(f'[project]\nname = "x"\n\n{DENY.replace("policy", "tool.lineshaft.policy")}')
    settings = read_settings(home.project, environ=home.environ)
    call = Call(tool="probe", arguments={}, origin="shell")
    subject = Subject(ToolSpec(name="probe", effect="write"), call, ("docs/a.md",))
    assert judge(policy(settings, environ=home.environ), subject).source == f"{path}:4"


def test_a_pyproject_that_has_the_settings_is_changed_after_a_question(home: Home) -> None:
    (home.project / "sub").mkdir()
    (home.project / "pyproject.toml").write_text("[tool.lineshaft.limits]\ncalls = 9")
    (home.project / "lineshaft.toml").unlink(missing_ok=True)
    home.user_file.write_text('[[policy.rules]]\nid = "a"\npath = "*.toml"\nverdict = "allow"')
    assert home.verdict("write", "pyproject.toml") == "ask"
    assert home.verdict("read", "pyproject.toml") == "allow"
    assert home.verdict("write", "sub/pyproject.toml") == "allow"
    assert home.verdict("write", "pyproject.toml", mode="open") == "allow"
    (home.project / "pyproject.toml").write_text("[project]\nname = 'x'")
    assert home.verdict("write", "pyproject.toml") == "allow"
