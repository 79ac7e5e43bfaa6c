"""What the type checker is told beside the tools: modules, helpers, `ToolError`, inputs."""

from collections.abc import Sequence
from typing import cast

from lineshaft.scripts._names import MODULES, Recent
from lineshaft.tools import checker_stubs
from lineshaft.values import Stubs, ToolSpec

_SURROUNDINGS = """
import typing as _typing
class ToolError(Exception):
    code: str
    tool: str
    message: str
def json_parse(text: str) -> _typing.Any: ...
async def retry(call: _typing.Any, attempts: int = 3, wait: float = 1.0) -> _typing.Any: ...
def batched(items: _typing.Any, n: int) -> list[list[_typing.Any]]: ...
def table(rows: _typing.Any) -> str: ...
"""

_SCALARS = (bool, int, float, str)


def stubs_of(specs: Sequence[ToolSpec]) -> Stubs:
    """Return the stubs of all that a script has in scope; kept for the same tuple."""
    return _STUBS.get(specs)


def _make(specs: Sequence[ToolSpec]) -> Stubs:
    tools = checker_stubs(specs)
    tops = sorted({*MODULES, *(name.partition(".")[0] for name in tools.modules)})
    imports = "".join(f"import {name} as {name}\n" for name in tops)
    return Stubs(main=f"{imports}{_SURROUNDINGS}{tools.main}", modules=tools.modules)


_STUBS = Recent(_make)


def type_of(value: object) -> str:
    """Return the type of an input as an annotation."""
    if isinstance(value, list):
        items = cast("list[object]", value)
        is_text = items and all(isinstance(item, str) for item in items)
        return "list[str]" if is_text else "list[Any]"
    if isinstance(value, dict):
        return "dict[str, Any]"
    return next((kind.__name__ for kind in _SCALARS if isinstance(value, kind)), "Any")
