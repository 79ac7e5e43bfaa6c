"""The rules that no project switches off."""

import pytest

from lineshaft.policy import BUILT_IN, MODES, Mode, Policy, Rule, Subject, judge
from lineshaft.values import Call, Effect, ToolSpec, Verdict

ALLOW_ALL = Rule("all", "allow", path="**")


def said(policy: Policy, path: str, effect: Effect = "read") -> Verdict:
    spec = ToolSpec(name="touch", effect=effect)
    return judge(policy, Subject(spec, Call(tool="touch", arguments={}, origin="script"), (path,)))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("path", [".git", ".git/config", "sub/.git/hooks/x", ".GIT/config"])
def test_nothing_in_git_is_touched_in_any_mode_and_by_any_rule(mode: Mode, path: str) -> None:
    policy = Policy(mode, (Rule("git", "allow", path=(".git", ".git/**", "**/.git/**")),))
    for effect in ("read", "write"):
        verdict = said(policy, path, effect)
        assert (verdict.kind, verdict.rule) == ("deny", "builtin:git")


@pytest.mark.parametrize("path", [".gitignore", ".github/a.yml", "x.git/a", "git/a"])
def test_what_only_looks_like_git_is_free(path: str) -> None:
    assert said(Policy(), path, "write").kind == "allow"


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "app/.env",
        ".ENV",
        ".env.local",
        "prod.env",
        ".envrc",
        "certs/server.pem",
        "server.KEY",
        "id_rsa",
        "backup/id_ed25519_old",
        ".ssh/config",
        ".ßh/config",
        ".\u1e9eH/config",
        ".\u017f\u017fh/config",
        ".con\ufb01g/gcloud/x.db",
        ".netrc",
        ".npmrc",
        ".pypirc",
        ".aws/credentials",
        "home/.cargo/credentials.toml",
        "home/.docker/config.json",
        ".kube/config",
        ".config/gcloud/x.db",
        "credentials.json",
        "secrets.yaml",
        "client_secret_1.json",
        "service-account.json",
        "service_account_prod.json",
        ".git-credentials",
    ],
)
def test_secrets_files_are_closed_in_every_mode(path: str) -> None:
    for mode in MODES:
        verdict = said(Policy(mode, (ALLOW_ALL,)), path)
        assert (verdict.kind, verdict.rule) == ("deny", "builtin:secrets")


@pytest.mark.parametrize(
    "path",
    [
        ".env.example",
        "app/.env.sample",
        "example.env",
        "id_rsa.pub",
        "environment.py",
        "secrets.py",
        "keys/a.txt",
        "monkey",
        "docker/config.json",
        "src/credentials.py",
    ],
)
def test_examples_public_keys_and_source_are_free(path: str) -> None:
    assert said(Policy(), path, "write").kind == "allow"


@pytest.mark.parametrize("pattern", [".env", "**/.env", "app/.env", "*.env", "app/.e*"])
def test_a_users_rule_that_names_a_secrets_file_opens_it(pattern: str) -> None:
    verdict = said(Policy("auto", (Rule("mine", "allow", path=pattern),)), "app/.env")
    assert (verdict.kind, verdict.rule) == ("allow", "mine")


@pytest.mark.parametrize("pattern", ["**", "app/**", "app/*", "app/.[e]??", "other/.env"])
def test_a_users_rule_about_just_anything_opens_no_secrets_file(pattern: str) -> None:
    verdict = said(Policy("open", (Rule("mine", "allow", path=pattern),)), "app/.env")
    assert (verdict.kind, verdict.rule) == ("deny", "builtin:secrets")


def test_a_rule_further_down_opens_no_secrets_file() -> None:
    rules = (Rule("all", "allow", tool="*"), Rule("mine", "allow", path=".env"))
    assert said(Policy("auto", rules), ".env").kind == "deny"


def test_a_projects_rule_opens_no_secrets_file() -> None:
    project = Policy("open", (Rule("mine", "allow", path=".env"),))
    assert said(Policy("open").tightened_by(project), ".env").kind == "deny"


def test_a_project_does_not_close_what_its_user_opened_unless_it_says_so() -> None:
    user = Policy("open", (Rule("mine", "allow", path=".env"),))
    assert said(user.tightened_by(Policy("open")), ".env").kind == "allow"
    closing = Policy("open", (Rule("no", "deny", path=".env"),))
    assert said(user.tightened_by(closing), ".env").rule == "project:no"


CONFIG = [
    "lineshaft.toml",
    "sub/lineshaft.toml",
    ".lineshaft",
    ".lineshaft/servers.toml",
    ".mcp.json",
    ".vscode/settings.json",
    ".cursor/mcp.json",
]


@pytest.mark.parametrize("path", CONFIG)
def test_writing_tool_configuration_asks_whatever_rules_say(path: str) -> None:
    verdict = said(Policy("auto", (ALLOW_ALL,)), path, "write")
    assert (verdict.kind, verdict.rule) == ("ask", "builtin:tool-config")
    assert said(Policy("open", (ALLOW_ALL,)), path, "write").kind == "allow"


def of_words(policy: Policy, path: str, *, words_only: bool = True) -> Verdict:
    spec = ToolSpec(name="words", effect="write", words_only=words_only)
    return judge(policy, Subject(spec, Call(tool="words", arguments={}, origin="script"), (path,)))


def test_the_tool_that_only_adds_words_is_left_out_for_the_lists_of_cspell_alone() -> None:
    for path in (".vscode/cspell.json", ".vscode/cSpell.json", ".vscode/.cspell.json"):
        assert of_words(Policy(), path).rule == "mode:auto"
        assert of_words(Policy(), path).kind == "allow"
        assert of_words(Policy(), path, words_only=False).rule == "builtin:tool-config"
        assert of_words(Policy("read"), path).kind == "deny"
    for path in (
        *CONFIG,
        "sub/.vscode/cspell.json",
        ".vscode/cspell.json/x",
        ".vscode/CSPELL.JSON",
        ".vscode./cspell.json",
        ".vscode",
        ".vscode/tasks.json",
    ):
        assert of_words(Policy(), path).rule == "builtin:tool-config", path
    assert of_words(Policy(), ".git/cspell.json").kind == "deny"
    project = Policy("open", (Rule("no", "ask", path=".vscode/**"),))
    assert of_words(Policy().tightened_by(project), ".vscode/cspell.json").rule == "project:no"


@pytest.mark.parametrize("path", CONFIG)
def test_reading_tool_configuration_is_free(path: str) -> None:
    assert said(Policy("plan"), path).kind == "allow"


def test_a_stricter_mode_or_rule_stays_stricter_than_a_built_in_ask() -> None:
    assert said(Policy("read"), ".mcp.json", "write").rule == "mode:read"
    policy = Policy("auto", (Rule("no", "deny", path=".mcp.json"),))
    assert said(policy, ".mcp.json", "write").rule == "no"
    assert said(Policy("ask"), ".mcp.json", "write").rule == "builtin:tool-config"


def test_a_project_in_a_stricter_mode_brings_the_question_back() -> None:
    policy = Policy("open").tightened_by(Policy("auto"))
    assert said(policy, ".mcp.json", "write").rule == "builtin:tool-config"


def test_a_file_under_two_built_in_rules_obeys_both() -> None:
    assert said(Policy(), ".vscode/.env").rule == "builtin:secrets"
    assert said(Policy(), ".vscode/.env.example", "write").rule == "builtin:tool-config"


def test_every_built_in_rule_gives_a_reason_and_has_a_name_of_its_own() -> None:
    assert all(rule.reason and rule.id.startswith("builtin:") for rule in BUILT_IN)
    assert len({rule.id for rule in BUILT_IN}) == len(BUILT_IN)


@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        ("passwords/**", "paßwords/a PAẞWORDS/b"),
        ("straße/**", "strasse/a STRASSE/b straße/c straẞe/d"),
        ("x[Ö-ß]", "xß xÖ"),
    ],
)
def test_what_forbids_a_name_forbids_it_in_any_case_of_its_letters(
    pattern: str, paths: str
) -> None:
    rule = Rule("no", "deny", path=pattern)
    for path in paths.split():
        assert said(Policy("open", (rule,)), path).rule == "no"
