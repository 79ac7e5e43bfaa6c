"""`mvn compile` of a package of the workspace, without network; nothing it writes is kept."""

import os
import re
from pathlib import Path

from typing_extensions import TypedDict

from lineshaft import WorkspacePath, tool
from lineshaft.kit.view import run_in_view
from lineshaft.processes.programs import MavenOptions
from lineshaft.values import Context
from lineshaft_azure_sdk.programs import logged

PLACE = "LINESHAFT_AZURE_SDK_MAVEN"
"""The variable that names Maven's local repository; the person's own where it is not set."""

_SECONDS = 1_200.0
_SAID = 4_000
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class MavenBuild(TypedDict):
    """How a build ended."""

    ok: bool
    """Whether it compiled."""

    output: str
    """The lines of errors, where it did not."""


@tool(
    name="azure_sdk.compile_java",
    effect="exec",
    jailed=True,
    viewed=True,
    needs_disk=False,
    seconds=_SECONDS,
)
async def compile_java(package: WorkspacePath, call: Context) -> MavenBuild:
    """Compile a Java package with Maven, offline.

    Args:
        package: The folder with `pom.xml`.
        call: The call.
    """
    return await build_of(call, package)


async def build_of(call: Context, package: str) -> MavenBuild:
    """Compile.

    Raises:
        ToolError: Maven could not be run.
    """
    repository = Path(os.environ.get(PLACE) or Path.home() / ".m2" / "repository")
    options = MavenOptions(
        ("compile",), Path("pom.xml"), offline=True, repository=repository, seconds=_SECONDS
    )
    seen = await run_in_view(
        call, options, folder=package, readable=[repository], on_line=logged(call, options)
    )
    ok = seen.result.exit_code == 0
    said = _COLOUR.sub("", seen.result.stdout)
    errors = [line for line in said.splitlines() if line.startswith("[ERROR]")] or [said]
    return {"ok": ok, "output": "" if ok else "\n".join(errors)[:_SAID]}
