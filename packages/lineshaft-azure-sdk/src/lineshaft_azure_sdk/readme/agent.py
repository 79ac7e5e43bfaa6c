"""The agent that writes the README of a package."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field

from lineshaft import Tool, WorkspacePath, kit
from lineshaft.agents import Budget, PromptTemplate, VerifiedMicroagent
from lineshaft.errors import WorkspaceError
from lineshaft.values import Context
from lineshaft_azure_sdk.changes import changed_files
from lineshaft_azure_sdk.readme.check import check_readme, report_of
from lineshaft_azure_sdk.readme.links import AskedLinks, check_links

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

    web: bool = False
    """Whether servers are asked for the addresses of the web, which a person is asked about."""


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
        report = await report_of(call, path)
    except WorkspaceError as error:
        return f"{path}: {error.message}"
    if size < _LEAST:
        return f"{path} has {size} bytes: that is no README"
    problems = [*report["problems"]]
    if given.get("web"):
        problems += _not_alive(call, report["unchecked"])
    return f"{path}: {'; '.join(problems[:20])}" if problems else None


def _not_alive(call: Context, addresses: Sequence[str]) -> Iterator[str]:
    """Yield which addresses are dead, as servers said in this run, or were not asked for."""
    asked = AskedLinks.of(call)
    for address in addresses:
        said = asked.said(call.run_id, address)
        if said is None:
            yield f"{address} was not asked for: call azure_sdk__check_links with all addresses"
        elif said["state"] == "dead":
            yield f"{address} leads nowhere: the server answers {said['status']}"


def readme_agent(links: Tool[..., Any] = check_links) -> VerifiedMicroagent[ReadmeResult]:
    """Return the agent that writes a README.

    Args:
        links: The tool that asks servers for addresses.
    """
    return VerifiedMicroagent[ReadmeResult](
        name="readme",
        description="Write the README of a package from a template; links and text are checked.",
        instructions=PromptTemplate(
            id="readme-generation",
            version="1.0.0",
            role="You write the README of a package of an Azure SDK.",
            task=(
                "Read the template and the package. Write the README to `output` with"
                " `write_file`: the template's sections, filled in from what the package really"
                " has and from `docs`. Check it with `azure_sdk__check_readme`, and mend what that"
                " finds. Where `web` is true, give all addresses that it lists as unchecked to one"
                " call of `azure_sdk__check_links`, and replace the dead ones; leave that call out"
                " otherwise."
            ),
            constraints=[
                "Leave no placeholder.",
                "Link to files that are there.",
                "Write addresses of documentation without a language.",
                "Write `output` alone.",
            ],
            output=["Say in a sentence what you wrote."],
        ),
        inputs=ReadmeTask,
        tools=[
            kit.tools("read_file", "list_files", "search_text", "write_file", "edit_file"),
            check_readme,
            links,
        ],
        budget=Budget(turns=100, seconds=1_800),
        verify=_verify,
    )


readme = readme_agent()
