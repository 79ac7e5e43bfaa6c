"""The configuration of an SDK repository: what is missing, malformed and not configured."""

import json
from pathlib import Path
from typing import Any

import pytest

from lineshaft.errors import ConfigError, FileMissing
from lineshaft.processes.programs import CommandOptions, PowerShellOptions, run_program
from lineshaft_azure_sdk.sdk_configuration import NotConfigured, SdkConfiguration, is_sdk_script

BUILD = {"PackagePath": "sdk/widget"}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "my sdk" / "eng").mkdir(parents=True)
    return tmp_path / "my sdk"


def configured(repository: Path, options: Any) -> SdkConfiguration:
    text = options if isinstance(options, str) else json.dumps({"packageOptions": options})
    (repository / "eng" / "swagger_to_sdk_config.json").write_text(text)
    return SdkConfiguration.read(repository)


def test_a_command_is_split_first_and_filled_word_by_word(repository: Path) -> None:
    command = 'build "{packagepath}/a" "a b" --to={PACKAGEPATH} {PackagePath}'
    value = 'x; $HOME "{SdkRepoPath}" `y`'
    found = configured(repository, {"buildScript": {"command": command, "path": "x.ps1"}})
    program = found.program("Build", {"PackagePath": value})
    assert isinstance(program, CommandOptions)
    assert program.argv == ("build", f"{value}/a", "a b", f"--to={value}", value)
    assert (program.cwd, program.seconds) == (repository, 300)


async def test_a_configured_command_runs_in_the_repository(repository: Path) -> None:
    command = "python3 -c 'import os,sys;print(os.getcwd(),sys.argv[1])' {PackagePath}"
    found = configured(repository, {"buildScript": {"command": command}})
    done = await run_program(found.program("Build", {"PackagePath": "$x y"}))
    assert done.stdout == f"{repository} $x y\n"


def test_a_path_is_a_script_of_powershell_with_its_values(repository: Path) -> None:
    (repository / "eng" / "v.ps1").write_text("")
    found = configured(repository, {"updateVersionScript": {"path": "./eng/v.ps1"}})
    names = ("SdkRepoPath", "PackagePath", "ReleaseType", "Version", "ReleaseDate")
    program = found.program("UpdateVersion", {name: f"-{name} $" for name in names})
    assert isinstance(program, PowerShellOptions)
    assert program.script == (repository / "eng" / "v.ps1").resolve()
    assert program.argv[-1] == "-ReleaseDate:-ReleaseDate $"
    assert len(program.parameters) == 5


def test_named_parameters_of_a_script_are_no_program_texts(repository: Path) -> None:
    command = "pwsh -File x.ps1 -ReleaseType {ReleaseType} -PackagePath:{PackagePath} --e={Version}"
    found = configured(repository, {"updateVersionScript": {"command": command}})
    names = ("SdkRepoPath", "PackagePath", "ReleaseType", "Version", "ReleaseDate")
    program = found.program("UpdateVersion", dict.fromkeys(names, "1"))
    assert program.argv[3:] == ("-ReleaseType", "1", "-PackagePath:1", "--e=1")


def test_missing_malformed_and_not_configured_are_told_apart(repository: Path) -> None:
    with pytest.raises(FileMissing, match="there is no eng/swagger_to_sdk_config"):
        SdkConfiguration.read(repository)
    for text in ("{", "[]", '{"packageOptions": 3}', '{"a": /* }'):
        with pytest.raises(ConfigError) as told:
            configured(repository, text)
        assert not isinstance(told.value, NotConfigured)
    (repository / "eng" / "swagger_to_sdk_config.json").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="cannot be read"):
        SdkConfiguration.read(repository)
    for options in (
        dict[str, Any](),
        {"buildScript": dict[str, Any]()},
        {"buildScript": {"command": " "}},
    ):
        with pytest.raises(NotConfigured):
            configured(repository, options).program("Build", BUILD)
    text = '{\n // said\n "packageOptions": {"buildScript": {"command": "x"},},\n}'
    with pytest.raises(NotConfigured, match="updateMetadataScript"):
        configured(repository, text).program("UpdateMetadata", {**BUILD, "SdkRepoPath": "."})


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ({"command": "x {Unknown}"}, r"names \{Unknown\}, which has no value"),
        ({"command": "x 'a {PackagePath}'"}, "could be read by a shell"),
        ({"command": "bash -c 'echo {PackagePath}'"}, "could be read by a shell"),
        ({"command": "bash -c '{PackagePath};x'"}, "could be read by a shell"),
        ({"command": "bash -c '$(x){PackagePath}'"}, "could be read by a shell"),
        ({"command": "python3 -c 'x(`{PackagePath}`)'"}, "could be read by a shell"),
        ({"command": "cmd /c x%{PackagePath}%"}, "could be read by a shell"),
        ({"command": "bash -c {PackagePath}"}, "would be read as a program"),
        ({"command": "env bash -ec {PackagePath}"}, "would be read as a program"),
        ({"command": "/usr/bin/python3.12 -m {PackagePath}"}, "would be read as a program"),
        ({"command": "python3 -m{PackagePath}"}, "would be read as a program"),
        ({"command": "node --eval={PackagePath}"}, "would be read as a program"),
        ({"command": "pwsh -Command {PackagePath}"}, "would be read as a program"),
        ({"command": "x | y"}, "needs a shell"),
        ({"command": "x 'y"}, "cannot be split"),
        ({"command": 3}, "no text"),
        ("x", "no object"),
        ({"path": "../x.ps1"}, "leads out of the repository"),
        ({"path": "eng/none.ps1"}, "is not there"),
        ({"path": "eng"}, "is not there"),
    ],
)
def test_what_cannot_be_run_is_refused(repository: Path, script: Any, told: str) -> None:
    with pytest.raises(Exception, match=told):
        configured(repository, {"buildScript": script}).program("Build", BUILD)


def test_a_program_needs_all_its_values(repository: Path) -> None:
    found = configured(repository, {"updateVersionScript": {"command": "x"}})
    with pytest.raises(ConfigError, match="needs a value for ReleaseType, Version, ReleaseDate"):
        found.program("UpdateVersion", {"sdkrepopath": "", "PackagePath": ""})
    assert is_sdk_script("Build")
    assert not is_sdk_script("build")
