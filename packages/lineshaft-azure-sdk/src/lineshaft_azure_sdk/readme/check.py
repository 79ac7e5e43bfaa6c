"""The check of a README: placeholders, addresses of one language, and links that lead nowhere.

Links into the web are listed as unchecked: asking for them is for a person or a build.
"""

import re
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from typing_extensions import TypedDict

from lineshaft import WorkspacePath, tool
from lineshaft.errors import ToolError, WorkspaceError
from lineshaft.values import Context

_CODE = re.compile(
    r"^(`{3,}|~{3,}).*?^\1`*\s*$|(?<!`)(`+)(?!`).+?(?<!`)\2(?!`)", re.MULTILINE | re.DOTALL
)
_PLACEHOLDER = re.compile(
    r"\{\{[^}]*\}\}|\bTODO\b|\bFIXME\b|\bTBD\b|<(?:your|insert|placeholder)[^>]*>"
    r"|\[(?:insert|placeholder|your)[^\]]*\](?!\()|\bLorem ipsum\b",
    re.IGNORECASE,
)
_LINK = re.compile(
    r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+[\"'][^)]*)?\)|^\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)",
    re.MULTILINE,
)
_LOCALE = re.compile(r"/[a-z]{2}-[a-z]{2}(?:/|$)", re.IGNORECASE)
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)
_ANCHOR = re.compile(r"<a\s+(?:name|id)=[\"']([^\"']+)", re.IGNORECASE)


class ReadmeReport(TypedDict):
    """What was found."""

    problems: list[str]
    """What is wrong, each with its line."""

    unchecked: list[str]
    """Addresses of the web, which were not asked for."""


@tool(name="azure_sdk.check_readme", effect="read")
async def check_readme(path: WorkspacePath, call: Context) -> ReadmeReport:
    """Check a README for placeholders, addresses of one language and links that lead nowhere.

    Args:
        path: The README.
        call: The call.
    """
    return await report_of(call, path)


async def report_of(call: Context, path: str) -> ReadmeReport:
    """Check a README.

    Raises:
        WorkspaceError: It cannot be read.
    """
    text = (await call.workspace.read(path)).data.decode("utf-8", "replace")
    prose = _CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    problems: list[str] = []
    unchecked: list[str] = []
    if not _HEADING.search(prose):
        problems.append("line 1: there is no heading")
    problems += [
        f"line {_line(prose, found)}: {found[0]!r} is a placeholder"
        for found in _PLACEHOLDER.finditer(prose)
    ]
    for found in _LINK.finditer(prose):
        target = found[1] or found[2]
        place = f"line {_line(prose, found)}"
        parts = urlsplit(target)
        if parts.scheme in ("http", "https"):
            if _LOCALE.search(parts.path):
                problems.append(f"{place}: {target!r} is of one language: leave the part out")
            unchecked.append(target)
        elif not parts.scheme and (said := await _dead(call, path, prose, target)):
            problems.append(f"{place}: {said}")
    return {"problems": problems, "unchecked": list(dict.fromkeys(unchecked))}


async def _dead(call: Context, path: str, prose: str, target: str) -> str:
    """Return why a link into the workspace leads nowhere; nothing where it does not."""
    name, _, anchor = unquote(target).partition("#")
    text = prose
    if name:
        base = PurePosixPath(path).parent
        place = (base / name).as_posix() if not name.startswith("/") else name.lstrip("/")
        try:
            entry = await call.workspace.stat(place)
            if not anchor or entry.kind != "file" or not place.endswith(".md"):
                return ""
            text = (await call.workspace.read(place)).data.decode("utf-8", "replace")
        except (WorkspaceError, ToolError):
            return f"{target!r} leads to no file"
    anchors = {*map(_slug, _HEADING.findall(text)), *_ANCHOR.findall(text)}
    return "" if not anchor or anchor in anchors else f"{target!r} leads to no heading"


def _slug(heading: str) -> str:
    """Return the anchor of a heading, as code hosts make it."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def _line(text: str, found: "re.Match[str]") -> int:
    return text.count("\n", 0, found.start()) + 1
