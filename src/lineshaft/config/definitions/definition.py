"""One MCP server, as a file describes it: variables stand in it as they are written.

Above: what finds servers in files, what approves, imports and starts them. Nothing here opens
anything.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Literal, cast
from urllib.parse import urlsplit

from msgspec import field

from lineshaft.config._key import is_text
from lineshaft.config.definitions.auth import KEYS, auth_problem
from lineshaft.config.definitions.variables import Input, inputs_in, references
from lineshaft.errors import ConfigError
from lineshaft.tools import RESERVED
from lineshaft.values import Struct

Transport = Literal["stdio", "http", "sse", "window"]
"""`window`: the window of the workspace, which offers tools as a server does."""
ServerGiver = Literal["project", "user", "client"]
ClaimsRule = Literal["accept", "external"]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SERVER_KEYS = (
    *("command", "args", "env", "env_file", "cwd", "url", "headers", "auth", "type"),
    *("tools", "seconds", "claims", "inputs"),
)
MOST_SECONDS = 86_400
"""The longest time for a call of a server."""


class ServerSetting(Struct, frozen=True, kw_only=True):
    """One server and where it is described."""

    __unshown__ = frozenset({"env", "headers"})

    name: str
    """Its namespace."""

    label: str = ""
    """Its name as the file has it, where that cannot be a namespace."""

    giver: ServerGiver = "client"
    source: Path
    """The file."""

    client: str = ""
    """Whose file it is, where it is another program's."""

    base: Path
    """The folder that relative paths start from, and that `${workspaceFolder}` names."""

    of_project: bool = False
    """Whether the file lies in the project, and so comes from the project's author."""

    transport: Transport = "stdio"
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    env_file: str = ""
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    auth: str | Mapping[str, str] = ""
    """`oauth`, `none`, or how to name ourselves to the server; empty: as it asks."""

    include: tuple[str, ...] = ()
    """Globs of its own names of the tools that are offered; all where there are none."""

    exclude: tuple[str, ...] = ()
    seconds: float | None = None
    """Time one call gets."""

    claims: ClaimsRule | None = None
    """What its tools' annotations count for, said beforehand; None: a person is asked."""

    inputs: Mapping[str, Input] = field(default_factory=dict[str, Input])
    rest: tuple[str, ...] = ()
    """Unknown keys of the file, which are ignored."""

    disabled: bool = False
    problem: str = ""
    """Why it cannot be started, as far as that can be read."""

    @property
    def definition(self) -> dict[str, object]:
        """Return what a person approves, as plain values."""
        return {
            "transport": self.transport,
            "command": self.command,
            "args": list(self.args),
            "env": dict(self.env),
            "env_file": self.env_file,
            "cwd": self.cwd,
            "url": self.url,
            "headers": dict(self.headers),
            "auth": self.auth if isinstance(self.auth, str) else dict(self.auth),
            "include": list(self.include),
            "exclude": list(self.exclude),
            "inputs": {each.id: [each.default, *each.options] for each in self._asked()},
        }

    def _asked(self) -> Iterator[Input]:
        for reference in dict.fromkeys(references(self.texts())):
            kind, _, name = reference.partition(":")
            if kind == "input" and name in self.inputs:
                yield self.inputs[name]

    def texts(self) -> Iterator[str]:
        """Yield all texts in which variables may stand."""
        yield from (self.command, *self.args, self.env_file, self.cwd, self.url)
        yield from (*self.env.values(), *self.headers.values())
        if not isinstance(self.auth, str):
            yield from self.auth.values()

    @property
    def is_lineshaft(self) -> bool:
        """Return whether it is Lineshaft itself, which must not start itself."""
        words = [PurePath(word).name.removesuffix(".exe") for word in (self.command, *self.args)]
        return "lineshaft" in words and "serve" in words


def own_servers(
    value: object, *, source: Path, giver: ServerGiver, base: Path
) -> tuple[ServerSetting, ...]:
    """Return the servers under `[mcp.servers]` of our own file.

    Args:
        value: The table.
        source: The file.
        giver: Whose file it is.
        base: Where relative paths start.

    Raises:
        ConfigError: Something is unknown or not allowed; names the key.
    """
    if not isinstance(value, dict):
        raise ConfigError("mcp.servers must be tables: [mcp.servers.NAME]")
    found: list[ServerSetting] = []
    for name, table in cast("dict[str, object]", value).items():
        place = f"mcp.servers.{name}"
        if is_reserved(name):
            raise ConfigError(f"mcp.servers: the name {name!r} means something else in scripts")
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"mcp.servers: {name!r} cannot be a server's name",
                hint="up to 64 letters, digits, _ and -",
            )
        if not isinstance(table, dict):
            raise ConfigError(f"{place} must be a table, [{place}]")
        read = _TableReader(place, cast("dict[str, object]", table))
        found.append(read.server(name, source=source, giver=giver, base=base))
    return tuple(found)


class _TableReader:
    """One table of our own file; what is wrong with it is an error."""

    def __init__(self, place: str, table: Mapping[str, object]) -> None:
        self._place = place
        self._table = table
        for key in table:
            if key not in _SERVER_KEYS:
                raise ConfigError(
                    f"{place}: unknown key {key!r}", hint="known: " + ", ".join(_SERVER_KEYS)
                )

    def server(self, name: str, *, source: Path, giver: ServerGiver, base: Path) -> ServerSetting:
        transport = self._transport()
        include, exclude = self._tools()
        return ServerSetting(
            name=name,
            source=source,
            giver=giver,
            base=base,
            of_project=giver == "project",
            transport=transport,
            command=self._text("command"),
            args=self._texts("args"),
            env=self._table_of_texts("env"),
            env_file=self._text("env_file"),
            cwd=self._text("cwd"),
            url=self._text("url"),
            headers=self._table_of_texts("headers"),
            auth=self._auth(),
            include=include,
            exclude=exclude,
            seconds=self._seconds(),
            claims=self._claims(),
            inputs=self._inputs(),
        )

    def _transport(self) -> Transport:
        has_command, has_url = "command" in self._table, "url" in self._table
        if has_command == has_url:
            what = "both command and url" if has_command else "neither command nor url"
            raise ConfigError(f"{self._place} has {what}; give one of them")
        wrong = ("headers", "auth") if has_command else ("args", "env", "env_file", "cwd")
        for key in wrong:
            if key in self._table:
                needed = "url" if has_command else "command"
                raise ConfigError(f"{self._place}.{key} is only for a server with {needed}")
        transport: Transport = "stdio" if has_command else "http"
        if self._table.get("type", transport) != transport:
            raise self._wrong("type", repr(transport))
        problem = "" if has_command else url_problem(self._text("url"))
        if problem:
            raise ConfigError(f"{self._place}.url {problem}")
        return transport

    def _text(self, key: str) -> str:
        value = self._table.get(key)
        if value is None:
            return ""
        if not is_text(value):
            raise self._wrong(key, "a text")
        return str(value)

    def _texts(self, key: str) -> tuple[str, ...]:
        value = texts_in(self._table.get(key, []))
        if value is None:
            raise self._wrong(key, "a list of texts")
        return value

    def _table_of_texts(self, key: str) -> Mapping[str, str]:
        value = table_of_texts(self._table.get(key, {}))
        if value is None:
            raise self._wrong(key, 'a table of texts: {NAME = "value"}')
        return value

    def _auth(self) -> str | Mapping[str, str]:
        value = self._table.get("auth", "")
        if isinstance(value, str) and value in ("", "oauth", "none"):
            return value
        table = table_of_texts(value)
        if not table or not set(table) <= set(KEYS):
            raise self._wrong("auth", f"'oauth', 'none', or a table with {', '.join(KEYS)}")
        problem = auth_problem(table)
        if problem:
            raise ConfigError(f"{self._place}.auth: {problem}")
        return table

    def _tools(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        value = self._table.get("tools", [])
        if isinstance(value, list):
            value = {"include": cast("object", value)}
        if isinstance(value, dict):
            table = cast("dict[str, object]", value)
            both = [texts_in(table.get(key, [])) for key in ("include", "exclude")]
            if set(table) <= {"include", "exclude"} and None not in both:
                return both[0] or (), both[1] or ()
        raise self._wrong("tools", 'a list of globs, or {include = ["get_*"], exclude = ["*_all"]}')

    def _seconds(self) -> float | None:
        value = self._table.get("seconds")
        if value is None:
            return None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 < cast("float", value) <= MOST_SECONDS:
            raise self._wrong("seconds", f"a number above 0, up to {MOST_SECONDS:,}")
        return float(cast("float", value))

    def _claims(self) -> ClaimsRule | None:
        value = self._table.get("claims")
        if value not in (None, "accept", "external"):
            raise self._wrong("claims", "'accept' or 'external'")
        return value

    def _inputs(self) -> Mapping[str, Input]:
        value = self._table.get("inputs", [])
        found = inputs_in(value)
        if not isinstance(value, list) or len(found) != len(cast("list[object]", value)):
            raise self._wrong("inputs", 'a list of tables: [{id = "token"}]')
        return found

    def _wrong(self, key: str, allowed: str) -> ConfigError:
        # What is written there is not shown: it may be a secret in the wrong place.
        return ConfigError(f"{self._place}.{key} is not allowed as it is; allowed: {allowed}")


def is_reserved(name: str) -> bool:
    """Return whether scripts know something else by this name."""
    return name.replace("-", "_").casefold() in {each.casefold() for each in RESERVED}


def texts_in(value: object) -> tuple[str, ...] | None:
    """Return a list of texts as they are; None where it is something else."""
    if not isinstance(value, list):
        return None
    items = cast("list[object]", value)
    if not all(isinstance(item, str) and "\0" not in item for item in items):
        return None
    return tuple(cast("list[str]", items))


def table_of_texts(value: object) -> dict[str, str] | None:
    """Return a table of texts as it is; None where it is something else."""
    if not isinstance(value, dict):
        return None
    table = cast("dict[str, object]", value)
    for name, text in table.items():
        if not isinstance(text, str) or "\0" in text or not name or re.search(r"[=\0\n]", name):
            return None
    return cast("dict[str, str]", table)


def url_problem(url: str) -> str:
    """Return what is wrong with a server's address, in words that follow it; mostly nothing."""
    if url.startswith("${"):
        return ""  # it is looked at when the variable is filled in
    try:
        parts = urlsplit(url)
    except ValueError:
        return "is no address"
    if parts.scheme not in ("http", "https"):
        return "must begin with http:// or https://"
    return "" if parts.netloc else "names no host"
