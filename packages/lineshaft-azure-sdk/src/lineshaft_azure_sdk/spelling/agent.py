"""The agent that fixes spelling: in the text, or by a word in the list."""

from collections.abc import Mapping
from typing import Annotated, cast

from pydantic import BaseModel, Field

from lineshaft import WorkspacePath, kit
from lineshaft.agents import Budget, PromptTemplate, VerifiedMicroagent
from lineshaft.values import Context
from lineshaft_azure_sdk.files import patch_file
from lineshaft_azure_sdk.spelling.checker import check_spelling
from lineshaft_azure_sdk.spelling.proof import refusal
from lineshaft_azure_sdk.spelling.words import update_cspell_words


class SpellingTask(BaseModel):
    """What the agent is given."""

    files: Annotated[list[WorkspacePath], Field(min_length=1, examples=[["README.md"]])]
    """The files to check."""


class SpellingFix(BaseModel):
    """One word that was corrected in the text."""

    word: str
    replacement: str


class SpellingResult(BaseModel):
    """What was done."""

    fixed: list[SpellingFix]
    """Words that were corrected."""

    added: list[str]
    """Words that were added to the list."""

    summary: str


async def _verify(result: SpellingResult, given: Mapping[str, object], call: Context) -> str | None:
    """Return what is wrong; cspell has the last word."""
    files = cast("list[str]", given["files"])
    return await refusal(call, files, result.added)


spelling = VerifiedMicroagent[SpellingResult](
    name="spelling",
    description="Fix the spelling of files: correct words, or add right ones to cspell's list.",
    instructions=PromptTemplate(
        id="spelling-validation",
        version="1.0.0",
        role="You correct the spelling of the documentation and code of an Azure SDK.",
        task=(
            "Run `azure_sdk__check_spelling` over the files. For each word that it finds decide"
            " from its line: a misspelling is corrected in the text with"
            " `azure_sdk__patch_file`; a name or technical term that is right is added to the list"
            " with `azure_sdk__update_cspell_words`. Check again before you finish."
        ),
        constraints=[
            "Change misspelled words alone; leave every other character as it is.",
            "Never add a misspelling to the list, and write no directive for the checker.",
            "Do not rename public names of code: add those to the list.",
        ],
        output=["Name each word that you corrected, and each that you added to the list."],
    ),
    inputs=SpellingTask,
    tools=[kit.tools("read_file"), patch_file, update_cspell_words, check_spelling],
    budget=Budget(turns=100, seconds=1_800),
    verify=_verify,
    programs=True,
)
