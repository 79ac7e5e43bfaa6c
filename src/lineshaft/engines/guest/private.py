"""The guest's own modules, kept apart from what a script does to Python.

A script may replace any builtin. So each module of the guest gets a copy of the builtins, made
before there is a script, and its code has a file name that no file has, by which its frames are
hidden from a script.
"""

import builtins
import sys
from collections.abc import Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import CodeType, ModuleType
from typing import cast

FILE = "<lineshaft>"
"""File name in every code object of the guest."""

_BUILTINS = dict(vars(builtins))
_FOLDERS = (str(Path(__file__).parent) + "/", "/0/")
"""Folders of the guest and of the image's program."""


def is_own(code: CodeType) -> bool:
    """Return whether code is the guest's."""
    return code.co_filename == FILE or code.co_filename.startswith(_FOLDERS)


def take_over(package: str, folder: str, spec: ModuleSpec) -> None:
    """Load the package's modules from now on as the guest's.

    Args:
        package: Its name.
        folder: The folder of its files.
        spec: Its own; a loader with `get_data` is asked for their text.
    """
    sys.meta_path.insert(0, OwnFinder(package, folder, spec))


class OwnFinder(MetaPathFinder):
    """Finds the package's modules."""

    def __init__(self, package: str, folder: str, spec: ModuleSpec) -> None:
        self._package = package
        self._folder = folder
        self._get_data = getattr(spec.loader, "get_data", None)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module of the package."""
        if not fullname.startswith(self._package + "."):
            return None
        place = self._folder + "/" + fullname[len(self._package) + 1 :].replace(".", "/")
        for file, is_package in ((place + ".py", False), (place + "/__init__.py", True)):
            try:
                text = self._read(file)
            except OSError:
                continue
            spec = spec_from_loader(fullname, _Loader(text), is_package=is_package)
            if spec is not None and is_package:
                spec.submodule_search_locations = [place]
            return spec
        return None

    def _read(self, file: str) -> bytes:
        if self._get_data is None:
            return Path(file).read_bytes()
        return cast("bytes", self._get_data(file))


class _Loader(InspectLoader):
    def __init__(self, text: bytes) -> None:
        self._text = text

    def get_source(self, fullname: str) -> str:
        """Return the text of the module."""
        return self._text.decode()

    def exec_module(self, module: ModuleType) -> None:
        """Run the module with builtins of its own."""
        vars(module)["__builtins__"] = _BUILTINS
        exec(compile(self._text, FILE, "exec", dont_inherit=True), vars(module))  # noqa: S102  the guest's own text
