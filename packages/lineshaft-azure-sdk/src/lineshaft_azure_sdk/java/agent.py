"""The agent that patches Java customisations after the generated code has changed."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import BaseModel, Field

from lineshaft import WorkspacePath, kit
from lineshaft.agents import Budget, PromptTemplate, VerifiedMicroagent
from lineshaft.values import Context
from lineshaft_azure_sdk.changes import changed_files
from lineshaft_azure_sdk.code import without_comments
from lineshaft_azure_sdk.files import patch_file
from lineshaft_azure_sdk.java.build import build_of, compile_java

_TYPE = re.compile(r"\b(?:class|interface|enum|record)\s+(\w+)")
_METHOD = re.compile(r"\b(\w+)\s*\([^()]*\)\s*(?:throws[\w\s.,]+)?\{")
_KEYWORDS = frozenset({"catch", "for", "if", "switch", "synchronized", "try", "while"})
"""They stand before brackets as a method's name does."""


class JavaPatchTask(BaseModel):
    """What the agent is given."""

    package: Annotated[WorkspacePath, Field(examples=["sdk/widget"])]
    """The folder with `pom.xml`."""

    customization: Annotated[WorkspacePath, Field(examples=["sdk/widget/customization"])]
    """The folder of the customisations, the only one that is changed."""


class JavaPatchResult(BaseModel):
    """What was patched."""

    patched: list[str]
    """The files."""

    removed: list[str] = []
    """Types and methods that are gone, by name."""

    summary: str


async def _verify(
    result: JavaPatchResult, given: Mapping[str, object], call: Context
) -> str | None:
    """Return what is wrong; the compiler has the last word."""
    root = PurePosixPath(str(given["customization"]))
    for path, each in (await changed_files(call)).items():
        if not (path.endswith(".java") and PurePosixPath(path).is_relative_to(root)):
            return f"{path} was changed: only Java files below {root} may be"
        if each.after is None:
            return f"{path} was deleted"
        before, after = (without_comments(text, texts=False, java=True) for text in each.texts)
        for pattern in (_TYPE, _METHOD):
            had, has = (set(pattern.findall(text)) - _KEYWORDS for text in (before, after))
            if lost := had - has - set(result.removed):
                return f"{path} lost {', '.join(sorted(lost))}, and `removed` does not name it"
    built = await build_of(call, str(given["package"]))
    return None if built["ok"] else f"it does not compile: {built['output']}"


java_patch = VerifiedMicroagent[JavaPatchResult](
    name="java_patch",
    description="Patch Java customisations until the package compiles again.",
    instructions=PromptTemplate(
        id="java-patch-generation",
        version="1.0.0",
        role="You keep hand-written Java customisations in step with generated code.",
        task=(
            "Compile `package` with `azure_sdk__compile_java`. For each error find the generated"
            " code that changed with `search_text`, read those lines alone, and patch the"
            " customisation with `azure_sdk__patch_file`. Compile again until it succeeds."
        ),
        constraints=[
            "Change files below `customization` alone; generated code stays as it is.",
            "Remove no type or method, unless what it customises is gone: name it in `removed`.",
        ],
        output=["Name the files that you patched."],
    ),
    inputs=JavaPatchTask,
    tools=[kit.tools("read_file", "list_files", "search_text"), patch_file, compile_java],
    budget=Budget(turns=100, seconds=1_800),
    verify=_verify,
    programs=True,
)
