"""The tool that runs a program of `swagger_to_sdk_config.json`, once a person has approved it."""

import re
import time
from collections.abc import Mapping
from pathlib import Path

from anyio import to_thread
from typing_extensions import TypedDict

from lineshaft import ToolError, WorkspacePath, tool
from lineshaft.errors import ConfigError
from lineshaft.processes.programs import ProgramOptions, run_program
from lineshaft.values import Context
from lineshaft_azure_sdk.programs import logged
from lineshaft_azure_sdk.sdk_configuration import PLACE, SdkConfiguration, SdkScript

_SECONDS = 1_800.0
_SPARE_SECONDS = 5.0
_SAID = 4_000

_NAME = r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,199}"
_VALUES: Mapping[str, tuple[re.Pattern[str], str]] = {
    "ReleaseType": (re.compile(_NAME), "`stable` or `beta`"),
    "Version": (re.compile(_NAME), "letters, digits and . + _ - as in 1.0.0-beta.1"),
    "ReleaseDate": (re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"), "a date such as 2026-01-31"),
}
"""What a call may give; a program may hand it on to a shell."""


class ScriptRun(TypedDict):
    """How a program ended."""

    exit_code: int
    """The real one; another than 0 is a result."""

    output: str
    """The end of what it said."""


@tool(name="azure_sdk.run_sdk_script", effect="exec", seconds=_SECONDS)
async def run_sdk_script(
    script: SdkScript,
    package: WorkspacePath,
    call: Context,
    release_type: str = "",
    version: str = "",
    release_date: str = "",
) -> ScriptRun:
    """Run a program that the SDK repository configures: build, changelog, version or metadata.

    The workspace is the repository. The program has the rights of its user, so a person has to have
    approved it as it is now, with the files of the repository that it names; then each call asks.

    Args:
        script: Which program of `eng/swagger_to_sdk_config.json`.
        package: The folder of the package.
        call: The call.
        release_type: For UpdateVersion: `stable` or `beta`.
        version: For UpdateVersion.
        release_date: For UpdateVersion: `2026-01-31`.
    """
    root = Path((await call.workspace.resolve(".")).real)
    values = {"ReleaseType": release_type, "Version": version, "ReleaseDate": release_date}
    values = {name: value for name, value in values.items() if value}
    for name, value in values.items():
        pattern, told = _VALUES[name]
        if not pattern.fullmatch(value):
            raise ToolError("E_INVALID_ARGS", f"{value!r} is no {name}", hint=f"give {told}")
    values |= {
        "SdkRepoPath": str(root),
        "PackagePath": _package(root, Path((await call.workspace.resolve(package)).real)),
    }
    left = call.deadline - time.monotonic() - _SPARE_SECONDS
    seconds = max(1.0, min(_SECONDS, left))
    options = await to_thread.run_sync(_approved, root, script, values, seconds)
    done = await run_program(
        options,
        on_line=logged(call, options),
        starting=call.workspace.run,
        secrets=call.secrets,
    )
    said = done.output.replace(f"{root}/", "").replace(str(root), ".").strip()
    return {"exit_code": done.exit_code, "output": said[-_SAID:]}


def _package(root: Path, folder: Path) -> str:
    """Return the path of a package, whose names below the repository are like other values."""
    below = folder.relative_to(root).parts if folder.is_relative_to(root) else ("..",)
    for name in below:
        if not re.fullmatch(_NAME, name):
            raise ToolError(
                "E_INVALID_ARGS",
                f"the folder {name!r} is none that a program is given as a package",
                hint="name a folder of letters, digits and . + _ - in the repository",
            )
    return str(folder)


def _approved(
    root: Path, script: SdkScript, values: dict[str, str], seconds: float
) -> ProgramOptions:
    """Return the program that is configured, if a person has approved it as it is now."""
    from lineshaft.config import program_approved  # noqa: PLC0415  reads settings, at first use

    try:
        configuration = SdkConfiguration.read(root)
        options = configuration.program(script, values, seconds=seconds)
        named = configuration.named_program(script)
        approved = named is not None and program_approved(named)
    except ConfigError as error:
        raise ToolError("E_PRECONDITION_FAILED", error.message, hint=error.hint) from error
    if not approved:
        raise ToolError(
            "E_DENIED",
            f"the program {script} of {PLACE} is not approved as it is now",
            hint="a person approves it by `lineshaft config trust --pack azure-sdk`",
        )
    return options
