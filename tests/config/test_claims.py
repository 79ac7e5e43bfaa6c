"""What counts of what servers say of their tools."""

import json
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from lineshaft.config import (
    ClaimsAnswer,
    ServerSetting,
    claims_for,
    keep_claims,
    kept_claims,
    read_settings,
    servers,
)
from lineshaft.values import Effect


@dataclass(frozen=True)
class Said:
    """What a server says of one tool."""

    tool: str
    effect: Effect = "read"
    sha256: str = "one"


CLAIMS = (Said("a.get"), Said("a.set", "external"))
CHANGED = (Said("a.get", sha256="two"), Said("a.set", "external"))
"""One of the tools is another than before."""


@pytest.fixture
def server(project: Path, environ: dict[str, str]) -> ServerSetting:
    return described(project, environ)


def described(project: Path, environ: dict[str, str], more: str = "") -> ServerSetting:
    (project / "lineshaft.toml").write_text(f'[mcp.servers.a]\ncommand = "x"\n{more}')
    (server,) = servers(read_settings(project, environ=environ), environ=environ).servers
    return server


@pytest.mark.parametrize(
    ("answer", "counts"),
    [("accept", True), ("external", False), ({"a.get": "read"}, {"a.get": "read"})],
)
def test_an_answer_holds_until_the_catalogue_changes(
    server: ServerSetting, environ: dict[str, str], answer: ClaimsAnswer, counts: object
) -> None:
    keep_claims(server, answer, claims=CLAIMS, environ=environ)
    heard: list[ServerSetting] = []
    claims = claims_for(server, unanswered=heard.append, environ=environ)
    assert [claims(CLAIMS, "one"), claims(CLAIMS, "one")] == [counts, counts]
    assert heard == []
    claims(CHANGED, "two")
    assert heard == [server]


def test_nothing_counts_where_nobody_answered_and_somebody_hears_of_it(
    server: ServerSetting, environ: dict[str, str]
) -> None:
    heard: list[str] = []

    def hear(silent: ServerSetting) -> None:
        heard.append(silent.name)

    claims = claims_for(server, unanswered=hear, environ=environ)
    assert claims(CLAIMS, "one") is None
    assert heard == ["a"]
    assert kept_claims(server, environ=environ) is None


def test_who_claims_nothing_is_not_asked_about(
    server: ServerSetting, environ: dict[str, str]
) -> None:
    heard: list[ServerSetting] = []
    claims = claims_for(server, unanswered=heard.append, environ=environ)
    assert claims(CLAIMS[1:], "one") is False
    assert heard == []


def test_accepted_beforehand_is_for_the_tools_that_are_met_first(
    server: ServerSetting, environ: dict[str, str]
) -> None:
    keep_claims(server, "accept", environ=environ)
    claims = claims_for(server, environ=environ)
    assert claims(CLAIMS, "one") is True
    assert claims(CHANGED, "two") == {"a.set": "external"}


def test_a_tool_that_changes_is_asked_about_alone(
    server: ServerSetting, environ: dict[str, str]
) -> None:
    before = (*CLAIMS, Said("a.list"))
    keep_claims(server, "accept", claims=before, environ=environ)
    after = (*CHANGED, Said("a.list"))
    heard: list[ServerSetting] = []
    silent = claims_for(server, unanswered=heard.append, environ=environ)
    assert silent(after, "two") == {"a.set": "external", "a.list": "read"}
    assert heard == [server]
    keep_claims(server, "accept", claims=CHANGED[:1], environ=environ)
    assert silent(after, "two") is True
    assert heard == [server]


def test_each_client_may_be_told_of_another_form(
    server: ServerSetting, environ: dict[str, str]
) -> None:
    keep_claims(server, "accept", claims=CLAIMS, environ=environ)
    keep_claims(server, "accept", claims=CHANGED, environ=environ)
    claims = claims_for(server, environ=environ)
    assert [claims(each, "any") for each in (CLAIMS, CHANGED, CLAIMS)] == [True, True, True]
    kept = kept_claims(server, environ=environ)
    assert kept is not None
    assert kept.answer == "accept"


def test_answers_for_large_servers_leave_those_for_others(
    project: Path, environ: dict[str, str]
) -> None:
    small = described(project, environ)
    keep_claims(small, "accept", claims=CLAIMS, environ=environ)
    large = described(project, environ, 'args = ["--large"]')
    forms = [
        [Said(f"a.{'x' * 90}{number}", sha256=f"{form:064}") for number in range(1_000)]
        for form in range(12)
    ]
    for claims in forms:
        keep_claims(large, "accept", claims=claims, environ=environ)
    assert claims_for(large, environ=environ)(forms[0], "any") is True
    assert claims_for(small, environ=environ)(CLAIMS, "any") is True


def test_an_answer_of_an_earlier_version_holds_for_its_catalogue(
    server: ServerSetting, environ: dict[str, str], tmp_path: Path
) -> None:
    keep_claims(server, "accept", claims=CLAIMS, environ=environ)
    file = tmp_path / "state" / "lineshaft" / "claims.json"
    kept = json.loads(file.read_text())
    [key] = kept["answers"]
    old = {"version": 1, "answers": {key: {"answer": "accept", "catalogue": "one"}}}
    file.write_text(json.dumps(old))
    claims = claims_for(server, environ=environ)
    assert claims(CLAIMS, "another") is None
    assert claims(CLAIMS, "one") is True
    assert claims(CHANGED, "another") == {"a.set": "external"}


def test_a_flag_accepts_and_is_remembered(server: ServerSetting, environ: dict[str, str]) -> None:
    assert claims_for(server, accept=True, environ=environ)(CLAIMS, "one") is True
    assert claims_for(server, environ=environ)(CLAIMS, "one") is True


def test_a_flag_accepts_what_is_met_first_and_no_change_of_it(
    server: ServerSetting, environ: dict[str, str]
) -> None:
    silent: list[ServerSetting] = []
    claims = claims_for(server, accept=True, unanswered=silent.append, environ=environ)
    one_is_new = {"a.set": "external"}
    assert [claims(each, "") for each in (CLAIMS, CHANGED, CLAIMS)] == [True, one_is_new, True]
    later = claims_for(server, accept=True, environ=environ)
    assert [later(each, "") for each in (CLAIMS, CHANGED)] == [True, one_is_new]
    assert silent == [server]


def test_a_flag_does_not_accept_what_is_claimed_only_later(
    server: ServerSetting, environ: dict[str, str]
) -> None:
    claims = claims_for(server, accept=True, environ=environ)
    assert claims(CLAIMS[1:], "one") is False
    assert claims(CHANGED, "two") == {"a.set": "external"}


def test_a_flag_does_not_overrule_an_answer(server: ServerSetting, environ: dict[str, str]) -> None:
    keep_claims(server, "external", claims=CLAIMS, environ=environ)
    assert claims_for(server, accept=True, environ=environ)(CLAIMS, "one") is False


def test_another_definition_of_the_name_is_another_server(
    server: ServerSetting, project: Path, environ: dict[str, str]
) -> None:
    keep_claims(server, "accept", claims=CLAIMS, environ=environ)
    other = described(project, environ, more='args = ["-v"]')
    assert claims_for(other, environ=environ)(CLAIMS, "one") is None


def test_what_the_definition_says_is_not_asked(project: Path, environ: dict[str, str]) -> None:
    server = described(project, environ, more='claims = "external"')
    keep_claims(server, "accept", claims=CLAIMS, environ=environ)
    assert claims_for(server, environ=environ)(CLAIMS, "one") is False


@pytest.mark.parametrize("text", ["{", "[]", '{"answers": 3}', '{"answers": {"a": 1}}'])
def test_answers_that_cannot_be_read_do_not_count(
    server: ServerSetting, environ: dict[str, str], tmp_path: Path, text: str
) -> None:
    keep_claims(server, "accept", claims=CLAIMS, environ=environ)
    file = tmp_path / "state" / "lineshaft" / "claims.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text(text)
    assert claims_for(server, environ=environ)(CLAIMS, "one") is None


def test_effects_that_do_not_exist_do_not_count(
    server: ServerSetting, environ: dict[str, str], tmp_path: Path
) -> None:
    keep_claims(server, {"a.get": "read"}, claims=CLAIMS, environ=environ)
    file = tmp_path / "state" / "lineshaft" / "claims.json"
    kept = json.loads(file.read_text())
    answers: Mapping[str, dict[str, object]] = kept["answers"]
    for each in answers.values():
        each["tools"] = {"a.get": {"one": "harmless"}, "a.set": {"one": "write"}}
    file.write_text(json.dumps(kept))
    assert claims_for(server, environ=environ)(CLAIMS, "one") == {"a.set": "write"}
