"""Unknown names: unknown tools, and names that are not bound."""

import ast
from collections.abc import Collection, Iterator
from difflib import get_close_matches

from .catalogue import BUILTINS, HELPERS, MODULES, KnownTool, ToolNames, shown
from .edits import SourceText
from .guarded import is_tried
from .known_names import KNOWN_NAMES, library_hint
from .other_names import OTHER_NAMES
from .probes import is_probed
from .references import Resolver
from .remarks import SIGNATURE, Remark

_ANNOTATIONS = frozenset({"annotation", "returns"})


def unknown_tools(resolver: Resolver, text: SourceText) -> Iterator[Remark]:
    """Return one remark for each name that `tools` or a namespace does not have.

    A name that the script looks for, or whose absence it catches, may be missing.
    """
    missing = list(_missing(resolver))
    seen = {name for node, name in missing if is_tried(resolver, node, _absence(node))}
    for node, name in missing:
        module, _, member = name.rpartition(".")
        if name in seen or is_probed(resolver, module, member):
            continue
        seen.add(name)
        line, column = text.position(node.lineno, node.col_offset)
        hint, tool = _members_hint(resolver.known, module, member)
        yield Remark(
            code="unknown-tool",
            message=f"there is no tool `{member}` in `{module}`",
            line=line,
            column=column,
            hint=hint,
            tool=tool,
        )


def _missing(resolver: Resolver) -> Iterator[tuple[ast.expr | ast.alias, str]]:
    known, every = resolver.known, resolver.outline.every
    for node in every(ast.Attribute):
        ref = resolver.ref(node)
        if ref and ref.kind == "missing" and isinstance(node.value, (ast.Name, ast.Attribute)):
            yield node, ref.name
    for node in every(ast.ImportFrom):
        if node.module and known.is_module(node.module):
            for alias in node.names:
                if alias.name != "*" and not _has(known, node.module, alias.name):
                    yield alias, f"{node.module}.{alias.name}"


def _absence(node: ast.expr | ast.alias) -> str:
    return "ImportError" if isinstance(node, ast.alias) else "AttributeError"


def _has(known: ToolNames, module: str, name: str) -> bool:
    inner = name if module == "tools" else f"{module}.{name}"
    is_helper = module == "tools" and (name in HELPERS or name == "ToolError")
    return bool(known.member(module, name)) or known.is_module(inner) or is_helper


def _members_hint(known: ToolNames, module: str, member: str) -> tuple[str, str]:
    """Return a hint, and the tool whose signature stands in it."""
    tools = shown(known.members(module))
    elsewhere = shown(known.flat).get(member) or _of_a_namespace(known, member)
    if module == "tools" and not elsewhere:
        elsewhere = _by_other_name(known, member)
    close = get_close_matches(member, tools, n=1)
    if close and not (elsewhere and module == "tools"):
        return _MEANT, tools[close[0]].name
    if elsewhere:
        return _MEANT, elsewhere.name
    names = [f"{module}.{name}" for name in tools]
    return (f"`{module}` has {_listed(names)}" if names else ""), ""


def _of_a_namespace(known: ToolNames, name: str) -> KnownTool | None:
    """Return a tool that a namespace has under a name."""
    return _in_namespaces(known).get(name)


def _in_namespaces(known: ToolNames) -> dict[str, KnownTool]:
    """Return the tools of all namespaces by their last names; of several the first."""
    found: dict[str, KnownTool] = {}
    for tools in known.spaces.values():
        for name, tool in shown(tools).items():
            found.setdefault(name, tool)
    return found


_MEANT = f"did you mean `{SIGNATURE}`?"


def undefined_names(resolver: Resolver, text: SourceText) -> Iterator[Remark]:
    """Return one remark for each unbound name; inputs may bind it.

    A name that the script looks for, or whose absence it catches, may be missing.
    """
    if resolver.binds_unseen:
        return
    unbound = [node for node in resolver.outline.names if resolver.undefined(node)]
    seen = {node.id for node in unbound if is_tried(resolver, node, "NameError")}
    for node in unbound:
        if node.id in seen or is_probed(resolver, "tools", node.id):
            continue
        is_needed = not _is_annotation(resolver, node)
        if is_needed:
            seen.add(node.id)
        yield _undefined(resolver, text, node, is_needed=is_needed, hints=len(seen) <= _HINTED)


def _is_annotation(resolver: Resolver, node: ast.expr) -> bool:
    """Return whether an expression is part of an annotation, which Python 3.14 does not look at."""
    above: ast.AST = node
    while isinstance(above, ast.expr):
        if resolver.outline.field(above) in _ANNOTATIONS:
            return True
        above = resolver.outline.above(above)
    return False


def _undefined(
    resolver: Resolver, text: SourceText, node: ast.Name, *, is_needed: bool, hints: bool
) -> Remark:
    name = node.id
    is_called = resolver.outline.field(node) == "func"
    meant = _meant(resolver, name) if is_called and hints else None
    line, column = text.position(node.lineno, node.col_offset)
    tool = ""
    if meant:
        code, message = "unknown-tool", f"there is no tool `{name}`"
        hint, tool = _MEANT, meant.name
    else:
        code, message = "undefined-name", f"`{name}` is not defined"
        hint, tool = _name_hint(resolver, node, is_called=is_called) if hints else ("", "")
    return Remark(
        code=code,
        message=message,
        level="error" if is_needed else "info",
        line=line,
        column=column,
        hint=hint,
        tool=tool,
        name=name,
    )


def _meant(resolver: Resolver, name: str) -> KnownTool | None:
    """Return the tool that a call of an unknown name is nearest to; None: something else is."""
    known = resolver.known
    if name in KNOWN_NAMES or _of_a_namespace(known, name) or _by_model_name(known, name):
        return None
    own = resolver.outline.module.bindings
    if (tool := _by_other_name(known, name)) and not get_close_matches(name, own, cutoff=0.85):
        return tool
    tools = shown(known.flat)
    if not get_close_matches(name, tools, n=1):
        return None
    tools = {**_in_namespaces(known), **tools}
    return tools[get_close_matches(name, tools, n=1)[0]]


def _by_other_name(known: ToolNames, name: str) -> KnownTool | None:
    """Return the tool that does what a tool of this name does for other agents."""
    return shown(known.flat).get(OTHER_NAMES.get(name.lower(), ""))


def _by_model_name(known: ToolNames, name: str) -> KnownTool | None:
    """Return the tool that has a name towards models: `github__get`, `mcp__github__get`."""
    before, _, last = name.rpartition("__")
    tools = known.spaces.get(before.rpartition("__")[2], {})
    if not tools and before.startswith("mcp__"):
        tools = known.flat
    return shown(tools).get(last)


def _name_hint(resolver: Resolver, node: ast.Name, *, is_called: bool) -> tuple[str, str]:
    """Return a hint, and the tool whose signature stands in it."""
    known, name = resolver.known, node.id
    flat = shown(known.flat)
    own = resolver.outline.module.bindings
    is_own = resolver.outline.field(node) in _HELD and get_close_matches(name, own, cutoff=0.85)
    if name in KNOWN_NAMES and not is_own:
        return KNOWN_NAMES[name], ""
    if is_called and (tool := _by_model_name(known, name)):
        return _MEANT, tool.name
    inner = _in_namespaces(known)
    if is_called and name in inner:
        return _MEANT, inner[name].name
    spaces = [space for space, tools in known.spaces.items() if shown(tools)]
    above = resolver.outline.above(node)
    is_base = isinstance(above, ast.Attribute)
    library = "" if is_called else library_hint(name, is_base=is_base)
    if library and is_base and not get_close_matches(name, {*own, *spaces}, cutoff=0.85):
        return library, ""
    if is_base and above.attr in flat and not get_close_matches(name, {*own, *spaces}):
        return _MEANT, flat[above.attr].name
    is_own = bool(get_close_matches(name, own, n=1, cutoff=0.85))
    for space in spaces:
        if name in shown(known.spaces[space]) and not is_own:
            return f"did you mean `{space}.{name}`?", ""
    close = get_close_matches(name, {*own, *flat, *spaces, *MODULES, *HELPERS}, n=1)
    if close:
        return f"did you mean `{close[0]}`?", ""
    if library:
        return library, ""
    close = get_close_matches(name, {*BUILTINS, "ToolError"}, n=1, cutoff=0.75)
    if close:
        return f"did you mean `{close[0]}`?", ""
    close = get_close_matches(name, inner, n=1, cutoff=0.75) if is_called else []
    if close:
        return _MEANT, inner[close[0]].name
    return (f"the tools are {_listed(sorted(flat))}" if is_called and flat else ""), ""


def _listed(names: Collection[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in list(names)[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


_SHOWN = 8

_HELD = frozenset({"args", "elts", "iter", "test", "value", "values"})
"""Fields for values: a name there is more likely a variable's than one of a module."""

_HINTED = 40
"""Undefined names that get a hint: looking for close names takes its time."""
