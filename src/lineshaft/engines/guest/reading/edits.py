"""Small insertions into a script's text, and the way back to the columns as written."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

OPEN, CLOSE = 1, 0
"""At one offset the ends of earlier insertions go first."""

_LONG = 60
"""Characters of an expression in a message."""


@dataclass(frozen=True, slots=True, order=True)
class Insertion:
    """SourceText put in at an offset; the text there up to `until` is removed."""

    at: int
    """UTF-8 byte offset in the script."""

    rank: tuple[int, int]
    """Order among edits at one offset."""

    until: int
    text: str


Shift = tuple[int, int, int]
"""One insertion into a line, in characters: its column (1-based, as written), removed, added."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """A script's bytes, addressed by the positions of its syntax tree."""

    data: bytes
    starts: Sequence[int]
    """Offset of each line."""

    is_ascii: bool
    columns: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    """Of the lines asked for: the column of the character that each byte belongs to."""

    @classmethod
    def of(cls, source: str) -> "SourceText":
        """Return a source whose lines end in line feeds only."""
        data = source.encode()
        starts, offset = [0], data.find(b"\n")
        while offset >= 0:
            starts.append(offset + 1)
            offset = data.find(b"\n", offset + 1)
        return cls(data, starts, data.isascii())

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return the start and end of a node."""
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return (
            self.starts[node.lineno - 1] + node.col_offset,
            self.starts[end_line - 1] + end_column,
        )

    def short(self, node: ast.expr) -> str:
        """Return how an expression is written, for a message."""
        if isinstance(node, ast.Lambda):
            return "lambda"
        start, end = self.span(node)
        words = " ".join(self.data[start:end].decode(errors="replace").split())
        return words if len(words) <= _LONG else f"{words[:_LONG].rstrip()}..."

    def position(self, line: int, offset: int) -> tuple[int, int]:
        """Return line and column, 1-based and in characters, of a byte of a line."""
        if self.is_ascii:
            return line, offset + 1
        if line not in self.columns:
            end = self.starts[line] if line < len(self.starts) else len(self.data)
            found = self.data[self.starts[line - 1] : end]
            begins = (byte & 0xC0 != 0x80 for byte in found)
            self.columns[line] = list(accumulate(begins, initial=1))
        return line, self.columns[line][offset]


@dataclass(slots=True)
class Edits:
    """Edits of one script, gathered in any order."""

    text: SourceText
    edits: list[Insertion] = field(default_factory=list[Insertion])

    def wrap(self, start: int, end: int, opening: str, closing: str) -> None:
        """Put text before and after a span."""
        self.edits.append(Insertion(start, (OPEN, -end), start, opening))
        self.edits.append(Insertion(end, (CLOSE, -start), end, closing))

    def replace(self, start: int, end: int, text: str) -> None:
        """Put text in the place of a span."""
        self.edits.append(Insertion(start, (OPEN, -end), end, text))

    def applied(self) -> str:
        """Return the edited text."""
        pieces: list[bytes] = []
        done = 0
        for edit in sorted(self.edits):
            pieces += (self.text.data[done : edit.at], edit.text.encode())
            done = edit.until
        pieces.append(self.text.data[done:])
        return b"".join(pieces).decode()

    def shifts(self) -> dict[int, list[Shift]]:
        """Return the insertions of each line."""
        found: defaultdict[int, list[Shift]] = defaultdict(list)
        line = 0
        for edit in sorted(self.edits):
            while line < len(self.text.starts) and self.text.starts[line] <= edit.at:
                line += 1
            start = self.text.starts[line - 1]
            _, column = self.text.position(line, edit.at - start)
            removed = len(self.text.data[edit.at : edit.until].decode())
            found[line].append((column, removed, len(edit.text)))
        return dict(found)


def as_written(shifts: Iterable[Shift], column: int) -> int:
    """Return the column that a column of the edited line had before."""
    moved = 0
    for shift in shifts:
        at, removed, added = shift
        if column < at + moved:
            break
        if column < at + moved + added:
            return min(column - moved, at + removed)
        moved += added - removed
    return column - moved
