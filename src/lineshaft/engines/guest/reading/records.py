"""Results that are records, used as if they were lists."""

import ast
from collections.abc import Collection, Iterator

from .catalogue import KnownTool
from .edits import SourceText
from .references import Resolver
from .remarks import SIGNATURE, Remark


def taken_for_lists(
    resolver: Resolver, text: SourceText, waited: Collection[ast.AST]
) -> Iterator[Remark]:
    """Return a remark where a script goes over, counts or numbers a record of a tool.

    Args:
        resolver: Of the script.
        text: The script.
        waited: The `await`s, and the calls that get one.
    """
    found = _Records(resolver, frozenset(waited))
    every = resolver.outline.every
    nodes = (*every(ast.For), *every(ast.comprehension), *every(ast.Call), *every(ast.Subscript))
    for node in nodes:
        used = _used_as_list(resolver, node)
        tool = found.tool_of(used) if used else None
        if used is None or tool is None:
            continue
        line, column = text.position(used.lineno, used.col_offset)
        keys = ", ".join(f"`{key}`" for key in (tool.keys or ())[:_SHOWN])
        yield Remark(
            code="not-a-list",
            message=f"`{tool.name}` gives one dict with the keys {keys}, not a list",
            line=line,
            column=column,
            hint=SIGNATURE,
            tool=tool.name,
        )


_SHOWN = 8
_ASKING = frozenset({"hasattr", "isinstance"})


def _used_as_list(resolver: Resolver, node: ast.AST) -> ast.expr | None:
    """Return the expression that a node treats as a list."""
    match node:
        case ast.For() | ast.comprehension():
            return None if _takes_by_key(resolver, node) else node.iter
        case ast.Call(args=[argument], keywords=[]):
            ref = resolver.ref(node.func)
            return argument if ref and (ref.kind, ref.name) == ("builtin", "len") else None
        case ast.Subscript(ctx=ast.Load()):
            return node.value if _is_number(node.slice) else None
        case _:
            return None


def _is_number(index: ast.expr) -> bool:
    if isinstance(index, ast.UnaryOp):
        index = index.operand
    return isinstance(index, ast.Slice) or (
        isinstance(index, ast.Constant) and type(index.value) is int
    )


def _names_asked_about(resolver: Resolver) -> frozenset[str]:
    """Return the names whose type the script looks at before it uses them."""
    names: set[str] = set()
    for call in resolver.outline.every(ast.Call):
        if call.args and isinstance(call.args[0], ast.Name):
            ref = resolver.ref(call.func)
            if ref and ref.kind == "builtin" and ref.name in _ASKING:
                names.add(call.args[0].id)
    return frozenset(names)


def _takes_by_key(resolver: Resolver, loop: ast.For | ast.comprehension) -> bool:
    """Return whether a loop over a dict's keys takes its values by them: `for k in d: d[k]`."""
    match loop:
        case (
            ast.For(target=ast.Name(id=key), iter=ast.Name(id=name))
            | ast.comprehension(target=ast.Name(id=key), iter=ast.Name(id=name))
        ):
            return any(
                isinstance(node.value, ast.Name)
                and isinstance(node.slice, ast.Name)
                and (node.value.id, node.slice.id) == (name, key)
                for node in resolver.outline.every(ast.Subscript)
            )
        case _:
            return False


class _Records:
    """Says which expressions are records of tools.

    Args:
        resolver: Of the script.
        waited: The `await`s, and the calls that get one.
    """

    def __init__(self, resolver: Resolver, waited: frozenset[ast.AST]) -> None:
        self._resolver = resolver
        self._waited = waited
        self._asked_about = _names_asked_about(resolver)

    def tool_of(self, node: ast.expr) -> KnownTool | None:
        """Return the tool whose result an expression is, where that is a record."""
        if not isinstance(node, ast.Name):
            return self._called(node)
        if node.id in self._asked_about:
            return None
        outline = self._resolver.outline
        home = outline.binder(node.id, outline.scope(node))
        bindings = home.bindings[node.id] if home else []
        tools = [self._called(binding.value) for binding in bindings]
        return tools[0] if tools and all(tools) else None

    def _called(self, node: ast.expr | None) -> KnownTool | None:
        call = node.value if isinstance(node, ast.Await) else node
        if not isinstance(call, ast.Call) or (call is node and call not in self._waited):
            return None
        ref = self._resolver.ref(call.func)
        return ref.tool if ref and ref.tool and ref.tool.keys else None
