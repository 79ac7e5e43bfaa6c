"""Changes as one text: a unified diff that `git apply` takes, of a bounded size."""

import difflib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from lineshaft.values import Change, Content, Struct, first_few
from lineshaft.workspace.disk import NOTHING, Decided, FileState, Mounts, Place
from lineshaft.workspace.staging.overlay import Overlay

MOST_CHARACTERS = 200_000
_MOST_BYTES = 1_000_000
"""Of a file that is compared line by line."""

_MOST_PAIRS = 4_000_000
"""Lines times lines, beyond which all lines are shown as gone and come."""

_MOST_STEPS = 50_000_000
"""The same where lines repeat; a second or so."""

_MANY_LINES = 200
"""From so many on, `difflib` leaves out lines that make up more than a hundredth."""

_FILE_TYPE = 0o100000


class DiffEntry(Struct, frozen=True, kw_only=True):
    """One change, and the contents on both sides."""

    change: Change
    before: FileState
    """For a moved file, the content at its former path."""

    after: FileState
    old: Callable[[], bytes]
    new: Callable[[], bytes]


def unified(changes: Iterable[DiffEntry]) -> str:
    """Return changes as one unified diff; its end names the parts left out."""
    parts: list[str] = []
    left = MOST_CHARACTERS
    left_out: list[str] = []
    for changed in changes:
        text = "".join(map("".join, map(_one, _by_kind(changed)))) if not left_out else ""
        if left_out or len(text) > left:
            left_out.append(_quoted(changed.change.path))
            continue
        left -= len(text)
        parts.append(text)
    if left_out:
        named = first_few(left_out, 20)
        parts.append(f"The diff is cut at {MOST_CHARACTERS:,} characters; left out: {named}\n")
    return "".join(parts)


def _by_kind(changed: DiffEntry) -> Sequence[DiffEntry]:
    """Return one change, or, where one kind of thing takes the place of another, two, as git."""
    before, after = changed.before, changed.after
    if before.kind == after.kind or "missing" in (before.kind, after.kind):
        return (changed,)
    goes = replace(changed, change=replace(changed.change, kind="deleted"), after=NOTHING)
    comes = replace(changed, change=replace(changed.change, kind="created"), before=NOTHING)
    return goes, comes


def _one(changed: DiffEntry) -> Iterator[str]:
    change = changed.change
    old, new = change.moved_from or change.path, change.path
    if "folder" in (changed.before.kind, changed.after.kind):
        yield f"Folder {_quoted(new)} {change.kind}\n"
        return
    yield f"diff --git {_quoted(f'a/{old}')} {_quoted(f'b/{new}')}\n"
    yield from _extended(changed, old, new)
    if changed.before.like(changed.after):
        return
    texts = _texts(changed)
    if texts is None:
        yield f"Binary files {_side('a', old, changed.before)} and"
        yield f" {_side('b', new, changed.after)} differ\n"
        return
    before, after = texts
    if before or after:
        yield f"--- {_side('a', old, changed.before)}\n+++ {_side('b', new, changed.after)}\n"
        yield from _hunks(before, after)


def _side(side: str, path: str, thing: FileState) -> str:
    return "/dev/null" if thing.kind == "missing" else _quoted(f"{side}/{path}")


def _quoted(path: str) -> str:
    """Return a name as git writes it: one that could pass for more of a diff is quoted."""
    if path.isprintable() and '"' not in path and "\\" not in path:
        return path
    return f'"{"".join(map(_escaped, path))}"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    plain = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(char)
    return plain or "".join(f"\\{byte:03o}" for byte in char.encode(errors="surrogateescape"))


def _extended(changed: DiffEntry, old: str, new: str) -> Iterator[str]:
    before, after = changed.before, changed.after
    if before.kind == "missing":
        yield f"new file mode {_mode(after)}\n"
    elif after.kind == "missing":
        yield f"deleted file mode {_mode(before)}\n"
    elif _mode(before) != _mode(after):
        yield f"old mode {_mode(before)}\nnew mode {_mode(after)}\n"
    if old != new:
        yield f"rename from {_quoted(old)}\nrename to {_quoted(new)}\n"


def _mode(thing: FileState) -> str:
    if thing.kind == "symlink":
        return "120000"
    return f"{_FILE_TYPE | (0o644 if thing.mode is None else thing.mode):06o}"


def _texts(changed: DiffEntry) -> tuple[list[str], list[str]] | None:
    """Return the lines of both sides; None where they are no texts, or too long to compare."""
    if max(changed.before.size, changed.after.size) > _MOST_BYTES:
        return None
    try:
        return _lines(changed.before, changed.old), _lines(changed.after, changed.new)
    except UnicodeDecodeError:
        return None


def _lines(thing: FileState, content: Callable[[], bytes]) -> list[str]:
    if thing.kind == "symlink":
        return (thing.target or "").split("\n")
    if thing.kind != "file":
        return []
    data = content()
    if b"\0" in data:
        raise UnicodeDecodeError("utf-8", data, 0, 1, "a NUL character")
    return data.decode().split("\n") if data else []


def _hunks(before: list[str], after: list[str]) -> Iterator[str]:
    old, new = _ended(before), _ended(after)
    if len(old) * len(new) > _MOST_PAIRS or _steps(old, new) > _MOST_STEPS:
        yield f"@@ -{_range(old)} +{_range(new)} @@\n"
        yield from (_line("-", line) for line in old)
        yield from (_line("+", line) for line in new)
        return
    for number, line in enumerate(difflib.unified_diff(old, new, lineterm="\n")):
        if number >= 2:
            yield line if line.startswith("@@") else _line(line[0], line[1:])


def _steps(old: list[str], new: list[str]) -> int:
    """Return how many steps `difflib` takes at most: equal pairs of lines, for each match."""
    here, there = Counter(old), Counter(new)
    popular = len(new) // 100 + 1 if len(new) >= _MANY_LINES else len(new)
    pairs = sum(here[line] * count for line, count in there.items() if count <= popular)
    return (pairs + len(old)) * min(len(old), len(new))


def _ended(lines: list[str]) -> list[str]:
    """Return lines with their ends; the last one has none where the file has none."""
    whole = [f"{line}\n" for line in lines[:-1]]
    return [*whole, lines[-1]] if lines and lines[-1] else whole


def _line(sign: str, line: str) -> str:
    return (
        f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"
    )


def _range(lines: list[str]) -> str:
    return f"1,{len(lines)}" if lines else "0,0"


def stage_diff(
    changes: Iterable[Change],
    overlay: Overlay,
    mounts: Mounts,
    before: Callable[[str], Content | None],
) -> str:
    """Return changes as a diff of a bounded size.

    Args:
        changes: The changes that have not landed.
        overlay: Holds them.
        mounts: The mounts that resolve paths.
        before: Returns a file's content before.
    """

    def at(path: str) -> Place:
        return mounts.place(Decided(path))

    def old(path: str) -> bytes:
        content = before(Decided(path))
        return b"" if content is None else content.data

    def new(path: str) -> bytes:
        return overlay.read(at(path))

    return unified(
        DiffEntry(
            change=change,
            before=overlay.was(at(change.moved_from or change.path)),
            after=overlay.will_be(at(change.path)),
            old=partial(old, change.moved_from or change.path),
            new=partial(new, change.path),
        )
        for change in changes
    )
