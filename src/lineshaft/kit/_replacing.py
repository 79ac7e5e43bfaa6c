r"""Replacement of exact text, with any line breaks in the file.

Text that has no `\r` of its own matches `\n` and `\r\n` alike, and what replaces it gets the line
breaks that the file mostly has. Text with `\r` is taken to the letter.
"""

import re

from lineshaft.errors import ToolError
from lineshaft.kit._failures import invalid

_BREAK = r"(?:\r\n|(?<!\r)\n)"


def replaced(text: str, old: str, new: str, *, every: bool, name: str) -> str:
    """Return a text with another in place of an exact one.

    Args:
        text: Where to look.
        old: What to look for.
        new: What to put there; empty deletes.
        every: Replace all matches; otherwise there must be exactly one.
        name: How the caller knows this edit.

    Raises:
        ToolError: Nothing to look for, nothing found, or several found.
    """
    if not old:
        raise invalid(f"{name}: `old` is empty", "Write a whole file with `write_file`.")
    if old == new:
        raise invalid(f"{name}: `old` and `new` are the same")
    pattern = re.escape(old)
    if "\r" not in old + new:
        pattern = _BREAK.join(map(re.escape, old.split("\n")))
        if text.count("\r\n") * 2 > text.count("\n"):
            new = new.replace("\n", "\r\n")
    found = len(re.findall(f"(?={pattern})", text))
    if found == 0:
        raise ToolError(
            "E_PRECONDITION_FAILED",
            f"{name}: the text of `old` is not in the file",
            hint="Read the file and copy the text exactly, indentation included.",
        )
    if found > 1 and not every:
        raise ToolError(
            "E_PRECONDITION_FAILED",
            f"{name}: the text of `old` is {found} times in the file",
            hint="Give more of the text around it, or set `replace_all`.",
        )
    return re.sub(pattern, lambda _: new, text)
