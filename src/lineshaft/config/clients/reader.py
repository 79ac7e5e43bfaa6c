"""Reading of servers out of the files of other programs.

Such a file may be hostile, and wrong in any way. A file that cannot be read is named, and the
others are read; a server that is described wrongly has a problem, and the others have none; unknown
keys are kept by name and ignored.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import cast

from msgspec.structs import replace

from lineshaft import kit
from lineshaft.config._files import read_bytes, read_toml
from lineshaft.config.clients.jsonc import Table, read_jsonc
from lineshaft.config.clients.places import ClientFile
from lineshaft.config.definitions import (
    MOST_SECONDS,
    Input,
    ServerSetting,
    Transport,
    inputs_in,
    is_reserved,
    table_of_texts,
    texts_in,
    url_problem,
)
from lineshaft.errors import ConfigError
from lineshaft.values import Struct

_MOST_SERVERS = 200
_BUILT_IN = frozenset(kit.tools(kit.DEFAULT, kit.fetch_url.name))
"""Names of the built-in tools: a server of such a name would have to give way at each start."""

_LONGEST_NAME = 64
_TRANSPORTS: Mapping[str, Transport] = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamablehttp": "http",
    "streamable_http": "http",
    "remote": "http",
    "sse": "sse",
}
_KNOWN = frozenset(
    {
        *("type", "transport", "command", "args", "env", "envFile", "cwd"),
        *("url", "serverUrl", "httpUrl", "headers", "tools", "timeout"),
        *("disabled", "enabled", "disabledTools", "description", "name"),
    }
)


class BrokenFile(Struct, frozen=True, kw_only=True):
    """A file that could not be read."""

    file: ClientFile
    problem: str


def read_client_file(file: ClientFile, *, base: Path) -> tuple[ServerSetting, ...]:
    """Return the servers that another program's file describes, in its order.

    Args:
        file: Where it is.
        base: The folder that `${workspaceFolder}` names in a person's own file.

    Raises:
        ConfigError: The file cannot be read as what it should be.
    """
    folder = file.project or base
    if file.path.suffix == ".toml":
        tables = [(read_toml(file.path).table.get("mcp_servers"), "mcp_servers")]
        inputs: Mapping[str, Input] = {}
    else:
        content = _json(file)
        tables = _tables_of(content, folder)
        inputs = inputs_in(content.get("inputs"))
    found: list[ServerSetting] = []
    for table, key in tables:
        if table is None:
            continue
        if not isinstance(table, dict):
            raise ConfigError(f"{str(file.path)!r}: {key} must be an object of servers by name")
        found += _servers(cast("dict[str, object]", table), file, folder, inputs)
    if len(found) > _MOST_SERVERS:
        raise ConfigError(f"{str(file.path)!r} names more than {_MOST_SERVERS} servers")
    return tuple(_apart(found))


def _json(file: ClientFile) -> Mapping[str, object]:
    data = read_bytes(file.path, limit=file.limit)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{str(file.path)!r} is not UTF-8 text") from error
    if not text.strip():
        return {}
    try:
        content = read_jsonc(text)
    except ConfigError as error:
        raise ConfigError(f"{str(file.path)!r}: {error.message}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{str(file.path)!r} is not a JSON object")
    return cast("dict[str, object]", content)


def _tables_of(content: Mapping[str, object], folder: Path) -> list[tuple[object, str]]:
    tables = [(content.get(key), key) for key in ("mcpServers", "servers")]
    projects = content.get("projects")  # what Claude Code was told in one folder alone
    if isinstance(projects, dict):
        here = cast("dict[str, object]", projects).get(str(folder))
        if isinstance(here, dict):
            own = cast("dict[str, object]", here).get("mcpServers")
            tables.insert(0, (own, "mcpServers"))
    return tables


def _servers(
    table: Mapping[str, object],
    file: ClientFile,
    folder: Path,
    inputs: Mapping[str, Input],
) -> list[ServerSetting]:
    twice = table.twice if isinstance(table, Table) else frozenset[str]()
    found: list[ServerSetting] = []
    for label, content in table.items():
        name = namespace_of(label)
        server = ServerSetting(
            name=name,
            label="" if label == name else label,
            source=file.path,
            client=file.client,
            base=folder,
            of_project=file.project is not None,
        )
        if not isinstance(content, dict):
            server = replace(server, problem="its description is no object")
        else:
            described = cast("dict[str, object]", content)
            read = _from_codex if file.path.suffix == ".toml" else _from_json
            server = _checked(read(server, described, inputs))
        if label in twice:
            server = replace(server, problem="it is described twice in this file")
        found.append(server)
    return found


def namespace_of(label: str) -> str:
    """Return a server's name as a namespace: letters, digits, `_` and `-`.

    Args:
        label: The name as a file has it.
    """
    plain = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode()
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", plain).strip("_")
    if not name:
        return "server_" + sha256(label.encode("utf-8", "replace")).hexdigest()[:8]
    is_taken = is_reserved(name) or name.replace("-", "_").casefold() in _BUILT_IN
    return f"{name}_mcp" if is_taken else name[:_LONGEST_NAME]


def _apart(found: Sequence[ServerSetting]) -> list[ServerSetting]:
    """Mark those whose different names come to one namespace; of one name the first counts."""
    by_name: dict[str, ServerSetting] = {}
    apart: list[ServerSetting] = []
    for server in found:
        first = by_name.setdefault(server.name, server)
        if first is server:
            apart.append(server)
        elif first.label != server.label and first.definition != server.definition:
            problem = f"another server of this file comes to the name {server.name!r}"
            apart.append(replace(server, problem=problem))
    return apart


class _Wrong(Exception):
    """Something in a description is not what it must be."""


def _text(table: Mapping[str, object], *keys: str) -> str:
    for key in keys:
        value = table.get(key)
        if value is None:
            continue
        if not isinstance(value, str) or "\0" in value:
            raise _Wrong(f"{key} must be a text")
        return value
    return ""


def _seconds(table: Mapping[str, object], key: str) -> float | None:
    value = table.get(key)
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 < cast("float", value) <= MOST_SECONDS:
        raise _Wrong(f"{key} must be a number above 0, up to {MOST_SECONDS:,}")
    return float(cast("float", value))


def _texts(table: Mapping[str, object], key: str) -> tuple[str, ...]:
    value = table.get(key)
    found = texts_in([] if value is None else value)
    if found is None:
        raise _Wrong(f"{key} must be a list of texts")
    return found


def _table(table: Mapping[str, object], key: str) -> dict[str, str]:
    value = table.get(key)
    given: object = {} if value is None else value
    if isinstance(value, dict):
        # VS Code takes numbers too, and null for a variable that is not to be passed.
        given = {
            name: _as_in_json(item) if isinstance(item, int | float) else item
            for name, item in cast("dict[str, object]", value).items()
            if item is not None
        }
    found = table_of_texts(given)
    if found is None:
        raise _Wrong(f"{key} must be an object of texts")
    return found


def _as_in_json(value: float) -> str:
    """Return a number or a switch as the other programs pass it on: `true`, and 1.0 as `1`."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e21
    return json.dumps(int(value) if is_whole else value)


def _flag(table: Mapping[str, object], key: str, *, default: bool) -> bool:
    value = table.get(key)
    return value if isinstance(value, bool) else default


def _from_json(
    server: ServerSetting, table: Mapping[str, object], inputs: Mapping[str, Input]
) -> ServerSetting:
    server = replace(
        server,
        disabled=_flag(table, "disabled", default=False)
        or not _flag(table, "enabled", default=True),
        rest=_rest(key for key in table if key not in _KNOWN),
    )
    if isinstance(table, Table) and table.twice:
        return replace(server, problem=f"it has {min(table.twice)!r} twice")
    try:
        url = _text(table, "url", "serverUrl", "httpUrl")
        command = _text(table, "command")
        kind = _text(table, "type", "transport") or ("http" if url and not command else "stdio")
        server = replace(
            server,
            transport=_transport(kind),
            command=command,
            args=_texts(table, "args"),
            env=_table(table, "env"),
            env_file=_text(table, "envFile"),
            cwd=_text(table, "cwd"),
            url=url,
            headers=_table(table, "headers"),
            include=_listed_tools(table),
            exclude=_texts(table, "disabledTools"),
        )
    except _Wrong as error:
        return replace(server, problem=str(error))
    return replace(server, inputs=inputs)


def _transport(kind: str) -> Transport:
    found = _TRANSPORTS.get(kind.casefold())
    if found is None:
        raise _Wrong(f"its type {kind!r} is not known; known: stdio, http, sse")
    return found


def _listed_tools(table: Mapping[str, object]) -> tuple[str, ...]:
    value = table.get("tools")  # a list of names in Copilot's files, details of tools in others
    listed = _texts(table, "tools") if isinstance(value, list) else ()
    return () if "*" in listed else listed


_CODEX = frozenset(
    {
        *("command", "args", "env", "env_vars", "cwd", "url", "bearer_token_env_var"),
        *("http_headers", "env_http_headers", "enabled", "enabled_tools", "disabled_tools"),
        "tool_timeout_sec",
    }
)


def _from_codex(
    server: ServerSetting, table: Mapping[str, object], inputs: Mapping[str, Input]
) -> ServerSetting:
    server = replace(
        server,
        inputs=inputs,
        disabled=not _flag(table, "enabled", default=True),
        rest=_rest(key for key in table if key not in _CODEX),
    )
    try:
        url = _text(table, "url")
        named = {name: f"${{{name}}}" for name in _texts(table, "env_vars")}
        headers = _table(table, "http_headers") | {
            name: f"${{{variable}}}" for name, variable in _table(table, "env_http_headers").items()
        }
        bearer = _text(table, "bearer_token_env_var")
        if bearer:
            headers["Authorization"] = f"Bearer ${{{bearer}}}"
        return replace(
            server,
            transport="http" if url else "stdio",
            command=_text(table, "command"),
            args=_texts(table, "args"),
            env=named | _table(table, "env"),
            cwd=_text(table, "cwd"),
            url=url,
            headers=headers,
            include=_texts(table, "enabled_tools"),
            exclude=_texts(table, "disabled_tools"),
            seconds=_seconds(table, "tool_timeout_sec"),
        )
    except _Wrong as error:
        return replace(server, problem=str(error))


def _rest(keys: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(keys))


def _checked(server: ServerSetting) -> ServerSetting:
    """Say what is wrong with a server that was read."""
    problem = server.problem
    if problem:
        return server
    if server.transport == "stdio":
        if not server.command.strip():
            problem = "it has no command"
        elif server.url:
            problem = "it has both a command and a url"
    elif not server.url.strip():
        problem = "it has no url"
    else:
        wrong = url_problem(server.url)
        problem = f"its url {wrong}" if wrong else ""
    if not problem and server.transport == "sse":
        problem = (
            "it speaks the old HTTP+SSE transport, which is not spoken here; most such servers "
            'speak "http" too, often at /mcp'
        )
    if not problem and any(re.search("[\ud800-\udfff]", text) for text in server.texts()):
        problem = "it holds characters that cannot be passed on"
    if not problem and server.is_lineshaft:
        problem = "it is Lineshaft itself"
    return replace(server, problem=problem)
