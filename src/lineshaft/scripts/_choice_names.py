"""Modules, names, attributes and keywords that the small engine may lack."""

import ast
import builtins

from lineshaft.scripts._choice_needs import Reader
from lineshaft.scripts._names import BUILTINS

EXCEPTIONS = frozenset(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
)
"""Errors that Python has by name."""

_ANY_KEYWORD = frozenset({"collections.Counter", "dict", "functools.partial"})
_ANY_ARGUMENT = frozenset({"_replace", "format", "setdefault", "update"})

_CLASS_NAMES = frozenset({"__class__", "__doc__", "__dict__", "__name__"})

_OF_SYSTEM = frozenset({"stdout", "stderr", "maxsize", "byteorder", "float_info", "maxunicode"})
"""What is the same in `sys` everywhere."""

_OF_OS = frozenset(
    {"altsep", "curdir", "extsep", "fspath", "linesep", "pardir", "path", "pathsep", "sep"}
)
_PURE_PATHS = frozenset(
    {"basename", "commonpath", "commonprefix", "dirname", "isabs", "join", "normcase",
     "normpath", "split", "splitdrive", "splitext", "sep", "altsep", "curdir", "pardir", "extsep"}
)  # fmt: skip  # words, not one a line
"""What in `os` and `os.path` touches no file."""

_FILES = frozenset(
    {"absolute", "cwd", "exists", "glob", "is_dir", "is_file", "is_symlink", "iterdir", "mkdir",
     "open", "read_bytes", "read_text", "resolve", "rglob", "rmdir", "stat", "unlink",
     "write_bytes", "write_text"}
)  # fmt: skip  # words, not one a line
"""Methods of a path that touch a file."""

_UNSURE = {
    "eval": "code that is made while it runs (`eval`)",
    "exec": "code that is made while it runs (`exec`)",
    "open": "files of its own (`open`)",
}

_DIFFERENT = {
    "hash": "`hash`",
    "id": "`id`",
    "math.cbrt": "`math.cbrt`",
    "math.gamma": "`math.gamma`",
    "math.lgamma": "`math.lgamma`",
}


def name(reader: Reader, node: ast.AST) -> None:
    """Look at a name that a script uses."""
    assert isinstance(node, ast.Name)  # noqa: S101  the table says so
    if node.id in BUILTINS and isinstance(node.ctx, ast.Load):
        _builtin(reader, node)


def _builtin(reader: Reader, node: ast.Name) -> None:
    what = node.id
    if what == "__doc__":
        reader.feature(node, "the module's docstring")
        return
    if what == "type" and reader.slot(node) != "func":
        reader.doubt(node, "`type` as a value")
    is_known = what in reader.subset.builtins and what not in _SPECIAL
    if is_known or (ref := reader.ref(node)) is None or ref.kind != "builtin":
        return
    if what == "hash" and _is_in(reader, node, "__hash__"):
        return
    if what in _UNSURE:
        reader.need(node, _UNSURE[what], "doubt")
    elif what in _DIFFERENT:
        reader.need(node, _DIFFERENT[what], "differs")
    elif what not in reader.subset.builtins and not what.startswith("__"):
        reader.need(node, f"`{ref.name}`")


def _is_in(reader: Reader, node: ast.AST, name: str) -> bool:
    function = reader.resolver.reading.scopes[node].function.node
    return isinstance(function, ast.FunctionDef) and function.name == name


_SPECIAL = frozenset({*_UNSURE, *_DIFFERENT})


def imported(reader: Reader, node: ast.AST) -> None:
    """Look at `import a, b`."""
    assert isinstance(node, ast.Import)  # noqa: S101  the table says so
    for alias in node.names:
        if not reader.resolver.known.is_module(alias.name):
            _module(reader, node, alias.name)


def imported_from(reader: Reader, node: ast.AST) -> None:
    """Look at `from a import b`."""
    assert isinstance(node, ast.ImportFrom)  # noqa: S101  the table says so
    module = node.module or ""
    if node.level or module == "__future__" or reader.resolver.known.is_module(module):
        return
    if _module(reader, node, module):
        for alias in node.names:
            if alias.name != "*":
                _member(reader, node, f"{module}.{alias.name}")


def _module(reader: Reader, node: ast.AST, module: str) -> bool:
    has = reader.subset.has_module(module)
    if not has:
        reader.need(node, f"import {module}")
    return has


def _member(reader: Reader, node: ast.AST, full: str) -> None:
    home, _, last = full.rpartition(".")
    if reader.subset.has_member(full) is False:
        reader.need(node, f"`{full}`")
    elif full in _DIFFERENT:
        reader.need(node, _DIFFERENT[full], "differs")
    elif home == "sys" and last not in _OF_SYSTEM:
        reader.need(node, f"`{full}`", "differs")
    elif (home == "os" and last not in _OF_OS) or (home == "os.path" and last not in _PURE_PATHS):
        reader.need(node, f"the system around it (`{full}`)", "doubt")


def attribute(reader: Reader, node: ast.AST) -> None:
    """Look at an attribute."""
    assert isinstance(node, ast.Attribute)  # noqa: S101  the table says so
    if isinstance(node.value, ast.Name | ast.Attribute):
        full = reader.named(node)
        if full and reader.subset.has_member(full) is not None:
            _member(reader, node, full)
            return
        if full.startswith(("sys.stdout.", "sys.stderr.")):
            reader.feature(node, "methods of `sys.stdout`")
            return
        ref = reader.ref(node)
        if ref is not None and ref.kind in ("tool", "module", "helper", "missing"):
            return
    if node.attr.startswith("__") and node.attr.endswith("__"):
        _dunder(reader, node)
    elif node.attr.startswith("__"):
        _private(reader, node)
    elif node.attr in reader.subset.attributes:
        _of_value(reader, node)


def _dunder(reader: Reader, node: ast.Attribute) -> None:
    if node.attr == "__name__":
        _name_of(reader, node)
    elif node.attr in _CLASS_NAMES:
        reader.feature(node, f"`{node.attr}`")
    elif node.attr != "__init__":
        reader.need(node, f"`.{node.attr}`")


def _private(reader: Reader, node: ast.Attribute) -> None:
    """Look at `x.__name`, which full Python knows by another name outside of the class."""
    reading = reader.resolver.reading
    inside, scope = False, reading.scopes[node]
    while scope.parent is not None:
        inside, scope = inside or scope.is_class, scope.parent
    if not inside or reader.looks_inside:
        reader.feature(node, "private names")


def _name_of(reader: Reader, node: ast.Attribute) -> None:
    of = node.value
    is_type = isinstance(of, ast.Call) and reader.named(of.func) == "type"
    ref = reader.ref(of) if isinstance(of, ast.Name) else None
    if is_type or (ref is not None and ref.kind == "builtin"):
        reader.feature(node, "`__name__` of a type")
    elif isinstance(of, ast.Name) and _is_own_class(reader, of):
        reader.feature(node, "`__name__` of a class")
    else:
        reader.feature(node, "`__name__` of a function")


def _is_own_class(reader: Reader, node: ast.Name) -> bool:
    reading = reader.resolver.reading
    home = reading.binder(node.id, reading.scopes[node])
    found = home.bindings[node.id] if home else []
    return bool(found) and all(isinstance(binding.node, ast.ClassDef) for binding in found)


def _of_value(reader: Reader, node: ast.Attribute) -> None:
    """Look at an attribute that is one of a value of Python's own."""
    what = node.attr
    if reader.is_own(what):
        return
    above = reader.above(node)
    is_called = isinstance(above, ast.Call) and reader.slot(node) == "func"
    if what in reader.subset.absent or _is_missing(reader, node):
        reader.need(node, f"`.{what}`", "lacks" if is_called else "doubt")
    elif not is_called and isinstance(node.ctx, ast.Load) and what in methods(reader):
        reader.feature(node, "methods as values", "doubt")
    elif is_called and what in _FILES and _has_paths(reader):
        reader.need(node, f"files of its own (`.{what}`)", "doubt")


def _has_paths(reader: Reader) -> bool:
    bound = reader.resolver.reading.module.bindings
    return "Path" in bound or "pathlib" in bound


def _is_missing(reader: Reader, node: ast.Attribute) -> bool:
    """Return whether a value whose kind can be seen lacks an attribute."""
    kind = ""
    if isinstance(node.value, ast.Constant):
        kind = type(node.value.value).__name__
    elif isinstance(node.value, ast.JoinedStr):
        kind = "str"
    return node.attr in reader.subset.missing.get(kind, ())


def methods(reader: Reader) -> frozenset[str]:
    """Return the attributes that are certainly methods of Python's own values."""
    return reader.subset.attributes - _FIELDS


_FIELDS = frozenset(
    {"args", "day", "days", "denominator", "fold", "hour", "imag", "maxlen", "microsecond",
     "microseconds", "minute", "month", "name", "numerator", "parent", "parts", "pattern", "real",
     "flags", "second", "seconds", "start", "stem", "step", "stop", "string", "suffix", "suffixes",
     "tzinfo", "year", "x", "digest_size", "block_size", "default_factory", "tm_hour", "tm_isdst",
     "tm_mday", "tm_min", "tm_mon", "tm_sec", "tm_wday", "tm_yday", "tm_year", "tm_zone",
     "tm_gmtoff", "end", "pos", "group", "groups", "anchor", "drive", "root", "max", "min"}
)  # fmt: skip  # words, not one a line
"""Attributes that hold a value, or that are too common to be taken for a method."""


def call(reader: Reader, node: ast.AST) -> None:
    """Look at the arguments of a call."""
    assert isinstance(node, ast.Call)  # noqa: S101  the table says so
    full = reader.named(node.func)
    if full:
        _keywords(reader, node, full)
        _arguments(reader, node, full)
    elif isinstance(node.func, ast.Attribute) and reader.ref(node.func) is None:
        _method_call(reader, node, node.func.attr)


def _keywords(reader: Reader, node: ast.Call, full: str) -> None:
    ref = reader.ref(node.func)
    if not node.keywords or full in _ANY_KEYWORD or (ref is not None and ref.kind == "helper"):
        return
    known = reader.subset.keywords.get(full)
    if known is None and full.rpartition(".")[2] in _ANY_ARGUMENT:
        return
    for keyword in node.keywords:
        if keyword.arg is not None and (known is None or keyword.arg not in known):
            kind = "doubt" if known is None else "lacks"
            reader.need(node, f"`{full}({keyword.arg}=)`", kind)


def _arguments(reader: Reader, node: ast.Call, full: str) -> None:
    if full in EXCEPTIONS:
        _error(reader, node)
    elif full == "object":
        reader.feature(node, "`object()`")
    elif full == "typing.TypeVar":
        reader.feature(node, "`TypeVar`")
    elif full == "bytes" and node.args and isinstance(node.args[0], ast.List | ast.ListComp):
        reader.feature(node, "`bytes` of numbers")
    elif full == "type" and len(node.args) > 1:
        reader.feature(node, "`type` with three values")
    elif full == "getattr" and len(node.args) > 1:
        _getattr(reader, node)
    elif full == "datetime.timedelta":
        _timedelta(reader, node)


def _timedelta(reader: Reader, node: ast.Call) -> None:
    for value in (*node.args, *(keyword.value for keyword in node.keywords)):
        is_part = isinstance(value, ast.Constant) and isinstance(value.value, float)
        if is_part or (isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div)):
            reader.feature(value, "parts of a `timedelta`")


def _getattr(reader: Reader, node: ast.Call) -> None:
    name = node.args[1]
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        is_method = name.value in methods(reader) and not reader.is_own(name.value)
        if is_method or name.value.startswith("__"):
            reader.feature(node, "methods as values", "doubt")


def _error(reader: Reader, node: ast.Call) -> None:
    if len(node.args) > 1:
        reader.feature(node, "errors with several values")
    elif node.args:
        value = node.args[0]
        no_text = isinstance(value, ast.Constant) and not isinstance(value.value, str)
        if no_text or isinstance(value, ast.Dict | ast.List | ast.Tuple | ast.Starred):
            reader.feature(node, "errors with a value that is no text")


def _method_call(reader: Reader, node: ast.Call, method: str) -> None:
    if method not in reader.subset.attributes or reader.is_own(method):
        return
    if method in ("encode", "decode"):
        _codec(reader, node)
    elif method in _OF_SETS and (len(node.args) > 1 or _has_star(node)):
        reader.feature(node, "several sets in one call", "doubt")
    elif method in ("start", "end", "span") and any(_is_text(value) for value in node.args):
        reader.feature(node, "groups of a match by name")
    elif method in ("groups", "groupdict") and node.args:
        reader.feature(node, "a default for `groups`")
    known = reader.subset.arguments.get(method, frozenset())
    for keyword in node.keywords:
        is_any = keyword.arg is None or method in _ANY_ARGUMENT
        if not is_any and keyword.arg not in known:
            reader.need(node, f"`.{method}({keyword.arg}=)`", "doubt")


_OF_SETS = frozenset({"difference", "intersection", "union", "update"})


def _has_star(node: ast.Call) -> bool:
    return any(isinstance(argument, ast.Starred) for argument in node.args)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _codec(reader: Reader, node: ast.Call) -> None:
    given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "encoding")]
    for value in given:
        name = value.value if isinstance(value, ast.Constant) else None
        if not isinstance(name, str) or name.lower() not in ("utf-8", "utf8", "ascii"):
            reader.feature(node, "codecs beside UTF-8")
