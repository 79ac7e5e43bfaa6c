"""Loading of tools from the names of files and modules."""

import hashlib
import importlib
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import TypeGuard

from msgspec import field

from lineshaft.config._files import read_bytes
from lineshaft.config._settings import Module
from lineshaft.config._siblings import Sibling, hash_of, siblings_of
from lineshaft.config._trust import Approval, Confirm, need_approval, still_unapproved
from lineshaft.errors import ConfigError
from lineshaft.tools import Tool, ToolLike, Toolset, is_tool_like
from lineshaft.values import Struct

MAX_MODULE_BYTES = 5_000_000


class _Found(Struct, frozen=True):
    files: tuple[Path, ...]
    sha256: str
    source: bytes | None
    """Of a file given by path; None for an importable module."""

    siblings: Mapping[str, Sibling] = field(default_factory=dict[str, Sibling])
    """What such a file imports from its folder."""


def load_modules(
    modules: Sequence[Module],
    *,
    confirm: Confirm | None = None,
    environ: Mapping[str, str] | None = None,
    shaped: Callable[[object], object] = lambda offered: offered,
) -> Toolset:
    """Return the tools of all modules.

    Args:
        modules: What the settings name, in order.
        confirm: Asks about modules that are not approved; None: they are refused.
        environ: Variables that say where approvals are kept.
        shaped: Returns what takes the place of a tool or microagent.

    Raises:
        ConfigError: A module is missing, not approved, does not start, or has no tools.
    """
    tools = Toolset(())
    for module in modules:
        started = start(module, confirm=confirm, environ=environ)
        try:
            tools = tools.combine(_collect(started, module, shaped))
        except ConfigError as error:
            raise ConfigError(f"{module.source}: {error.message}", hint=error.hint) from error
    return tools


def start(
    module: Module,
    *,
    confirm: Confirm | None = None,
    environ: Mapping[str, str] | None = None,
) -> ModuleType:
    """Execute a module, once it is approved, and return it.

    Args:
        module: What the settings name.
        confirm: Asks about a module that is not approved; None: it is refused.
        environ: Variables that say where approvals are kept.

    Raises:
        ConfigError: It is missing, not approved, or does not start.
    """
    found = _find(module)
    if module.project is not None:
        need_approval(_approved_as(module, found), confirm=confirm, environ=environ)
    try:
        return _start(module, found)
    except ConfigError as error:
        raise ConfigError(f"{module.source}: {error.message}", hint=error.hint) from error


def unapproved(
    modules: Sequence[Module], *, environ: Mapping[str, str] | None = None
) -> tuple[Approval, ...]:
    """Return the modules that projects name and that are not approved, without starting any.

    Raises:
        ConfigError: A module is missing.
    """
    of_projects = ((module.name, module) for module in modules if module.project is not None)
    return still_unapproved(of_projects, _approval_of, faulty=None, environ=environ)


def hashes_of_modules(modules: Iterable[Module]) -> dict[str, str]:
    """Return the hash of each module, files by their path; none is started.

    Raises:
        ConfigError: A module is missing.
    """
    return {_whole_name(module): _find(module).sha256 for module in modules}


def _whole_name(module: Module) -> str:
    """Return a name that means the same in every folder."""
    return str(module.base / Path(module.name).expanduser()) if _is_path(module) else module.name


def _is_path(module: Module) -> bool:
    return module.name.endswith(".py") or "/" in module.name


def _approval_of(module: Module) -> Approval:
    return _approved_as(module, _find(module))


def _approved_as(module: Module, found: _Found) -> Approval:
    """Return what a person approves of a project's module that was found."""
    project = module.project or Path(module.source)
    return Approval(project=project, name=module.name, sha256=found.sha256, files=found.files)


def _find(module: Module) -> _Found:
    try:
        return _find_file(module) if _is_path(module) else _find_importable(module)
    except ConfigError as error:
        message = f"{module.source}: {module.key} {module.name!r}: {error.message}"
        raise ConfigError(message, hint=error.hint) from error


def _find_file(module: Module) -> _Found:
    path = module.base / Path(module.name).expanduser()
    source = read_bytes(path, limit=MAX_MODULE_BYTES)
    siblings = siblings_of(path, source)
    files = (path, *(each.path for each in siblings.values() if each.is_file))
    return _Found(files, hash_of(source, siblings), source, siblings)


def _find_importable(module: Module) -> _Found:
    """Find a module and its packages without executing any of them."""
    files: list[Path] = []
    folders: list[str] | None = None
    name = ""
    for part in module.name.split("."):
        name = f"{name}.{part}" if name else part
        spec = _spec(name, folders) if part.isidentifier() else None
        if spec is None:
            raise ConfigError(
                "there is no such module",
                hint="write a file as ./tools.py; a dotted name must be installed",
            )
        if spec.origin is not None and spec.has_location:
            files.append(Path(spec.origin))
        folders = spec.submodule_search_locations or []
    digest = hashlib.sha256()
    for file in files:
        digest.update(hashlib.sha256(read_bytes(file, limit=MAX_MODULE_BYTES)).digest())
    return _Found(tuple(files), digest.hexdigest(), None)


def _spec(name: str, folders: list[str] | None) -> importlib.machinery.ModuleSpec | None:
    if folders is not None:
        return importlib.machinery.PathFinder.find_spec(name, folders)
    try:
        return importlib.util.find_spec(name)  # imports nothing, as there is no package around it
    except ValueError:
        return None


def _start(module: Module, found: _Found) -> ModuleType:
    try:
        with redirect_stdout(sys.stderr):  # results, or a protocol, go to standard output
            if found.source is None:
                return importlib.import_module(module.name)
            from lineshaft.config._importer import execute  # noqa: PLC0415  slow, and for own tools

            return execute(found.files[0], found.source, found.siblings)
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # foreign code may raise anything, SystemExit too
        raise ConfigError(
            f"the module {module.name!r} does not start: "
            f"{type(error).__name__}: {error}{_where(error, found)}"
        ) from error


def _where(error: BaseException, found: _Found) -> str:
    """Return the last place in the files, such as ` (line 3)` or ` (helper.py, line 3)`."""
    names = {str(file): file for file in found.files}
    place: tuple[Path, int] | None = None
    trace = error.__traceback__
    while trace is not None:
        file = names.get(trace.tb_frame.f_code.co_filename)
        place = (file, trace.tb_lineno) if file else place
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.lineno and error.filename in names:
        place = (names[error.filename], error.lineno)
    if place is None:
        return ""
    other = "" if place[0] == found.files[0] else f"{place[0].name}, "
    return f" ({other}line {place[1]})"


def _collect(started: ModuleType, module: Module, shaped: Callable[[object], object]) -> Toolset:
    """Return a module's public tools, microagents and those of its toolsets too, each once."""
    offered: list[object] = []
    for value in _public(started):
        offered += value.values() if isinstance(value, Toolset) else [value]
    tools = {id(value): value for value in offered if _is_tool(value)}
    if not tools:
        raise ConfigError(
            f"the module {module.name!r} has no tools",
            hint="put @tool from lineshaft above its functions",
        )
    return Toolset(map(shaped, tools.values()))


def _is_tool(value: object) -> TypeGuard[Tool | ToolLike]:
    return isinstance(value, Tool) or is_tool_like(value)


def _public(started: ModuleType) -> Iterator[object]:
    listed: object = getattr(started, "__all__", None)
    for name, value in vars(started).items():
        if name in listed if isinstance(listed, list | tuple) else not name.startswith("_"):
            yield value
