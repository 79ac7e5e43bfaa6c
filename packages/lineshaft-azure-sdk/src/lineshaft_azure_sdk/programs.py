"""The npm programs that agents check with, where they are installed, and how."""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lineshaft.errors import ToolError
from lineshaft.processes.programs import CommandOptions, ProgramOptions, tagged
from lineshaft.values import Context, Line

PLACE = "LINESHAFT_AZURE_SDK_NODE"
"""The variable that names the folder with `node_modules`."""

_MOST_LOGGED = 1_000

_PACKAGES: Mapping[str, str] = {
    "cspell": "cspell@9.8.0",
    "tsp": "@typespec/compiler@1.9.0",
    "tsp-client": "@azure-tools/typespec-client-generator-cli@0.33.1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeProgram:
    """A program of an npm package."""

    path: Path
    packages: Path | None
    """The folder `node_modules` that it lies in."""

    def options(
        self, *args: str, seconds: float, env: Mapping[str, str] | None = None
    ) -> CommandOptions:
        """Return a call of it; nothing it says is coloured."""
        plain = {"NO_COLOR": "1", "FORCE_COLOR": "0", "CI": "1", **(env or {})}
        return CommandOptions(str(self.path), args, seconds=seconds, env=plain)


async def node_program(call: Context, name: str) -> NodeProgram:
    """Find a program: where the variable says, in the workspace, then on the PATH.

    Raises:
        ToolError: It is not installed; the hint is the line that installs it.
    """
    root = (await call.workspace.resolve(".")).real
    for folder in filter(None, (os.environ.get(PLACE), root)):
        packages = Path(folder) / "node_modules"
        if (path := packages / ".bin" / name).exists():
            return NodeProgram(path=path, packages=packages)
    found = shutil.which(name)
    if found is None:
        package = _PACKAGES[name]
        raise ToolError(
            "E_FILE_NOT_FOUND",
            f"{name!r} is not installed",
            hint=f"npm install --ignore-scripts --prefix ~/azure-sdk-tools {package}; then set"
            f" {PLACE}=~/azure-sdk-tools",
        )
    return NodeProgram(path=Path(found), packages=None)


def logged(call: Context, options: ProgramOptions) -> Callable[[Line], None]:
    """Return a function that puts lines of a program into the run's record, the first of them."""
    left = _MOST_LOGGED

    def log(line: Line) -> None:
        nonlocal left
        left -= 1
        if left >= 0 and line.text.strip():
            call.log(tagged(options, line))
        elif left == -1:
            call.log(f"[{options.label}] further lines are not in the record")

    return log
