"""Results that are records, used as if they were lists, text or objects."""

import ast
from collections.abc import Collection, Iterator
from typing import Literal

from .catalogue import KnownTool
from .edits import SourceText
from .guarded import is_caught
from .key_loops import use_of_keys
from .references import Resolver
from .remarks import SIGNATURE, Remark


def misused_records(
    resolver: Resolver, text: SourceText, waited: Collection[ast.AST]
) -> Iterator[Remark]:
    """Return a remark where a script takes a record of a tool for something else.

    Args:
        resolver: Of the script.
        text: The script.
        waited: The `await`s, and the calls that get one.
    """
    found = _Records(resolver, frozenset(waited))
    yield from _taken_for_lists(resolver, text, found)
    yield from _taken_for_objects(resolver, text, found)
    yield from _searched(resolver, text, found)


def _taken_for_lists(resolver: Resolver, text: SourceText, found: "_Records") -> Iterator[Remark]:
    """Return a remark where a script goes over, counts or numbers a record."""
    every = resolver.outline.every
    nodes = (*every(ast.For), *every(ast.comprehension), *every(ast.Call), *every(ast.Subscript))
    for node in nodes:
        used = _used_as_list(resolver, node)
        tool = found.tool_of(used) if used else None
        if used is None or tool is None:
            continue
        use = use_of_keys(resolver, node) if isinstance(node, _LOOPS) else "other"
        if use != "key":
            message = f"`{tool.name}` gives one dict with the keys {_keys(tool)}, not a list"
            level = "warning" if use == "text" else "error"
            yield _remark("not-a-list", message, text, used, tool, level=level)


def _taken_for_objects(resolver: Resolver, text: SourceText, found: "_Records") -> Iterator[Remark]:
    """Return a remark where a script asks a record for an attribute, such as a method of text."""
    for node in resolver.outline.every(ast.Attribute):
        if not isinstance(node.ctx, ast.Load) or node.attr in _OF_DICTS:
            continue
        tool = found.tool_of(node.value)
        if tool is None or is_caught(resolver, node):
            continue
        if node.attr in (tool.keys or ()):
            message = f'`{tool.name}` gives a dict: write `["{node.attr}"]`, not `.{node.attr}`'
        else:
            message = (
                f"`{tool.name}` gives one dict with the keys {_keys(tool)},"
                f" which has no `.{node.attr}`"
            )
        yield _remark("no-attribute", message, text, node.value, tool)


def _searched(resolver: Resolver, text: SourceText, found: "_Records") -> Iterator[Remark]:
    """Return a warning where a script looks for a text in a record, which finds keys alone.

    It is no error: Python runs it, and a script may have put the key there.
    """
    for node in resolver.outline.every(ast.Compare):
        match node:
            case ast.Compare(
                left=ast.Constant(value=str() as sought),
                ops=[ast.In() | ast.NotIn()],
                comparators=[searched],
            ):
                tool = found.tool_of(searched)
                if tool is None or "." in tool.name or sought in (tool.keys or ()):
                    continue  # a server may add keys to those that it promises
                message = (
                    f"`{tool.name}` gives one dict with the keys {_keys(tool)}:"
                    " `in` looks among these alone"
                )
                yield _remark("unknown-key", message, text, node.left, tool, level="warning")
            case _:
                pass


def _remark(
    code: str,
    message: str,
    text: SourceText,
    place: ast.expr,
    tool: KnownTool,
    level: Literal["error", "warning"] = "error",
) -> Remark:
    line, column = text.position(place.lineno, place.col_offset)
    return Remark(
        code=code,
        message=message,
        level=level,
        line=line,
        column=column,
        hint=SIGNATURE,
        tool=tool.name,
    )


def _keys(tool: KnownTool) -> str:
    return ", ".join(f"`{key}`" for key in (tool.keys or ())[:_SHOWN])


_OF_DICTS = frozenset(dir(dict))
_SHOWN = 8
_LOOPS = (ast.For, ast.comprehension)
_ASKING = frozenset({"hasattr", "isinstance", "type"})


def _used_as_list(resolver: Resolver, node: ast.AST) -> ast.expr | None:
    """Return the expression that a node treats as a list."""
    match node:
        case ast.For() | ast.comprehension():
            return node.iter
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
