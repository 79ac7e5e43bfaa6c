"""What is sent into the jail: our own files, as text, so that none need be readable there."""

import ast
import json
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

from lineshaft.values import steadily

_ENGINES = "lineshaft.engines"
_HERE = f"{_ENGINES}._cpython"
_INSIDE = f"{_HERE}._inside"
_MAIN = f"{_INSIDE}._parent"
_PACKAGES = ("lineshaft", _ENGINES, _HERE, _INSIDE)
_ALIASES = {
    "lineshaft.errors": f"{_INSIDE}._tool_error",
    "lineshaft.values": f"{_INSIDE}._program",
}
"""What the shared files import of the rooms below, and what stands for it inside."""

_PACKET = 60_000

GO = b"go"
"""The packet after the last."""


@cache
def boot() -> str:
    """Return the program that a bare interpreter starts with."""
    return _text(f"{_INSIDE}._boot")


def packets(*, path: Sequence[str], preload: Sequence[str]) -> Iterator[bytes]:
    """Yield what that program reads.

    Args:
        path: Folders for `sys.path`.
        preload: Modules to import before the first script.
    """
    order = {
        "modules": _texts(),
        "packages": _PACKAGES,
        "aliases": _ALIASES,
        "main": _MAIN,
        "path": list(path),
        "preload": list(preload),
    }
    text = json.dumps(order).encode()
    for start in range(0, len(text), _PACKET):
        yield text[start : start + _PACKET]
    yield GO


@cache
def _texts() -> dict[str, str]:
    """Return what the main module imports of ours, and what that imports."""
    found = dict.fromkeys((*_PACKAGES, *_ALIASES), "")
    left = [_MAIN, *_ALIASES.values()]
    while left:
        name = left.pop()
        if name not in found:
            found[name] = _text(name)
            left += _imports(found[name])
    return found


def _imports(text: str) -> Iterator[str]:
    for node in ast.walk(steadily(lambda: ast.parse(text))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lineshaft"):
            module = str(node.module)
            inner = (f"{module}.{alias.name}" for alias in node.names)
            yield from inner if module in _PACKAGES else (module,)


def _text(module: str) -> str:
    *package, name = module.split(".")
    return (files(".".join(package)) / f"{name}.py").read_text(encoding="utf-8")
