"""Variables that commands get by name, because a person's own file says so."""

from pathlib import Path
from typing import Any, cast

import pytest

from lineshaft.config import build, load, read_settings, unmasked
from lineshaft.errors import ConfigError
from lineshaft.session import Session
from lineshaft.values import Event


async def _said(project: Path, environ: dict[str, str], events: list[Event]) -> str:
    settings = read_settings(project, environ=environ, flags={"policy.mode": "open"})
    async with build(settings, sinks=[events.append]) as session:
        done = await session.call("run_command", {"command": "env"})
    assert done.error is None
    return str(cast("dict[str, Any]", done.value)["stdout"])


async def test_a_command_gets_the_variables_that_are_named(
    project: Path, user_file: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"CI": "yes", "CI_MORE": "no", "DEPLOY_TOKEN": "t0k3n-of-mine"}.items():
        monkeypatch.setenv(name, value)
    events: list[Event] = []
    assert "CI=" not in await _said(project, environ, events)
    user_file.parent.mkdir(parents=True, exist_ok=True)
    user_file.write_text('[workspace]\npass_environment = ["CI", "DEPLOY_TOKEN", "NOT_THERE"]\n')
    said = await _said(project, environ, events)
    assert "CI=yes\n" in said
    assert "CI_MORE" not in said
    assert "NOT_THERE" not in said
    assert "DEPLOY_TOKEN" in said
    assert "t0k3n-of-mine" not in str(events)


@pytest.mark.parametrize(
    "names",
    [
        '["CI_*"]',
        '["LD_PRELOAD"]',
        '["PYTHONPATH"]',
        '["pythonpath"]',
        '["LINESHAFT_STATE_KEY"]',
        '["DYLD_INSERT_LIBRARIES"]',
        '["A=B"]',
        '"CI"',
        "[1]",
    ],
)
def test_patterns_and_what_changes_programs_are_refused(
    names: str, project: Path, user_file: Path, environ: dict[str, str]
) -> None:
    user_file.parent.mkdir(parents=True, exist_ok=True)
    user_file.write_text(f"[workspace]\npass_environment = {names}\n")
    with pytest.raises(ConfigError) as caught:
        read_settings(project, environ=environ)
    assert "workspace.pass_environment" in caught.value.message
    assert "no patterns" in str(caught.value)


def test_a_project_and_a_variable_cannot_set_it(project: Path, environ: dict[str, str]) -> None:
    (project / "lineshaft.toml").write_text('[workspace]\npass_environment = ["CI"]\n')
    with pytest.raises(ConfigError) as caught:
        build(read_settings(project, environ=environ))
    assert "not for a project's file" in caught.value.message
    assert caught.value.hint == "put it into your own file"
    given = {**environ, "LINESHAFT_WORKSPACE_PASS_ENVIRONMENT": "CI"}
    with pytest.raises(ConfigError):
        read_settings(project, environ=given)


async def test_a_secret_too_short_to_be_masked_is_told_of(
    project: Path, user_file: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"CI": "y", "API_TOKEN": "abc", "OTHER_TOKEN": "abcd"}.items():
        monkeypatch.setenv(name, value)
    user_file.parent.mkdir(parents=True, exist_ok=True)
    user_file.write_text('[workspace]\npass_environment = ["CI", "API_TOKEN", "OTHER_TOKEN"]\n')
    assert unmasked(read_settings(project, environ=environ)) == ("API_TOKEN",)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    with pytest.warns(UserWarning, match="the value of API_TOKEN is too short to be masked"):
        load(project)
    with pytest.warns(UserWarning, match="2 secrets under 4 characters cannot be masked"):
        Session([], workspace=project, secrets=["abc", "", "x", "long enough"])
