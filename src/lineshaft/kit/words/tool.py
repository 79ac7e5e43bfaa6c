"""The tool that adds words to the list of cspell, and can do nothing else to its configuration."""

from typing import Any

from typing_extensions import TypedDict

from lineshaft.errors import ToolError
from lineshaft.kit.words.configuration import MOST_BYTES, WORD, configuration_file, with_words
from lineshaft.tools import Tool, WorkspacePath, tool
from lineshaft.values import Context

_MOST = 100


class WordsUpdate(TypedDict):
    """The words that were added."""

    path: str
    """The configuration."""

    added: list[str]
    """The words that were not there yet."""


@tool(effect="write", staged=True)
async def add_words(
    words: list[str], call: Context, path: WorkspacePath | None = None
) -> WordsUpdate:
    """Add words to the list of cspell: names and terms that are right. Never a misspelling.

    Comments, order and all other settings stay as they are.

    Args:
        words: The words, one by one.
        call: The call.
        path: The configuration that is in force, where rules are to look at it.
    """
    if not words or len(words) > _MOST:
        raise ToolError("E_INVALID_ARGS", f"`words` has {len(words)} words: 1 to {_MOST}")
    for word in words:
        if not WORD.fullmatch(word):
            raise ToolError("E_INVALID_ARGS", f"{word!r} is no word", hint="letters and digits")
    found = await configuration_file(call)
    if (await call.workspace.resolve(found)).path != found:
        raise ToolError(
            "E_PRECONDITION_FAILED",
            f"{found!r} is a symlink, to which no words are added",
            hint="put the configuration in its place",
        )
    if path is not None and (await call.workspace.resolve(path)).path != found:
        raise ToolError("E_INVALID_ARGS", f"the configuration in force is {found!r}")
    try:
        content = await call.workspace.read(found)
    except ToolError as error:
        if path is None and error.code == "E_DENIED":
            raise ToolError(
                "E_DENIED", f"policy asks about {found!r}", hint=f"give path={found!r}"
            ) from error
        raise
    if len(content.data) > MOST_BYTES:
        raise ToolError(
            "E_TOO_LARGE",
            f"{found!r} is larger than {MOST_BYTES // 1_000_000} MB: no words are added to it",
            hint="keep the words in a file of their own, or split the configuration",
        )
    text = content.data.decode("utf-8", "surrogateescape")
    try:
        changed, new = with_words(text, words)
    except ValueError as error:
        raise ToolError("E_PRECONDITION_FAILED", f"{found!r} is malformed: {error}") from error
    if new:
        data = changed.encode("utf-8", "surrogateescape")
        await call.workspace.write(found, data, if_match=content.sha256)
    return {"path": found, "added": new}


def words_tool(name: str) -> Tool[..., Any]:
    """Return the tool that adds words to the list of cspell.

    A call in mode `auto` is not asked about, also where the list is in `.vscode/`: built-in rules
    leave this tool out, and no other tool.

    Args:
        name: Its canonical name, with the namespace of the pack.

    Raises:
        ConfigError: The name is none.
    """
    return add_words.counted_as_words_only().with_name(name)
