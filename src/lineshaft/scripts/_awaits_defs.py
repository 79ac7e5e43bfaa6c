"""Which calls have to be awaited, and which functions of a script become async for them."""

import ast
from collections import defaultdict
from dataclasses import dataclass, field

from lineshaft.scripts._awaits_gathered import Gathered
from lineshaft.scripts._awaits_places import Places
from lineshaft.scripts._names import WAITING_HELPERS
from lineshaft.scripts._names_refs import BUILT_IN_METHODS, Ref

WAITING_FUNCTIONS = frozenset(
    f"asyncio.{name}"
    for name in ("gather", "run", "shield", "sleep", "to_thread", "wait", "wait_for")
)

Context = ast.AST
"""What a piece of code runs in: the module, a function, a lambda or a class body."""


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

    def __post_init__(self) -> None:
        self.gathered = Gathered(self.places, self.sites)

    @classmethod
    def of(cls, places: Places) -> "Defs":
        """Decide for all functions of a script."""
        defs = cls(places)
        reading = places.resolver.reading
        for call in reading.calls:
            defs.inside[defs.context(call)].append(call)
            ref = places.resolver.ref(call.func)
            if ref and ref.node:
                defs.sites[ref.node].append(call)
        functions = [n for n in reading.nodes if isinstance(n, ast.FunctionDef)]
        defs._block(functions)
        defs._convert()
        return defs

    def context(self, node: ast.AST) -> Context:
        """Return what a node's code runs in."""
        return self.places.resolver.reading.scopes[node].function.node

    def can_wait(self, context: Context) -> bool:
        """Return whether `await` may stand in a context."""
        if isinstance(context, ast.FunctionDef):
            return context in self.converted
        return isinstance(context, (ast.Module, ast.AsyncFunctionDef))

    def is_waiting(self, call: ast.Call) -> bool:
        """Return whether a call gives something that has to be awaited."""
        return self.gives_waiting(self.places.resolver.ref(call.func))

    def gives_waiting(self, ref: Ref | None) -> bool:
        """Return whether calling something gives what has to be awaited."""
        match ref:
            case Ref(kind="tool"):
                return True
            case Ref(kind="member", name=name):
                return name in WAITING_FUNCTIONS
            case Ref(kind="helper", name=name):
                return name in WAITING_HELPERS
            case Ref(kind="lambda", node=ast.Lambda(body=body)):
                return self._hands_on(body)
            case _:
                return ref is not None and ref.node in self.waits

    def _hands_on(self, body: ast.expr) -> bool:
        """Return whether a lambda's body is itself a call that has to be awaited."""
        ref = self.places.resolver.ref(body.func) if isinstance(body, ast.Call) else None
        return ref is not None and ref.kind != "lambda" and self.gives_waiting(ref)

    def must_wait(self, call: ast.Call) -> bool:
        """Return whether a call's result is used where the call stands."""
        place = self.places.of(call)
        if place in ("value", "returned"):
            return True
        is_put_away = place in ("kept", "other") and self._is_valued(call)
        return is_put_away and self.gathered.of(call) != "yes"

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
        reading = self.places.resolver.reading
        if function.decorator_list:
            return "it is decorated"
        if reading.inner[function].yields:
            return "it is a generator"
        home = reading.scopes[function]
        if home.is_class:
            return self._cannot_method(function)
        home = reading.binder(function.name, home) or home
        if len(home.bindings[function.name]) > 1:
            return f"`{function.name}` is bound more than once"
        for use in reading.uses.get((home, function.name), ()):
            if reading.slots[use][0] != "func":
                return f"it is used without a call on line {use.lineno}"
        return ""

    def _cannot_method(self, method: ast.FunctionDef) -> str:
        reading = self.places.resolver.reading
        if method.name.startswith("__") or method.name in BUILT_IN_METHODS:
            return "a method of this name cannot be async"
        if len(reading.methods[method.name]) > 1:
            return f"several classes have `{method.name}`"
        for use in reading.attributes.get(method.name, ()):
            if reading.slots[use][0] != "func":
                return f"it is used without a call on line {use.lineno}"
        return ""

    def _convert(self) -> None:
        """Make functions async from the calls that have to be awaited outward."""
        reading = self.places.resolver.reading
        own = (n for n in reading.nodes if isinstance(n, ast.AsyncFunctionDef))
        self.waits |= {n for n in own if not n.decorator_list and not reading.inner[n].yields}
        todo = [call for call in reading.calls if self.is_waiting(call)]
        for node in reading.nodes:
            if isinstance(node, ast.Await):
                todo += self._make_async(self.context(node), valued=False)
        while todo:
            call = todo.pop()
            if self.must_wait(call):
                valued = self._is_valued(call) or self.places.of(call) == "value"
                todo += self._make_async(self.context(call), valued=valued)

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
