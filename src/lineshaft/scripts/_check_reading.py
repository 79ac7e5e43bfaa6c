"""What reading alone finds: unknown tools and undefined names."""

import ast
from collections.abc import Collection, Iterator
from difflib import get_close_matches

from lineshaft.scripts._awaits_edits import Text
from lineshaft.scripts._names import BUILTINS, HELPERS, MODULES, Known
from lineshaft.scripts._names_refs import Resolver
from lineshaft.tools import signature
from lineshaft.values import Finding

_DYNAMIC = frozenset({"eval", "exec", "globals", "locals", "vars", "__import__"})
"""With one of these a script may bind names that reading cannot see."""

_ANNOTATIONS = frozenset({"annotation", "returns"})


def unknown_tools(resolver: Resolver, text: Text) -> Iterator[Finding]:
    """Return one finding for each name that `tools` or a namespace does not have."""
    seen: set[str] = set()
    for node, name in _missing(resolver):
        if name in seen:
            continue
        seen.add(name)
        module, _, member = name.rpartition(".")
        line, column = text.position(node.lineno, node.col_offset)
        yield Finding(
            code="unknown-tool",
            message=f"there is no tool `{member}` in `{module}`",
            level="error",
            line=line,
            column=column,
            hint=_members_hint(resolver.known, module, member),
        )


def _missing(resolver: Resolver) -> Iterator[tuple[ast.expr | ast.alias, str]]:
    known = resolver.known
    for node in resolver.reading.nodes:
        if isinstance(node, ast.Attribute):
            ref = resolver.ref(node)
            if ref and ref.kind == "missing" and isinstance(node.value, (ast.Name, ast.Attribute)):
                yield node, ref.name
        elif isinstance(node, ast.ImportFrom) and node.module and known.is_module(node.module):
            for alias in node.names:
                if alias.name != "*" and not _has(known, node.module, alias.name):
                    yield alias, f"{node.module}.{alias.name}"


def _has(known: Known, module: str, name: str) -> bool:
    inner = name if module == "tools" else f"{module}.{name}"
    is_helper = module == "tools" and (name in HELPERS or name == "ToolError")
    return bool(known.member(module, name)) or known.is_module(inner) or is_helper


def _members_hint(known: Known, module: str, member: str) -> str:
    tools = known.members(module)
    close = get_close_matches(member, tools, n=1)
    if close:
        return f"did you mean `{signature(tools[close[0]])}`?"
    names = [f"{module}.{name}" for name in tools]
    return f"`{module}` has {_listed(names)}" if names else ""


def undefined_names(resolver: Resolver, text: Text, inputs: Collection[str]) -> Iterator[Finding]:
    """Return one finding for each name that nothing binds."""
    if any(name.id in _DYNAMIC for name in resolver.reading.names):
        return
    seen: set[str] = set(inputs)
    for node in resolver.reading.names:
        if node.id in seen or not resolver.undefined(node):
            continue
        is_needed = not _is_annotation(resolver, node)
        if is_needed:
            seen.add(node.id)
        yield _undefined(resolver, text, node, is_needed=is_needed)


def _is_annotation(resolver: Resolver, node: ast.expr) -> bool:
    """Return whether an expression is part of an annotation, which no engine looks at."""
    above: ast.AST = node
    while isinstance(above, ast.expr):
        if resolver.reading.slots[above][0] in _ANNOTATIONS:
            return True
        above = resolver.reading.parents[above]
    return False


def _undefined(resolver: Resolver, text: Text, node: ast.Name, *, is_needed: bool) -> Finding:
    known, name = resolver.known, node.id
    is_called = resolver.reading.slots[node][0] == "func"
    close_tool = get_close_matches(name, known.flat, n=1) if is_called else []
    line, column = text.position(node.lineno, node.col_offset)
    if close_tool:
        code, message = "unknown-tool", f"there is no tool `{name}`"
        hint = f"did you mean `{signature(known.flat[close_tool[0]])}`?"
    else:
        code, message = "undefined-name", f"`{name}` is not defined"
        hint = _name_hint(resolver, name, is_called=is_called)
    return Finding(
        code=code,
        message=message,
        level="error" if is_needed else "info",
        line=line,
        column=column,
        hint=hint,
    )


def _name_hint(resolver: Resolver, name: str, *, is_called: bool) -> str:
    known = resolver.known
    own = resolver.reading.module.bindings
    if name in _FULL_NAMES:
        return f"write `{_FULL_NAMES[name]}`"
    if name in _IMPORTABLE:
        return f"write `import {name}` first"
    close = get_close_matches(name, {*own, *known.flat, *known.spaces, *MODULES, *HELPERS}, n=1)
    if close:
        return f"did you mean `{close[0]}`?"
    for space, tools in known.spaces.items():
        if name in tools:
            return f"did you mean `{signature(tools[name])}`?" if is_called else f"`{space}.{name}`"
    close = get_close_matches(name, BUILTINS, n=1, cutoff=0.75)
    if close:
        return f"did you mean `{close[0]}`?"
    return f"the tools are {_listed(sorted(known.flat))}" if is_called and known.flat else ""


def _listed(names: Collection[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in list(names)[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


_SHOWN = 8

_IMPORTABLE = frozenset(
    {
        "base64",
        "collections",
        "copy",
        "csv",
        "functools",
        "hashlib",
        "itertools",
        "os",
        "pathlib",
        "random",
        "statistics",
        "string",
        "sys",
        "textwrap",
        "time",
        "typing",
        "uuid",
    }
)
"""Modules that scripts use most, which need an import."""

_FULL_NAMES = {
    "Semaphore": "asyncio.Semaphore",
    "TaskGroup": "asyncio.TaskGroup",
    "as_completed": "asyncio.as_completed",
    "create_task": "asyncio.create_task",
    "dumps": "json.dumps",
    "findall": "re.findall",
    "gather": "asyncio.gather",
    "loads": "json.loads",
    "sleep": "asyncio.sleep",
    "sqrt": "math.sqrt",
    "timedelta": "datetime.timedelta",
}
"""What scripts use without the module that is in scope."""
