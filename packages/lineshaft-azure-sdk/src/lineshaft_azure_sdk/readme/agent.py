"""The agent that writes the README of a package."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, Field

from lineshaft import WorkspacePath, kit
from lineshaft.agents import Budget, PromptTemplate, VerifiedMicroagent
from lineshaft.errors import WorkspaceError
from lineshaft.values import Context
from lineshaft_azure_sdk.changes import changed_files
from lineshaft_azure_sdk.readme.check import check_readme, report_of

_LEAST = 200


class ReadmeTask(BaseModel):
    """What the agent is given."""

    template: Annotated[WorkspacePath, Field(examples=["eng/README-template.md"])]
    """The template."""

    package: Annotated[WorkspacePath, Field(examples=["sdk/widget"])]
    """The folder of the package."""

    output: Annotated[WorkspacePath, Field(examples=["sdk/widget/README.md"])]
    """The README to write."""

    docs: Annotated[str, Field(examples=["https://learn.microsoft.com/azure/widget"])]
    """The address of the service's documentation."""


class ReadmeResult(BaseModel):
    """What was written."""

    summary: str


async def _verify(result: ReadmeResult, given: Mapping[str, object], call: Context) -> str | None:
    """Return what is wrong with the README that is there now."""
    del result
    path = str(given["output"])
    other = [name for name in await changed_files(call) if name != path]
    if other:
        return f"{other[0]} was changed: only {path} is to be written"
    try:
        size = len((await call.workspace.read(path)).data)
        problems = (await report_of(call, path))["problems"]
    except WorkspaceError as error:
        return f"{path}: {error.message}"
    if size < _LEAST:
        return f"{path} has {size} bytes: that is no README"
    return f"{path}: {'; '.join(problems[:20])}" if problems else None


readme = VerifiedMicroagent[ReadmeResult](
    name="readme",
    description="Write the README of a package from a template; its links and text are checked.",
    instructions=PromptTemplate(
        id="readme-generation",
        version="1.0.0",
        role="You write the README of a package of an Azure SDK.",
        task=(
            "Read the template and the package. Write the README to `output` with `write_file`:"
            " the template's sections, filled in from what the package really has and from `docs`."
            " Check it with `azure_sdk__check_readme`, and mend what that finds."
        ),
        constraints=[
            "Leave no placeholder.",
            "Link to files that are there; write addresses of documentation without a language.",
            "Write `output` alone.",
        ],
        output=["Say in a sentence what you wrote."],
    ),
    inputs=ReadmeTask,
    tools=[
        kit.tools("read_file", "list_files", "search_text", "write_file", "edit_file"),
        check_readme,
    ],
    budget=Budget(turns=100, seconds=1_800),
    verify=_verify,
)
