"""cspell over some files of the workspace, as the run has them or as the disk has them."""

import json
import re
from collections.abc import Mapping, Sequence

from typing_extensions import TypedDict

from lineshaft import ToolError, WorkspacePath, tool
from lineshaft.kit.view import run_in_view
from lineshaft.values import Context
from lineshaft_azure_sdk.programs import node_program

_SECONDS = 300.0
_FINDING = re.compile(
    r"(?P<path>.+?):(?P<line>\d+):(?P<column>\d+) - (?:Unknown|Forbidden|Misspelled) word"
    r" \((?P<word>.*?)\)(?: -- .*?)?(?: fix: \((?P<fix>.*)\))?(?: Suggestions: .*)?\s*"
)
_CHECKED = re.compile(r"CSpell: Files checked: (\d+)")
_OWN = ".lineshaft-cspell"
_ALL: Mapping[str, bytes | None] = {
    f"{_OWN}/configstore/cspell.json": json.dumps(
        {"maxNumberOfProblems": 1_000_000, "maxDuplicateProblems": 1_000_000}
    ).encode()
}
"""Settings of a user, over cspell's own: that stops at 5 places of a word, and 100 of a file."""


class Misspelling(TypedDict):
    """One word that cspell does not know."""

    path: str
    line: int
    """1-based."""

    column: int
    """1-based."""

    word: str
    fix: str
    """The word that cspell is sure of; empty where it is not."""


class SpellingReport(TypedDict):
    """What cspell says."""

    checked: int
    """Files that were really checked."""

    findings: list[Misspelling]


@tool(
    name="azure_sdk.check_spelling",
    effect="exec",
    jailed=True,
    viewed=True,
    needs_disk=False,
    seconds=_SECONDS,
)
async def check_spelling(files: list[WorkspacePath], call: Context) -> SpellingReport:
    """Check the spelling of files with cspell and the configuration of the workspace.

    Args:
        files: The files.
        call: The call.
    """
    return await spelling_of(call, files)


async def spelling_of(
    call: Context,
    files: Sequence[str],
    *,
    instead: Mapping[str, bytes | None] | None = None,
    everywhere: bool = False,
) -> SpellingReport:
    """Run cspell.

    Args:
        call: The call.
        files: What to check, each once.
        instead: Contents that take the place of the workspace's; None: no file is there.
        everywhere: Whether a word is told at every place where it stands, not at the first five.

    Raises:
        ToolError: It could not be run.
    """
    named = list(dict.fromkeys(files))
    if not named:
        raise ToolError("E_INVALID_ARGS", "`files` is empty: name the files to check")
    program = await node_program(call, "cspell")
    quiet = ("lint", "--no-progress", "--no-color", "--dot", "--no-cache", "--reporter=default")
    given = [f"--file={path}" for path in named]
    env = {"XDG_CONFIG_HOME": _OWN} if everywhere else None
    options = program.options(*quiet, *given, seconds=_SECONDS, env=env)
    extra = {**(instead or {}), **(_ALL if everywhere else {})}
    seen = await run_in_view(call, options, extra=extra)
    checked = _CHECKED.search(seen.result.stderr)
    said = (seen.result.stderr or seen.result.stdout)[-500:].strip()
    if (checked is None and said) or seen.result.stdout_truncated:
        raise ToolError("E_TOOL_FAILED", f"cspell did not come to an end: {said}")
    return {
        "checked": 0 if checked is None else int(checked[1]),  # it says nothing of no files
        "findings": [
            {
                "path": found["path"].removeprefix("./"),
                "line": int(found["line"]),
                "column": int(found["column"]),
                "word": found["word"],
                "fix": found["fix"] or "",
            }
            for line in seen.result.stdout.splitlines()
            if (found := _FINDING.fullmatch(line))
        ],
    }
