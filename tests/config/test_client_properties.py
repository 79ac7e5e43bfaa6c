"""Whatever a client's file says: it is read or named, shown without harm, and copied exactly."""

import json
import re
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lineshaft.config import (
    ClientFile,
    approval_of,
    import_server,
    kept_secrets,
    read_client_file,
    read_settings,
    servers,
    shown_server,
    standing,
)
from lineshaft.errors import ConfigError

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)
KEYS = st.sampled_from(
    ["command", "args", "env", "url", "headers", "type", "cwd", "envFile", "tools", "disabled"]
)
ODD = st.dictionaries(KEYS, VALUES | st.dictionaries(st.text(), VALUES))
FILES = st.dictionaries(
    st.sampled_from(["mcpServers", "servers", "inputs", "projects"]),
    VALUES | st.dictionaries(st.text(), ODD | VALUES),
)
SLOW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
NAMES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0=\n"), min_size=1, max_size=20
)
COMMANDS = st.fixed_dictionaries(
    {
        "command": WORDS.filter(str.strip),
        "args": st.lists(WORDS, max_size=4),
        "env": st.dictionaries(NAMES, WORDS, max_size=3),
    }
)


def read(folder: Path, content: object, name: str = ".mcp.json") -> ClientFile:
    path = folder / name
    path.write_text(json.dumps(content), encoding="utf-8")
    return ClientFile(client="a client", path=path, project=folder)


@SLOW
@given(content=FILES | VALUES)
def test_any_file_is_read_or_named(content: object) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = read(folder, content)
        try:
            found = read_client_file(file, base=folder)
        except ConfigError as error:
            assert str(file.path) in error.message  # noqa: PT017  either way is right
            return
        for server in found:
            assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", server.name)
            shown_server(server)
            approval_of(server)


@SLOW
@given(described=COMMANDS)
def test_what_is_copied_is_what_was_described(described: dict[str, object]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environ = {"HOME": name, "XDG_CONFIG_HOME": f"{name}/c", "XDG_STATE_HOME": f"{name}/s"}
        file = read(folder, {"mcpServers": {"a": described}})
        (server,) = read_client_file(file, base=folder)
        if server.problem:
            return
        try:
            done = import_server(server, read_settings(folder, environ=environ), environ=environ)
        except ConfigError as error:
            assert "command" in error.message  # noqa: PT017  what is odd is said, not written
            return
        kept = kept_secrets(environ)
        (ours,) = servers(read_settings(folder, environ=environ), environ=environ).servers
        assert ours.definition == done.server.definition

        def back(text: str) -> str:
            for variable in done.secrets:
                text = text.replace(f"${{{variable}}}", kept[variable])
            return text

        assert [back(word) for word in (ours.command, *ours.args)] == [
            server.command,
            *server.args,
        ]
        assert {key: back(text) for key, text in ours.env.items()} == server.env
        again = read_settings(folder, environ=environ)
        assert standing(server, again, environ=environ) == "same"
