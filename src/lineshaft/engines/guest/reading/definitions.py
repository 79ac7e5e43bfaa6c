"""Calls that have to be awaited, and functions of a script that become async for them."""

import ast
from collections import defaultdict
from dataclasses import dataclass, field

from .catalogue import WAITING_HELPERS
from .gathered import Gathered
from .places import Places, goes_over_async
from .references import BUILT_IN_METHODS, Reference
from .scopes import COMPREHENSIONS, Outline
from .used_items import UsedItems

WAITING_FUNCTIONS = frozenset(
    f"asyncio.{name}" for name in ("gather", "shield", "sleep", "to_thread", "wait", "wait_for")
)

_FUTURES = frozenset({"asyncio.gather", "asyncio.shield"})
"""Those of them that give more than an awaitable."""

_OF_FUTURES = frozenset(
    {
        "add_done_callback",
        "cancel",
        "cancelled",
        "done",
        "exception",
        "remove_done_callback",
        "result",
    }
)

WITHOUT_CALL = "it is used without a call"
"""How the reason begins where a function is passed on."""

Context = ast.AST
"""The context of a piece of code: the module, a function, a lambda or a class body."""


def waiting_nodes(outline: Outline) -> list[ast.expr | ast.stmt]:
    """Return what stands in async code only: `await`, `async for`, `async with`."""
    nodes: list[ast.expr | ast.stmt] = [
        *outline.every(ast.Await),
        *outline.every(ast.AsyncFor),
        *outline.every(ast.AsyncWith),
    ]
    for each in outline.every(ast.comprehension):
        above = outline.above(each)
        if each.is_async and isinstance(above, (ast.ListComp, ast.SetComp, ast.DictComp)):
            nodes.append(above)
    return nodes


@dataclass(slots=True)
class Defs:
    """The functions of one script: those that are awaited, and those that cannot wait."""

    places: Places
    waits: set[ast.AST] = field(default_factory=set[ast.AST])
    """Functions whose calls have to be awaited."""

    converted: set[ast.AST] = field(default_factory=set[ast.AST])
    """Those of them that the script wrote without `async`, and lambdas that hand on such a call."""

    valued: set[ast.AST] = field(default_factory=set[ast.AST])
    """Those of the converted whose calls were meant to give values: they use results themselves."""

    blocked: dict[ast.AST, str] = field(default_factory=dict[ast.AST, str])
    """Functions that cannot become async, and why."""

    sites: defaultdict[ast.AST, list[ast.Call]] = field(
        default_factory=lambda: defaultdict[ast.AST, list[ast.Call]](list)
    )
    """Direct calls of each function."""

    inside: defaultdict[ast.AST, list[ast.Call]] = field(
        default_factory=lambda: defaultdict[ast.AST, list[ast.Call]](list)
    )
    """Calls by the function, lambda or class body that makes them."""

    gathered: Gathered = field(init=False)
    used_items: UsedItems = field(init=False)

    def __post_init__(self) -> None:
        self.gathered = Gathered(self.places, self.sites)
        self.used_items = UsedItems(self.places)

    @classmethod
    def of(cls, places: Places) -> "Defs":
        """Decide for all functions of a script."""
        defs = cls(places)
        outline = places.resolver.outline
        for call in outline.calls:
            defs.inside[defs.context(call)].append(call)
            ref = places.resolver.ref(call.func)
            if ref and ref.node:
                defs.sites[ref.node].append(call)
        defs._block(outline.every(ast.FunctionDef))
        defs._convert()
        return defs

    def context(self, node: ast.AST) -> Context:
        """Return the context of a node's code."""
        return self.places.resolver.outline.scope(node).function.node

    def can_wait(self, context: Context) -> bool:
        """Return whether `await` may stand in a context."""
        if isinstance(context, ast.FunctionDef):
            return context in self.converted
        return isinstance(context, (ast.Module, ast.AsyncFunctionDef))

    def is_waiting(self, call: ast.Call) -> bool:
        """Return whether a call gives an awaitable."""
        return self.gives_waiting(self.places.resolver.ref(call.func))

    def gives_waiting(self, ref: Reference | None) -> bool:
        """Return whether calling a value gives an awaitable."""
        if ref is None:
            return False
        if ref.kind == "member":
            return ref.name in WAITING_FUNCTIONS
        if ref.kind == "helper":
            return ref.name in WAITING_HELPERS
        if isinstance(ref.node, ast.Lambda):
            return self._hands_on(ref.node.body)
        return ref.kind == "tool" or ref.node in self.waits

    def _hands_on(self, body: ast.expr) -> bool:
        """Return whether a lambda's body is itself a call that has to be awaited."""
        ref = self.places.resolver.ref(body.func) if isinstance(body, ast.Call) else None
        return ref is not None and ref.kind != "lambda" and self.gives_waiting(ref)

    def must_wait(self, call: ast.Call) -> bool:
        """Return whether a call's result is used where the call stands."""
        place = self.places.of(call)
        if place in ("value", "returned"):
            return not self._is_future(call)
        is_put_away = place in ("kept", "other") and self._is_valued(call)
        is_put_away = is_put_away or (place == "kept" and self.used_items.has(call))
        return is_put_away and self.gathered.of(call) != "yes"

    def uses_result(self, call: ast.Call) -> bool:
        """Return whether a call's result, not the call, is what a script uses there."""
        place = self.places.of(call)
        return place == "value" or (place == "kept" and self.used_items.has(call))

    def _is_future(self, call: ast.Call) -> bool:
        """Return whether a script keeps a call as a future, which it asks how far it is."""
        ref = self.places.resolver.ref(call.func)
        if ref is None or ref.name not in _FUTURES:
            return False
        uses = map(self.places.resolver.outline.above, self.places.uses(call))
        return any(isinstance(above, ast.Attribute) and above.attr in _OF_FUTURES for above in uses)

    def _is_valued(self, call: ast.Call) -> bool:
        ref = self.places.resolver.ref(call.func)
        return ref is not None and ref.node in self.valued

    def _block(self, functions: list[ast.FunctionDef]) -> None:
        """Find the functions that cannot become async, and those that are used by such."""
        todo: list[ast.AST] = []
        for function in functions:
            if reason := self._cannot(function):
                self.blocked[function] = reason
                todo.append(function)
        todo += (c for c in self.inside if isinstance(c, (ast.Lambda, ast.ClassDef)))
        while todo:
            for call in self.inside[todo.pop()]:
                ref = self.places.resolver.ref(call.func)
                node = ref.node if ref and ref.kind == "def" else None
                if not isinstance(node, ast.FunctionDef) or node in self.blocked:
                    continue
                if self.must_wait(call):
                    where = f"it is called on line {call.lineno}, where `await` cannot stand"
                    self.blocked[node] = where
                    todo.append(node)

    def _cannot(self, function: ast.FunctionDef) -> str:
        """Return why a function cannot become async, or an empty string."""
        outline = self.places.resolver.outline
        if function.decorator_list:
            return "it is decorated"
        if outline.inner[function].yields:
            return "it is a generator"
        home = outline.scope(function)
        if home.is_class:
            return self._cannot_method(function)
        home = outline.binder(function.name, home) or home
        if len(home.bindings[function.name]) > 1:
            return f"`{function.name}` is bound more than once"
        for use in outline.uses.get((home, function.name), ()):
            if outline.field(use) != "func":
                return f"{WITHOUT_CALL} on line {use.lineno}"
        return ""

    def _cannot_method(self, method: ast.FunctionDef) -> str:
        outline = self.places.resolver.outline
        if method.name.startswith("__"):
            return "Python itself calls a method of this name"
        if method.name in BUILT_IN_METHODS:
            return "built-in types have a method of this name, too"
        if len(outline.methods[method.name]) > 1:
            return f"several classes have `{method.name}`"
        for use in outline.attributes.get(method.name, ()):
            if outline.field(use) != "func":
                return f"{WITHOUT_CALL} on line {use.lineno}"
        return ""

    def _convert(self) -> None:
        """Make functions async from the calls that have to be awaited outward."""
        outline = self.places.resolver.outline
        own = outline.every(ast.AsyncFunctionDef)
        self.waits |= {n for n in own if not n.decorator_list and not outline.inner[n].yields}
        todo = [call for call in outline.calls if self.is_waiting(call)]
        for node in waiting_nodes(outline):
            if not self.is_in_async_iterator(node):
                todo += self._make_async(self.context(node), valued=False)
        while todo:
            call = todo.pop()
            if self.must_wait(call):
                valued = self._is_valued(call) or self.uses_result(call)
                todo += self._make_async(self.context(call), valued=valued)

    def is_in_async_iterator(self, node: ast.AST) -> bool:
        """Return whether a node waits in a generator expression whose function may stay a `def`.

        Each call of the function is gone over with `async for`: it gives the generator as it is.
        """
        sites = self.sites.get(self.context(node), ())
        if not sites or not all(map(self._is_gone_over, sites)):
            return False
        scope = self.places.resolver.outline.scope(node)
        while isinstance(scope.node, COMPREHENSIONS) and scope.parent:
            if isinstance(scope.node, ast.GeneratorExp):
                return True
            scope = scope.parent
        return False

    def _is_gone_over(self, call: ast.Call) -> bool:
        above = self.places.resolver.outline.above(call)
        return goes_over_async(above) and above.iter is call

    def _make_async(self, context: Context, *, valued: bool) -> list[ast.Call]:
        """Make a function async if it can be; return the calls to look at again."""
        known = self.valued if valued else self.converted
        if context in known or context in self.blocked:
            return []
        if isinstance(context, ast.FunctionDef):
            self.waits.add(context)
        elif not isinstance(context, ast.Lambda):
            return []
        self.converted.add(context)
        if valued:
            self.valued.add(context)
        return self.sites[context]
