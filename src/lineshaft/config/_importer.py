"""Executes the files of a folder as a package of their own.

Files of two folders may import siblings of the same name, and none of them is found by anything
else: a name is looked up in the folder only where a file of that folder imports it.
"""

import builtins
import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import CodeType, ModuleType

from lineshaft.config._siblings import Sibling, hash_of

_TOP = "lineshaft_tools_"


class FolderImporter(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
    """Finds and executes the modules of one folder, as they were read."""

    def __init__(self, folder: Path, modules: Mapping[str, Sibling]) -> None:
        self.folder = folder
        self.modules = dict(modules)
        key = hash_of(str(folder).encode("utf-8", "surrogateescape"), modules)
        self.package = f"{_TOP}{key[:16]}"
        self._builtins = {**vars(builtins), "__import__": self._import}
        top = ModuleType(self.package, f"The modules of {str(folder)!r}.")
        top.__path__ = []
        sys.modules[self.package] = top
        sys.meta_path.append(self)

    def agrees(self, folder: Path, modules: Mapping[str, Sibling]) -> bool:
        """Return whether these modules can live together with those that are there."""
        both = self.modules.keys() & modules.keys()
        return folder == self.folder and all(self.modules[name] == modules[name] for name in both)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return where a module of the folder is; None for all others."""
        del path, target
        package, _, name = fullname.partition(".")
        if package != self.package or name not in self.modules:
            return None
        module = self.modules[name]
        spec = importlib.machinery.ModuleSpec(
            fullname, self, origin=str(module.path), is_package=module.is_package
        )
        spec.has_location = module.is_file
        return spec

    def get_filename(self, fullname: str) -> str:
        """Return the file of a module."""
        return str(self._module(fullname).path)

    def get_data(self, path: str) -> bytes:
        """Return what was read of a file, and not the file again."""
        for module in self.modules.values():
            if str(module.path) == path:
                return module.source
        raise OSError(f"{path!r} was not read")

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of a module, never from bytecode that lies beside it."""
        module = self._module(fullname)
        return compile(module.source, str(module.path), "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        """Execute a module, whose imports see the folder."""
        vars(module)["__builtins__"] = self._builtins
        exec(self.get_code(module.__name__), vars(module))  # noqa: S102  what such a file is for

    def _module(self, fullname: str) -> Sibling:
        try:
            return self.modules[fullname.partition(".")[2]]
        except KeyError:
            raise ImportError(f"{fullname!r} is no module of {str(self.folder)!r}") from None

    def _import(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002  as Python calls it
        locals: Mapping[str, object] | None = None,  # noqa: A002  as Python calls it
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """Import as Python does, from the folder first."""
        top = name.partition(".")[0]
        if level or top not in self.modules:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        done = builtins.__import__(f"{self.package}.{name}", globals, locals, fromlist or (), 0)
        return done if fromlist else sys.modules[f"{self.package}.{top}"]


def execute(file: Path, source: bytes, siblings: Mapping[str, Sibling]) -> ModuleType:
    """Execute a file with what it imports from its folder, once as long as none of it changes.

    Args:
        file: The file.
        source: Its content.
        siblings: What it can import, see `siblings_of`.
    """
    name = file.stem.replace(".", "_")
    modules = {**siblings, name: Sibling(path=file, source=source)}
    folder = file.resolve().parent
    held = [each for each in sys.meta_path if isinstance(each, FolderImporter)]
    importer = next((each for each in held if each.agrees(folder, modules)), None)
    if importer is None:
        importer = FolderImporter(folder, modules)
    importer.modules |= modules
    return importlib.import_module(f"{importer.package}.{name}")
