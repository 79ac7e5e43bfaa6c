"""The reader of scripts, with its caches from one order to the next."""

import ast
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from .awaits import Awaits
from .catalogue import ToolNames
from .edits import Shift, SourceText, as_written
from .imports import imports
from .judge import TypeDiagnostic, judge
from .records import misused_records
from .references import Resolver
from .remarks import Remark
from .scopes import read
from .strangers import undefined_names, unknown_tools
from .syntax import compiled, is_doubtful, parse
from .versions import newer_syntax

_CATALOGUES = 8
_SCRIPTS = 16
"""The most entries of each cache; the ones used last stay."""

_LONGEST_KEPT = 50_000
"""Characters of a script; the facts about a long one take hundreds of times as much memory."""

_MOST = 1_000
"""Remarks of one kind."""


@dataclass(frozen=True, slots=True)
class ReadScript:
    """A script that was read."""

    text: SourceText
    resolver: Resolver
    shifts: dict[int, list[Shift]]
    answer: dict[str, Any]


class KeptReader:
    """Reads scripts, and answers from a cache for those that it read last."""

    def __init__(self) -> None:
        self._catalogues: OrderedDict[str, ToolNames] = OrderedDict()
        self._scripts: OrderedDict[tuple[str, str], ReadScript | Remark] = OrderedDict()

    def read(self, order: dict[str, Any]) -> dict[str, Any]:
        """Return the facts about a script that its text shows.

        Args:
            order: `source`, `catalogue` (an id), and `tools` where the host has to tell what the
                catalogue holds.
        """
        known = self._catalogue(order)
        if known is None:
            return {"lacks": "catalogue"}
        script = self._script(order, known)
        return {"syntax": script.told()} if isinstance(script, Remark) else script.answer

    def judge(self, order: dict[str, Any]) -> dict[str, Any]:
        """Return the meaning of the type checker's words for a script.

        Args:
            order: As for `read`; `diagnostics`: code, message, line and column of each; `records`:
                names of types that are dicts, those of results with their tools.
        """
        known = self._catalogue(order)
        if known is None:
            return {"lacks": "catalogue"}
        script = self._script(order, known)
        if isinstance(script, Remark):
            return {"judged": []}
        said = (TypeDiagnostic(*one) for one in order["diagnostics"])
        records: dict[str, list[str]] = order["records"]
        found = judge(script.resolver, script.text, script.shifts, said, records=records)
        return {"judged": _told(found)}

    def _catalogue(self, order: dict[str, Any]) -> ToolNames | None:
        key = order["catalogue"]
        known = self._catalogues.pop(key, None)
        if known is None and "tools" in order:
            known = ToolNames.of(order["tools"])
        if known is not None:
            self._catalogues[key] = known
            if len(self._catalogues) > _CATALOGUES:
                self._catalogues.popitem(last=False)
        return known

    def _script(self, order: dict[str, Any], known: ToolNames) -> ReadScript | Remark:
        key = order["source"], order["catalogue"]
        script = self._scripts.pop(key, None) or _script(order["source"], known)
        if len(order["source"]) <= _LONGEST_KEPT:
            self._scripts[key] = script
        if len(self._scripts) > _SCRIPTS:
            self._scripts.popitem(last=False)
        return script


def _script(source: str, known: ToolNames) -> ReadScript | Remark:
    tree = parse(source)
    if isinstance(tree, Remark):
        return tree
    outline = read(tree)
    text = SourceText.of(source)
    resolver = Resolver(outline, known)
    awaits = Awaits.of(resolver, text)
    edits = awaits.inserter.edits
    program = edits.applied() if edits.edits else source
    is_same = program == source
    if is_doubtful(outline, source) and not awaits.remarks:
        broken = compiled(program, outline if is_same else None)
        if broken is not None:
            column = as_written(edits.shifts().get(broken.line, ()), broken.column)
            return replace(broken, column=column)
    answer = {
        "program": None if is_same else program,
        "unawaited": _told(awaits.remarks),
        "unknown": _told(unknown_tools(resolver, text)),
        "undefined": _told(undefined_names(resolver, text)),
        "misused": _told(misused_records(resolver, text, awaits.inserter.waited)),
        "tells": _told(_unreachable(tree, text)),
        "imports": sorted(imports(resolver), key=lambda each: each[1]),
        "uses_tools": any(_is_tool(resolver, name) for name in outline.names),
        "is_async": bool(outline.every(ast.AsyncFunctionDef)),
        "newer": newer_syntax(resolver, text),
    }
    return ReadScript(text, resolver, edits.shifts(), answer)


def _told(remarks: Iterable[Remark]) -> list[dict[str, Any]]:
    return [remark.told() for remark, _ in zip(remarks, range(_MOST), strict=False)]


def _is_tool(resolver: Resolver, name: ast.Name) -> bool:
    ref = resolver.ref(name)
    if ref is None:
        return False
    return ref.kind in ("tool", "missing") or (
        ref.kind == "module" and resolver.known.is_module(ref.name)
    )


def _unreachable(tree: ast.Module, text: SourceText) -> Iterable[Remark]:
    """Return a remark about statements after a `return`, which never run."""
    body = tree.body
    for statement, following in pairwise(body):
        if isinstance(statement, ast.Return):
            line, column = text.position(following.lineno, following.col_offset)
            yield Remark(
                code="unreachable-code",
                message=f"nothing runs after the `return` on line {statement.lineno}",
                level="warning",
                line=line,
                column=column,
            )
            return
