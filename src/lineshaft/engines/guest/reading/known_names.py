"""Names that scripts use most without an import, and what to write for each."""

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
    "uuid": ("uuid4",),
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
