"""The check of a README: placeholders, addresses of one language, and links that lead nowhere.

Links into the web are listed as unchecked; `check_links` asks for them.
"""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from anyio import to_thread
from typing_extensions import TypedDict

from lineshaft import WorkspacePath, tool
from lineshaft.errors import ToolError, WorkspaceError
from lineshaft.values import Context
from lineshaft_azure_sdk.readme.markdown import Found, Prose

_LOCALE = re.compile(r"/[a-z]{2}-[a-z]{2}(?:/|$)", re.IGNORECASE)
_MOST_BYTES = 1_000_000
_MOST_PROBLEMS = 200
_MOST_LINKS = 2_000
_SHOWN = 200


class ReadmeReport(TypedDict):
    """What was found."""

    problems: list[str]
    """What is wrong, each with its line; the first 200."""

    unchecked: list[str]
    """Addresses of the web, which were not asked for."""


@tool(name="azure_sdk.check_readme", effect="read")
async def check_readme(path: WorkspacePath, call: Context) -> ReadmeReport:
    """Check a README for placeholders, addresses of one language and links that lead nowhere.

    Args:
        path: The README, of 1 MB at most.
        call: The call.
    """
    return await report_of(call, path)


async def report_of(call: Context, path: str) -> ReadmeReport:
    """Check a README.

    Raises:
        ToolError: It is too large.
        WorkspaceError: It cannot be read.
    """
    prose = await prose_of(call, path)
    problems, links = await to_thread.run_sync(_looked_at, prose)
    unchecked: list[str] = []
    known: dict[str, str] = {}
    for found in links:
        target, place = found.text, f"line {prose.line(found)}"
        shown = repr(target if len(target) <= _SHOWN else f"{target[:_SHOWN]}...")
        try:
            parts = urlsplit(target)
        except ValueError:
            problems.append(f"{place}: {shown} is no address")
            continue
        if parts.scheme in ("http", "https"):
            if _LOCALE.search(parts.path):
                problems.append(f"{place}: {shown} is of one language: leave the part out")
            unchecked.append(target)
        elif not parts.scheme:
            if target not in known:
                known[target] = await _dead(call, path, prose, target)
            if known[target]:
                problems.append(f"{place}: {shown} {known[target]}")
    more = len(problems) - _MOST_PROBLEMS
    told = [*problems[:_MOST_PROBLEMS], f"and {more:,} more"] if more > 0 else problems
    return {"problems": told, "unchecked": list(dict.fromkeys(unchecked))}


async def prose_of(call: Context, path: str) -> Prose:
    """Return the text of a README, without its code.

    Raises:
        ToolError: It is too large.
        WorkspaceError: It cannot be read.
    """
    data = (await call.workspace.read(path)).data
    if len(data) > _MOST_BYTES:
        raise ToolError(
            "E_TOO_LARGE",
            f"{path!r} has {len(data):,} bytes: a README of up to {_MOST_BYTES:,} is checked",
            hint="move parts of it to pages of their own",
        )
    return await to_thread.run_sync(Prose, data.decode("utf-8", "replace"))


def _looked_at(prose: Prose) -> tuple[list[str], Sequence[Found]]:
    """Return what is wrong with a text by itself, and its links."""
    problems = [] if prose.headings else ["line 1: there is no heading"]
    problems += [
        f"line {prose.line(found)}: {found.text!r} is a placeholder"
        for found in prose.placeholders()
    ]
    links = list(prose.links())
    if len(links) > _MOST_LINKS:
        problems.append(f"there are {len(links):,} links: up to {_MOST_LINKS:,} are checked")
    return problems, links[:_MOST_LINKS]


async def _dead(call: Context, path: str, prose: Prose, target: str) -> str:
    """Return why a link into the workspace leads nowhere; nothing where it does not."""
    place, _, anchor = target.partition("#")
    name, anchor = unquote(place.partition("?")[0]), unquote(anchor)
    if name:
        base = PurePosixPath(path).parent
        place = (base / name).as_posix() if not name.startswith("/") else name.lstrip("/")
        try:
            entry = await call.workspace.stat(place)
            if not anchor or entry.kind != "file" or not place.endswith(".md"):
                return ""
            prose = await prose_of(call, place)
        except (WorkspaceError, ToolError):
            return "leads to no file"
    return "" if not anchor or anchor in prose.anchors else "leads to no heading"
