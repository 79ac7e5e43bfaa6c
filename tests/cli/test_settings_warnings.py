"""Warnings about settings: rules that fit no tool, secrets that cannot be masked."""

from pathlib import Path

import pytest

from cli.conftest import Lineshaft

RULE = '[[policy.rules]]\nid = "{id}"\ntool = "{tool}"\nverdict = "deny"\n'
SERVER = '[mcp.servers.github]\ncommand = "no-such-program"\n'


def rules(**tools: str) -> str:
    return "".join(RULE.format(id=name, tool=tool) for name, tool in tools.items())


def test_a_misspelt_rule_is_told_of_once_by_a_run(here: Lineshaft, workspace: Path) -> None:
    (workspace / "lineshaft.toml").write_text(rules(push="run_comand", fine="run_command"))
    done = here("run", script="return 1")
    assert done.returncode == 0
    assert done.stderr.count("names the tool 'run_comand', and nothing here fits it") == 1
    assert "did you mean 'run_command'?" in done.stderr
    assert "lineshaft.toml:1)" in done.stderr
    assert "'fine'" not in done.stderr


def test_rules_about_tools_that_may_come_are_not_told_of(here: Lineshaft, workspace: Path) -> None:
    known = rules(a="github.*", b="fetch_url", c="agents.any", d="run_script", e="github.delete_*")
    known += rules(f="window.find_*", g="get_errors", h="ask_model")
    (workspace / "lineshaft.toml").write_text(known + SERVER)
    done = here("tools")
    assert (done.returncode, "nothing here fits" in done.stderr) == (0, False), done.stderr


def test_many_rules_are_cut_and_the_doctor_lists_all(here: Lineshaft, workspace: Path) -> None:
    (workspace / "lineshaft.toml").write_text(rules(a="one", b="two", c="three", d="four"))
    done = here("tools")
    assert done.stderr.count("nothing here fits it") == 3
    assert "and 1 more: `lineshaft doctor` lists them" in done.stderr
    told = here("doctor", "--quick").stdout
    assert told.count("nothing here fits it") == 4


def test_a_persons_own_rule_may_be_about_another_project(
    here: Lineshaft, environ: dict[str, str]
) -> None:
    own = Path(environ["XDG_CONFIG_HOME"]) / "lineshaft" / "lineshaft.toml"
    own.parent.mkdir(parents=True)
    own.write_text(rules(other="jira.close", typo="run_comand"))
    done = here("tools")
    assert "'typo'" in done.stderr
    assert "'other'" not in done.stderr
    assert "'other'" in here("doctor", "--quick").stdout


def test_a_secret_too_short_to_be_masked_is_told_of(
    here: Lineshaft, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Path(environ["XDG_CONFIG_HOME"]) / "lineshaft" / "lineshaft.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[workspace]\npass_environment = ["API_TOKEN"]\n')
    monkeypatch.setenv("API_TOKEN", "abc")
    done = here("run", script="return 1")
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
    assert done.stderr.count("the value of API_TOKEN is too short to be masked") == 1


def test_a_path_by_the_alias_of_a_folder_of_the_workspace_is_told_of(
    here: Lineshaft, workspace: Path
) -> None:
    (workspace / "third" / "vendor").mkdir(parents=True)
    (workspace / "lineshaft.toml").write_text(
        '[workspace.aliases]\npkg = "third/vendor"\n'
        '[[policy.rules]]\nid = "keys"\npath = ["@pkg/keys/**", "@other/**"]\nverdict = "deny"\n'
    )
    done = here("run", script="return 1")
    assert done.returncode == 0
    assert "names the path '@pkg/keys/**', and no call has such a one" in done.stderr
    assert "write 'third/vendor/keys/**'" in done.stderr
    assert "@other" not in done.stderr
