"""Where the sets of a script go, and whether something sees in which order their items stand.

Full Python chooses that order, the small engine keeps the order in which they came. A set is
followed through names, attributes, arguments and results; where it goes out of sight (into a list
or a dict, to a function of somebody else), it is taken to be seen.
"""

import ast

from lineshaft.scripts._choice_needs import Reader
from lineshaft.scripts._names_scopes import DEFS, DefNode, Scope

OPERATORS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Sub)

_MAKERS = frozenset({"set", "frozenset"})
_SAME = frozenset({"copy.copy", "copy.deepcopy"})
_GIVING = frozenset({"copy", "union", "intersection", "difference", "symmetric_difference"})
"""Methods of a set that give one."""

_TAKING = frozenset(
    {"union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset",
     "isdisjoint", "difference_update", "intersection_update", "symmetric_difference_update",
     "add", "discard", "remove", "count", "index", "get"}
)  # fmt: skip  # words, not one a line
"""Methods that do not see the order of what they are given."""

_BLIND = frozenset(
    {"all", "any", "bool", "frozenset", "isinstance", "len", "set", "sorted", "sum", "type", "max",
     "min", "math.fsum", "math.prod"}
)  # fmt: skip  # words, not one a line
"""What does not see the order."""

_HARMLESS = frozenset({"default", "reverse", "start"})
"""Keywords of these that leave the order alone; with a `key` the first of equals is chosen."""

_LISTS = frozenset({"list", "tuple", "map", "filter"})
_ANNOTATIONS = frozenset({"set", "frozenset", "Set", "FrozenSet", "AbstractSet", "MutableSet"})
_DEEP = 20


class Flow:
    """The sets of one script.

    Args:
        reader: Of the script.
    """

    def __init__(self, reader: Reader) -> None:
        self.shown: list[ast.AST] = []
        """What gives a set whose order is seen."""

        self._reader = reader
        self._reading = reader.resolver.reading
        self._sets: set[ast.AST] = set()
        self._names: set[tuple[Scope, str]] = set()
        self._attributes: set[str] = set()
        self._todo: list[ast.AST] = []
        self._calls: dict[str, list[ast.Call]] | None = None
        self._defined: dict[str, list[DefNode]] | None = None
        for node in self._reading.nodes:
            kind = type(node)
            if kind in _BEGINNINGS or (kind is ast.Name and getattr(node, "id", "") in _MAKERS):
                self._begin(node)
        while self._todo:
            self._follow(self._todo.pop())

    def has(self, node: ast.expr) -> bool:
        """Return whether an expression or a target stands for a set, as far as is known."""
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            home = self._reading.binder(node.id, self._reading.scopes[node])
            return home is not None and (home, node.id) in self._names
        if isinstance(node, ast.Attribute) and node.attr in self._attributes:
            return True
        return node in self._sets

    def _begin(self, node: ast.AST) -> None:
        match node:
            case ast.Set() | ast.SetComp():
                self._take(node)
            case ast.Call() if self._makes(node):
                self._take(node)
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, OPERATORS):
                if _is_keys(left) or _is_keys(right):
                    self._take(node)
            case ast.arg(annotation=ast.expr() as annotation) if _says_set(annotation):
                self._name(node.arg, self._reading.inner[self._function(node)])
            case ast.AnnAssign(annotation=annotation) if _says_set(annotation):
                self._target(node, node.target)
            case ast.Name() if node.id in _MAKERS and self._is_given_away(node):
                self.shown.append(node)
            case _:
                pass

    def _makes(self, node: ast.Call) -> bool:
        is_name = isinstance(node.func, ast.Name) and node.func.id in _MAKERS
        return is_name and self._reader.named(node.func) in _MAKERS

    def _function(self, argument: ast.AST) -> ast.AST:
        return self._reading.parents[self._reading.parents[argument]]

    def _is_given_away(self, node: ast.Name) -> bool:
        """Return whether `set` itself goes to something that makes sets, as in `map(set, x)`."""
        above = self._reader.above(node)
        if isinstance(above, ast.keyword):
            return self._reader.named(node) in _MAKERS
        if not isinstance(above, ast.Call) or self._reader.slot(node) != "args":
            return False
        if self._reader.named(above.func) in ("isinstance", "issubclass"):
            return False
        return self._reader.named(node) in _MAKERS

    def _take(self, node: ast.AST) -> None:
        if node not in self._sets:
            self._sets.add(node)
            self._todo.append(node)

    def _name(self, name: str, home: Scope | None) -> None:
        """Follow a name that a set is bound to."""
        if home is not None and (home, name) not in self._names:
            self._names.add((home, name))
            for use in self._reading.uses.get((home, name), ()):
                self._take(use)
            if home.is_class:
                self._attribute(name)

    def _attribute(self, name: str) -> None:
        if name not in self._attributes:
            self._attributes.add(name)
            for node in self._reading.attributes.get(name, ()):
                if isinstance(node.ctx, ast.Load):
                    self._take(node)

    def _target(self, node: ast.AST, target: ast.expr) -> None:
        match target:
            case ast.Name(id=name):
                self._name(name, self._reading.binder(name, self._reading.scopes[target]))
            case ast.Attribute(attr=attr):
                self._attribute(attr)
            case _:
                self.shown.append(node)

    def _follow(self, node: ast.AST) -> None:
        """Look at where a set stands."""
        above = self._reader.above(node)
        kind = type(above)
        if kind is ast.Call:
            self._argument(node)
        elif kind in _BINDING:
            self._bound(node, above)
        elif kind in _PASSING:
            self._passed(node, above)
        elif kind in (ast.Tuple, ast.List):
            self._side_by_side(node, above)
        elif self._is_seen(above, self._reader.slot(node)):
            self.shown.append(node)

    def _bound(self, node: ast.AST, above: ast.AST | None) -> None:
        """Follow a set to a name, an attribute or a parameter."""
        match above:
            case ast.Assign(targets=targets):
                for target in targets:
                    self._target(node, target)
            case ast.AnnAssign(target=target):
                self._target(node, target)
            case ast.NamedExpr(target=target):
                self._target(node, target)
                self._take(above)
            case ast.AugAssign(op=op, target=target) if isinstance(op, OPERATORS):
                self._target(node, target)
            case ast.keyword(arg=str(name)):
                call = self._reader.above(above)
                if not (isinstance(call, ast.Call) and self._hand(call, name)):
                    self.shown.append(node)
            case ast.arguments():
                self._default(above, node)
            case _:
                self.shown.append(node)

    def _passed(self, node: ast.AST, above: ast.AST | None) -> None:
        """Follow a set to what an expression or a function gives."""
        match above:
            case ast.Attribute(attr=attr):
                call = self._reader.above(above)
                if attr in _GIVING and isinstance(call, ast.Call):
                    self._take(call)
                elif attr == "pop":
                    self.shown.append(node)
            case ast.Return():
                self._returned(node)
            case ast.BinOp(op=op) if not isinstance(op, OPERATORS):
                self.shown.append(node)
            case ast.IfExp() if self._reader.slot(node) == "test":
                pass
            case ast.AST():
                self._take(above)
            case None:
                pass

    def _is_seen(self, above: ast.AST | None, slot: str) -> bool:
        match above:
            case ast.comprehension() if slot == "iter":
                around = self._reader.above(above)
                return not (isinstance(around, ast.SetComp) or self._goes_blind(around))
            case ast.Starred():
                return not isinstance(self._reader.above(above), ast.Set)
            case ast.Dict() | ast.DictComp():
                return slot in ("values", "value")
            case _:
                return not isinstance(above, _QUIET)

    def _goes_blind(self, node: ast.AST | None, depth: int = 0) -> bool:
        """Return whether a list, or what is gone through, goes to something that sees no order."""
        if not isinstance(node, ast.expr) or depth > _DEEP:
            return False
        above = self._reader.above(node)
        if not isinstance(above, ast.Call) or self._reader.slot(node) != "args":
            return False
        name = self._reader.named(above.func)
        if name in _LISTS:
            return self._goes_blind(above, depth + 1)
        return name in _BLIND and all(keyword.arg in _HARMLESS for keyword in above.keywords)

    def _argument(self, node: ast.AST) -> None:
        call = self._reader.above(node)
        assert isinstance(call, ast.Call)  # noqa: S101  the caller says so
        name = self._reader.named(call.func)
        if name in _SAME:
            self._take(call)
            return
        if name in _BLIND or name in _LISTS:
            is_fine = self._goes_blind(node)
        else:
            index = self._reading.slots[node][1]
            is_fine = self._takes_quietly(call.func) or self._hand(call, index)
        if not is_fine:
            self.shown.append(node)

    def _takes_quietly(self, function: ast.expr) -> bool:
        if not isinstance(function, ast.Attribute) or self._reader.is_own(function.attr):
            return False
        return function.attr in _TAKING or (function.attr == "update" and self.has(function.value))

    def _hand(self, call: ast.Call, place: int | str) -> bool:
        """Follow an argument into the functions of the script that may be called so."""
        name = _called(call.func)
        functions = self._functions(name)
        for function in functions:
            shift = int(isinstance(self._reading.parents[function], ast.ClassDef))
            names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)][shift:]
            if isinstance(place, int):
                if place >= len(names):
                    return False
                self._name(names[place], self._reading.inner[function])
            elif place in (*names, *(a.arg for a in function.args.kwonlyargs)):
                self._name(place, self._reading.inner[function])
            else:
                return False
        return bool(functions)

    def _functions(self, name: str) -> list[DefNode]:
        """Return the functions that a call by some name may mean; of a class, its `__init__`."""
        if self._defined is None:
            self._defined = {}
            for node in self._reading.nodes:
                if isinstance(node, DEFS):
                    above = self._reading.parents[node]
                    is_made = node.name == "__init__" and isinstance(above, ast.ClassDef)
                    known = above.name if is_made and isinstance(above, ast.ClassDef) else node.name
                    self._defined.setdefault(known, []).append(node)
        return self._defined.get(name, [])

    def _returned(self, node: ast.AST) -> None:
        """Follow a set to where a function is called that returns it."""
        function = self._reading.scopes[node].function.node
        if not isinstance(function, DEFS):
            return
        for call in self._calls_of(function.name):
            waits = self._reader.above(call)
            self._take(waits if isinstance(waits, ast.Await) else call)

    def _calls_of(self, name: str) -> list[ast.Call]:
        if self._calls is None:
            self._calls = {}
            for call in self._reading.calls:
                self._calls.setdefault(_called(call.func), []).append(call)
        return self._calls.get(name, [])

    def _side_by_side(self, node: ast.AST, above: ast.AST | None) -> None:
        """Look at `a, b = set(), set()`; other lists and tuples hide what is in them."""
        assert isinstance(above, ast.Tuple | ast.List)  # noqa: S101  the caller says so
        match self._reader.above(above):
            case ast.Compare():
                pass
            case ast.Assign(targets=[ast.Tuple(elts=targets) | ast.List(elts=targets)]) if len(
                targets
            ) == len(above.elts):
                self._target(node, targets[self._reading.slots[node][1]])
            case _:
                self.shown.append(node)

    def _default(self, above: ast.arguments, node: ast.AST) -> None:
        slot, index = self._reading.slots[node]
        if slot == "kw_defaults":
            argument = above.kwonlyargs[index]
        else:
            both = [*above.posonlyargs, *above.args]
            argument = both[len(both) - len(above.defaults) + index]
        self._name(argument.arg, self._reading.inner[self._reading.parents[above]])


_BEGINNINGS = frozenset({ast.Set, ast.SetComp, ast.Call, ast.BinOp, ast.arg, ast.AnnAssign})
_BINDING = frozenset(
    {ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.AugAssign, ast.keyword, ast.arguments}
)
_PASSING = frozenset({ast.Attribute, ast.Return, ast.BoolOp, ast.IfExp, ast.BinOp})
_QUIET = (
    ast.Compare, ast.UnaryOp, ast.If, ast.While, ast.Assert, ast.Expr, ast.Subscript,
    ast.Set, ast.SetComp, ast.Match,
)  # fmt: skip  # kinds of nodes, not one a line
"""Where a set stands without being gone through."""


def _called(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _is_keys(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="keys")):
            return True
        case _:
            return False


def _says_set(annotation: ast.expr) -> bool:
    """Return whether an annotation has `set` in it, as in `set[int] | None`."""
    if isinstance(annotation, ast.Name):
        return annotation.id in _ANNOTATIONS
    return any(
        (isinstance(node, ast.Name) and node.id in _ANNOTATIONS)
        or (isinstance(node, ast.Attribute) and node.attr in _ANNOTATIONS)
        for node in ast.walk(annotation)
    )
