"""The patch of a customisation: one exact place of a file."""

from typing import Literal

from typing_extensions import TypedDict

from lineshaft import ToolError, WorkspacePath, tool
from lineshaft.errors import FileMissing
from lineshaft.values import Context

_SHOWN = 200


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
    if "\r\n" in text and "\r\n" not in old:
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    count = text.count(old)
    if count == 0:
        near = " but for blanks" if " ".join(old.split()) in " ".join(text.split()) else ""
        said = f"the text is in {path!r}{near}" if near else f"the text is not in {path!r}"
        return _told("no_match", f"{said}: read the lines again and copy them to the letter")
    if count > 1:
        lines = [str(n) for n in _lines(text, old)[:10]]
        return _told(
            "several_matches",
            f"the text is in {path!r} {count} times (lines {', '.join(lines)}): take more lines",
        )
    if old == new:
        return _told("no_change", "`old` and `new` are the same")
    data = text.replace(old, new).encode()
    await call.workspace.write(path, data, if_match=content.sha256)
    place = f"line {_lines(text, old)[0]}"
    return {"success": True, "reason": "patched", "message": f"{path!r} was patched at {place}"}


def _told(reason: str, message: str) -> Patch:
    return {"success": False, "reason": reason, "message": message}  # pyright: ignore[reportReturnType]  one of them


def _lines(text: str, part: str) -> list[int]:
    found: list[int] = []
    at = text.find(part)
    while at >= 0:
        found.append(text.count("\n", 0, at) + 1)
        at = text.find(part, at + 1)
    return found
