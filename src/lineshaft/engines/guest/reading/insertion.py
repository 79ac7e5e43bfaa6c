"""The places where the text of a script is touched for an `await`."""

import ast
from dataclasses import dataclass, field

from .edits import Edits
from .scopes import COMPREHENSIONS, Outline


@dataclass(slots=True)
class Inserter:
    """Puts `await` and `async` into a script's text."""

    outline: Outline
    edits: Edits
    waited: list[ast.AST] = field(default_factory=list[ast.AST])
    """The script's own `await`s, and the calls that got theirs."""

    def insert(self, call: ast.Call) -> None:
        """Put `await` before a call."""
        self.edits.wrap(*self.edits.text.span(call), "(await ", ")")
        self.waited.append(call)

    def make_async(self, function: ast.FunctionDef) -> None:
        """Turn `def` into `async def`."""
        start, _ = self.edits.text.span(function)
        self.edits.replace(start, start, "async ")

    def make_lists(self) -> None:
        """Turn generator expressions that now wait into lists: `sum([await f(x) for x in y])`."""
        done: set[ast.AST] = set()
        for node in self.waited:
            scope = self.outline.scope(node)
            while isinstance(scope.node, COMPREHENSIONS) and scope.parent:
                if isinstance(scope.node, ast.GeneratorExp) and scope.node not in done:
                    done.add(scope.node)
                    self._make_list(scope.node)
                scope = scope.parent

    def _make_list(self, node: ast.GeneratorExp) -> None:
        above, slot = self.outline.above(node), self.outline.field(node)
        is_async = isinstance(above, ast.comprehension) and above.is_async
        if not isinstance(above, _ITERATING) or is_async or slot == "func":
            return
        text = self.edits.text
        start, end = text.span(node)
        if text.data[start : start + 1] == b"(" and text.data[end - 1 : end] == b")":
            self.edits.wrap(start + 1, end - 1, "[", "]")


_ITERATING = (ast.Call, ast.keyword, ast.Starred, ast.For, ast.comprehension, ast.Compare)
