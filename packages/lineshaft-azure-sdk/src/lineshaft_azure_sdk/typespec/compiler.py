"""`tsp compile` of a project of the workspace; nothing it writes is kept."""

import re
from pathlib import PurePosixPath

from typing_extensions import TypedDict

from lineshaft import WorkspacePath, tool
from lineshaft.kit.view import run_in_view
from lineshaft.values import Context
from lineshaft_azure_sdk.programs import node_program

_SECONDS = 600.0
_DIAGNOSTIC = re.compile(
    r"(?P<path>.+?):(?P<line>\d+):(?P<column>\d+) - (?P<severity>error|warning)"
    r"(?: (?P<code>[\w@/.-]+))?: (?P<message>.*)"
)
_SAID = 3_000


class Diagnostic(TypedDict):
    """One finding of the compiler."""

    path: str
    line: int
    """1-based."""

    column: int
    """1-based."""

    severity: str
    code: str
    message: str


class Compilation(TypedDict):
    """How a compilation ended."""

    ok: bool
    """Whether the compiler accepted the project."""

    diagnostics: list[Diagnostic]
    output: str
    """The end of what it said, where it did not accept the project."""


@tool(
    name="azure_sdk.compile_typespec",
    effect="exec",
    jailed=True,
    viewed=True,
    needs_disk=False,
    seconds=_SECONDS,
)
async def compile_typespec(path: WorkspacePath, call: Context) -> Compilation:
    """Compile a TypeSpec file with everything that it imports, and write nothing.

    Args:
        path: The entry, such as `specification/widget/Widget/client.tsp`.
        call: The call.
    """
    return await compilation_of(call, path)


async def compilation_of(call: Context, path: str) -> Compilation:
    """Compile.

    Raises:
        ToolError: The compiler could not be run.
    """
    place = PurePosixPath(path)
    program = await node_program(call, "tsp")
    options = program.options("compile", f"./{place.name}", "--dry-run", seconds=_SECONDS)
    seen = await run_in_view(
        call, options, folder=place.parent.as_posix(), packages=program.packages
    )
    ok = seen.result.exit_code == 0
    output = f"{seen.result.stdout}\n{seen.result.stderr}".strip()
    return {
        "ok": ok,
        "diagnostics": [
            {
                "path": (place.parent / found["path"]).as_posix(),
                "line": int(found["line"]),
                "column": int(found["column"]),
                "severity": found["severity"],
                "code": found["code"] or "",
                "message": found["message"],
            }
            for line in seen.result.stdout.splitlines()
            if (found := _DIAGNOSTIC.fullmatch(line.strip()))
        ],
        "output": "" if ok else output[-_SAID:],
    }
