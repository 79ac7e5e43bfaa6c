"""The words list of cspell: its place, and a tool that can only add words to it.

Above: packs with spelling checkers; policy, which knows the tool by a mark of its own. Below: the
call's view of the workspace. The tool changes the list of the configuration that is in force and
nothing else in it, so built-in rules do not ask about it where they ask about `.vscode/`.
"""

from lineshaft.kit.words.configuration import NAMES, WORD, with_words, without_words
from lineshaft.kit.words.jsonc import read_jsonc
from lineshaft.kit.words.tool import WordsUpdate, words_tool

__all__ = [
    "NAMES",
    "WORD",
    "WordsUpdate",
    "read_jsonc",
    "with_words",
    "without_words",
    "words_tool",
]
