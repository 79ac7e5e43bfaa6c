"""Words of a server's definition that are only its data: files that it keeps, or works on.

What is data may change without a new approval. A word counts as data only if nothing that the
definition starts can take it for a program: it ends as data does or is a folder, no option that
loads something stands before it, and it is not the first that an interpreter is given.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from lineshaft.config.definitions.definition import ServerSetting
from lineshaft.config.definitions.masking import names_data
from lineshaft.values import lazy_pattern

_DATA = frozenset({"db", "sqlite", "sqlite3", "duckdb", "jsonl", "ndjson", "csv", "tsv", "log"})
_INTERPRETER = lazy_pattern(
    r"(python|pypy|perl|ruby|lua|php|node|Rscript)[\d.]*|deno|bun|tsx|ts-node|java|julia|wine|"
    r"(ba|da|z|k|fi|c)?sh|pwsh|powershell|cmd|env|exec|nice|nohup|sudo|time|timeout|xargs|make|uv",
    re.IGNORECASE,
)
_LOADER = lazy_pattern(
    r"-(r|m|c|e|C|f|I|S|x)|--?(require|import|loader|experimental-loader|eval|exec|module|directory|"
    r"project|package|from|with|with-editable|prefix|cwd|script|config|plugin|load|init|rcfile|"
    r"env-file|file|run|start|command)"
)


def words_that_may_start(
    server: ServerSetting, filled: Mapping[str, tuple[str, ...]], folder: Path
) -> Iterator[str]:
    """Yield the words of a definition, but for those that are only data.

    Args:
        server: A server of a project that is started by a command.
        filled: What each of its words may be, filled in.
        folder: Where it is started.
    """
    yield from filled[server.command]
    yield from filled[server.env_file]
    due = _is_interpreter(server.command)
    before = ""
    for word in server.args:
        loads = bool(_LOADER().fullmatch(before.partition("=")[0]))
        name, sign, value = word.partition("=")
        is_option = word.startswith("-")
        of_option = is_option and bool(sign) and not _LOADER().fullmatch(name)
        texts = filled[word]
        if is_option:
            is_data = of_option and _are_data((value,), folder)
        else:
            is_data = not due and not loads and _are_data(texts, folder)
            due = _is_interpreter(word) or (due and loads)
        if not is_data:
            yield from texts
        before = word
    for variable, value in server.env.items():
        if not (names_data(variable) and _are_data(filled[value], folder)):
            yield from filled[value]


def _is_interpreter(word: str) -> bool:
    return bool(_INTERPRETER().fullmatch(os.path.basename(word).removesuffix(".exe")))  # noqa: PTH119  of any system


def _are_data(texts: tuple[str, ...], folder: Path) -> bool:
    return all(_is_data(text, folder) for text in texts)


def _is_data(text: str, folder: Path) -> bool:
    if text.rpartition(".")[2].lower() in _DATA and " " not in text:
        return True
    try:
        return (folder / text).is_dir()
    except (OSError, ValueError):  # a name that nothing can have
        return False
