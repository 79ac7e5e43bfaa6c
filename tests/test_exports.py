"""What a user can import is listed, documented, and stays put."""

import ast
import copy
import importlib
import inspect
import pickle
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import lineshaft
from lineshaft import errors
from lineshaft.errors import (
    CALL_CODES,
    AgentError,
    LineshaftError,
    ModelUnavailable,
    ToolError,
)

ROOMS = sorted(
    f"lineshaft.{module.name}"
    for module in pkgutil.iter_modules(lineshaft.__path__)
    if not module.name.startswith("_")
)


def _subclasses(cls: type[LineshaftError]) -> list[type[LineshaftError]]:
    return [cls, *(deeper for sub in cls.__subclasses__() for deeper in _subclasses(sub))]


def _ours() -> list[type[LineshaftError]]:
    return [cls for cls in _subclasses(LineshaftError) if cls.__module__ == "lineshaft.errors"]


def _public(module: ModuleType) -> list[str]:
    return list(getattr(module, "__all__", []))


@pytest.mark.parametrize("name", ["lineshaft", *ROOMS])
def test_a_list_of_exports_is_sorted_and_complete(name: str) -> None:
    module = importlib.import_module(name)
    listed = _public(module)
    assert listed == sorted(listed, key=_ruff_order)
    assert [missing for missing in listed if not hasattr(module, missing)] == []


def _ruff_order(name: str) -> tuple[int, str]:
    """Constants first, then classes, then the rest: the order that the linter keeps."""
    if name.isupper() and len(name) > 1:
        return 0, name
    return (1, name) if name[0].isupper() else (2, name)


def test_the_root_exports_what_the_readme_needs() -> None:
    listed = _public(lineshaft)
    assert {"ConfigError", "Limits", "Policy", "RunResult", "Session", "Tool", "ToolError"} <= set(
        listed
    )
    assert {"kit", "load", "run_sync", "tool"} <= set(listed)


def test_what_a_type_checker_sees_is_what_the_root_exports() -> None:
    tree = ast.parse(inspect.getsource(lineshaft))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = [a.name for node in block.body if isinstance(node, ast.ImportFrom) for a in node.names]
    assert sorted(seen) == sorted(_public(lineshaft))


def test_importing_the_root_loads_nothing_heavy() -> None:
    heavy = ("anyio", "asyncio", "jsonschema", "pydantic", "rich", "click")
    code = f"import sys, lineshaft; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_importing_the_walls_loads_no_wall() -> None:
    doors = ("jail", "bundle", "webassembly", "webassembly.program")
    imports = ", ".join(f"lineshaft.sandbox.{door}" for door in doors)
    code = f"import sys, lineshaft.sandbox, {imports}; print('wasmtime' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("command", ["run", "call", "tools", "check", "config show", "init"])
def test_a_command_loads_the_sdk_of_mcp_only_for_a_server(command: str) -> None:
    code = f"import sys; from lineshaft.cli._app import loaded; loaded({command!r}); "
    code += "print([name for name in ('mcp', 'mcp_types', 'wasmtime') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_names_are_loaded_late_by_the_root_and_by_what_pytest_loads_at_its_start() -> None:
    source = Path(lineshaft.__file__).parent
    lazy = [
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if any(
            isinstance(node, ast.FunctionDef) and node.name == "__getattr__"
            for node in ast.parse(path.read_text(encoding="utf-8")).body
        )
    ]
    assert sorted(lazy) == ["__init__.py", "testing/__init__.py"]


@pytest.mark.parametrize("name", ["lineshaft", *ROOMS])
def test_every_public_class_and_function_is_documented(name: str) -> None:
    module = importlib.import_module(name)
    assert inspect.getdoc(module) or name == "lineshaft.__main__"
    silent = [
        public
        for public in _public(module)
        if (inspect.isclass(value := getattr(module, public)) or inspect.isfunction(value))
        and not (value.__doc__ or "").strip()
    ]
    assert silent == []


@pytest.mark.parametrize("name", ["lineshaft", *ROOMS])
def test_every_public_method_is_documented(name: str) -> None:
    module = importlib.import_module(name)
    silent = [
        f"{public}.{method}"
        for public in _public(module)
        if inspect.isclass(cls := getattr(module, public)) and cls.__module__.startswith(name)
        for method, body in vars(cls).items()
        if not method.startswith("_") and inspect.isfunction(body) and not body.__doc__
    ]
    assert silent == []


def test_each_error_class_has_a_code_of_its_own() -> None:
    codes: dict[str, str] = {}
    for cls in _ours():
        if cls is errors.ToolError or cls.code in CALL_CODES:
            continue  # these report the code of a call
        assert cls.code not in codes, f"{cls.__name__} and {codes[cls.code]} share {cls.code}"
        codes[cls.code] = cls.__name__


def test_workspace_errors_report_codes_that_a_call_can_raise() -> None:
    codes = [cls.code for cls in _subclasses(errors.WorkspaceError)]
    assert set(codes) <= CALL_CODES
    assert len(codes) == len(set(codes))


def test_the_tree_in_the_docstring_is_the_tree_of_classes() -> None:
    drawn: dict[str, str] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"^((?:[│ ]  )*)(?:[├└]─ )?([A-Z]\w+)(?:\s{2,}|$)", line)
        if found:
            depth = len(found[1]) // 3 + ("─" in line)
            path[depth:] = [found[2]]
            drawn[found[2]] = path[depth - 1] if depth else "Exception"
    actual = {cls.__name__: cls.__bases__[0].__name__ for cls in _ours()}
    assert drawn == actual


@pytest.mark.parametrize("kind", _ours(), ids=lambda kind: kind.__name__)
def test_an_error_is_the_same_in_another_process(kind: type[LineshaftError]) -> None:
    words = ("E_X", "what") if kind in (ToolError, AgentError) else ("what",)
    error = kind(*words, **({} if kind is ModelUnavailable else {"hint": "do"}))
    for other in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):  # noqa: S301  our own
        assert type(other) is kind
        assert (str(other), vars(other)) == (str(error), vars(error))


NOT_IMPORTED = {
    "lineshaft.__main__",
    "lineshaft.engines.cpython.inside._boot",
    "lineshaft.engines.guest.pages",
}
"""Programs, which to import is to start, and what needs packages that the image alone has."""


def test_no_error_is_defined_outside_the_tree() -> None:
    for module in pkgutil.walk_packages(lineshaft.__path__, "lineshaft."):
        if module.name not in NOT_IMPORTED:
            importlib.import_module(module.name)
    strays = [
        cls.__qualname__
        for cls in _subclasses(LineshaftError)
        if cls.__module__.startswith("lineshaft.") and cls.__module__ != "lineshaft.errors"
    ]
    assert strays == []
