"""What the interpreter's Python lacks or does otherwise, said before a script runs.

Only what full Python has is lacking: a name that nobody has is the script's own error.
"""

import ast
import builtins
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files

from lineshaft.engines._micropython._blame import Blame
from lineshaft.engines._micropython._lower import Lowered, lower, parse
from lineshaft.engines._micropython._nodes import bound_names
from lineshaft.engines._micropython._rewrite import Lacking
from lineshaft.engines._remembered import remembered
from lineshaft.values import Program, Raised, steadily

NATIVE_MODULES = frozenset(
    {"struct", "binascii", "array", "errno", "cmath", "io", "sys", "builtins"}
)
"""Modules of the interpreter itself that scripts may import."""

NATIVE_NAMES = {
    "io": frozenset({"StringIO", "BytesIO"}),
    "struct": frozenset({"calcsize", "pack", "pack_into", "unpack", "unpack_from"}),
    "sys": frozenset({"stdout", "stderr", "exit", "maxsize", "byteorder", "version", "platform"}),
    "binascii": frozenset({"hexlify", "unhexlify", "a2b_base64", "b2a_base64", "crc32"}),
    "array": frozenset({"array"}),
}
"""What stands in them that does what it does in full Python."""

ATTRIBUTES = frozenset(
    {
        "__doc__", "__dict__", "__mro__", "__annotations__", "__subclasses__", "__wrapped__",
        "__suppress_context__", "__traceback__", "__notes__", "add_note", "with_traceback",
        "__defaults__", "__code__", "__closure__", "__globals__", "__module__", "__qualname__",
        "__context__", "real", "imag", "numerator", "denominator", "as_integer_ratio", "cr_frame",
        "gi_frame", "mro",
    }
)  # fmt: skip  # words, not one a line
"""Attributes of any values that it lacks."""

SPECIAL = frozenset(
    {
        "__slots__", "__del__", "__init_subclass__", "__class_getitem__", "__prepare__",
        "__instancecheck__", "__subclasshook__", "__missing__",
        "__length_hint__", "__index__", "__getattribute__", "__mro_entries__",
        "__metaclass__", "__round__", "__floor__", "__ceil__", "__trunc__",
        "__dir__", "__getstate__", "__setstate__", "__reduce__", "__fspath__", "__complex__",
    }
)  # fmt: skip  # words, not one a line
"""Names in a class that mean nothing to it."""

BUILTINS = frozenset(
    {
        "abs", "all", "any", "ascii", "bin", "bool", "bytearray", "bytes", "callable", "chr",
        "classmethod", "complex", "delattr", "dict", "dir", "divmod", "enumerate", "filter",
        "float", "format", "frozenset", "getattr", "hasattr", "hash", "hex", "id", "int",
        "isinstance", "issubclass", "iter", "len", "list", "map", "max", "memoryview", "min",
        "next", "object", "oct", "open", "ord", "pow", "print", "property", "range", "repr",
        "reversed", "round", "set", "setattr", "sorted", "staticmethod", "str", "sum", "super",
        "tuple", "type", "zip", "eval", "exec", "globals", "compile", "__import__",
        "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "EOFError",
        "Exception", "GeneratorExit", "ImportError", "IndentationError", "IndexError",
        "KeyError", "KeyboardInterrupt", "LookupError", "MemoryError", "NameError",
        "NotImplementedError", "OSError", "OverflowError", "RuntimeError", "StopIteration",
        "StopAsyncIteration", "SyntaxError", "SystemExit", "TypeError", "ValueError",
        "ZeroDivisionError", "UnicodeError", "UnicodeDecodeError", "UnicodeEncodeError",
        "TimeoutError", "PermissionError", "FileNotFoundError", "ConnectionError",
        "RecursionError", "ModuleNotFoundError", "IOError", "EnvironmentError", "Ellipsis",
        "NotImplemented", "True", "False", "None", "__name__", "__debug__",
    }
)  # fmt: skip  # words, not one a line
"""Names that need no import."""

_VIEWS = frozenset({"keys", "items"})
_SCOPE = ("asyncio", "json", "math", "re", "datetime")


def micropython_lacks(program: Program) -> Raised | None:
    """Return how the engine `micropython` refuses a program, without running it.

    None: nothing is known against it. Text that is not Python is nothing that the engine lacks.
    """
    try:
        take(program, parse(program.source))
    except (SyntaxError, RecursionError):
        return None
    except Lacking as error:
        return Blame(program, Lowered("")).unsupported(error.what, error.line)
    return None


def take(program: Program, tree: ast.Module) -> Lowered:
    """Return a program in the interpreter's terms.

    Args:
        program: The script and what it may use.
        tree: The script as `parse` returns it; it is of no use afterwards.

    Raises:
        Lacking: Something in it is known to be missing, or different.
    """
    for missing in _Looking(tree, program).found():
        raise missing
    return lower(program, tree)


@remembered
def lowered_of(program: Program) -> Lowered:
    """Return a program in the interpreter's terms.

    Raises:
        SyntaxError: It is not Python.
        Lacking: As `take` says.
    """
    return take(program, parse(program.source))


class _Looking:
    """Goes through one script."""

    def __init__(self, tree: ast.Module, program: Program) -> None:
        self._tree = tree
        self._ours = {"tools", *program.namespaces, *program.tools, *program.inputs}
        self._bound: set[str] = set()
        for node in ast.walk(tree):
            self._bound |= _binds(node)
        self._modules = {name: name for name in _SCOPE if name not in self._bound | self._ours}
        self._lists = {
            name.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.List | ast.ListComp)
            for name in node.targets
            if isinstance(name, ast.Name)
        }

    def found(self) -> Iterator[Lacking]:
        """Yield what it lacks."""
        hopeful = _hopeful(self._tree)
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Import | ast.ImportFrom) and node not in hopeful:
                yield from self._imported(node)
        for node in ast.walk(self._tree):
            what = self._said(node)
            if what is not None:
                yield Lacking(what, getattr(node, "lineno", None))

    def _imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[Lacking]:
        for alias in node.names:
            module = alias.name if isinstance(node, ast.Import) else node.module or ""
            if module in self._ours:
                continue
            if not has_module(module):
                if module.partition(".")[0] in sys.stdlib_module_names:
                    yield Lacking(f"the module {module}", node.lineno)
            elif isinstance(node, ast.Import):
                self._modules[alias.asname or module] = module
            elif misses(module, alias.name):
                yield Lacking(f"{module}.{alias.name}", node.lineno)

    def _said(self, node: ast.AST) -> str | None:
        what: str | None = None
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in self._modules:
                module = self._modules[name]
                what = f"{module}.{attribute}" if misses(module, attribute) else None
            case ast.Attribute(attr=attribute):
                what = _attribute(attribute)
            case ast.Name(id=name, ctx=ast.Load()):
                what = self._name(name)
            case ast.ClassDef():
                what = _class(node)
            case ast.FunctionDef(args=ast.arguments(kwarg=ast.arg(arg=name))) | (
                ast.AsyncFunctionDef(args=ast.arguments(kwarg=ast.arg(arg=name)))
            ):
                what = "the order of keyword arguments" if _in_order(node, name) else None
            case ast.BinOp(op=ast.Sub() | ast.BitAnd() | ast.BitOr() | ast.BitXor()):
                views = any(_is_view(side) for side in (node.left, node.right))
                what = "operators on the keys or items of a dict" if views else None
            case ast.AugAssign(op=ast.Mult(), target=ast.Name(id=name)) if name in self._lists:
                what = "`*=` of a list"  # it would make another list, and other names keep the old
            case _:
                pass
        return what

    def _name(self, name: str) -> str | None:
        if name in BUILTINS or name in self._bound or name in self._ours:
            return None
        return f"the builtin {name}" if hasattr(builtins, name) else None


def has_module(name: str) -> bool:
    """Return whether scripts may import a module."""
    return name in NATIVE_MODULES or (not name.startswith("_ls") and bool(_names(name)))


def misses(module: str, name: str) -> bool:
    """Return whether full Python's module has a name that this one lacks."""
    names = NATIVE_NAMES.get(module) if module in NATIVE_MODULES else _names(module)
    if names is None or name in names or name == "*":
        return False
    return hasattr(import_module(module), name)


@cache
def _names(module: str) -> frozenset[str]:
    """Return the names in a module of `guest`."""
    file = files("lineshaft.engines._micropython") / "guest" / f"{module}.upy"
    if module in ("boot", "start") or not module.replace("_", "a").isalnum() or not file.is_file():
        return frozenset()
    text = file.read_text(encoding="utf-8")
    names = bound_names(steadily(lambda: ast.parse(text)).body)
    if module == "math":
        names |= _MATH
    return frozenset(names)


_MATH = frozenset(
    {
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos",
        "cosh", "degrees", "e", "erf", "erfc", "exp", "expm1", "fabs", "floor", "fmod", "frexp",
        "gamma", "inf", "isclose", "isfinite", "isinf", "isnan", "ldexp", "lgamma", "log10",
        "log2", "modf", "nan", "pi", "pow", "radians", "sin", "sinh", "tan", "tanh", "tau",
        "trunc",
    }
)  # fmt: skip  # words, not one a line


def _attribute(name: str) -> str | None:
    if name in ATTRIBUTES:
        return f"the attribute {name}"
    if name.startswith("__") and not name.endswith("__"):
        return f"private names such as {name}"
    return None


def _class(node: ast.ClassDef) -> str | None:
    for name in bound_names(node.body):
        if name in SPECIAL:
            return f"{name} in a class"
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call):
            for keyword in decorator.keywords:
                if keyword.arg in ("frozen", "slots", "kw_only", "unsafe_hash"):
                    return f"dataclasses with {keyword.arg}"
    return None


def _in_order(function: ast.AST, name: str) -> bool:
    """Return whether the order of a function's further keyword arguments may matter to it."""
    known: set[ast.AST] = set()
    for node in ast.walk(function):
        match node:
            case ast.Subscript(value=inner) | ast.keyword(arg=None, value=inner):
                known.add(inner)
            case ast.Attribute(value=inner, attr="get" | "pop" | "setdefault"):
                known.add(inner)
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[inner]):
                known.add(inner)
            case _:
                pass
    return any(
        isinstance(node, ast.Name) and node.id == name and node not in known
        for node in ast.walk(function)
    )


def _is_view(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _VIEWS
    )


def _hopeful(tree: ast.AST) -> set[ast.AST]:
    """Return the nodes that stand in a `try`: a script may know what to do without."""
    return {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.Try) and node.handlers
        for statement in node.body
        for inner in ast.walk(statement)
    }


def _binds(node: ast.AST) -> set[str]:
    if isinstance(node, ast.arg):
        return {node.arg}
    if isinstance(node, ast.stmt):
        return bound_names([node])
    if isinstance(node, ast.comprehension):
        return {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
    return set()
