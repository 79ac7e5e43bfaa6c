"""Names of tools: canonical, in scripts, and towards model APIs."""

import builtins
import hashlib
import keyword
import re
import sys
import unicodedata
from collections.abc import Collection
from functools import lru_cache

from lineshaft.errors import ConfigError


def _is_own(builtin: object) -> bool:
    module = getattr(builtin, "__module__", None)
    return module is None or str(module).partition(".")[0] in sys.stdlib_module_names


RUNTIME_TOOLS = frozenset(
    {"run_script", "search_tools", "describe_tool", "read_result", "read_handle", "show"}
)
"""Names of the tools that sessions have of their own."""

_RUNTIME = {"args", "exit", "quit", "resume", "status", *RUNTIME_TOOLS}
_SCOPE = {"asyncio", "json", "math", "re", "datetime", "tools", "agents", "ToolError"}
_HELPERS = {"json_parse", "retry", "batched", "table", "attempt"}
SCOPE: frozenset[str] = frozenset(_SCOPE - {"agents"} | _HELPERS)
"""Names that every script has without an import, beside Python's own."""

_PYTHON = {
    *keyword.kwlist,
    # Notebooks and debuggers put names of their own among the builtins.
    *(name for name, value in vars(builtins).items() if _is_own(value) and name != "_"),
}

RESERVED: frozenset[str] = frozenset(_RUNTIME | _SCOPE | _HELPERS | _PYTHON)
"""Names that neither a namespace nor a tool without one may have, in any spelling of case."""

_TAKEN = frozenset(name.casefold() for name in RESERVED)

_LONGEST = 128
_LONGEST_FOR_MODELS = 48
"""Clients put the name of the server in front, up to 64 in all."""


@lru_cache(maxsize=4_096)
def script_name(canonical: str) -> str:
    """Return the name by which scripts call a tool.

    Args:
        canonical: `tool` or `namespace.tool`.

    Returns:
        The same, each part made an identifier: `github.list-issues` is `github.list_issues`.
    """
    return ".".join(_identifier(part) for part in canonical.split("."))


def keyword_names(parameters: Collection[str]) -> dict[str, str]:
    """Return the parameters that no keyword of Python can name, each by a keyword for it.

    Args:
        parameters: All parameters of a tool: `from` goes by `from_`, `max-results` by
            `max_results`, where nothing else has that name.
    """
    found: dict[str, list[str]] = {}
    for name in parameters:
        if not is_identifier(name):
            found.setdefault(_identifier(name), []).append(name)
    return {
        word: names[0]
        for word, names in found.items()
        if len(names) == 1 and word not in parameters
    }


def model_name(canonical: str) -> str:
    """Return the name by which model APIs know a tool: up to 48 of `a-z A-Z 0-9 _ -`.

    Args:
        canonical: `tool` or `namespace.tool`.

    Returns:
        The name; a long one ends in a hash of the whole.
    """
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", canonical.replace(".", "__"))
    if len(name) <= _LONGEST_FOR_MODELS:
        return name
    digest = hashlib.sha256(canonical.encode()).hexdigest()[:8]
    return f"{name[: _LONGEST_FOR_MODELS - 9]}_{digest}"


def is_identifier(text: str) -> bool:
    """Return whether Python code can use the text as a name, letter by letter."""
    return (
        text.isidentifier()
        and not keyword.iskeyword(text)
        and unicodedata.normalize("NFKC", text) == text
    )


def check_name(name: object) -> str:
    """Return a canonical name as it is.

    Args:
        name: The proposed name of a tool.

    Raises:
        ConfigError: No tool can have this name.
    """
    if not isinstance(name, str) or not name:
        raise ConfigError(f"a tool's name must be text, not {name!r}", hint="give it name=...")
    if any(c.isspace() or not c.isprintable() for c in name):
        raise ConfigError(f"tool name {name!r} has white space or control characters")
    if len(name) > _LONGEST:
        raise ConfigError(f"tool name {name[:40]!r}... is longer than {_LONGEST} characters")
    parts = name.split(".")
    if len(parts) > 2 or not all(parts):
        raise ConfigError(
            f"tool name {name!r} is neither 'tool' nor 'namespace.tool'",
            hint="other dots must be replaced, for example by '_'",
        )
    return name


def check_free(name: str) -> None:
    """Check that a tool or namespace hides nothing that scripts and models rely on.

    Args:
        name: Canonical name.

    Raises:
        ConfigError: Its first part is reserved.
    """
    namespace, _, tool = name.rpartition(".")
    first = namespace or tool
    for spelling in (first, _identifier(first)):
        if spelling.casefold() in _TAKEN:
            what = f"namespace {first!r} of tool {name!r}" if namespace else f"tool name {name!r}"
            raise ConfigError(
                f"{what} is reserved", hint="rename it: Toolset.rename, or prefix(namespace)"
            )


def _identifier(part: str) -> str:
    """Return the text as an identifier that Python does not spell otherwise."""
    text = unicodedata.normalize("NFKC", part)
    text = "".join(c if f"_{c}".isidentifier() else "_" for c in text)
    if not text.isidentifier():
        text = f"_{text}"
    return f"{text}_" if keyword.iskeyword(text) else text
