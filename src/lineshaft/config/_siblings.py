"""Imports of a file of Python from its own folder, found without executing any of it.

Import statements are looked for in the text, whatever stands around them: a name too many costs a
file more that is read and approved. What is found here is all that can be imported later, so that
nothing is executed but what was hashed.
"""

import hashlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from lineshaft.config._files import read_bytes
from lineshaft.errors import ConfigError
from lineshaft.values import Struct, lazy_pattern

MAX_FILES = 1_000
MAX_BYTES = 20_000_000

_COMMENT = lazy_pattern(r"#[^\n]*")
_FROM = lazy_pattern(
    r"\bfrom\b[ \t]*+(\.*+)([\w.]*+)[ \t]*+\bimport\b[ \t]*+(?:\(([^()]*+)|([^\n;]*+))"
)
_IMPORT = lazy_pattern(r"(?:^|[;:])[ \t]*+import[ \t]++([^\n;]*+)", re.MULTILINE)

_NEVER = frozenset({"lineshaft", *sys.builtin_module_names})
"""What no file of a folder stands for: its tools would not be ours."""


class Sibling(Struct, frozen=True, kw_only=True):
    """A module that a file can import from its folder."""

    path: Path
    """Its file; the folder itself for a package without `__init__.py`."""

    source: bytes
    is_package: bool = False

    @property
    def is_file(self) -> bool:
        """Return whether it has code."""
        return self.path.suffix == ".py"


def siblings_of(file: Path, source: bytes) -> dict[str, Sibling]:
    """Return what a file imports from its folder, and what that imports in its turn, by name.

    Args:
        file: The file; its folder is the one that a symlink leads to, as for Python itself.
        source: Its content.

    Raises:
        ConfigError: A file cannot be read, or there are too many.
    """
    folder = Path(os.path.realpath(file)).parent
    found: dict[str, Sibling] = {}
    waiting: list[tuple[tuple[str, ...], bytes]] = [((), source)]
    size = 0
    while waiting:
        package, text = waiting.pop()
        for parts in _imported(text.decode("utf-8", "replace"), package):
            for name, sibling in _along(folder, parts):
                if name in found:
                    continue
                found[name] = sibling
                size += len(sibling.source)
                if len(found) > MAX_FILES or size > MAX_BYTES:
                    raise ConfigError(
                        f"{str(file)!r} imports more than {MAX_FILES:,} files or "
                        f"{MAX_BYTES:,} bytes from its own folder",
                        hint="install what it imports as a package",
                    )
                home = tuple(name.split("."))
                waiting.append((home if sibling.is_package else home[:-1], sibling.source))
    return found


def hash_of(source: bytes, siblings: Mapping[str, Sibling]) -> str:
    """Return the hash of a file and all that it imports from its folder."""
    whole = hashlib.sha256(source)
    for name in sorted(siblings):
        whole.update(f"\0{name}\0".encode())
        whole.update(hashlib.sha256(siblings[name].source).digest())
    return whole.hexdigest()


def _imported(text: str, package: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the names that a module imports, from the folder downwards."""
    text = _COMMENT().sub("", text.replace("\r", "\n")).replace("\\\n", " ")
    for statement in _IMPORT().finditer(text):
        for name in _names(statement[1]):
            yield tuple(name.split("."))
    for statement in _FROM().finditer(text):
        dots, home, listed, line = statement.groups()
        above = len(package) - len(dots) + 1
        if above < 0:
            continue
        base = package[:above] if dots else ()
        base += tuple(part for part in home.split(".") if part)
        yield base
        for name in _names(listed or line or ""):
            yield (*base, name)


def _names(listed: str) -> Iterator[str]:
    for each in listed.split(","):
        words = each.strip(" \t\n()").split()
        if words:
            yield words[0]


def _along(folder: Path, parts: tuple[str, ...]) -> Iterator[tuple[str, Sibling]]:
    """Yield the packages on the way to a module and the module, as far as they are there."""
    if not parts or parts[0] in _NEVER:
        return
    for count, part in enumerate(parts, 1):
        sibling = _at(folder, part, top=count == 1) if part.isidentifier() else None
        if sibling is None:
            return
        yield ".".join(parts[:count]), sibling
        if not sibling.is_package:
            return
        folder /= part


def _at(folder: Path, name: str, *, top: bool) -> Sibling | None:
    try:
        # By its spelling, also where the file system knows no case.
        there = {entry.name for entry in folder.iterdir()}
    except OSError:
        return None
    inside = folder / name / "__init__.py"
    if name in there and inside.is_file():
        return Sibling(path=inside, source=_read(inside), is_package=True)
    if f"{name}.py" in there:
        file = folder / f"{name}.py"
        return Sibling(path=file, source=_read(file))
    if name in there and (folder / name).is_dir() and not (top and _is_installed(name)):
        return Sibling(path=folder / name, source=b"", is_package=True)
    return None


def _is_installed(name: str) -> bool:
    """Return whether a package is found elsewhere, which a mere folder does not hide."""
    try:
        spec = importlib.util.find_spec(name)  # imports nothing, as there is no package around it
    except ValueError:
        return True
    return spec is not None and spec.origin is not None


def _read(file: Path) -> bytes:
    return read_bytes(file, limit=MAX_BYTES)
