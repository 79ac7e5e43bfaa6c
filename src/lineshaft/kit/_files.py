"""Tools that read and change single files."""

from collections.abc import Sequence
from functools import partial

from anyio import to_thread
from typing_extensions import TypedDict

from lineshaft.errors import FileMissing, TooLarge
from lineshaft.kit._bounds import WHOLE_BYTES, size, too_large
from lineshaft.kit._failures import invalid, raised_by_calls
from lineshaft.kit._replacing import replaced
from lineshaft.kit._results import FileChange, FileText, change
from lineshaft.kit._text import decoded, encoded
from lineshaft.tools import EntryPath, WorkspacePath, tool
from lineshaft.values import (
    Context,
    DecodedText,
    Workspace,
    beginning,
    decoded_text,
    lines_of,
)

READ_BYTES = 50_000
WRITE_BYTES = 100_000
"""Of a model's direct call."""

_LARGE = 100_000
"""Characters, times edits, from which on a thread makes them: the event loop waits for fewer."""


class Edit(TypedDict):
    """One replacement."""

    old: str
    """Exact text that is in the file once."""

    new: str
    """What to put in its place; empty deletes."""


@tool(effect="read", idempotent=True)
async def read_file(
    path: WorkspacePath, call: Context, start: int = 1, end: int | None = None
) -> FileText:
    """Read a text file, or a window of its lines.

    The content comes as it is, without line numbers. A script is given all of it, up to 10 MB; a
    direct call at most 50,000 bytes: where `truncated` is true, go on with `start` at `end + 1`.

    Args:
        path: The file.
        call: The call.
        start: First line; the first line of a file is 1.
        end: Last line, itself included; all lines up to the end where left out.
    """
    if start < 1:
        raise invalid(f"`start` is {start}: the first line is 1")
    if end is not None and end < start:
        raise invalid(f"`end` is {end}, before `start`, which is {start}")
    with raised_by_calls():
        resolved = await call.workspace.resolve(path)
        content = await call.workspace.read(path)
    lines = lines_of(decoded(content.data, resolved.path).text)
    window, truncated = _within(lines[start - 1 : end], call)
    return {
        "path": resolved.path,
        "content": "".join(window),
        "start": start,
        "end": start + len(window) - 1,
        "total_lines": len(lines),
        "sha256": content.sha256,
        "truncated": truncated,
    }


def _within(lines: Sequence[str], call: Context) -> tuple[list[str], bool]:
    """Return the lines whole, or the first that are few enough; of a longer one its head."""
    if call.whole:
        count = sum(map(size, lines))
        if count > WHOLE_BYTES:
            raise too_large(
                f"the text has {count:,} bytes; at most {WHOLE_BYTES:,} are read at once",
                "Read a window of its lines with `start` and `end`.",
            )
        return list(lines), False
    kept: list[str] = []
    left = READ_BYTES
    for line in lines:
        data = line.encode("utf-8", "surrogatepass")
        if len(data) > left:
            head = data[:left].decode("utf-8", "ignore")
            return kept or [beginning(line, len(head), secrets=call.secrets)], True
        kept.append(line)
        left -= len(data)
    return kept, False


@tool(effect="write", idempotent=True, staged=True)
async def write_file(
    path: WorkspacePath, content: str, call: Context, if_match: str | None = None
) -> FileChange:
    """Write a whole text file; folders are created.

    A new file is in UTF-8; one that exists keeps its encoding and byte-order mark. At most 10 MB
    from a script, 100,000 bytes in a direct call. `edit_file` changes a part of a file.

    Args:
        path: The file; what is there is replaced.
        content: All of its new text.
        call: The call.
        if_match: Write only if this is the sha256 of what is there, as `read_file` gave it.
    """
    with raised_by_calls():
        resolved = await call.workspace.resolve(path)
        data = encoded(content, await _written_so_far(call.workspace, path), resolved.path)
        most = WHOLE_BYTES if call.whole else WRITE_BYTES
        if len(data) > most:
            raise too_large(
                f"`content` has {len(data):,} bytes; a file is written with {most:,} at most",
                "Write it in several files, or let a command make it.",
            )
        return change(await call.workspace.write(path, data, if_match=if_match))


async def _written_so_far(workspace: Workspace, path: str) -> DecodedText:
    """Return the text that is at a path, or an empty one in UTF-8 where none is, or none fits."""
    try:
        found = await workspace.read(path, noted=False)
    except (FileMissing, TooLarge):
        return DecodedText("")
    return decoded_text(found.data) or DecodedText("")


@tool(effect="write", staged=True)
async def edit_file(
    path: WorkspacePath,
    call: Context,
    old: str | None = None,
    new: str | None = None,
    *,
    replace_all: bool = False,
    edits: list[Edit] | None = None,
) -> FileChange:
    r"""Replace exact text in a file: one place with `old` and `new`, or several with `edits`.

    Each `old` must be in the file exactly once, unless `replace_all` is true. Several edits are
    made one after the other, all of them or none. An empty `new` deletes. Encoding, line endings
    and a missing last newline stay as they are; write line breaks as `\n`.

    Args:
        path: The file.
        call: The call.
        old: Text that is in the file, to the letter.
        new: What to put in its place.
        replace_all: Replace every place where it is.
        edits: Several replacements, instead of `old` and `new`.
    """
    wanted = _wanted(old, new, edits)
    with raised_by_calls():
        resolved = await call.workspace.resolve(path)
        content = await call.workspace.read(path)
        before = decoded(content.data, resolved.path)
        text = before.text
        most = len(text) + WHOLE_BYTES
        for name, one in wanted:
            where = f"{resolved.path}: {name}" if name else resolved.path
            edit = partial(replaced, every=replace_all, name=where, most=most)
            if len(text) * len(wanted) < _LARGE:
                text = edit(text, one["old"], one["new"])
            else:  # takes its time, and is left behind where the call's is up
                text = await to_thread.run_sync(
                    edit, text, one["old"], one["new"], abandon_on_cancel=True
                )
        data = encoded(text, before, resolved.path)
        return change(await call.workspace.write(path, data, if_match=content.sha256))


def _wanted(
    old: str | None, new: str | None, edits: list[Edit] | None
) -> Sequence[tuple[str, Edit]]:
    if edits is not None and old is None and new is None:
        if not edits:
            raise invalid("`edits` is empty")
        return [(f"edits[{index}]", edit) for index, edit in enumerate(edits)]
    if edits is None and old is not None and new is not None:
        return [("", {"old": old, "new": new})]
    raise invalid("give either `old` and `new`, or `edits`", 'An empty `new` ("") deletes.')


@tool(effect="write", staged=True)
async def move_file(source: EntryPath, target: EntryPath, call: Context) -> FileChange:
    """Move or rename a file or folder; folders on the way are created, nothing is overwritten.

    Args:
        source: What to move; a symlink is moved itself.
        target: Its new path, where nothing may be.
        call: The call.
    """
    with raised_by_calls():
        return change(await call.workspace.move(source, target))


@tool(effect="write", destructive=True, staged=True)
async def delete_file(path: EntryPath, call: Context) -> FileChange:
    """Delete a file, a symlink (not what it leads to) or an empty folder.

    Args:
        path: What to delete.
        call: The call.
    """
    with raised_by_calls():
        return change(await call.workspace.delete(path))
