"""Imports through the host: pure Python packages, modules of the workspace, missing modules.

Everything else that Python asks of modules (`importlib.resources`, `importlib.metadata`, `pkgutil`,
`inspect`) works on the read-only files below `/packages`, see `packaged`.
"""

import binascii
import importlib.machinery
import importlib.metadata
import linecache
import marshal
import pkgutil
import posixpath
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.metadata import DistributionFinder
from importlib.readers import FileReader
from types import CodeType, ModuleType
from typing import Any, cast

from .changes import Changes
from .codec import dumps, loads
from .current import current
from .frames import WORKSPACE
from .missing import reason
from .packaged import LIBRARY, PACKAGES, PackagedFiles
from .private import OwnFinder

_Distributions = Iterable[importlib.metadata.Distribution]


class Loader(InspectLoader):
    """Makes a module from the host's answer.

    Args:
        name: Of the module.
        found: The host's answer.
        packaged: The files with the sources of packages.
    """

    def __init__(self, name: str, found: dict[str, Any], packaged: PackagedFiles | None) -> None:
        self.name = name
        self.path: str = found["path"]
        self._found = found
        self._packaged = packaged

    def is_package(self, fullname: str) -> bool:
        """Return whether it can have submodules."""
        del fullname
        return bool(self._found.get("package"))

    def get_filename(self, fullname: str) -> str:
        """Return the place that the module gives as its own."""
        del fullname
        return self.path

    def get_data(self, path: str) -> bytes:
        """Return the content of a file beside it."""
        if self._packaged is None or self._packaged.path(path) is None:
            raise FileNotFoundError(path)
        return self._packaged.read(path)

    def get_source(self, fullname: str) -> str:
        """Return its text."""
        del fullname
        source = self._found.get("source")
        if source is None:
            source = self.get_data(self.path).decode("utf-8", "replace")
        return source

    def get_code(self, fullname: str) -> CodeType:
        """Return its code."""
        code = self._found.get("code")
        if code is not None:
            return cast("CodeType", marshal.loads(binascii.a2b_base64(code)))  # noqa: S302  the host's own
        return compile(self.get_source(fullname), self.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        """Run it."""
        code = self.get_code(self.name)
        if self.path.startswith(WORKSPACE):
            source = self.get_source(self.name)
            lines = source.splitlines(keepends=True)
            linecache.cache[self.path] = (len(source), None, lines, self.path)
        exec(code, vars(module))  # noqa: S102  as an import does

    def get_resource_reader(self, fullname: str) -> FileReader:
        """Return the reader for `importlib.resources`."""
        del fullname
        return FileReader(cast("Any", self))  # it needs the path alone


# pyright: ignore[reportArgumentType]  it needs the path alone


class Finder(MetaPathFinder):
    """Asks the host.

    Args:
        packaged: The files without a file system; None: packages are found by Python itself.
    """

    def __init__(self, packaged: PackagedFiles | None) -> None:
        self._packaged = packaged

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module.

        Raises:
            ImportError: It is known, but cannot be imported here.
        """
        del target
        if self._packaged is not None:
            source = self._of_library(fullname)
            if source is not None:
                return self._spec(fullname, source)
        found = self._ask(fullname, tuple(path or ()))
        if found is not None:
            return self._spec(fullname, found)
        why = reason(fullname) if self._packaged is not None else None
        if why is not None:
            message = f"No module named {fullname!r}: not in the engine `wasm` ({why})"
            raise ModuleNotFoundError(message, name=fullname)
        return None

    def find_distributions(self, context: DistributionFinder.Context) -> _Distributions:
        """Return the packages' metadata."""
        if self._packaged is None:
            return ()
        return importlib.metadata.MetadataPathFinder.find_distributions(context)

    def _of_library(self, name: str) -> dict[str, Any] | None:
        """Return a module of the standard library that was imported once, and forgotten."""
        if self._packaged is None:
            return None
        place = f"{LIBRARY}/{name.replace('.', '/')}"
        for path, is_package in ((place + ".py", False), (place + "/__init__.py", True)):
            source = self._packaged.source(path)
            if source is not None:
                return {"path": path, "package": is_package, "source": source}
        return None

    def _ask(self, name: str, path: tuple[str, ...]) -> dict[str, Any] | None:
        run = current.maybe
        if run is None:
            return None
        if run.packages and self._packaged is not None and _is_below(path, PACKAGES):
            found = _answer(name, run.wire.package(dumps({"find": name})))
            if found is not None:
                return found
        if run.workspace_imports and _is_below(path, WORKSPACE):
            return _answer(name, run.wire.package(dumps({"workspace": name})))
        return None

    def _spec(self, name: str, found: dict[str, Any]) -> ModuleSpec:
        path: str = found["path"]
        if found.get("kind") == "namespace":
            spec = ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = [path]
            return spec
        is_package = bool(found.get("package"))
        loader = Loader(name, found, self._packaged)
        spec = ModuleSpec(name, loader, origin=path, is_package=is_package)
        spec.has_location = True
        if is_package:
            spec.submodule_search_locations = [posixpath.dirname(path)]
        return spec


def _is_below(path: tuple[str, ...], folder: str) -> bool:
    """Return whether a module may be in a folder, by the path of its package."""
    return not path or any((part + "/").startswith(folder.rstrip("/") + "/") for part in path)


def _answer(name: str, text: str) -> dict[str, Any] | None:
    found = cast("dict[str, Any]", loads(text))
    error = found.get("error")
    if error is not None:
        raise ImportError(str(error), name=name)
    if found.get("kind") == "native":
        message = (
            f"module {name!r} is native code: the engine `wasm` takes pure Python only; "
            "the engine `cpython` takes it"
        )
        raise ModuleNotFoundError(message)  # `from x import name` would swallow one with its name
    return None if found.get("kind") == "none" else found


class _Folder:
    """The answers to `pkgutil` about a folder on a path."""

    def __init__(self, packaged: PackagedFiles, path: str) -> None:
        found = packaged.path(path)
        if found is None:
            raise ImportError("only packages are kept here", path=path)
        self._packaged = packaged
        self._path = found

    def find_spec(self, fullname: str, target: ModuleType | None = None) -> None:
        """Leave it to the finder."""

    def iter_modules(self, prefix: str = "") -> Iterator[tuple[str, bool]]:
        """Yield the modules in the folder, and whether each is a package."""
        try:
            names = self._packaged.listdir(self._path)
        except OSError:  # there are no packages
            return
        for name in names:
            stem, dot, kind = name.rpartition(".")
            if dot and kind == "py" and stem != "__init__" and stem.isidentifier():
                yield prefix + stem, False
            elif not dot and name.isidentifier() and self._is_package(name):
                yield prefix + name, True

    def _is_package(self, name: str) -> bool:
        try:
            return self._packaged.size(f"{self._path}/{name}/__init__.py") >= 0
        except OSError:
            return False


def install(changes: Changes, packaged: PackagedFiles | None) -> None:
    """Let imports ask the host.

    Args:
        changes: Notes the originals.
        packaged: The files without a file system; None: packages are found by Python itself.
    """
    finder = Finder(packaged)
    if packaged is None:
        kept = [found for found in sys.meta_path if not isinstance(found, OwnFinder)]
        changes.contents(sys.meta_path, [*kept, finder])
        return
    builtin = [importlib.machinery.BuiltinImporter, importlib.machinery.FrozenImporter]
    changes.contents(sys.meta_path, [*builtin, finder])
    changes.contents(sys.path, [PACKAGES])
    changes.contents(sys.path_hooks, [partial(_Folder, packaged)])
    sys.path_importer_cache.clear()
    kind = SourceFileLoader
    changes.attribute(kind, "get_data", _get_data(packaged))
    changes.attribute(kind, "path_stats", _no_stats)
    changes.attribute(kind, "get_code", _get_code)
    pkgutil.iter_importer_modules.register(_Folder, _Folder.iter_modules)  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue, reportFunctionMemberAccess]  a generic function


def _get_data(packaged: PackagedFiles) -> Callable[[object, str], bytes]:
    def get_data(_loader: object, path: str) -> bytes:
        found = packaged.path(path)
        if found is None:
            raise FileNotFoundError(path)
        return packaged.read(found)

    return get_data


def _no_stats(_loader: object, path: str) -> object:
    raise OSError(f"no time stamps are kept of {path}")


def _get_code(loader: SourceFileLoader, fullname: str) -> CodeType:
    del fullname
    return compile(loader.get_data(loader.path), loader.path, "exec", dont_inherit=True)
