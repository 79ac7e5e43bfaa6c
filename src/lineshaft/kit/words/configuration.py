"""The configuration of cspell that is in force at the root of a workspace, and its words list."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from lineshaft.errors import FileMissing, ToolError, WorkspaceError
from lineshaft.kit.words.jsonc import list_places, read_jsonc
from lineshaft.values import Context

_FIRST = (
    *(".cspell.json", "cspell.json", ".cSpell.json", "cSpell.json"),
    *(".cspell.jsonc", "cspell.jsonc"),
    *(".vscode/cspell.json", ".vscode/cSpell.json", ".vscode/.cspell.json"),
)
_LATER = re.compile(r"(?:\.config/)?\.?c[sS]pell(?:\.config)?\.(?:jsonc?|ya?ml|[cm]?[jt]s|toml)")
"""What cspell looks for after those, in an order of its own."""

MOST_BYTES = 1_000_000
"""The largest configuration that gets words."""

NAMES = re.compile(rf"(?:.*/)?(?:{_LATER.pattern}|\.vscode/\.?c[sS]pell\.json)")
"""Every file that cspell may take for a configuration, in any folder."""

WORD = re.compile(r"[^\W\d_](?:[^\W_]|['.-](?=[^\W_])){1,59}")
"""What can be a word of the list: letters and digits, with single signs between them."""


async def configuration_file(call: Context) -> str:
    """Return the path of the configuration in force, by cspell's own search order.

    Raises:
        ToolError: There is none, or it is none that words are added to.
    """
    if await _has_section_of_package(call):
        raise ToolError(
            "E_PRECONDITION_FAILED",
            "cspell is configured in package.json, to which no words are added",
            hint="move the section into cspell.json",
        )
    for name in _FIRST:
        if await _is_file(call, name):
            return name
    for folder in (".", ".config"):
        if folder != "." and not await _is_folder(call, folder):
            continue
        async for entry in call.workspace.walk(folder, ignore=False, depth=1):
            if entry.kind != "file" or not _LATER.fullmatch(entry.path):
                continue
            if entry.path.endswith((".json", ".jsonc")):
                return entry.path
            raise ToolError(
                "E_PRECONDITION_FAILED",
                f"cspell is configured in {entry.path!r}, to which no words are added",
                hint="have a cspell.json that imports it",
            )
    raise ToolError(
        "E_FILE_NOT_FOUND",
        "there is no configuration of cspell in the workspace",
        hint='make cspell.json with {"version": "0.2", "words": []}',
    )


def with_words(text: str, words: list[str]) -> tuple[str, list[str]]:
    """Return a configuration with words added, comments and order kept, and the new ones.

    Words that are there whatever their case are left out.

    Raises:
        ValueError: It is malformed, or has no list of words.
    """
    found = list_places(text, "words")
    if found is None:
        raise ValueError("it has no list `words`")
    start, end, held = found
    known = {word.casefold() for word in held}
    new = [word for word in dict.fromkeys(words) if word.casefold() not in known]
    new = [w for i, w in enumerate(new) if w.casefold() not in {o.casefold() for o in new[:i]}]
    if not new:
        return text, []
    quoted = [f'"{word}"' for word in new]
    before = text[start + 1 : end]
    gap = before[: len(before) - len(before.lstrip())] if held else _first_gap(text, start)
    if held:
        return text[:end] + "".join(f",{gap}{each}" for each in quoted) + text[end:], new
    closing = gap[:-2] if "\n" in gap else ""
    inside = f",{gap}".join(quoted)
    rest = text[end:].lstrip() if text[end:].lstrip().startswith("]") else text[end:]
    return f"{text[:end]}{gap}{inside}{closing}{rest}", new


def _first_gap(text: str, start: int) -> str:
    line = text[text.rfind("\n", 0, start) + 1 : start]
    indent = line[: len(line) - len(line.lstrip())]
    return f"\n{indent}  " if "\n" in text else ""


def without_words(text: str) -> tuple[Mapping[str, object], list[str]]:
    """Return a configuration but for its words, and the words.

    Raises:
        ValueError: It is malformed.
    """
    document: object = read_jsonc(text)
    if not isinstance(document, dict):
        raise ValueError("it is no object")  # noqa: TRY004  of its content, not of a type
    table = dict(cast("dict[str, object]", document))
    words = cast("list[str]", table.pop("words", []))
    return table, words


async def _has_section_of_package(call: Context) -> bool:
    try:
        text = (await call.workspace.read("package.json")).data.decode("utf-8-sig", "replace")
        document: object = json.loads(text)
    except (WorkspaceError, ToolError, ValueError, RecursionError):
        return False
    return "cspell" in cast("dict[str, object]", document) if isinstance(document, dict) else False


async def _is_file(call: Context, path: str) -> bool:
    """Return whether a file is there, also one that the call may not look into."""
    try:
        return (await call.workspace.stat(path)).kind == "file"
    except FileMissing:
        return False
    except ToolError:
        return _is_on_disk((await call.workspace.resolve(path)).real)


def _is_on_disk(path: str) -> bool:
    return Path(path).is_file()


async def _is_folder(call: Context, path: str) -> bool:
    try:
        return (await call.workspace.stat(path)).kind == "folder"
    except FileMissing:
        return False
