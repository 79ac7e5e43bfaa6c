"""The places where the text of a script is touched for an `await`."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .edits import Edits
from .places import Places, goes_over_async
from .printed_texts import keep_printed_text, values_around
from .scopes import COMPREHENSIONS, Outline


@dataclass(slots=True)
class Inserter:
    """Puts `await` and `async` into a script's text."""

    places: Places
    edits: Edits
    sites: Mapping[ast.AST, Sequence[ast.Call]] = field(
        default_factory=dict[ast.AST, Sequence[ast.Call]]
    )
    """Direct calls of each function."""

    waited: list[ast.AST] = field(default_factory=list[ast.AST])
    """The script's own `await`s, and the calls that got theirs."""

    printed: set[ast.FormattedValue] = field(default_factory=set[ast.FormattedValue])
    """The values in f-strings with such a call."""

    @property
    def _outline(self) -> Outline:
        return self.places.resolver.outline

    def insert(self, call: ast.Call) -> None:
        """Put `await` before a call."""
        self.edits.wrap(*self.edits.text.span(call), "(await ", ")")
        self.waited.append(call)
        for value in values_around(call, self._outline):
            if value not in self.printed:
                self.printed.add(value)
                keep_printed_text(value, self._outline, self.edits)

    def make_async(self, function: ast.FunctionDef) -> None:
        """Turn `def` into `async def`."""
        start, _ = self.edits.text.span(function)
        self.edits.replace(start, start, "async ")

    def make_lists(self) -> None:
        """Turn generator expressions that now wait into lists: `sum([await f(x) for x in y])`."""
        done: set[ast.AST] = set()
        for node in self.waited:
            scope = self._outline.scope(node)
            while isinstance(scope.node, COMPREHENSIONS) and scope.parent:
                if isinstance(scope.node, ast.GeneratorExp) and scope.node not in done:
                    done.add(scope.node)
                    self._make_list(scope.node)
                scope = scope.parent

    def _make_list(self, node: ast.GeneratorExp) -> None:
        uses = self._uses(node)
        if any(map(self._takes_async, uses)) or not any(map(self._goes_over, uses)):
            return
        opening, closing = ("iter([", "])") if any(map(self._is_advanced, uses)) else ("[", "]")
        text = self.edits.text
        start, end = text.span(node)
        if text.data[start : start + 1] == b"(" and text.data[end - 1 : end] == b")":
            self.edits.wrap(start + 1, end - 1, opening, closing)

    def _uses(self, node: ast.expr) -> list[ast.expr]:
        """Return a value's places: its own, those of its names, and what calls make of them."""
        uses: list[ast.expr] = [node]
        seen: set[ast.AST] = {node}
        for use in uses:
            above = self._outline.above(use)
            found: Sequence[ast.expr] = self.places.uses(use)
            if isinstance(above, ast.Return):
                found = self.sites.get(self._outline.scope(above).function.node, ())
            elif isinstance(above, _ONWARD) and self._outline.field(use) != "test":
                found = [above]
            uses += (each for each in found if each not in seen)
            seen.update(found)
        return uses

    def _goes_over(self, use: ast.expr) -> bool:
        """Return whether a value is gone over where it stands, without `async`."""
        above = self._outline.above(use)
        if isinstance(above, ast.Assign):
            return any(map(_takes_apart, above.targets))
        if not isinstance(above, _ITERATING) or self._outline.field(use) == "func":
            return False
        return self.places.of(use) == "value" or self._taker(use).startswith("asyncio.")

    def _takes_async(self, use: ast.expr) -> bool:
        """Return whether a value is gone over with `async`."""
        is_async = goes_over_async(self._outline.above(use))
        return is_async or self._taker(use) in ("aiter", "anext")

    def _is_advanced(self, use: ast.expr) -> bool:
        return self._taker(use) == "next"

    def _taker(self, use: ast.expr) -> str:
        """Return the name of the function that gets a value as an argument."""
        above = self._outline.above(use)
        ref = self.places.resolver.ref(above.func) if isinstance(above, ast.Call) else None
        return ref.name if ref else ""


def _takes_apart(target: ast.expr) -> bool:
    """Return whether a target goes over what it gets: `a, b = xs`, `ys[:] = xs`."""
    if isinstance(target, ast.Subscript):
        return isinstance(target.slice, ast.Slice)
    return isinstance(target, (ast.Tuple, ast.List))


_ITERATING = (
    ast.AugAssign,
    ast.Call,
    ast.Compare,
    ast.For,
    ast.Starred,
    ast.comprehension,
    ast.keyword,
)

_ONWARD = (ast.Await, ast.BoolOp, ast.IfExp)
"""What has the value of a part of it."""
