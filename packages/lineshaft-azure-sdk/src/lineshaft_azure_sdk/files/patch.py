"""The patch of a customisation: one exact place of a file."""

from collections.abc import Iterator
from itertools import islice
from typing import Literal

from typing_extensions import TypedDict

from lineshaft import ToolError, WorkspacePath, tool
from lineshaft.errors import FileMissing
from lineshaft.values import Context

_SHOWN = 10


class Patch(TypedDict):
    """What came of a patch; one that does not fit is told, and changes nothing."""

    success: bool
    reason: Literal[
        "patched", "missing_file", "not_text", "no_match", "several_matches", "no_change"
    ]
    message: str


@tool(name="azure_sdk.patch_file", effect="write", staged=True)
async def patch_file(path: WorkspacePath, old: str, new: str, call: Context) -> Patch:
    """Replace a text that is in a file exactly once; an empty `new` deletes it.

    Args:
        path: The file.
        old: Text of the file, to the letter; take whole lines.
        new: What to put in its place.
        call: The call.
    """
    if not old:
        raise ToolError("E_INVALID_ARGS", "`old` is empty: give the text to replace")
    try:
        content = await call.workspace.read(path)
    except FileMissing:
        return _told("missing_file", f"there is no file {path!r}")
    try:
        text = content.data.decode("utf-8")
    except UnicodeDecodeError:
        return _told("not_text", f"{path!r} is no text in UTF-8")
    if "\r\n" in text and "\r\n" not in old and not ("\n" in old and old in text):
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    lines = list(islice(_lines(text, old), _SHOWN))
    if not lines:
        near = " but for blanks" if " ".join(old.split()) in " ".join(text.split()) else ""
        said = f"the text is in {path!r}{near}" if near else f"the text is not in {path!r}"
        return _told("no_match", f"{said}: read the lines again and copy them to the letter")
    if len(lines) > 1:
        count = max(text.count(old), len(lines))
        places = ", ".join(map(str, lines))
        return _told(
            "several_matches",
            f"the text is in {path!r} {count} times (lines {places}): take more lines",
        )
    if old == new:
        return _told("no_change", "`old` and `new` are the same")
    data = text.replace(old, new).encode()
    await call.workspace.write(path, data, if_match=content.sha256)
    message = f"{path!r} was patched at line {lines[0]}"
    return {"success": True, "reason": "patched", "message": message}


def _told(reason: str, message: str) -> Patch:
    return {"success": False, "reason": reason, "message": message}  # pyright: ignore[reportReturnType]  one of them


def _lines(text: str, part: str) -> Iterator[int]:
    """Yield the lines at which a part begins, also where it overlaps itself."""
    at = text.find(part)
    while at >= 0:
        yield text.count("\n", 0, at) + 1
        at = text.find(part, at + 1)
