"""A script as written -> the text that the small engine is fed.

The engine differs from Python in ways that can be closed by inserting text. No line is added
inside the script; what is put before it is counted, and taken off again in errors.

* A call that is awaited on the spot, where nothing else could run meanwhile, loses its `await`
  and is answered with its value: one crossing instead of two.
* Any other call is made by `_ls_later`, as a coroutine: nothing is announced to the host
  before somebody awaits it.
* In a plain function a call is answered with its value, unless its coroutine is wanted.
* `e.code`, `repr(e)` and the like look at a caught error through `_ls_te`.
* A statement under a `try` that errors may pass notes its line, see `_marks`.
* The script's value is kept under a name, to ask of what type its parts are.
"""

import ast
import re
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from lineshaft.engines._marks import marked
from lineshaft.engines._prelude import BUILTINS, HELPERS, MODULES, prelude
from lineshaft.engines._reading import ToolCall, read
from lineshaft.engines._remembered import remembered
from lineshaft.values import Program, steadily

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Lowered:
    """Text for the engine, and what must be known of it to understand the engine."""

    text: str
    lines_before: int = 0
    """Lines put before the script."""

    direct: frozenset[Span] = frozenset()
    """Calls to be answered with a value, by their bytes in the text."""

    functions: tuple[tuple[int, int, bool, str], ...] = ()
    """First byte, last byte, "is async" and name of the functions in the text."""

    breaks: tuple[int, ...] = ()
    """Where lines of the text end, by bytes."""

    tools: frozenset[str] = frozenset()
    """Tools that the script names, to be bound before it."""

    later: bool = False
    """Some calls are made by `_ls_later`."""

    passes: Mapping[int, int] = field(default_factory=dict[int, int])
    """Lines of `except`, and where `_ls_at` holds the line of an error that passed it."""

    keeps: bool = False
    """The value is kept as `_ls_value`."""

    def is_direct(self, start: int, end: int) -> bool:
        """Return whether the call at these bytes is answered with a value, not a future."""
        if (start, end) in self.direct:
            return True
        inmost = self._inmost(start, end)
        return inmost is not None and not inmost[2]

    def _inmost(self, start: int, end: int) -> tuple[int, int, bool, str] | None:
        return max((f for f in self.functions if f[0] <= start and end <= f[1]), default=None)

    def name_at(self, line: int) -> str:
        """Return the name of the function that holds a line of the script."""
        end = self.breaks[min(line + self.lines_before, len(self.breaks)) - 1]
        inmost = self._inmost(end, end)
        return inmost[3] if inmost is not None else "<module>"

    def line_at(self, start: int) -> int:
        """Return the script's line that holds a byte of the text."""
        return bisect_left(self.breaks, start) + 1 - self.lines_before


@remembered
def lower(program: Program) -> Lowered:
    """Return a program in the small engine's terms; text that is not Python goes as it is."""
    source = normal(program.source)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = steadily(lambda: ast.parse(source))
            return _Lowering(source, tree, program).result()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Lowered(source, breaks=_breaks(source))


def _breaks(text: str) -> tuple[int, ...]:
    lines = text.encode("utf-8", "replace").split(b"\n")
    return tuple(accumulate((len(line) + 1 for line in lines), initial=-1))[1:]


def normal(source: str) -> str:
    """Return source with the line ends and the beginning that Python reads."""
    return source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


@dataclass(frozen=True, slots=True, order=True)
class _Edit:
    start: int
    rank: int
    """Of several edits at one place: what closes, what opens, what is replaced."""

    turn: int
    end: int
    text: bytes


class _Text:
    """A text and edits to it, all by bytes of the original."""

    def __init__(self, source: str) -> None:
        self.bytes = source.encode()
        self._edits: list[_Edit] = []
        self._lines = [0]
        for line in self.bytes.split(b"\n"):
            self._lines.append(self._lines[-1] + len(line) + 1)

    def span(self, node: ast.expr | ast.stmt) -> Span:
        start = self._lines[node.lineno - 1] + node.col_offset
        last = node.end_lineno or node.lineno
        return start, self._lines[last - 1] + (node.end_col_offset or 0)

    def wrap(self, node: ast.expr, before: str, after: str) -> None:
        start, end = self.span(node)
        turn = len(self._edits)
        self._edits.append(_Edit(start, 1, turn, start, before.encode()))
        self._edits.append(_Edit(end, 0, -turn, end, after.encode()))

    def insert(self, node: ast.stmt, text: str) -> None:
        start, _ = self.span(node)
        self._edits.append(_Edit(start, 1, len(self._edits), start, text.encode()))

    def replace(self, start: int, end: int, text: str = "") -> None:
        self._edits.append(_Edit(start, 2, 0, end, text.encode()))

    def apply(self, before: str) -> tuple[str, "_Shift"]:
        parts = [before.encode()]
        at = 0
        shift = len(parts[0])
        starts: list[int] = []
        shifts = [shift]
        for edit in sorted(self._edits):
            parts += (self.bytes[at : edit.start], edit.text)
            at = edit.end
            shift += len(edit.text) - (edit.end - edit.start)
            starts.append(edit.start)
            shifts.append(shift)
        parts.append(self.bytes[at:])
        return b"".join(parts).decode(), _Shift(starts, shifts)


@dataclass(frozen=True, slots=True)
class _Shift:
    """How far edits moved the bytes of a text."""

    _starts: list[int]
    _shifts: list[int]

    def span(self, span: Span) -> Span:
        start, end = span
        return (
            start + self._shifts[bisect_right(self._starts, start)],
            end + self._shifts[bisect_left(self._starts, end)],
        )


class _Lowering:
    def __init__(self, source: str, tree: ast.Module, program: Program) -> None:
        self._text = _Text(source)
        self._program = program
        self._found = read(tree, program)
        self._direct: list[ast.Call] = []
        self._later = False
        self._views = False
        self._formats = False

    def result(self) -> Lowered:
        for site, node in enumerate(self._found.tries):
            self._mark(site, node)
        for value in self._found.results:
            self._text.wrap(value, "(_ls_value := (", "))")
        for node in self._found.shown:
            self._show(node)
        for node in self._found.looked_at:
            self._look(node)
        for node in self._found.formatted:
            self._format(node)
        for node in self._found.templated:
            self._template(node)
        for call in self._found.calls:
            self._call(call)
        before = self._before()
        text, shift = self._text.apply(before)
        return Lowered(
            text=text,
            lines_before=before.count("\n"),
            direct=frozenset(shift.span(self._text.span(call)) for call in self._direct),
            functions=tuple(
                (
                    *shift.span(self._text.span(node)),
                    isinstance(node, ast.AsyncFunctionDef),
                    getattr(node, "name", "<lambda>"),
                )
                for node in self._found.functions
            ),
            breaks=_breaks(text),
            tools=self._program.tools & self._found.used,
            later=self._later,
            passes={
                handler.lineno: site
                for site, node in enumerate(self._found.tries)
                for handler in node.handlers
            },
            keeps=bool(self._found.results),
        )

    def _mark(self, site: int, node: ast.Try) -> None:
        for part in marked(node.body):
            if isinstance(part, ast.stmt):
                self._text.insert(part, f"_ls_at[{site}]={part.lineno};")
            else:
                self._text.wrap(part, f"(_ls_put({site}, {part.lineno}) or (", "))")

    def _before(self) -> str:
        program = self._program
        free = self._found.used - self._found.imported_first - set(program.inputs)
        modules = {name for name in ("tools", *program.namespaces) if name in free}
        names = (free & {*MODULES, *HELPERS, *BUILTINS, "ToolError"}) - modules - program.tools
        marks = len(self._found.tries)
        return prelude(
            names,
            modules,
            views=self._views,
            formats=self._formats,
            later=self._later,
            marks=marks,
        )

    def _call(self, call: ToolCall) -> None:
        start, _ = self._text.span(call.node)
        if call.way == "later":
            self._make_later(call.node)
        elif call.way == "direct" and call.awaited is None:
            self._direct.append(call.node)
        elif call.way == "direct" and call.awaited is not None:
            begin, _ = self._text.span(call.awaited)
            between = self._text.bytes[begin:start]
            if between.startswith(b"await") and not between[5:].strip(b" \t"):
                self._text.replace(begin, start)
                self._direct.append(call.node)

    def _make_later(self, call: ast.Call) -> None:
        """Turn `tool(x)` into `_ls_later(line, tool, x)`."""
        if len(call.args) == 1 and isinstance(call.args[0], ast.GeneratorExp):
            return
        start, end = self._text.span(call.func)
        rest = self._text.bytes[end:]
        gap = len(rest) - len(rest.lstrip(b" \t"))
        if rest[gap : gap + 1] != b"(":
            return
        self._later = True
        self._text.replace(start, start, f"_ls_later({call.lineno}, ")
        self._text.replace(end, end + gap + 1, ", ")

    def _format(self, node: ast.FormattedValue) -> None:
        """Turn `{x:>5}` into `{_ls_formats(x):>5}`."""
        start, end = self._text.span(node.value)
        around = self._text.bytes[:start].rstrip(b" ")[-1:], self._text.bytes[end : end + 1]
        if around == (b"{", b":") and _is_text_of(self._text.bytes[start:end], node.value):
            self._formats = True
            self._text.wrap(node.value, "_ls_formats(", ")")

    def _template(self, node: ast.expr) -> None:
        start, end = self._text.span(node)
        if _is_text_of(self._text.bytes[start:end], node):
            self._formats = True
            self._text.wrap(node, "_ls_formats(", ")")

    def _show(self, node: ast.FormattedValue) -> None:
        """Turn `{e=}` into `e={e!r}`: what is put around `e` is not to be shown."""
        start, end = self._text.span(node.value)
        text = self._text.bytes[start:end]
        brace = self._text.bytes.rfind(b"{", 0, start)
        between = self._text.bytes[brace + 1 : start]
        equals = _SHOWN.match(self._text.bytes, end)
        if equals is None or between.strip(b" ") or not _is_text_of(text, node.value):
            return
        label = (between + text + equals["sign"]).decode()
        self._text.replace(brace, brace, label.replace("{", "{{").replace("}", "}}"))
        self._text.replace(end, equals.end("sign"), "!r" if equals["next"] == b"}" else "")

    def _look(self, node: ast.expr) -> None:
        start, end = self._text.span(node)
        if _is_text_of(self._text.bytes[start:end], node):
            self._views = True
            self._text.wrap(node, "_ls_te(", ")")


_SHOWN = re.compile(rb"(?P<sign> *= *)(?P<next>[!:}])")
"""Behind an expression in an f-string that is shown with its own text."""


def _is_text_of(text: bytes, node: ast.expr) -> bool:
    """Return whether a node's position is right; inside f-strings it may not be."""
    if isinstance(node, ast.Name):
        return text == node.id.encode()
    try:
        part = text.decode().strip()
        found = steadily(lambda: ast.parse(part, mode="eval")).body
    except (SyntaxError, UnicodeDecodeError):
        return False
    return ast.dump(found) == ast.dump(node)
