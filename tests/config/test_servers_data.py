"""What a server keeps or works on may change without asking again; what it may start may not."""

import json

import pytest

from config.homes import Home


def change_of(home: Home, command: str, args: list[str], env: dict[str, str], name: str) -> bool:
    """Return whether a file of the project changes without a new approval."""
    file = home.project / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("one")
    told = "".join(f"{key} = {json.dumps(value)}\n" for key, value in env.items())
    table = f"[mcp.servers.a]\ncommand = {json.dumps(command)}\nargs = {json.dumps(args)}\n"
    (server,) = home.servers(project=f"{table}[mcp.servers.a.env]\n{told}")
    home.approve(server)
    assert home.approved(server)
    file.write_text("two")
    return home.approved(server)


@pytest.mark.parametrize(
    ("command", "args", "env", "name"),
    [
        ("uvx", ["mcp-server-sqlite", "--db-path", "./notes.db"], {}, "notes.db"),
        ("uvx", ["mcp-server-sqlite", "--db-path=./notes.db"], {}, "notes.db"),
        ("npx", ["-y", "server-memory"], {"MEMORY_FILE_PATH": "memory.jsonl"}, "memory.jsonl"),
        ("npx", ["-y", "server-filesystem", "."], {}, "package.json"),
        ("node", ["/opt/server/index.js", "."], {}, "package.json"),
        ("npx", ["server", "logs"], {"DATA_DIR": "logs"}, "logs/index.js"),
    ],
)
def test_data_changes_without_asking(
    home: Home, command: str, args: list[str], env: dict[str, str], name: str
) -> None:
    assert change_of(home, command, args, env, name)


@pytest.mark.parametrize(
    ("command", "args", "env", "name"),
    [
        ("python3", ["notes.db"], {}, "notes.db"),
        ("/usr/bin/python3.11", ["-u", "notes.db"], {}, "notes.db"),
        ("env", ["python3", "notes.db"], {}, "notes.db"),
        ("npx", ["run-it", "python3", "notes.db"], {}, "notes.db"),
        ("node", ["--require", "./evil.log", "/opt/index.js"], {}, "evil.log"),
        ("node", ["--require=./evil.log", "/opt/index.js"], {}, "evil.log"),
        ("node", ["."], {}, "index.js"),
        ("uv", ["--directory", "tools", "run", "x"], {}, "tools/__main__.py"),
        ("sh", ["-c", "cd tools; python3 notes.db"], {}, "tools/notes.db"),
        ("npx", ["server"], {"LD_PRELOAD": "./evil.db"}, "evil.db"),
        ("npx", ["server"], {"NODE_OPTIONS": "--require ./evil.db"}, "evil.db"),
        ("npx", ["server"], {"LD_DATA_PATH": "./evil.db"}, "evil.db"),
        ("npx", ["server", "--config", "servers.json"], {}, "servers.json"),
        ("npx", ["server", "plugin.js"], {}, "plugin.js"),
    ],
)
def test_what_may_be_started_asks_again(
    home: Home, command: str, args: list[str], env: dict[str, str], name: str
) -> None:
    assert not change_of(home, command, args, env, name)
