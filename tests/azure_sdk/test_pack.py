"""The pack is installed as a wheel, and its agents are commands."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from forked.programs import Command, Programs
from native import vouch_for_native_code

PACKAGE = Path(__file__).parents[2] / "packages" / "lineshaft-azure-sdk"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the pack, installed from its wheel."""
    built, site = (tmp_path_factory.mktemp(name) for name in ("built", "site"))
    python = (sys.executable, "-m")
    told = ("--no-deps", "--no-index", "--no-compile", "--quiet", "--disable-pip-version-check")
    build = (*python, "hatchling", "build", "-t", "wheel", "-d", str(built))
    subprocess.run(build, cwd=PACKAGE, capture_output=True, check=True)
    [wheel] = built.glob("*.whl")
    subprocess.run(
        (*python, "pip", "install", *told, "--target", str(site), str(wheel)), check=True
    )
    return site


@pytest.fixture
def line(tmp_path: Path, site: Path, programs: Programs) -> Command:
    """Return a function that carries out a command line."""
    home = {f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("CONFIG", "STATE")}
    vouch_for_native_code(tmp_path / "STATE")

    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        env = {**os.environ, **home, "PYTHONPATH": str(site)}
        return programs.lineshaft(*words, cwd=tmp_path, env=env)

    return run


def test_its_agents_are_commands_with_a_whole_line_each(line: Command) -> None:
    listed = json.loads(line("agent", "list", "azure-sdk", "--json").stdout)["agents"]
    readme = (PACKAGE / "README.md").read_text()
    assert len(listed) >= 3
    for agent in listed:
        assert f"lineshaft agent run {agent['name']} " in readme
        shown = line("agent", "show", agent["name"], "--json")
        told = json.loads(shown.stdout)
        assert told["command"].startswith(f"lineshaft agent run {agent['name']} "), shown.stderr
        assert all(name in told["command"] for name in told["inputs"].get("required", []))


def test_its_tools_are_there_where_settings_name_it(line: Command, tmp_path: Path) -> None:
    own = tmp_path / "CONFIG" / "lineshaft" / "lineshaft.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[tools]\npacks = ["azure-sdk"]\n')
    (tmp_path / "a.txt").write_text("one two")
    words = ("path=a.txt", "old=two", "new=2", "--json")
    done = line("call", "azure_sdk.patch_file", *words)
    assert json.loads(done.stdout)["value"]["success"], done.stderr
    assert (tmp_path / "a.txt").read_text() == "one 2"


def test_a_program_of_the_repository_runs_once_a_person_approved_just_it(
    line: Command, tmp_path: Path
) -> None:
    own = tmp_path / "CONFIG" / "lineshaft" / "lineshaft.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[tools]\npacks = ["azure-sdk"]\n')
    (tmp_path / "eng").mkdir()
    (tmp_path / "sdk").mkdir()
    script = tmp_path / "eng" / "build.py"
    script.write_text("import sys; print('built', *sys.argv[1:]); sys.exit(3)\n")
    config = tmp_path / "eng" / "swagger_to_sdk_config.json"
    build = {"command": f"{sys.executable} eng/build.py {{PackagePath}} '$HOME; ls'"}
    config.write_text(json.dumps({"packageOptions": {"buildScript": build}}))

    def run(*more: str, mode: str = "open") -> Any:
        words = ("azure_sdk.run_sdk_script", "package=sdk", "--mode", mode, "--json", *more)
        return json.loads(line("call", *words).stdout)

    refused = run("script=Build")
    assert refused["error"]["code"] == "E_DENIED"
    assert "lineshaft config trust --pack azure-sdk" in refused["error"]["hint"]
    asked = line("config", "trust", "--pack", "azure-sdk", "--yes")
    assert "names the program Build." in asked.stderr
    assert str(script) in asked.stderr
    assert "files in this approval: 1" in asked.stderr
    assert build["command"] in " ".join(asked.stderr.split())
    done = run("script=Build")
    assert done["value"] == {"exit_code": 3, "output": "built sdk $HOME; ls"}
    assert run("script=Build", mode="auto")["pending"], "approved, and asked about all the same"
    assert "configures no" in run("script=UpdateMetadata")["error"]["message"]
    script.write_text("print('something else')\n")
    assert run("script=Build")["error"]["code"] == "E_DENIED"
    line("config", "trust", "--pack", "azure-sdk", "--yes")
    assert run("script=Build")["value"]["output"] == "something else"
    config.write_text(config.read_text().replace("ls'", "rm'"))
    assert run("script=Build")["error"]["code"] == "E_DENIED"
    build["command"] = "sh -c 'make all'"
    config.write_text(json.dumps({"packageOptions": {"buildScript": build}}))
    asked = line("config", "trust", "--pack", "azure-sdk", "--yes")
    assert "files in this approval: none" in asked.stderr
    assert "not in this approval: files of: make all" in asked.stderr
    config.write_text("{")
    assert run("script=Build")["error"]["code"] == "E_PRECONDITION_FAILED"
    assert "malformed" in line("config", "trust", "--pack", "azure-sdk", "--yes").stderr
    assert "no pack 'none'" in line("config", "trust", "--pack", "none", "--yes").stderr


def test_a_program_that_cannot_be_approved_hinders_no_other(line: Command, tmp_path: Path) -> None:
    (tmp_path / "eng").mkdir()
    (tmp_path / "sdk").mkdir()
    (tmp_path / "eng" / "build.py").write_text("print('built')\n")
    options = {
        "buildScript": {"command": f"{sys.executable} eng/build.py"},
        "updateVersionScript": {"path": "../outside.ps1"},
        "updateMetadataScript": {"command": 3},
    }
    config = tmp_path / "eng" / "swagger_to_sdk_config.json"
    config.write_text(json.dumps({"packageOptions": options}))
    asked = line("config", "trust", "--pack", "azure-sdk", "--yes")
    assert asked.returncode == 2
    assert "approved Build as it is now" in asked.stderr
    refused = [each for each in asked.stderr.splitlines() if each.startswith("not approved: ")]
    assert [each.split(": ")[1] for each in refused] == ["UpdateVersion", "UpdateMetadata"]
    run = ("azure_sdk.run_sdk_script", "package=sdk", "--mode", "open", "--json")
    own = tmp_path / "CONFIG" / "lineshaft" / "lineshaft.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[tools]\npacks = ["azure-sdk"]\n')
    assert json.loads(line("call", *run, "script=Build").stdout)["value"]["output"] == "built"
    del options["updateVersionScript"], options["updateMetadataScript"]
    config.write_text(json.dumps({"packageOptions": options}))
    assert line("config", "trust", "--pack", "azure-sdk", "--yes").returncode == 0


def test_a_value_that_would_be_an_option_is_refused_and_pwsh_is_found_on_the_path(
    line: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "CONFIG" / "lineshaft" / "lineshaft.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[tools]\npacks = ["azure-sdk"]\n')
    (tmp_path / "eng").mkdir()
    (tmp_path / "sdk").mkdir()
    (tmp_path / "eng" / "version.ps1").write_text("")
    config = tmp_path / "eng" / "swagger_to_sdk_config.json"
    version = {"path": "eng/version.ps1"}
    config.write_text(json.dumps({"packageOptions": {"updateVersionScript": version}}))
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "pwsh").write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    (programs / "pwsh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    line("config", "trust", "--pack", "azure-sdk", "--yes")
    words = ("azure_sdk.run_sdk_script", "script=UpdateVersion", "package=sdk", "--mode", "open")
    given = ("release_type=beta", "release_date=2026-01-31", "--json")
    done = json.loads(line("call", *words, "version=1.0.0", *given).stdout)
    assert done["value"]["exit_code"] == 0, done
    said = done["value"]["output"].split("\n")
    assert said[said.index("-File") + 1 :] == [
        "eng/version.ps1",
        "-SdkRepoPath:.",
        "-PackagePath:sdk",
        "-ReleaseType:beta",
        "-Version:1.0.0",
        "-ReleaseDate:2026-01-31",
    ]
    option = json.loads(line("call", *words, "version=-x", *given).stdout)
    assert option["error"]["code"] == "E_INVALID_ARGS"
    missing = json.loads(line("call", *words, *given).stdout)
    assert "needs a value for Version" in missing["error"]["message"]
