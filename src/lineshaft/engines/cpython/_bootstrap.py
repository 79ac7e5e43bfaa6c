"""Bootstrap of a parent: text sent into the jail, so that no file of it is readable there.

It is the files of `inside/`, the modules that they import, and the guest, which is the package
`_lineshaft` there as in every engine.
"""

import ast
import json
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING

from lineshaft.values import steadily

if TYPE_CHECKING:
    from lineshaft.engines.cpython._fork_server import ForkServerSettings

_ENGINES = "lineshaft.engines"
_HERE = f"{_ENGINES}.cpython"
_INSIDE = f"{_HERE}.inside"
_MAIN = f"{_INSIDE}._forks"
_PACKAGES = ("lineshaft", _ENGINES, f"{_ENGINES}.host", _HERE, _INSIDE)
_GUEST, _GUEST_INSIDE = f"{_ENGINES}.guest", "_lineshaft"
_PACKET = 60_000


@cache
def boot() -> str:
    """Return the program that a bare interpreter starts with."""
    return _text(f"{_INSIDE}._boot")


def packets(settings: "ForkServerSettings") -> Iterator[bytes]:
    """Yield the packets that the program reads.

    Args:
        settings: The parent's settings.
    """
    guest, guest_packages = _guest()
    order = {
        "modules": {**_texts(), **guest},
        "packages": [*_PACKAGES, *guest_packages],
        "main": _MAIN,
        **asdict(settings),
    }
    text = json.dumps(order).encode()
    for start in range(0, len(text), _PACKET):
        yield text[start : start + _PACKET]


@cache
def _texts() -> dict[str, str]:
    """Return the modules of Lineshaft that the main module imports, directly or through others."""
    found: dict[str, str] = dict.fromkeys(_PACKAGES, "")
    left = [_MAIN]
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


@cache
def _guest() -> tuple[dict[str, str], list[str]]:
    """Return the guest's modules by name, and which of them are packages."""
    found: dict[str, str] = {}
    packages: list[str] = []

    def take(folder: Traversable, name: str) -> None:
        packages.append(name)
        for item in folder.iterdir():
            if item.is_dir() and item.joinpath("__init__.py").is_file():
                take(item, f"{name}.{item.name}")
            elif item.name.endswith(".py"):
                stem = item.name.removesuffix(".py")
                module = name if stem == "__init__" else f"{name}.{stem}"
                found[module] = item.read_text(encoding="utf-8")

    take(files(_GUEST), _GUEST_INSIDE)
    return found, packages


def _text(module: str) -> str:
    *package, name = module.split(".")
    return (files(".".join(package)) / f"{name}.py").read_text(encoding="utf-8")
