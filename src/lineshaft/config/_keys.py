"""Every setting there is: its key, what it may be, and what it is without being set."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import cast

from lineshaft.errors import ConfigError
from lineshaft.values import NO_BOUNDARY, Limits

_REQUIREMENT = re.compile(r"[A-Za-z0-9][\w.-]*(\[[\w.,\s-]+\])?\s*([<>=!~][\w.*,<>=!~+\s-]*)?")

PREFIX = "LINESHAFT_"
NO_SCRIPT = "LINESHAFT_NO_SCRIPT"
RESERVED = frozenset({NO_SCRIPT, "LINESHAFT_STATE_KEY"})
"""Variables with a meaning of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One setting."""

    name: str
    """Dotted, as in the file: `script.timeout_seconds`."""

    allowed: str
    """What it may be, in words that follow "allowed: "."""

    accepts: Callable[[object], bool]
    default: object = None
    text: str = ""
    """What it does, in one line."""

    from_text: Callable[[str], object] | None = None
    """Turns the text of a variable or flag into a value; None: only files can set it."""

    @property
    def variable(self) -> str:
        """Return the name of its environment variable."""
        return PREFIX + self.name.upper().replace(".", "_")


def _number(name: str, low: int, high: int, default: float, text: str) -> Key:
    whole = isinstance(default, int)
    kinds = (int,) if whole else (int, float)

    def accepts(value: object) -> bool:
        return (
            isinstance(value, kinds) and not isinstance(value, bool) and low <= float(value) <= high
        )

    return Key(
        name=name,
        allowed=f"a {'whole number' if whole else 'number'} from {low:,} to {high:,}",
        accepts=accepts,
        default=default,
        text=text,
        from_text=_json_or_text,
    )


def _choice(name: str, words: Iterable[str], default: str, text: str) -> Key:
    known = tuple(words)
    return Key(
        name=name,
        allowed="one of " + ", ".join(repr(word) for word in known),
        accepts=lambda value: isinstance(value, str) and value in known,
        default=default,
        text=text,
        from_text=str,
    )


def _json_or_text(text: str) -> object:
    try:
        return cast("object", json.loads(text))
    except (ValueError, RecursionError):
        return text


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\0" not in value


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(_is_text(item) for item in cast("list[object]", value))


def _is_requirements(value: object) -> bool:
    """Names with versions only: no options of an installer, no files, no addresses."""
    return _is_texts(value) and all(map(_REQUIREMENT.fullmatch, cast("list[str]", value)))


def _is_aliases(value: object) -> bool:
    return isinstance(value, dict) and all(
        _is_text(item) or _is_mount(item) for item in cast("dict[str, object]", value).values()
    )


def _is_mount(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    table = cast("dict[str, object]", value)
    return (
        _is_text(table.get("path"))
        and isinstance(table.get("writable", False), bool)
        and set(table) <= {"path", "writable"}
    )


def _is_table(value: object) -> bool:
    return isinstance(value, dict)


_DEFAULTS = Limits()
_BOUNDARIES = ("sandlock", "bubblewrap", NO_BOUNDARY)

KEYS: Mapping[str, Key] = {
    key.name: key
    for key in (
        Key(
            name="workspace.root",
            allowed="a folder, relative to the file",
            accepts=_is_text,
            default=".",
            text="Where files and commands live.",
            from_text=str,
        ),
        Key(
            name="workspace.aliases",
            allowed='a table: pkg = "vendor" or pkg = {path = "vendor", writable = true}',
            accepts=_is_aliases,
            default={},
            text="More folders, reached as @NAME/...; read-only unless writable.",
        ),
        Key(
            name="tools.modules",
            allowed='a list of files and modules: ["./tools.py", "package.module"]',
            accepts=_is_texts,
            default=[],
            text="Python files and modules whose tools are offered.",
        ),
        Key(
            name="tools.kit",
            allowed='true, false, or a list of names: ["read_file", "search_text"]',
            accepts=lambda value: isinstance(value, bool) or _is_texts(value),
            default=True,
            text="Which built-in tools are offered.",
        ),
        _choice(
            "policy.mode",
            ("plan", "read", "ask", "auto", "open"),
            "auto",
            "What happens to a call that no rule speaks of.",
        ),
        Key(
            name="policy.rules",
            allowed="a list of tables: [[policy.rules]]",
            accepts=lambda value: (
                isinstance(value, list)
                and all(_is_table(item) for item in cast("list[object]", value))
            ),
            default=[],
            text="Rules, first match wins.",
        ),
        _choice("engine.name", ("auto", "monty"), "auto", "What executes scripts."),
        Key(
            name="python.path",
            allowed="a folder with a bundle, or an interpreter",
            accepts=_is_text,
            text="The full Python, where it is not found by itself; a project cannot set it.",
            from_text=str,
        ),
        Key(
            name="python.packages",
            allowed='a list of requirements: ["pandas", "numpy>=2"]',
            accepts=_is_requirements,
            default=[],
            text="Packages of the full Python, locked at first use.",
        ),
        Key(
            name="python.preload",
            allowed='a list of modules: ["json", "pandas"]',
            accepts=_is_texts,
            default=[],
            text="Modules that scripts of the full Python find imported.",
        ),
        _number("python.timeout_seconds", 1, 600, 60.0, "Time a program of python_run gets."),
        Key(
            name="python.boundary",
            allowed=f"one of {', '.join(map(repr, _BOUNDARIES))}",
            accepts=lambda value: value in _BOUNDARIES,
            text="What holds the full Python, where it is not the best that works; "
            "a project cannot set it.",
            from_text=str,
        ),
        Key(
            name="store.url",
            allowed="a file, or a URL such as 'sqlite:////var/lib/runs.db'",
            accepts=_is_text,
            text="Where records and states of runs are kept, instead of the state folder; "
            "a project cannot set it.",
            from_text=str,
        ),
        _number(
            "store.keep_days",
            0,
            3_650,
            7.0,
            "Days for which a run can be replayed and undone; a project cannot set it.",
        ),
        Key(
            name="script.enabled",
            allowed="true or false",
            accepts=lambda value: isinstance(value, bool),
            default=True,
            text="Whether scripts may run at all.",
            from_text=_json_or_text,
        ),
        _choice(
            "script.check",
            ("error", "warn", "off"),
            "error",
            "What findings about a script do before it runs.",
        ),
        _number("script.timeout_seconds", 5, 600, 60.0, "Time a run gets."),
        _number(
            "script.max_timeout_seconds",
            5,
            86_400,
            600.0,
            "The most that --timeout may ask for.",
        ),
        _number("limits.calls", 1, 1_000_000, _DEFAULTS.calls, "Calls a run may make."),
        _number(
            "limits.memory_mb", 16, 65_536, _DEFAULTS.memory_mb, "Memory a script may use, in MB."
        ),
        _number("limits.call_seconds", 1, 86_400, 60.0, "Time one call gets."),
        _number(
            "limits.stdout_bytes",
            1_000,
            100_000_000,
            _DEFAULTS.stdout_bytes,
            "Bytes kept of what a script prints.",
        ),
        _number(
            "limits.stderr_bytes",
            1_000,
            100_000_000,
            _DEFAULTS.stderr_bytes,
            "Bytes kept of a script's standard error.",
        ),
        _number(
            "limits.recursion", 10, 10_000, _DEFAULTS.recursion, "Depth of a script's own calls."
        ),
    )
}
"""All settings by dotted name."""


def flatten(table: Mapping[str, object], *, source: str) -> dict[str, object]:
    """Return the settings of one file by dotted key, each checked.

    Args:
        table: The file's content.
        source: The file's name, for messages.

    Raises:
        ConfigError: A key is unknown or its value is not allowed.
    """
    found: dict[str, object] = {}
    tables = {name.partition(".")[0] for name in KEYS}
    for head, content in table.items():
        if head not in tables:
            raise _unknown(head, tables, source=source)
        if not isinstance(content, dict):
            raise ConfigError(f"{source}: {head!r} must be a table, [{head}]")
        for tail, value in cast("dict[str, object]", content).items():
            name = f"{head}.{tail}"
            found[name] = checked(name, value, source=source)
    return found


def checked(name: str, value: object, *, source: str) -> object:
    """Return the value of a setting, or say what it may be.

    Raises:
        ConfigError: The key is unknown or the value is not allowed.
    """
    key = KEYS.get(name)
    if key is None:
        raise _unknown(name, KEYS, source=source)
    if not key.accepts(value):
        raise ConfigError(f"{source}: {name} is {_shown(value)}; allowed: {key.allowed}")
    return value


def from_text(name: str, text: str, *, source: str) -> object:
    """Return the value of a setting that a variable or a flag gives as text.

    Raises:
        ConfigError: The value is not allowed, or only files can set this one.
    """
    key = KEYS.get(name)
    if key is None:
        raise _unknown(name, KEYS, source=source)
    if key.from_text is None:
        raise ConfigError(f"{source}: {name} can be set only in a file")
    return checked(name, key.from_text(text), source=source)


def from_environment(environ: Mapping[str, str]) -> dict[str, tuple[object, str]]:
    """Return what `LINESHAFT_*` variables set: value and variable by dotted key.

    Raises:
        ConfigError: A variable is unknown or its value is not allowed.
    """
    names = {key.variable: key.name for key in KEYS.values() if key.from_text is not None}
    found: dict[str, tuple[object, str]] = {}
    for variable, text in environ.items():
        if not variable.startswith(PREFIX) or variable in RESERVED:
            continue
        if variable not in names:
            raise _unknown(variable, {*names, *RESERVED}, source="environment", what="variable")
        name = names[variable]
        found[name] = (from_text(name, text, source=variable), variable)
    if environ.get(NO_SCRIPT, "").strip().lower() not in ("", "0", "false", "no"):
        found["script.enabled"] = (False, NO_SCRIPT)
    return found


def _unknown(name: str, known: Iterable[str], *, source: str, what: str = "key") -> ConfigError:
    names = sorted(known)
    near = get_close_matches(name, names, n=1, cutoff=0.6)
    if name == "limits.seconds":
        near = ["script.timeout_seconds"]
    table = name.partition(".")[0]
    siblings = [other for other in names if other.startswith(f"{table}.")] or names
    return ConfigError(
        f"{source}: unknown {what} {name!r}",
        hint=f"did you mean {near[0]!r}?" if near else "known: " + ", ".join(siblings),
    )


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
