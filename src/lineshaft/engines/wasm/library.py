"""Library of one package set: its modules and files, as guests ask for them.

A guest names modules and paths as it likes; only files in the package set's folder are read, and an
answer has a bounded size.
"""

import base64
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from lineshaft.engines.host.modules import NONE
from lineshaft.engines.wasm.compiled import Compiled

GuestAnswer = Mapping[str, object]

_PACKAGES = PurePosixPath("/packages")
_NATIVE = (".so", ".pyd", ".dylib")

_NAME = 300
"""Characters of a module's name, and of a path, at most."""

_SOURCE_BYTES = 4_000_000
"""Of one module at most."""

_READ_BYTES = 8_000_000
"""Of a file in one answer at most."""

_ENTRIES = 20_000
"""Names of a folder in one answer at most."""


class Library:
    """The modules and files of a package set.

    Args:
        root: Its folder, which does not change.
        compiled: Compiled code of its modules.
    """

    def __init__(self, root: Path, compiled: Compiled) -> None:
        self.root = root.resolve()
        """Its folder."""

        self._compiled = compiled

    def answer(self, asked: Mapping[str, object]) -> GuestAnswer:
        """Answer a request of a guest."""
        match asked:
            case {"find": str() as name}:
                return self.find(name)
            case {"stat": str() as path}:
                return self._at(path, _stat)
            case {"list": str() as path}:
                return self._at(path, _list)
            case {"read": str() as path, "offset": int() as offset}:
                return self._at(path, lambda file: _read(file, offset))
            case _:
                return NONE

    def find(self, name: str, *, compile_now: bool = False) -> GuestAnswer:
        """Return a module by its dotted name.

        Args:
            name: The name.
            compile_now: Make its compiled code where there is none.
        """
        place = self._place(name)
        if place is None:
            return NONE
        for file, package in (
            (place / "__init__.py", True),
            (place.with_name(f"{place.name}.py"), False),
        ):
            if file.is_file() and self._inside(file) is not None:
                return self._source(name, file, package=package, compile_now=compile_now)
        native = _native(place)
        if native is not None:
            return {
                "kind": "native",
                "path": self._shown(native),
                "package": native.parent == place,
            }
        if place.is_dir() and any(place.iterdir()):
            return {"kind": "namespace", "path": self._shown(place), "package": True}
        return NONE

    def has(self, name: str) -> bool:
        """Return whether the set has a module, of any kind."""
        return self.find(name) != NONE

    def _source(self, name: str, file: Path, *, package: bool, compile_now: bool) -> GuestAnswer:
        if file.stat().st_size > _SOURCE_BYTES:
            return NONE
        data = file.read_bytes()
        shown = self._shown(file)
        code = self._compiled.get(shown, data)
        if code is None and compile_now:
            code = self._compiled.make(name, shown, data)
        answer: GuestAnswer = {
            "kind": "source",
            "path": shown,
            "package": package,
            "source": _text(data),
        }
        if code is not None:
            answer["kind"], answer["code"] = "code", base64.b64encode(code).decode()
        return answer

    def _place(self, name: str) -> Path | None:
        parts = name.split(".")
        if len(name) > _NAME or not all(part.isidentifier() for part in parts):
            return None
        return self._inside(self.root.joinpath(*parts))

    def _at(self, path: str, act: Callable[[Path], GuestAnswer]) -> GuestAnswer:
        parts = PurePosixPath(path).parts
        if len(path) > 4 * _NAME or "\0" in path or ".." in parts:
            return NONE
        if parts[:2] != _PACKAGES.parts:
            return NONE
        file = self._inside(self.root.joinpath(*parts[2:]))
        try:
            return NONE if file is None else act(file)
        except (OSError, ValueError):
            return NONE

    def _inside(self, path: Path) -> Path | None:
        """Return a path if it leads nowhere else."""
        try:
            real = path.resolve()
        except (OSError, RuntimeError, ValueError):
            return None
        return path if real == path and real.is_relative_to(self.root) else None

    def _shown(self, file: Path) -> str:
        return str(_PACKAGES.joinpath(*file.relative_to(self.root).parts))


def _text(data: bytes) -> str:
    """Return source as text; a byte that is no UTF-8 becomes a mark, which its compiler names."""
    return data.decode("utf-8-sig", "replace")


def _native(place: Path) -> Path | None:
    """Return the file of a module in native code."""
    for folder, stem in ((place, "__init__"), (place.parent, place.name)):
        if folder.is_dir():
            for file in folder.glob(f"{stem}.*"):
                if file.suffix in _NATIVE:
                    return file
    return None


def _stat(file: Path) -> GuestAnswer:
    if file.is_dir():
        return {"kind": "folder", "size": 0}
    if file.is_file():
        return {"kind": "file", "size": file.stat().st_size}
    return NONE


def _list(file: Path) -> GuestAnswer:
    if not file.is_dir():
        return {"kind": "file"} if file.is_file() else NONE
    names = sorted(entry.name for entry in file.iterdir())[:_ENTRIES]
    return {"kind": "folder", "names": names}


def _read(file: Path, offset: int) -> GuestAnswer:
    if not file.is_file():
        return _stat(file)
    size = file.stat().st_size
    with file.open("rb") as opened:
        opened.seek(max(min(offset, size), 0))
        data = opened.read(_READ_BYTES)
        end = opened.tell()
    text = base64.b64encode(data).decode()
    return {"kind": "file", "data": text, "size": size, "more": end < size}
