"""Where the text of a script is touched for an `await`, and how each place is checked first."""

import ast
import re
from dataclasses import dataclass, field

from lineshaft.scripts._awaits_edits import Edits, Text
from lineshaft.scripts._names import Known
from lineshaft.scripts._names_scopes import COMPREHENSIONS, Reading
from lineshaft.values import steadily

_AWAIT = "(await "


@dataclass(slots=True)
class Inserter:
    """Puts `await` and `async` into a script's text."""

    reading: Reading
    edits: Edits
    waited: list[ast.AST] = field(default_factory=list[ast.AST])
    """The script's own `await`s, and the calls that got theirs."""

    def insert(self, call: ast.Call) -> bool:
        """Put `await` before a call; False where its place in the text is not certain."""
        span = self._span(call)
        if span is None:
            return False
        self.edits.wrap(*span, _AWAIT, ")")
        self.waited.append(call)
        return True

    def replace_runner(self, call: ast.Call, *, is_awaited: bool) -> None:
        """Turn `asyncio.run(x)` into `(await     (x))`; it stays where it has options."""
        text, span = self.edits.text, self._span(call)
        if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
            return
        if span is None:
            return
        start, end = span
        after = text.span(call.func)[1]
        spelled = text.data[start:after]
        gap_start = text.span(call.args[0])[1]
        gap = text.data[gap_start:end]
        if b"\n" in spelled or b"#" in gap or not re.fullmatch(_NAME, spelled):
            return
        if b"," in gap:
            comma = gap_start + gap.index(b",")
            self.edits.replace(comma, comma + 1, " ")
        opening = "" if is_awaited else _AWAIT
        self.edits.replace(start, after, opening.ljust(len(spelled)))
        if not is_awaited:
            self.edits.wrap(start, end, "", ")")
        self.waited.append(call)

    def make_async(self, function: ast.FunctionDef) -> None:
        """Turn `def` into `async def`."""
        start, _ = self.edits.text.span(function)
        self.edits.replace(start, start, "async ")

    def make_lists(self) -> None:
        """Turn generator expressions that now wait into lists: `sum([await f(x) for x in y])`."""
        done: set[ast.AST] = set()
        for node in self.waited:
            scope = self.reading.scopes[node]
            while isinstance(scope.node, COMPREHENSIONS) and scope.parent:
                if isinstance(scope.node, ast.GeneratorExp) and scope.node not in done:
                    done.add(scope.node)
                    self._make_list(scope.node)
                scope = scope.parent

    def name_stars(self, known: Known) -> None:
        """Turn `from tools import *` into an import by name, which every engine takes."""
        text = self.edits.text
        for node in self.reading.nodes:
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                members = known.members(node.module or "")
                free = (n.id for n in self.reading.names if n.id in members)
                used = [
                    name for name in dict.fromkeys(free) if name not in self.reading.module.bindings
                ]
                if members:
                    start = text.starts[node.names[0].lineno - 1] + node.names[0].col_offset
                    names = used or sorted(members)[:1]
                    self.edits.replace(start, start + 1, ", ".join(names))

    def _make_list(self, node: ast.GeneratorExp) -> None:
        above, (slot, _) = self.reading.parents[node], self.reading.slots[node]
        is_async = isinstance(above, ast.comprehension) and above.is_async
        if not isinstance(above, _ITERATING) or is_async or slot == "func":
            return
        text = self.edits.text
        start, end = text.span(node)
        if text.data[start : start + 1] == b"(" and text.data[end - 1 : end] == b")":
            self.edits.wrap(start + 1, end - 1, "[", "]")

    def _span(self, call: ast.Call) -> tuple[int, int] | None:
        """Return where a call stands, checked against the text."""
        text = self.edits.text
        start, end = text.span(call)
        if self._is_quoted(call):
            is_there = _is_at(text, call, start, end)
        else:
            is_there = text.data[start:end].startswith((_first_word(call), b"("))
        return (start, end) if is_there else None

    def _is_quoted(self, node: ast.AST) -> bool:
        """Return whether an expression is part of an f-string: older Pythons misplace some."""
        above: ast.AST | None = node
        while isinstance(above, (ast.expr, ast.keyword, ast.comprehension)):
            if isinstance(above, ast.JoinedStr):
                return True
            above = self.reading.parents.get(above)
        return False


_NAME = rb"[\w.\s]+"
_ITERATING = (ast.Call, ast.keyword, ast.Starred, ast.For, ast.comprehension, ast.Compare)


def _first_word(call: ast.Call) -> bytes:
    node: ast.expr = call.func
    while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id.encode() if isinstance(node, ast.Name) else b"("


def _is_at(text: Text, call: ast.Call, start: int, end: int) -> bool:
    """Return whether a span of the text reads as a call."""
    try:
        part = text.data[start:end].decode()
        found = steadily(lambda: ast.parse(part, mode="eval")).body
    except (SyntaxError, ValueError):
        return False
    return ast.dump(found) == ast.dump(call)
