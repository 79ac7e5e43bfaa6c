"""Names that scripts use most without an import, and what to write for each."""

import sys

from ..missing import STUBBED, reason

_MODULES = (
    "base64",
    "collections",
    "copy",
    "csv",
    "functools",
    "hashlib",
    "itertools",
    "os",
    "pathlib",
    "random",
    "statistics",
    "string",
    "sys",
    "textwrap",
    "time",
    "typing",
    "uuid",
)
"""They need an import."""

_MEMBERS = {
    "collections": ("ChainMap", "Counter", "OrderedDict", "defaultdict", "deque", "namedtuple"),
    "contextlib": ("asynccontextmanager", "contextmanager", "suppress"),
    "copy": ("deepcopy",),
    "dataclasses": ("asdict", "dataclass", "field"),
    "decimal": ("Decimal",),
    "enum": ("Enum", "IntEnum", "StrEnum"),
    "fractions": ("Fraction",),
    "functools": ("cmp_to_key", "lru_cache", "partial", "reduce", "wraps"),
    "io": ("BytesIO", "StringIO"),
    "itertools": (
        "accumulate",
        "chain",
        "combinations",
        "groupby",
        "islice",
        "pairwise",
        "permutations",
        "product",
        "zip_longest",
    ),
    "operator": ("attrgetter", "itemgetter"),
    "pathlib": ("Path", "PurePath", "PurePosixPath"),
    "statistics": ("mean", "median", "stdev"),
    "textwrap": ("dedent",),
    "time": ("monotonic", "perf_counter"),
    "types": ("SimpleNamespace",),
    "typing": (
        "Any",
        "Callable",
        "Dict",
        "List",
        "Literal",
        "NamedTuple",
        "Optional",
        "Tuple",
        "TypedDict",
        "Union",
    ),
    "urllib.parse": ("quote", "urlencode", "urlparse"),
    "uuid": ("uuid4",),
    "zoneinfo": ("ZoneInfo",),
}
"""They need one too, by their module."""

_FULL_NAMES = {
    "Semaphore": "asyncio.Semaphore",
    "TaskGroup": "asyncio.TaskGroup",
    "as_completed": "asyncio.as_completed",
    "create_task": "asyncio.create_task",
    "date": "datetime.date",
    "dumps": "json.dumps",
    "findall": "re.findall",
    "gather": "asyncio.gather",
    "loads": "json.loads",
    "sleep": "asyncio.sleep",
    "sqrt": "math.sqrt",
    "timedelta": "datetime.timedelta",
    "timezone": "datetime.timezone",
}
"""Their module is in scope."""

_WORDS = {"false": "False", "null": "None", "true": "True", "undefined": "None"}
"""They are of other languages."""

KNOWN_NAMES = {
    **{name: f"write `import {name}` first" for name in _MODULES},
    **{
        name: f"write `from {module} import {name}` first"
        for module, names in _MEMBERS.items()
        for name in names
    },
    **{name: f"write `{instead}`" for name, instead in {**_FULL_NAMES, **_WORDS}.items()},
}
"""The hint for each name."""


_NO_PROGRAMS = "a script starts no programs: a tool that runs commands is needed"
_NO_NETWORK = "a script has no network: call a tool"

_CLOSED = {
    "ftplib": _NO_NETWORK,
    "http": _NO_NETWORK,
    "imaplib": _NO_NETWORK,
    "multiprocessing": "write `await asyncio.gather(...)`",
    "poplib": _NO_NETWORK,
    "select": _NO_NETWORK,
    "selectors": _NO_NETWORK,
    "signal": "write `asyncio.timeout` or `asyncio.sleep`",
    "smtplib": _NO_NETWORK,
    "socket": _NO_NETWORK,
    "socketserver": _NO_NETWORK,
    "ssl": _NO_NETWORK,
    "subprocess": _NO_PROGRAMS,
    "threading": "write `await asyncio.gather(...)`",
    "webbrowser": _NO_NETWORK,
    "xmlrpc": _NO_NETWORK,
}
"""Modules whose import would not help a script."""

_INNER = {
    "concurrent": "concurrent.futures",
    "urllib": "urllib.parse",
    "xml": "xml.etree.ElementTree",
}
"""The module that is meant by the name of its package."""

_ORDINARY = frozenset(
    {
        "array", "calendar", "cmd", "code", "email", "http", "keyword", "locale", "numbers",
        "operator", "platform", "profile", "queue", "secrets", "select", "signal", "site", "stat",
        "struct", "symbol", "test", "this", "token", "trace", "types",
    }
)  # fmt: skip  # words, not one a line
"""Modules whose names are more likely those of a variable, except before a dot."""


def library_hint(name: str, *, is_base: bool) -> str:
    """Return what to write for the name of a module of the standard library.

    Args:
        name: Any name; those of no module and of missing ones have no hint.
        is_base: Whether the name stands before a dot.
    """
    if name in _ORDINARY and not is_base:
        return ""
    if name in _CLOSED:
        return _CLOSED[name]
    is_missing = name in STUBBED or reason(name) is not None
    if is_missing or name.startswith("_") or name not in sys.stdlib_module_names:
        return ""
    return f"write `import {_INNER.get(name, name)}` first"
