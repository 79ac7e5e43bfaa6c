"""Every setting there is: its key, what it may be, and what it is without being set."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import cast

from lineshaft.config._declared import AGENTS
from lineshaft.config._key import PREFIX, Key, choice, is_text, is_texts, json_or_text, number
from lineshaft.config._prices import prices_problem
from lineshaft.config.definitions import INPUT_PREFIX, own_servers
from lineshaft.errors import ConfigError
from lineshaft.values import (
    ENGINES,
    NO_BOUNDARY,
    REMOVED_ENGINES,
    WASM_BOUNDARY,
    Limits,
    engine_problem,
    is_requirement,
)

SERVERS = "mcp.servers"
TOKEN = "LINESHAFT_SERVE_TOKEN"  # noqa: S105  the name of a variable
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HOST = re.compile(r"[A-Za-z0-9._:%-]{1,255}")


def servers_problem(value: object) -> str:
    """Return what is wrong with the servers of one of our own files; nothing if all is well."""
    try:
        own_servers(value, source=Path(), giver="user", base=Path())
    except ConfigError as error:
        return f"{error.message} ({error.hint})" if error.hint else error.message
    return ""


MCP_KEYS = (
    Key(
        name="mcp.clients",
        allowed="true or false",
        accepts=lambda value: isinstance(value, bool),
        default=False,
        text="Whether approved servers in files of MCP clients are offered without an import; "
        "a project cannot set it.",
        from_text=json_or_text,
    ),
    Key(
        name=SERVERS,
        allowed="tables: [mcp.servers.NAME] with command and args, or url",
        accepts=lambda value: isinstance(value, dict),
        problem=servers_problem,
        default={},
        text="MCP servers whose tools are offered, as NAME.tool.",
    ),
    Key(
        name="serve.direct",
        allowed='a list of names and globs: ["github.list_issues", "memory.*"]',
        accepts=is_texts,
        default=[],
        text="Tools that clients of `lineshaft serve` may also call without a script.",
    ),
    choice(
        "serve.approvals",
        ("person", "client"),
        "person",
        "Who answers what policy asks: a person, or the one who confirms the calls of the client; "
        "a project cannot set it.",
    ),
    Key(
        name="serve.host",
        allowed="a host name or address",
        accepts=lambda value: isinstance(value, str) and bool(_HOST.fullmatch(value)),
        default="127.0.0.1",
        text="Where `lineshaft serve --http` listens; a project cannot set it.",
        from_text=str,
    ),
    number("serve.port", 0, 65_535, 8_765, "The port of it; a project cannot set it."),
    Key(
        name="serve.token_env",
        allowed="the name of a variable",
        accepts=lambda value: bool(_VARIABLE.fullmatch(value)) if isinstance(value, str) else False,
        default=TOKEN,
        text="The variable with the token that its clients must show; a project cannot set it.",
        from_text=str,
    ),
)

EVAL_KEYS = (
    number("eval.margin", 0.001, 0.999, 0.10, "A pass rate lower by less is no worse."),
    number("eval.level", 0.001, 0.499, 0.05, "The level of the gate's test for worse."),
    number("eval.cheaper", 0.01, 1.0, 0.95, "Better: the upper limit of the cost ratio below it."),
    number("eval.dearer", 1.0, 9.99, 1.05, "Better by passes: the upper limit below it."),
    number("eval.most_invalid", 0.0, 0.99, 0.05, "More invalid runs in an arm decide nothing."),
    choice("eval.inconclusive", ("pass", "fail"), "fail", "What the gate says of too few runs."),
    Key(
        name="eval.prices",
        allowed='a table: date = "2026-11-01" and models = {"openai:gpt-5-mini" = [0.25, 2.0]}',
        accepts=lambda value: isinstance(value, dict),
        problem=prices_problem,
        default={},
        text="Prices of models on a day, in dollars for a million tokens in and out.",
    ),
)

_PLACE = re.compile(r"(?:[a-z0-9][a-z0-9._-]*|\[[0-9a-f:.]+\]):[1-9][0-9]{0,4}")

NO_SCRIPT = "LINESHAFT_NO_SCRIPT"
_OF_MODELS = ("LINESHAFT_MODEL", "LINESHAFT_MODEL_KEY")
INVOCATION = "LINESHAFT_INVOCATION"
RESERVED = frozenset({NO_SCRIPT, TOKEN, INVOCATION, "LINESHAFT_STATE_KEY", *_OF_MODELS})
"""Variables with a meaning of their own."""

_MARKS = frozenset({"LINESHAFT_TREE", "LINESHAFT_PROCESS"})
"""Variables by which a session or an editor finds the processes that it started: a command of
theirs may be Lineshaft itself."""


def _is_requirements(value: object) -> bool:
    """Names with versions only: no options of an installer, no files, no addresses."""
    return is_texts(value) and all(map(is_requirement, cast("list[str]", value)))


_NEVER_PASSED = ("LINESHAFT_", "LD_", "DYLD_", "PYTHON")
"""Beginnings of variables that change what a program loads, or hold keys of Lineshaft."""


def _is_passed(value: object) -> bool:
    """Return whether a value is a list of variables that may be passed on, each by its name."""
    return is_texts(value) and all(
        _VARIABLE.fullmatch(name) and not name.upper().startswith(_NEVER_PASSED)
        for name in cast("list[str]", value)
    )


def _is_places(value: object) -> bool:
    """Hosts with ports, written as addresses have them."""
    return is_texts(value) and all(map(_PLACE.fullmatch, cast("list[str]", value)))


def _is_aliases(value: object) -> bool:
    return isinstance(value, dict) and all(
        name.removeprefix("@") not in _OWN_ALIASES and (is_text(item) or _is_mount(item))
        for name, item in cast("dict[str, object]", value).items()
    )


def _is_mount(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    table = cast("dict[str, object]", value)
    return (
        is_text(table.get("path"))
        and isinstance(table.get("writable", False), bool)
        and set(table) <= {"path", "writable"}
    )


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, dict) for item in cast("list[object]", value)
    )


_OWN_ALIASES = ("project", "state")
_DEFAULTS = Limits()
_BOUNDARIES = ("sandlock", "bubblewrap", WASM_BOUNDARY, NO_BOUNDARY)

KEYS: Mapping[str, Key] = {
    key.name: key
    for key in (
        Key(
            name="workspace.root",
            allowed="a folder, relative to the file; or `vscode:` and a folder, or `vscode:` alone",
            accepts=is_text,
            default=".",
            text="Where files and commands live; with `vscode:`, as the window shows them.",
            from_text=str,
        ),
        Key(
            name="workspace.aliases",
            allowed='a table: pkg = "vendor" or pkg = {path = "vendor", writable = true};'
            " names other than project and state",
            accepts=_is_aliases,
            default={},
            text="More folders, reached as @NAME/...; read-only unless writable.",
        ),
        Key(
            name="workspace.pass_environment",
            allowed='a list of names, no patterns: ["CI"]; none that begins with '
            + ", ".join(_NEVER_PASSED),
            accepts=_is_passed,
            default=[],
            text="Variables of yours that commands get too; a project cannot set it.",
        ),
        Key(
            name="workspace.atomic",
            allowed="true or false",
            accepts=lambda value: isinstance(value, bool),
            default=True,
            text="Whether changes land whole or not at all; a project cannot set it.",
            from_text=json_or_text,
        ),
        Key(
            name="workspace.window_tools",
            allowed='a list of globs: ["find_*"]; [] for none',
            accepts=is_texts,
            default=["*"],
            text="Tools that the window of a workspace `vscode:` offers, as window.NAME; a project"
            " cannot set it.",
        ),
        choice(
            "workspace.window_claims",
            ("ask", "accept", "external"),
            "ask",
            "What the window's claims about the effects of its tools count for; a project cannot"
            " set it.",
        ),
        Key(
            name="tools.modules",
            allowed='a list of files and modules: ["./tools.py", "package.module"]',
            accepts=is_texts,
            default=[],
            text="Python files and modules whose tools are offered.",
        ),
        Key(
            name="tools.packs",
            allowed='a list of names of installed packs: ["azure-sdk"]',
            accepts=is_texts,
            default=[],
            text="Packs whose tools and agents are offered.",
        ),
        Key(
            name="tools.kit",
            allowed='true, false, or a list of names: ["default", "fetch_url"]',
            accepts=lambda value: isinstance(value, bool) or is_texts(value),
            default=True,
            text="Which built-in tools are offered; `default` in a list: those of `true`.",
        ),
        Key(
            name="fetch.allow",
            allowed='a list of "host:port": ["localhost:8000", "[::1]:8000"]',
            accepts=_is_places,
            default=[],
            text="Places that fetch_url may reach although they are not public; "
            "a project cannot set it.",
        ),
        choice(
            "policy.mode",
            ("plan", "read", "ask", "auto", "open"),
            "auto",
            "What happens to a call that no rule speaks of.",
        ),
        Key(
            name="policy.rules",
            allowed="a list of tables: [[policy.rules]]",
            accepts=_is_tables,
            default=[],
            text="Rules, first match wins.",
        ),
        *(
            choice(f"guards.{name}", ("error", "warning", "off"), "error", text)
            for name, text in (
                ("syntax", "What a file does that no longer parses."),
                ("merge_markers", "What a merge conflict does that is left in a file."),
                ("secrets", "What a token or private key does that would be added to a file."),
            )
        ),
        Key(
            name="guards.modules",
            allowed='a list of files and modules: ["./guards.py", "package.module"]',
            accepts=is_texts,
            default=[],
            text="Python files and modules with guards, in a list GUARDS.",
        ),
        Key(
            name="guards.plugins",
            allowed="a list of names of entry points of the group lineshaft.guards",
            accepts=is_texts,
            default=[],
            text="Installed guards that are asked.",
        ),
        Key(
            name="guards.companion",
            allowed="a list of tables: [[guards.companion]] with changed, needs and level",
            accepts=_is_tables,
            default=[],
            text="What else has to change where a file changes.",
        ),
        *MCP_KEYS,
        *EVAL_KEYS,
        Key(
            name="engine.name",
            allowed="one of " + ", ".join(map(repr, ENGINES)),
            accepts=lambda value: value in (*ENGINES, *REMOVED_ENGINES),
            problem=engine_problem,
            default="auto",
            text="What executes scripts.",
            from_text=str,
        ),
        Key(
            name="python.path",
            allowed="a folder with a bundle, or an interpreter",
            accepts=is_text,
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
            accepts=is_texts,
            default=[],
            text="Modules that scripts of the full Python find imported.",
        ),
        Key(
            name="python.workspace_imports",
            allowed="true or false",
            accepts=lambda value: isinstance(value, bool),
            default=False,
            text="Whether scripts may import modules of the workspace; a project cannot set it.",
            from_text=json_or_text,
        ),
        number("python.timeout_seconds", 1, 600, 60.0, "Time a program of python_run gets."),
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
            accepts=is_text,
            text="Where records and states of runs are kept, instead of the state folder; "
            "a project cannot set it.",
            from_text=str,
        ),
        number(
            "store.keep_days",
            0,
            3_650,
            7.0,
            "Days for which a run can be replayed and undone; a project cannot set it.",
        ),
        number(
            "store.keep_mb",
            0,
            100_000,
            1_000.0,
            "Megabytes of results that a run keeps; one with more cannot be paused or replayed; "
            "a project cannot set it.",
        ),
        Key(
            name="script.enabled",
            allowed="true or false",
            accepts=lambda value: isinstance(value, bool),
            default=True,
            text="Whether scripts may run at all.",
            from_text=json_or_text,
        ),
        choice(
            "script.check",
            ("error", "warn", "off"),
            "error",
            "What findings about a script do before it runs.",
        ),
        number("script.timeout_seconds", 5, 600, 60.0, "Time a run gets."),
        number(
            "script.max_timeout_seconds",
            5,
            86_400,
            600.0,
            "The most that --timeout, a model or a client may ask for.",
        ),
        Key(
            name=AGENTS,
            allowed="tables: [agents.NAME] with instructions and result",
            accepts=lambda value: isinstance(value, dict),
            default={},
            text="Microagents that are offered, as agents.NAME; a project's need an approval.",
        ),
        number("limits.calls", 1, 1_000_000, _DEFAULTS.calls, "Calls a run may make."),
        number(
            "limits.agent_calls",
            1,
            1_000_000,
            _DEFAULTS.agent_calls,
            "Calls that all microagents of a run may make together.",
        ),
        number(
            "limits.memory_mb", 16, 65_536, _DEFAULTS.memory_mb, "Memory a script may use, in MB."
        ),
        number("limits.call_seconds", 1, 86_400, 60.0, "Time one call gets."),
        number(
            "limits.stdout_bytes",
            1_000,
            100_000_000,
            _DEFAULTS.stdout_bytes,
            "Bytes kept of what a script prints.",
        ),
        number(
            "limits.stderr_bytes",
            1_000,
            100_000_000,
            _DEFAULTS.stderr_bytes,
            "Bytes kept of a script's standard error.",
        ),
        number(
            "limits.recursion", 10, 10_000, _DEFAULTS.recursion, "Depth of a script's own calls."
        ),
    )
}
"""All settings by dotted name."""

LISTS_OF_TABLES = ("policy.rules", "guards.companion")
"""Those whose items are worth a line in a message."""


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
        if head in KEYS:  # its names are a person's own
            found[head] = checked(head, cast("object", content), source=source)
            continue
        for tail, value in cast("dict[str, object]", content).items():
            name = f"{head}.{tail}"
            found[name] = checked(name, value, source=source)
    return found


def usable(table: Mapping[str, object], names: Iterable[str]) -> dict[str, object]:
    """Return some settings of one file by dotted key, without those that are not allowed.

    Args:
        table: The file's content.
        names: Dotted keys.
    """
    found: dict[str, object] = {}
    for name in names:
        head, _, tail = name.partition(".")
        content = table.get(head)
        if isinstance(content, dict) and tail in content:
            with suppress(ConfigError):
                found[name] = checked(name, cast("dict[str, object]", content)[tail], source="")
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
    problem = key.problem(value) if key.problem else ""
    if problem:
        raise ConfigError(f"{source}: {problem}")
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
    in_files = {key.variable: key.name for key in KEYS.values() if key.from_text is None}
    found: dict[str, tuple[object, str]] = {}
    for variable, text in environ.items():
        if not variable.startswith(PREFIX) or variable in RESERVED | _MARKS:
            continue
        if variable.startswith(INPUT_PREFIX):  # answers what the file of a client asks for
            continue
        if variable in in_files:
            raise ConfigError(
                f"environment: {variable}: {in_files[variable]} cannot be given by a variable",
                hint="write it into lineshaft.toml",
            )
        if variable not in names:
            raise _unknown(variable, {*names, *RESERVED}, source="environment", what="variable")
        name = names[variable]
        found[name] = (from_text(name, text, source=variable), variable)
    if environ.get(NO_SCRIPT, "").strip().lower() not in ("", "0", "false", "no"):
        found["script.enabled"] = (False, NO_SCRIPT)
    return found


def _unknown(name: str, known: Iterable[str], *, source: str, what: str = "key") -> ConfigError:
    names = sorted(known)
    # What all names begin with makes none of them likelier.
    start = PREFIX if name.startswith(PREFIX) else name[: name.rfind(".") + 1]
    own = {other.removeprefix(start): other for other in names if other.startswith(start)}
    word = name.removeprefix(start)
    word = word.upper() if what == "variable" else word
    close = get_close_matches(word, own, n=1, cutoff=0.6)
    near = [own[close[0]]] if close else get_close_matches(name, names, n=1, cutoff=0.8)
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
