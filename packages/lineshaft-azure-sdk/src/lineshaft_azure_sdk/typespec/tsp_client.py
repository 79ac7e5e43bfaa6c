"""tsp-client: generate clients from specifications that lie in the workspace.

It works in a view of its own without network, so it installs nothing (`--skip-install`); what it
makes becomes changes of the run. It starts shells with quotes of its own, so paths with signs that
mean something to a shell are refused.
"""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from typing_extensions import TypedDict

from lineshaft import ToolError, WorkspacePath, tool
from lineshaft.errors import FileMissing
from lineshaft.kit.view import run_in_view
from lineshaft.values import Context
from lineshaft_azure_sdk.programs import logged, node_program

_SECONDS = 1_800.0
_LEFT_BEHIND = re.compile(r"(?:^|/)(?:sparse-spec[0-9a-f-]*|TempTypeSpecFiles)(?:/|$)")
_UNSAFE = re.compile(r"""["$`\\\n\r;&|<>']""")
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_SAID = 3_000


class Generated(TypedDict):
    """What was made."""

    changed: list[str]
    """Files and folders that were made, changed or deleted."""

    output: str
    """The end of what tsp-client said."""


@tool(
    name="azure_sdk.tsp_client_init",
    effect="exec",
    jailed=True,
    viewed=True,
    needs_disk=False,
    seconds=_SECONDS,
)
async def tsp_client_init(
    config: WorkspacePath,
    call: Context,
    output: WorkspacePath = ".",
    repository: str = "",
    commit: str = "",
) -> Generated:
    """Set up the folder of a client from a project's `tspconfig.yaml`, and generate it.

    The workspace needs `eng/emitter-package.json`, and `node_modules` with what it names.

    Args:
        config: The project's `tspconfig.yaml`, in the workspace.
        call: The call.
        output: The root of the SDK repository in the workspace.
        repository: The specification's repository for `tsp-location.yaml`: `Azure/specs`.
        commit: The specification's commit for it.
    """
    await must_be_there(call, config)
    if repository and not _REPOSITORY.fullmatch(repository):
        raise ToolError("E_INVALID_ARGS", f"{repository!r} is no repository: OWNER/NAME")
    if commit and not _COMMIT.fullmatch(commit):
        raise ToolError("E_INVALID_ARGS", f"{commit!r} is no commit")
    more = [
        *(("--repo", repository) if repository else ()),
        *(("--commit", commit) if commit else ()),
    ]
    config = _back(output, config)
    words = ("init", "-y", "--update-if-exists", "--skip-install", "--tsp-config", config)
    return await _generated(call, output, (*words, *more))


@tool(
    name="azure_sdk.tsp_client_update",
    effect="exec",
    jailed=True,
    viewed=True,
    needs_disk=False,
    seconds=_SECONDS,
)
async def tsp_client_update(
    folder: WorkspacePath, specification: WorkspacePath, call: Context
) -> Generated:
    """Generate a client again, from a specification in the workspace.

    Args:
        folder: The client's folder, with `tsp-location.yaml`.
        specification: The folder of the TypeSpec project, with `tspconfig.yaml`.
        call: The call.
    """
    return await _from_location(call, "update", folder, specification, ("--skip-install",))


@tool(
    name="azure_sdk.tsp_client_sync",
    effect="exec",
    jailed=True,
    viewed=True,
    needs_disk=False,
    seconds=_SECONDS,
)
async def tsp_client_sync(
    folder: WorkspacePath, specification: WorkspacePath, call: Context
) -> Generated:
    """Copy a specification to `TempTypeSpecFiles` of a client's folder.

    Args:
        folder: The client's folder, with `tsp-location.yaml`.
        specification: The folder of the TypeSpec project, with `tspconfig.yaml`.
        call: The call.
    """
    return await _from_location(call, "sync", folder, specification, ())


async def _from_location(
    call: Context, command: str, folder: str, specification: str, more: Sequence[str]
) -> Generated:
    await must_be_there(call, f"{folder}/tsp-location.yaml")
    await must_be_there(call, f"{specification}/tspconfig.yaml")
    words = (command, *more, "--local-spec-repo", _back(folder, specification))
    return await _generated(call, folder, words)


async def _generated(call: Context, folder: str, words: Sequence[str]) -> Generated:
    must_be_safe(folder, *words)
    program = await node_program(call, "tsp-client")
    options = program.options(*words, seconds=_SECONDS)
    seen = await run_in_view(
        call,
        options,
        folder=folder,
        packages=program.packages,
        keep=True,
        on_line=logged(call, options),
    )
    said = f"{seen.result.stdout}\n{seen.result.stderr}".strip()[-_SAID:]
    if seen.result.exit_code:
        raise ToolError(
            "E_TOOL_FAILED",
            f"tsp-client {words[0]} ended with {seen.result.exit_code} and changed nothing: {said}",
        )
    changed = [path for path in seen.changed if words[0] == "sync" or not _LEFT_BEHIND.search(path)]
    return {"changed": changed, "output": said}


def must_be_safe(*paths: str) -> None:
    """Refuse paths with signs that mean something to the shells that tsp-client starts.

    Raises:
        ToolError: One has such a sign.
    """
    for path in paths:
        if found := _UNSAFE.search(path):
            raise ToolError(
                "E_INVALID_ARGS",
                f"{path!r} holds {found[0]!r}, which tsp-client would hand to a shell",
                hint="rename it",
            )


async def must_be_there(call: Context, path: str) -> None:
    """Refuse a path where nothing is.

    Raises:
        ToolError: Nothing is there.
    """
    try:
        await call.workspace.stat(path)
    except FileMissing:
        message = f"there is no {PurePosixPath(path).as_posix()!r} in the workspace"
        raise ToolError("E_FILE_NOT_FOUND", message) from None


def _back(folder: str, path: str) -> str:
    """Return a workspace path as it is seen from a folder of the workspace."""
    up = ["..", *[".."] * (len(PurePosixPath(folder).parts) - 1)] if folder != "." else ["."]
    return PurePosixPath(*up, path).as_posix()
