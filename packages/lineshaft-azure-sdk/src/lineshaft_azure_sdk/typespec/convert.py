"""Conversion of Swagger to TypeSpec by tsp-client, which starts AutoRest.

AutoRest takes its locks by listening on ports of this machine, which no jail allows. So it runs
without one, over a private copy of the workspace, and each call is asked about as any process. It
downloads extensions that are not in its home, so that home is filled before, in known versions.
It leaves its temporary files; those of a view end with the view. Its ports and the file that names
them follow from that folder, so that conversions at once do not wait for each other: they need not,
since the locks are for downloads.
What it makes goes into a fresh folder first, and is compared before it is put where it is wanted.
"""

import os
import re
from pathlib import Path, PurePosixPath
from typing import Literal

from lineshaft import ToolError, WorkspacePath, tool
from lineshaft.errors import FileMissing
from lineshaft.kit.view import run_in_view
from lineshaft.values import Context
from lineshaft_azure_sdk.programs import logged, node_program
from lineshaft_azure_sdk.typespec.tsp_client import Generated, must_be_safe, must_be_there

HOME = "LINESHAFT_AZURE_SDK_AUTOREST"
"""The variable that names AutoRest's home, with `.autorest` in it."""

EXTENSIONS = {
    "@autorest_core": "3.10.9",
    "@autorest_modelerfour": "4.27.3",
    "@autorest_openapi-to-typespec": "0.11.9",
}
"""What has to be in that home, by the names of its folders."""

_SECONDS = 1_800.0
_SAID = 3_000
_TOLD = 10
_DATE = re.compile(rb"^ \* Date: \S+$", re.MULTILINE)
"""The moment of a conversion, which is no difference."""

_NO_NAME = re.compile(r"[^A-Za-z0-9]")


@tool(
    name="azure_sdk.tsp_client_convert",
    effect="exec",
    jailed=True,
    viewed=True,
    needs_disk=False,
    seconds=_SECONDS,
)
async def _convert(
    readme: WorkspacePath,
    output: WorkspacePath,
    call: Context,
    existing: Literal["refuse", "add", "overwrite"] = "refuse",
    resource_manager: bool = False,  # noqa: FBT001, FBT002  an argument of the tool, given by name
    fully_compatible: bool = False,  # noqa: FBT001, FBT002  the same
) -> Generated:
    """Convert a Swagger specification (OpenAPI 2) to a TypeSpec project. OpenAPI 3: `tsp-openapi3`.

    Args:
        readme: The `readme.md` of AutoRest that names the Swagger files.
        output: The folder of the project.
        call: The call.
        existing: Where the folder is there already: refuse; add files and refuse where one would be
            overwritten; or overwrite.
        resource_manager: Whether it describes a resource provider.
        fully_compatible: Whether the project keeps to the Swagger in every detail.
    """
    await must_be_there(call, readme)
    must_be_safe(readme, output)
    await _must_be_free(call, output, existing)
    home = _home()
    _must_be_known(home)
    program = await node_program(call, "tsp-client")
    if program.packages is None or not (program.packages / ".bin" / "autorest").exists():
        raise _not_there("`autorest` is not installed beside tsp-client")
    fresh = f"converted-{_NO_NAME.sub('', call.key)[-24:]}"
    more = [
        *(["--arm"] if resource_manager else []),
        *(["--fully-compatible"] if fully_compatible else []),
    ]
    words = ("convert", "--swagger-readme", readme, "--output-dir", fresh, *more)
    options = program.options(
        *words, seconds=_SECONDS, env={"AUTOREST_HOME": str(home), "npm_config_yes": "false"}
    )
    await call.workspace.make_folder(fresh)
    try:
        seen = await run_in_view(
            call,
            options,
            packages=program.packages,
            keep=True,
            keep_below=fresh,
            on_line=logged(call, options),
        )
        _must_be_known(home)
        said = f"{seen.result.stdout}\n{seen.result.stderr}".strip()[-_SAID:]
        made = await _made(call, fresh)
        if seen.result.exit_code or not made:
            raise ToolError(
                "E_TOOL_FAILED",
                f"tsp-client convert ended with {seen.result.exit_code}"
                f" and changed nothing: {said}",
            )
        changed = await _put(call, made, output, existing)
    finally:
        await _remove(call, fresh)
    return {"changed": changed, "output": said}


tsp_client_convert = _convert.without_jail()


def _home() -> Path:
    named = os.environ.get(HOME)
    if not named:
        raise _not_there(f"{HOME} names no home of AutoRest")
    home = Path(named).expanduser().absolute()
    for name, version in EXTENSIONS.items():
        if not (home / ".autorest" / f"{name}@{version}").is_dir():
            raise _not_there(f"{str(named)!r} has no {name.replace('_', '/')} in version {version}")
    return home


def _must_be_known(home: Path) -> None:
    """Refuse what AutoRest made by extensions of other versions, which it has downloaded."""
    known = {f"{name}@{version}" for name, version in EXTENSIONS.items()}
    strange = [path.name for path in (home / ".autorest").glob("@autorest_*@*")]
    if other := sorted(set(strange) - known):
        raise ToolError(
            "E_PRECONDITION_FAILED",
            f"AutoRest has {other[0]} in its home, which is not the version that is known here",
            hint=f"remove it from {HOME}, or fill that folder anew",
        )


def _not_there(why: str) -> ToolError:
    return ToolError(
        "E_FILE_NOT_FOUND",
        f"Swagger cannot be converted: {why}",
        hint="the README of lineshaft-azure-sdk has the lines that install AutoRest; OpenAPI 3 is"
        " converted by `tsp-openapi3`, without it",
    )


async def _must_be_free(call: Context, output: str, existing: str) -> None:
    try:
        kind = (await call.workspace.stat(output)).kind
    except FileMissing:
        return
    if kind != "folder":
        raise ToolError("E_PRECONDITION_FAILED", f"{output!r} is no folder: name another one")
    if existing == "refuse":
        raise ToolError(
            "E_PRECONDITION_FAILED",
            f"the folder {output!r} is there already",
            hint="name another one, or give existing='add' or existing='overwrite'",
        )


async def _made(call: Context, fresh: str) -> dict[str, bytes]:
    """Return the files that were made, by their path below the fresh folder."""
    found: dict[str, bytes] = {}
    async for entry in call.workspace.walk(fresh, ignore=False):
        if entry.kind == "file" and not entry.symlink:
            name = PurePosixPath(entry.path).relative_to(fresh).as_posix()
            found[name] = (await call.workspace.read(entry.path)).data
    return found


async def _put(call: Context, made: dict[str, bytes], output: str, existing: str) -> list[str]:
    """Put files where they are wanted; return those that are new or differ."""
    changed: list[str] = []
    over: list[str] = []
    for name, data in made.items():
        path = name if output == "." else f"{output}/{name}"
        try:
            old = (await call.workspace.read(path)).data
        except FileMissing:
            changed.append(name)
            continue
        if _DATE.sub(b"", old) != _DATE.sub(b"", data):
            over.append(path)
            changed.append(name)
    if over and existing != "overwrite":
        told = ", ".join(over[:_TOLD]) + (" and more" if len(over) > _TOLD else "")
        raise ToolError(
            "E_PRECONDITION_FAILED",
            f"these files would be overwritten: {told}",
            hint="give existing='overwrite', or name another folder",
        )
    paths = [name if output == "." else f"{output}/{name}" for name in changed]
    for name, path in zip(changed, paths, strict=True):
        await call.workspace.write(path, made[name])
    return paths


async def _remove(call: Context, fresh: str) -> None:
    paths = [entry.path async for entry in call.workspace.walk(fresh, ignore=False)]
    for path in [*reversed(paths), fresh]:
        await call.workspace.delete(path)
