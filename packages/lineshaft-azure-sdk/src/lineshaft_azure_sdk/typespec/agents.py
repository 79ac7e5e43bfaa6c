"""The agents for TypeSpec: customisation of a client, and repair of what does not compile."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, Field

from lineshaft import WorkspacePath, kit
from lineshaft.agents import Budget, PromptTemplate, VerifiedMicroagent
from lineshaft.values import Context
from lineshaft_azure_sdk.files import patch_file
from lineshaft_azure_sdk.typespec.compiler import compile_typespec
from lineshaft_azure_sdk.typespec.proof import refusal

_EXAMPLE = "specification/widget/Widget/client.tsp"


class CustomizationTask(BaseModel):
    """What the agent for customisations is given."""

    path: Annotated[WorkspacePath, Field(examples=[_EXAMPLE])]
    """The entry, most often `client.tsp`."""

    request: Annotated[str, Field(examples=["Rename Widget to Gadget in the Python client."])]
    """What the client should look like."""


class RepairTask(BaseModel):
    """What the agent for repairs is given."""

    path: Annotated[WorkspacePath, Field(examples=[_EXAMPLE])]
    """The entry that does not compile."""


class CustomizationResult(BaseModel):
    """What was customised."""

    changes: list[str]
    """What was changed, a sentence each."""

    removed: list[str] = []
    """Declarations that are gone (`Widget`), decorators of which there are fewer (`@@access`)."""


class RepairResult(BaseModel):
    """What was repaired."""

    repaired: list[str]
    """The causes, a sentence each."""

    removed: list[str] = []
    """Declarations that are gone (`Widget`), decorators of which there are fewer (`@@access`)."""


async def _verify(
    result: CustomizationResult | RepairResult, given: Mapping[str, object], call: Context
) -> str | None:
    """Return what is wrong; the compiler has the last word."""
    return await refusal(call, str(given["path"]), result.removed)


_CONSTRAINTS = (
    "Change `.tsp` files alone.",
    "Import no JavaScript, and suppress nothing.",
    "Remove nothing unless it is asked for; name in `removed` what is gone.",
)
_TOOLS = (
    kit.tools("read_file", "list_files", "search_text", "write_file"),
    patch_file,
    compile_typespec,
)
_BUDGET = Budget(turns=100, seconds=1_800)

typespec_customization = VerifiedMicroagent[CustomizationResult](
    name="typespec_customization",
    description="Customise the client of a TypeSpec project; the compiler has the last word.",
    instructions=PromptTemplate(
        id="typespec-customization",
        version="1.0.0",
        role="You customise clients that are generated from TypeSpec.",
        task=(
            "Read the entry and what it imports. Make the change that `request` asks for in"
            " `client.tsp`, with decorators such as `@@clientName`. Compile with"
            " `azure_sdk__compile_typespec`, and mend what it finds, until it accepts the project."
        ),
        constraints=_CONSTRAINTS,
        output=["Name each change in a sentence."],
    ),
    inputs=CustomizationTask,
    tools=_TOOLS,
    budget=_BUDGET,
    verify=_verify,
    programs=True,
)

typespec_repair = VerifiedMicroagent[RepairResult](
    name="typespec_repair",
    description="Repair a TypeSpec project that does not compile, driven by the compiler's errors.",
    instructions=PromptTemplate(
        id="typespec-repair",
        version="1.0.0",
        role="You repair TypeSpec.",
        task=(
            "Compile the entry with `azure_sdk__compile_typespec`. Look at the lines of the first"
            " error, find its cause, mend it with the smallest patch, and compile again, until the"
            " compiler accepts the project."
        ),
        constraints=_CONSTRAINTS,
        output=["Name each cause in a sentence."],
    ),
    inputs=RepairTask,
    tools=_TOOLS,
    budget=_BUDGET,
    verify=_verify,
    programs=True,
)
