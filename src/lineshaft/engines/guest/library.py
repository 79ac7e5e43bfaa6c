"""The standard library as the image of the `wasm` engine has it: all of it, imported ahead.

An instance has no files, so modules not imported when the image was made cannot be imported.
"""

import importlib
import io
import os
import sys
import sysconfig
import zlib
import zoneinfo
import zoneinfo._common
import zoneinfo._tzpath
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from .changes import Changes

# ruff: noqa: SLF001  `zoneinfo` has no public way
# pyright: reportPrivateUsage=false, reportAttributeAccessIssue=false

_LEFT_OUT = frozenset(
    {
        "__hello__", "__phello__", "_ios_support", "antigravity", "ensurepip", "idlelib",
        "site-packages", "test", "this", "tkinter", "turtle", "turtledemo",
    }
)  # fmt: skip  # words, not one a line

TOLD_AT_IMPORT = "this"
"""The module that prints where it is imported, which each script does for itself, from its text."""


def import_all() -> dict[str, str]:
    """Import all of the standard library; return the modules that failed, with the reason."""
    failed: dict[str, str] = {}
    for name in sorted({*sys.builtin_module_names, *_names()}):
        try:
            importlib.import_module(name)
        except BaseException as error:  # noqa: BLE001  any exception is reported
            failed[name] = f"{type(error).__name__}: {error}"
    return failed


def _roots() -> tuple[Path, ...]:
    """Return the library's nominal folder: frozen modules give another place."""
    return (Path("/python"), Path(sysconfig.get_path("stdlib")), Path(os.__file__).parent)


def _root() -> Path:
    """Return the folder of the library."""
    return next(root for root in _roots() if (root / "json" / "__init__.py").exists())


def _names() -> Iterator[str]:
    root = _root()
    for folder, folders, files in os.walk(root):
        inner = Path(folder).relative_to(root).parts
        folders[:] = [
            name
            for name in folders
            if name not in _LEFT_OUT and name != "__pycache__" and not name.startswith("config-")
        ]
        for file in files:
            if file.endswith(".py") and file != "__main__.py" and file[:-3] not in _LEFT_OUT:
                parts = inner if file == "__init__.py" else (*inner, file[:-3])
                if parts and all(part.isidentifier() for part in parts):
                    yield ".".join(parts)


def packed_sources() -> dict[str, bytes]:
    """Return the text of the modules of the library that a script has, compressed, by path."""
    root = _root()
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    packed: dict[str, bytes] = {}
    for inner in (*map(_inner, files), f"{TOLD_AT_IMPORT}.py"):
        if inner is not None and (root / inner).exists():
            packed[f"/python/{inner}"] = zlib.compress((root / inner).read_bytes(), 9)
    return packed


def _inner(file: object) -> str | None:
    """Return the path of a module of the library, inside the library."""
    if not isinstance(file, str) or not file.endswith(".py"):
        return None
    for root in reversed(_roots()):
        if file.startswith(f"{root}/"):
            return file[len(str(root)) + 1 :]
    return None


def packed_zones() -> dict[str, bytes]:
    """Return the time zones of the package `tzdata`, by name."""
    import tzdata  # pyright: ignore[reportMissingImports]  # noqa: PLC0415  it is there where an image is made

    root = Path(tzdata.__file__ or "").parent / "zoneinfo"  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]  as above
    found: dict[str, bytes] = {}
    for path in sorted(root.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            if data.startswith(b"TZif"):
                found[path.relative_to(root).as_posix()] = data
    return found


def install_zones(changes: Changes, zones: Mapping[str, bytes]) -> None:
    """Have `zoneinfo` know these time zones."""

    def load_tzdata(key: str) -> IO[bytes]:
        data = zones.get(key)
        if data is None:
            raise zoneinfo.ZoneInfoNotFoundError(f"No time zone found with key {key}")
        return io.BytesIO(data)

    def available_timezones() -> set[str]:
        return set(zones)

    changes.attribute(zoneinfo._common, "load_tzdata", load_tzdata)
    for owner in (zoneinfo, zoneinfo._tzpath):
        changes.attribute(owner, "available_timezones", available_timezones)
    zoneinfo.reset_tzpath(())
