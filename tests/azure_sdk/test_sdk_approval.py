"""An approval holds for all files that a program names, or says what is not in it."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from lineshaft import Policy, Session
from lineshaft.config import Approval, approve, unapproved_programs
from lineshaft.errors import ConfigError
from lineshaft_azure_sdk.sdk_configuration import SdkConfiguration
from lineshaft_azure_sdk.sdk_scripts import run_sdk_script
from native import own_state

GIVEN = {"release_type": "beta", "version": "1.0", "release_date": "2026-01-31"}


@pytest.fixture(autouse=True)
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the pack installed, and approvals kept in a folder of the test."""
    site = tmp_path / "site"
    described = site / "lineshaft_azure_sdk-0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text("Name: lineshaft-azure-sdk\nVersion: 0\n")
    (described / "entry_points.txt").write_text(
        "[lineshaft.packs]\nazure-sdk = lineshaft_azure_sdk:pack\n"
    )
    monkeypatch.setattr(sys, "path", [str(site), *sys.path])
    own_state(tmp_path / "state", monkeypatch)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "my sdk"
    (root / "eng" / "tool" / "deep").mkdir(parents=True)
    (root / "pkg").mkdir()
    for name in ("eng/b.sh", "eng/tool/deep/x.sh", "pkg/build.sh"):
        (root / name).write_text("#!/bin/sh\necho original $*\n")
        (root / name).chmod(0o755)
    (root / "eng" / "tool" / "__main__.py").write_text("print('original')\n")
    (root / "eng" / "s.js").write_text("")
    return root


def configure(repository: Path, command: str) -> None:
    document = {"packageOptions": {"updateVersionScript": {"command": command}}}
    (repository / "eng" / "swagger_to_sdk_config.json").write_text(json.dumps(document))


def waiting(repository: Path) -> tuple[Approval, ...]:
    return unapproved_programs("azure-sdk", repository)


def approved_files(repository: Path) -> list[str]:
    [asked] = waiting(repository)
    approve(asked)
    assert waiting(repository) == ()
    return [str(file.relative_to(repository)) for file in asked.files]


async def called(repository: Path, **given: str) -> Any:
    arguments = {"script": "UpdateVersion", "package": "pkg", **GIVEN, **given}
    tools, policy = [run_sdk_script], Policy(mode="open")
    async with Session(tools, workspace=repository, policy=policy, store=False) as session:
        return await session.call("azure_sdk.run_sdk_script", arguments)


@pytest.mark.parametrize(
    ("command", "changed"),
    [
        ("{SdkRepoPath}/eng/b.sh {Version} {PackagePath}", "eng/b.sh"),
        ("eng/b.sh {Version}", "eng/b.sh"),
        ("{sdkrepopath}/eng/../eng/b.sh {Version}", "eng/b.sh"),
        ("bash -c 'eng/b.sh \"$1\"' sh {Version}", "eng/b.sh"),
        ("bash -c 'true;eng/b.sh>/dev/null'", "eng/b.sh"),
        ("python eng/tool {Version}", "eng/tool/__main__.py"),
        ("python {SdkRepoPath}/eng/tool", "eng/tool/deep/x.sh"),
        ("python -m eng.tool", "eng/tool/__main__.py"),
        ("python -meng.tool", "eng/tool/__main__.py"),
        ("python -Im eng.tool", "eng/tool/deep/new.py"),
        ("python -m eng.tool", "eng/__init__.py"),
        ("node --require=./eng/b.sh x", "eng/b.sh"),
        ("node --require={SdkRepoPath}/eng/b.sh x", "eng/b.sh"),
        ("node -r./eng/s x", "eng/s.js"),
        ("node -r{SdkRepoPath}/eng/s x", "eng/s.js"),
        ("java -cp eng/b.sh:eng/s.js Main", "eng/s.js"),
        ("env MODE=fast eng/b.sh", "eng/b.sh"),
        ("eng/later.sh", "eng/later.sh"),
    ],
)
def test_a_change_of_what_is_named_ends_the_approval(
    repository: Path, command: str, changed: str
) -> None:
    configure(repository, command)
    approved_files(repository)
    (repository / changed).write_text("#!/bin/sh\necho changed\n")
    assert len(waiting(repository)) == 1


async def test_a_program_behind_the_path_of_the_repository_runs_only_as_approved(
    repository: Path,
) -> None:
    configure(repository, "{SdkRepoPath}/eng/b.sh {Version} {ReleaseType}")
    assert approved_files(repository) == ["eng/b.sh"]
    done = await called(repository)
    assert done.value == {"exit_code": 0, "output": "original 1.0 beta"}, done.error
    (repository / "eng" / "b.sh").write_text("#!/bin/sh\necho changed\n")
    refused = await called(repository)
    assert refused.error.code == "E_DENIED"
    assert "is not approved as it is now" in refused.error.message


async def test_a_run_of_python_leaves_an_approved_folder_as_it_was(repository: Path) -> None:
    (repository / "eng" / "tool" / "part.py").write_text("TEXT = 'part'\n")
    (repository / "eng" / "tool" / "__main__.py").write_text("import part; print(part.TEXT)\n")
    configure(repository, "python3 eng/tool")
    approved_files(repository)
    for _ in range(2):
        done = await called(repository)
        assert done.value == {"exit_code": 0, "output": "part"}, done.error


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("{Version} x", "each call would choose the program"),
        ("{PackagePath}/build.sh", "each call would choose the program"),
        ("{SdkRepoPath}/{Version}", "each call would choose the program"),
        ("eng/out.sh {Version}", "leads out of the repository"),
        ("bash -c 'cd x; eng/out.sh'", "leads out of the repository"),
        ("bash eng/away/x.sh", "leads out of the repository"),
        ("bash eng/away/{Version}", "leads out of the repository"),
        ("bash --rcfile=eng/out.sh", "leads out of the repository"),
        ("python eng/linked", "leads out of the repository"),
        ("../outside.sh", "leads out of the repository"),
        ("{SdkRepoPath}/../outside.sh", "leads out of the repository"),
        ("bash {OUTSIDE}", "leads out of the repository"),
        ("bash --init-file={OUTSIDE}", "leads out of the repository"),
        ("bash eng/{Version}/../../../x", "leads out of the repository"),
        ("bash {SdkRepoPath}{Version}", "only a part of a name"),
        ("bash x{SdkRepoPath}/eng", "only a part of a name"),
        ("x eng/big", "names too much"),
        ("x eng/many", "names too much"),
        ("x eng/pipe", "no regular file"),
        ("x 'y", "cannot be split"),
        ("x \0", "NUL character"),
    ],
)
def test_what_nobody_can_approve_is_refused(
    repository: Path, tmp_path: Path, command: str, told: str
) -> None:
    outside = tmp_path / "outside.sh"
    outside.write_text("#!/bin/sh\n")
    eng = repository / "eng"
    (eng / "out.sh").symlink_to(outside)
    (tmp_path / "away").mkdir()
    (eng / "away").symlink_to(tmp_path / "away")
    (eng / "linked").mkdir()
    (eng / "linked" / "__main__.py").symlink_to(outside)
    (eng / "many").mkdir()
    (eng / "big").mkdir()
    with (eng / "big" / "x").open("wb") as file:
        file.truncate(10_000_001)
    for number in range(501):
        (eng / "many" / str(number)).touch()
    if sys.platform != "win32":
        os.mkfifo(eng / "pipe")
    configure(repository, command.replace("{OUTSIDE}", str(outside)))
    with pytest.raises(ConfigError, match=told):
        waiting(repository)


@pytest.mark.parametrize(
    ("command", "files", "unknown"),
    [
        ("eng/b.sh {Version} {PackagePath} {SdkRepoPath}", ["eng/b.sh"], []),
        ("bash {PackagePath}/build.sh", [], ["{PackagePath}/build.sh"]),
        ("bash {PackagePath}", [], ["{PackagePath}"]),
        ("python {SdkRepoPath}", [], ["{SdkRepoPath}"]),
        ("python .", [], ["."]),
        ("bash -c 'cd eng && ./b.sh'", ["eng/b.sh"], ["cd eng && ./b.sh"]),
        ("npm run build", [], []),
        ("/bin/sh eng/b.sh", ["eng/b.sh"], []),
        ("bash loop", [], []),
    ],
)
def test_an_approval_says_which_files_are_in_it(
    repository: Path, command: str, files: list[str], unknown: list[str]
) -> None:
    (repository / "loop").symlink_to("loop")
    configure(repository, command)
    named = SdkConfiguration.read(repository).named_program("UpdateVersion")
    assert named is not None
    found = [str(file.relative_to(repository)) for file in named.files]
    assert set(files) <= set(found)
    assert bool(found) == bool(files)
    assert list(named.unknown) == unknown
    [asked] = waiting(repository)
    assert [text for label, text in asked.told if "not in this approval" in label] == unknown


@pytest.mark.parametrize(
    "given",
    [
        {"version": "1.0; touch pwned; echo"},
        {"version": "1.0/../x"},
        {"version": "$(touch pwned)"},
        {"version": "1.0\n"},
        {"version": "-x"},
        {"version": ".."},
        {"version": "1" * 201},
        {"release_type": "beta`touch pwned`"},
        {"release_date": "today"},
        {"release_date": "2026-01-31|x"},
        {"package": "pkg/a b"},
        {"package": "pkg/$(touch pwned)"},
        {"package": "pkg/-x"},
    ],
)
async def test_a_value_that_a_shell_would_read_is_refused(
    repository: Path, given: dict[str, str]
) -> None:
    (repository / given.get("package", "pkg")).mkdir(exist_ok=True)
    (repository / "eng" / "b.sh").write_text('#!/bin/sh\neval "touch ran; echo $*"\n')
    configure(repository, "eng/b.sh {Version} {PackagePath} {ReleaseType} {ReleaseDate}")
    approved_files(repository)
    refused = await called(repository, **given)
    assert refused.error.code == "E_INVALID_ARGS"
    assert not (repository / "pwned").exists()
    assert not (repository / "ran").exists()


@pytest.mark.parametrize("version", ["1.0.0-beta.1", "v1.2.3", "1.0+build_2"])
async def test_values_as_versions_have_them_reach_the_program(
    repository: Path, version: str
) -> None:
    (repository / "pkg" / "Azure.Widget_2-x").mkdir()
    configure(repository, "bash -c 'echo \"$@\"' sh {Version} {PackagePath}")
    approved_files(repository)
    done = await called(repository, version=version, package="pkg/Azure.Widget_2-x")
    assert done.value == {"exit_code": 0, "output": f"{version} pkg/Azure.Widget_2-x"}, done.error
