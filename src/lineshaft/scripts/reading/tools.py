"""The tools of a script, in the forms for its reader and for the type checker."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import cast

from lineshaft.tools import checker_stubs, record_keys, record_tools, script_name
from lineshaft.values import Struct, Stubs, ToolSpec

_SURROUNDINGS = """
import typing as _typing
class ToolError(Exception):
    code: str
    tool: str
    message: str
    hint: str
def json_parse(text: str) -> _typing.Any: ...
async def retry(call: _typing.Any, attempts: int = 3, wait: float = 1.0) -> _typing.Any: ...
def batched(items: _typing.Any, n: int) -> list[list[_typing.Any]]: ...
def table(rows: _typing.Any) -> str: ...
"""

_MODULES = ("asyncio", "datetime", "json", "math", "re")
"""Modules in scope without an import, beside `tools` and the namespaces."""


class ToldTools(Struct, frozen=True, dict=True):
    """Tools that scripts may call; their descriptions are made when first needed."""

    specs: Sequence[ToolSpec]
    hidden: frozenset[str]
    """Canonical names of tools that are known by name alone."""

    @cached_property
    def by_name(self) -> dict[str, ToolSpec]:
        """By canonical name; without the hidden ones."""
        return {spec.name: spec for spec in self.specs if spec.name not in self.hidden}

    @cached_property
    def told(self) -> tuple[ToolSpec, ...]:
        """The tools without the hidden ones."""
        return tuple(self.by_name.values())

    @cached_property
    def entries(self) -> list[list[object]]:
        """The reader's description of each tool."""
        found: list[list[object]] = [
            [script_name(spec.name), spec.name, list(spec.positional), _keys(spec), False]
            for spec in self.told
            if spec.scriptable
        ]
        found.extend([script_name(name), name, [], None, True] for name in self._names)
        return found

    @cached_property
    def id(self) -> str:
        """Hash of the entries."""
        return hashlib.sha256(json.dumps(self.entries).encode()).hexdigest()

    @cached_property
    def stubs(self) -> Stubs:
        """The stubs of everything that a script has in scope, for a type checker."""
        tools = checker_stubs(self.told, closed=self._names)
        tops = sorted({*_MODULES, *(name.partition(".")[0] for name in tools.modules)})
        imports = "".join(f"import {name} as {name}\n" for name in tops)
        return Stubs(main=f"{imports}{_SURROUNDINGS}{tools.main}", modules=tools.modules)

    @cached_property
    def records(self) -> Mapping[str, tuple[str, ...]]:
        """The types in the stubs that are dicts, each with the tools whose results it is in."""
        return record_tools(self._named)

    @cached_property
    def keys(self) -> Mapping[str, tuple[str, ...]]:
        """The keys of those types."""
        return record_keys(self._named)

    @cached_property
    def _named(self) -> list[ToolSpec]:
        """The tools as the stubs name them: no record has the name of a hidden one."""
        return [*self.told, *(ToolSpec(name=name) for name in self._names)]

    @cached_property
    def _names(self) -> list[str]:
        return sorted(self.hidden)


def _keys(spec: ToolSpec) -> list[str] | None:
    """Return the keys of a tool's result, where it is promised to be a dict of just these."""
    schema = spec.output_schema or {}
    properties, more = schema.get("properties"), schema.get("additionalProperties")
    if schema.get("type") != "object" or not isinstance(properties, Mapping) or more:
        return None
    if schema.get("patternProperties"):
        return None
    return list(cast("Mapping[str, object]", properties)) or None
