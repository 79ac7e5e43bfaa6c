r"""The five edits of a text file, as text in and text out, after the rules of OpenHands' editor.

Where all line ends of a file are `\r\n`, `\n` in the texts of an edit means them. Otherwise texts
are taken to the letter. `extensions/vscode/src/files/editing.ts` has the same rules.
"""

import difflib
from collections.abc import Sequence

from lineshaft.errors import PreconditionFailed, WorkspaceError
from lineshaft.values import lines_of

MOST_SHOWN = 16_000
"""Characters of a view or a snippet."""

_AROUND = 4
"""Lines that a snippet shows before and after a change."""


def replaced(text: str, old: str | None, new: str | None, path: str) -> str:
    """Return a text with another in place of one that stands in it exactly once.

    Where it does not stand there to the letter, both are tried without white space around them.

    Raises:
        PreconditionFailed: It stands there not once, or nothing would change.
    """
    if not old:
        raise WorkspaceError("`old_str` is empty", hint="use `insert`, or `create` a new file")
    for before, after in ((old, new or ""), (old.strip(), (new or "").strip())):
        before, after = _ends(before, text), _ends(after, text)  # noqa: PLW2901  as the file has them
        count = text.count(before) if before else 0
        if count == 1 and before == after:
            raise PreconditionFailed("`old_str` and `new_str` are the same: nothing would change")
        if count == 1:
            return text.replace(before, after)
        if count > 1:
            lines = ", ".join(str(line) for line in _lines_with(text, before))
            raise PreconditionFailed(
                f"`old_str` is {count} times in {path!r}, in lines {lines}",
                hint="give more of the text around it",
            )
    raise PreconditionFailed(
        f"`old_str` is not in {path!r}",
        hint="view the file and copy the text exactly, indentation included",
    )


def inserted(text: str, line: int | None, new: str | None, path: str) -> str:
    """Return a text with lines put in after a line; each new line gets a line break.

    Raises:
        WorkspaceError: There is no such line.
    """
    lines = lines_of(text)
    if line is None or not 0 <= line <= len(lines):
        raise WorkspaceError(f"`insert_line` of {path!r} is 0 to {len(lines)}, not {line}")
    more = [_ends(f"{each}\n", text) for each in (new or "").split("\n")]
    head = lines[:line]
    if head and not head[-1].endswith("\n"):
        head[-1] += _ends("\n", text)
    return "".join([*head, *more, *lines[line:]])


def with_lines(text: str, content: str, start: int, end: int) -> str:
    """Return a text with some of its lines replaced; lines count from 0, `end` -1 is the last."""
    if start <= 0 and end == -1:
        return content
    lines = lines_of(text)
    tail = [] if end == -1 else lines[max(end, start) :]
    return "".join([*lines[: max(start, 0)], content, *tail])


def window(text: str, start: int, end: int, view: Sequence[int] | None, path: str) -> str:
    """Return some lines of a text.

    Args:
        text: All of it.
        start: First line, from 0.
        end: Line behind the last one; -1: to the end.
        view: First and last line, from 1; -1 as the last: to the end. Wins where it is given.
        path: Of the file, for errors.

    Raises:
        WorkspaceError: `view` names no lines of the file.
    """
    lines = lines_of(text)
    if view is not None:
        first, last = _range(view, len(lines), path)
        return "".join(lines[first - 1 : last])
    return "".join(lines[max(start, 0) :] if end == -1 else lines[max(start, 0) : max(end, 0)])


def viewed(text: str, view: Sequence[int] | None, path: str) -> str:
    """Return lines of a text with their numbers.

    Raises:
        WorkspaceError: `view` names no lines of the file.
    """
    lines = lines_of(text)
    first, last = (1, len(lines)) if view is None else _range(view, len(lines), path)
    return _numbered(lines, first, last)


def snippet(before: str, after: str) -> str:
    """Return the lines around a change, with their numbers."""
    old, new = lines_of(before), lines_of(after)
    same = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), None)
    first = min(len(old), len(new)) if same is None else same
    tail = 0
    while tail < min(len(old), len(new)) - first and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return _numbered(new, max(1, first + 1 - _AROUND), min(len(new), len(new) - tail + _AROUND))


def diff(before: str, after: str, path: str) -> str:
    """Return a change as a unified diff."""
    made = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{path}", f"b/{path}"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in made)


def _ends(part: str, text: str) -> str:
    """Return a part of an edit with the line ends of the file."""
    breaks = text.count("\n")
    if "\r" in part or not breaks or text.count("\r\n") < breaks:
        return part
    return part.replace("\n", "\r\n")


def _lines_with(text: str, part: str) -> list[int]:
    found: list[int] = []
    at = text.find(part)
    while at >= 0:
        found.append(text.count("\n", 0, at) + 1)
        at = text.find(part, at + len(part))
    return found


def _range(view: Sequence[int], count: int, path: str) -> tuple[int, int]:
    first, last = (*view, 0, 0)[:2]
    last = count if last == -1 else last
    if len(view) != 2 or not 1 <= first <= last <= max(count, 1):
        raise WorkspaceError(
            f"`view_range` of {path!r} is two lines of 1 to {count}, the second -1 for the last,"
            f" not {list(view)}"
        )
    return first, last


def _numbered(lines: Sequence[str], first: int, last: int) -> str:
    plain = (line.removesuffix("\n").removesuffix("\r") for line in lines[first - 1 : last])
    text = "\n".join(f"{number:6d}\t{line}" for number, line in enumerate(plain, first))
    if len(text) > MOST_SHOWN:
        text = f"{text[:MOST_SHOWN]}\n[... cut; view fewer lines ...]"
    return text
