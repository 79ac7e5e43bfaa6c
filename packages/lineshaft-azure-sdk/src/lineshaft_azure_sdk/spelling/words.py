"""The tool that adds words to the list of cspell, and can do nothing else to its configuration."""

from typing_extensions import TypedDict

from lineshaft import ToolError, WorkspacePath, tool
from lineshaft.values import Context
from lineshaft_azure_sdk.spelling.configuration import WORD, configuration_file, with_words

_MOST = 100


class WordsUpdate(TypedDict):
    """What was added."""

    path: str
    """The configuration."""

    added: list[str]
    """The words that were not there yet."""


@tool(name="azure_sdk.update_cspell_words", effect="write", staged=True)
async def update_cspell_words(
    words: list[str], call: Context, path: WorkspacePath | None = None
) -> WordsUpdate:
    """Add words to the list of cspell: names and terms that are right. Never a misspelling.

    Comments, order and all other settings stay as they are.

    Args:
        words: The words, one by one.
        call: The call.
        path: The configuration that is in force, where it is in `.vscode`; a person is asked then.
    """
    if not words or len(words) > _MOST:
        raise ToolError("E_INVALID_ARGS", f"`words` has {len(words)} words: 1 to {_MOST}")
    for word in words:
        if not WORD.fullmatch(word):
            raise ToolError("E_INVALID_ARGS", f"{word!r} is no word", hint="letters and digits")
    found = await configuration_file(call)
    if path is not None and (await call.workspace.resolve(path)).path != found:
        raise ToolError("E_INVALID_ARGS", f"the configuration in force is {found!r}")
    if path is None and found.startswith(".vscode/"):
        raise ToolError(
            "E_DENIED", f"a change of {found!r} is asked about", hint=f"give path={found!r}"
        )
    content = await call.workspace.read(found)
    text = content.data.decode("utf-8", "surrogateescape")
    try:
        changed, new = with_words(text, words)
    except ValueError as error:
        raise ToolError("E_PRECONDITION_FAILED", f"{found!r} is malformed: {error}") from error
    if new:
        data = changed.encode("utf-8", "surrogateescape")
        await call.workspace.write(found, data, if_match=content.sha256)
    return {"path": found, "added": new}
