"""Servers of other programs, brought into our own files."""

import json
import os
import stat
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from lineshaft.config import (
    Imported,
    ServerSetting,
    Settings,
    Target,
    approval_of,
    approve,
    client_servers,
    import_server,
    kept_secrets,
    read_settings,
    secrets_file,
    server_approved,
    servers,
    standing,
)
from lineshaft.errors import ConfigError

TOKEN = "ghp_" + "a1B2c3D4e5" * 4


@dataclass
class Home:
    """A project with a client's file, and the folders of whoever works in it."""

    root: Path
    project: Path
    user_file: Path
    environ: dict[str, str]

    @property
    def file(self) -> Path:
        return self.project / "lineshaft.toml"

    def describe(self, *, at: str = ".mcp.json", **described: object) -> None:
        path = self.project / at
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"mcpServers": described}), encoding="utf-8")

    def read(self) -> Settings:
        return read_settings(self.project, environ=self.environ)

    def found(self) -> tuple[ServerSetting, ...]:
        return client_servers(self.read(), environ=self.environ).servers

    def bring(self, *, target: Target | None = None, name: str | None = None) -> list[Imported]:
        return [
            import_server(server, self.read(), target=target, name=name, environ=self.environ)
            for server in self.found()
        ]

    def ours(self) -> dict[str, ServerSetting]:
        found = servers(self.read(), environ=self.environ).servers
        return {server.name: server for server in found}


@pytest.fixture
def home(tmp_path: Path, project: Path, user_file: Path, environ: dict[str, str]) -> Home:
    return Home(tmp_path, project, user_file, environ)


def test_a_server_is_ours_as_it_is_described_and_approved(home: Home) -> None:
    home.describe(
        files={
            "command": "npx",
            "args": ["-y", 'odd "one"\n\x7f', "${workspaceFolder}"],
            "env": {"LEVEL": "${LEVEL:-info}", "odd name": "ü"},
            "cwd": "sub",
            "envFile": ".env",
            "disabledTools": ["drop"],
        },
        web={"type": "http", "url": "https://mcp.test/", "headers": {"X-A": "${env:A}"}},
    )
    theirs = {server.name: server.definition for server in home.found()}
    assert all(done.is_new for done in home.bring())
    assert {name: server.definition for name, server in home.ours().items()} == theirs
    assert all(server_approved(server, environ=home.environ) for server in home.ours().values())


def test_what_the_file_holds_stays_to_the_letter(home: Home) -> None:
    text = "# ours\r\n[policy]   # keep\r\nmode = 'read'\r\n\r\n[mcp.servers.a]\r\ncommand='a'"
    home.file.write_bytes(text.encode())
    home.file.chmod(0o640)
    home.describe(b={"command": "b"})
    home.bring()
    data = home.file.read_bytes()
    assert data.startswith(text.encode() + b"\r\n")
    assert b"\n" not in data.replace(b"\r\n", b"")
    assert list(home.ours()) == ["a", "b"]
    assert stat.S_IMODE(home.file.stat().st_mode) == 0o640
    assert home.read().setting("policy.mode").value == "read"


def test_twice_is_once(home: Home) -> None:
    home.describe(a={"command": "a", "env": {"TOKEN": TOKEN}}, b={"url": "https://mcp.test"})
    home.bring()
    text = home.file.read_text()
    again = home.bring()
    assert [done.is_new for done in again] == [False, False]
    assert home.file.read_text() == text
    home.environ["TOKEN"] = "another by now"  # noqa: S105  a test's
    assert not any(done.is_new for done in home.bring())


def test_a_different_server_of_the_name_is_refused_and_fits_under_another(home: Home) -> None:
    home.file.write_text('[mcp.servers.a]\ncommand = "ours"\n')
    home.describe(a={"command": "theirs"})
    text = home.file.read_text()
    with pytest.raises(ConfigError, match="another server 'a' already") as caught:
        home.bring()
    assert "--as" in caught.value.hint
    assert home.file.read_text() == text
    home.bring(name="b")
    assert home.ours()["b"].command == "theirs"


def test_a_server_that_is_ours_elsewhere_is_not_taken_twice(home: Home) -> None:
    home.user_file.write_text('[mcp.servers.a]\ncommand = "a"\n')
    home.describe(a={"command": "a"})
    (done,) = home.bring()
    assert (done.is_new, done.server.source) == (False, home.user_file)
    assert not home.file.exists()


def test_each_goes_where_it_comes_from_unless_told_otherwise(home: Home) -> None:
    (home.root / ".cursor").mkdir()
    own = json.dumps({"mcpServers": {"mine": {"command": "m"}}})
    (home.root / ".cursor" / "mcp.json").write_text(own)
    home.describe(theirs={"command": "t"})
    theirs, mine = home.bring()
    assert (theirs.server.source, mine.server.source) == (home.file, home.user_file)
    assert stat.S_IMODE(home.user_file.stat().st_mode) == 0o600


def test_the_persons_file_may_be_chosen(home: Home) -> None:
    home.describe(a={"command": "./server", "args": []})
    (done,) = home.bring(target="user")
    assert done.server.source == home.user_file
    assert done.server.cwd == str(home.project)


@pytest.mark.parametrize(
    ("described", "name"),
    [
        (
            {"command": "x", "env": {"GITHUB_TOKEN": "hunter2-hunter2"}},
            "MCP_PROJECT_A_GITHUB_TOKEN",
        ),
        ({"command": "x", "env": {"ANY": TOKEN}}, "MCP_PROJECT_A_ANY"),
        ({"command": "x", "args": ["--api-key", "hunter2-hunter2"]}, "MCP_PROJECT_A_API_KEY"),
        ({"command": "x", "args": ["--api-key=hunter2-hunter2"]}, "MCP_PROJECT_A_API_KEY"),
        ({"command": "x", "args": ["-e", "API_KEY=hunter2-hunter2"]}, "MCP_PROJECT_A_API_KEY"),
        ({"command": "x", "args": [TOKEN]}, "MCP_PROJECT_A_KEY"),
        ({"command": "x", "args": ["--header", "Authorization: Bearer hunter2-x"]}, None),
        ({"url": "https://mcp.test", "headers": {"Authorization": "Bearer hunter2-x"}}, None),
        ({"url": "https://me:hunter2-x@mcp.test/mcp"}, "MCP_PROJECT_A_LOGIN"),
        ({"url": "https://mcp.test/mcp?a=b&api_key=hunter2-x"}, "MCP_PROJECT_A_API_KEY"),
        ({"url": "https://mcp.test/s/hunter2aB3dE6gH9jK2mN5pQ8/mcp"}, "MCP_PROJECT_A_PATH"),
    ],
)
def test_a_secret_that_is_written_out_does_not_get_into_our_file(
    home: Home, described: object, name: str | None
) -> None:
    home.describe(a=described)
    (done,) = home.bring()
    (variable,) = done.secrets
    assert variable == (name or "MCP_PROJECT_A_AUTHORIZATION")
    text = home.file.read_text()
    assert "hunter2" not in text
    assert TOKEN not in text
    kept = kept_secrets(home.environ)
    assert list(kept) == [variable]
    assert stat.S_IMODE(secrets_file(home.environ).stat().st_mode) == 0o600
    # With the secret put back it is what it was.
    there = json.dumps(home.ours()["a"].definition).replace(f"${{{variable}}}", kept[variable])
    assert json.loads(there) == home.found()[0].definition


@pytest.mark.parametrize(
    "described",
    [
        {"command": "x", "env": {"GITHUB_TOKEN": "${GITHUB_TOKEN}", "KEY": "${input:key}"}},
        {"command": "x", "env": {"USE_AUTH": "true", "CREDENTIALS": "/etc/creds.json"}},
        {"command": "x", "args": ["--auth", "oauth", "--auth-timeout", "3000"]},
        {"command": "x", "args": ["--api-key-env=MY_OWN_NAME"], "env": {"AUTH_MODE": "device-x"}},
        {"command": "x", "args": ["--token", "${TOKEN}", "--port=80", "https://mcp.test/a"]},
        {"url": "https://mcp.test/", "headers": {"Authorization": "Bearer ${TOKEN}"}},
    ],
)
def test_what_is_no_secret_stays_written_out(home: Home, described: object) -> None:
    home.describe(a=described)
    (done,) = home.bring()
    assert done.secrets == ()
    assert not secrets_file(home.environ).exists()


def of_person(home: Home, **described: object) -> None:
    home.describe(at="../.cursor/mcp.json", **described)


def test_two_secrets_of_one_name_are_two(home: Home) -> None:
    home.environ["TOKEN"] = "of the environment"  # noqa: S105  a test's
    of_person(
        home,
        a={"command": "a", "env": {"TOKEN": "hunter2-a", "API_KEY": "hunter2-k"}},
        b={"command": "b", "env": {"TOKEN": "hunter2-b", "API_KEY": "hunter2-l"}},
    )
    first, second = home.bring()
    assert set(first.secrets) == {"A_TOKEN", "API_KEY"}
    assert set(second.secrets) == {"B_TOKEN", "B_API_KEY"}


def test_a_project_gives_no_value_to_a_name_that_others_ask_for(home: Home) -> None:
    home.describe(GitHub={"command": "a", "env": {"GITHUB_TOKEN": TOKEN, "TOKEN": TOKEN[::-1]}})
    home.bring(target="user")
    names = ["MCP_PROJECT_GITHUB_GITHUB_TOKEN", "MCP_PROJECT_GITHUB_TOKEN"]
    assert list(kept_secrets(home.environ)) == names


def test_inputs_come_along(home: Home) -> None:
    (home.project / ".vscode").mkdir()
    inputs = [{"id": "key", "description": "A key"}, {"id": "unused"}]
    described = {"a": {"command": "x", "env": {"KEY": "${input:key}"}}}
    text = json.dumps({"inputs": inputs, "servers": described})
    (home.project / ".vscode" / "mcp.json").write_text(text)
    home.bring()
    assert {name: each.description for name, each in home.ours()["a"].inputs.items()} == {
        "key": "A key"
    }


def test_a_server_of_a_folder_below_still_starts_there(home: Home) -> None:
    home.file.write_text("")
    home.describe(at="sub/.mcp.json", a={"command": "./run", "args": ["${workspaceFolder}/x"]})
    settings = read_settings(home.project / "sub", environ=home.environ)
    (server,) = client_servers(settings, environ=home.environ).servers
    done = import_server(server, settings, environ=home.environ).server
    assert (done.source, done.cwd) == (home.file, "sub")
    assert done.args == ("${workspaceFolder}/sub/x",)


def test_a_table_in_pyproject_takes_servers_too(home: Home) -> None:
    pyproject = home.project / "pyproject.toml"
    pyproject.write_text('[project]\nname = "x"\n\n[tool.lineshaft.policy]\nmode = "read"\n')
    home.describe(a={"command": "x", "env": {"A": "b"}})
    home.bring()
    table = tomllib.loads(pyproject.read_text())["tool"]["lineshaft"]["mcp"]["servers"]
    assert table == {"a": {"command": "x", "env": {"A": "b"}}}
    assert home.ours()["a"].giver == "project"


@pytest.mark.parametrize(
    "text", ["mcp = { clients = false }\n", "[mcp]\nservers = { b = { command = 'b' } }\n"]
)
def test_a_file_that_takes_no_further_table_stays_as_it_is(home: Home, text: str) -> None:
    home.file.write_text(text.replace("clients = false", "servers = {}"))
    before = home.file.read_bytes()
    home.describe(a={"command": "x"})
    with pytest.raises(ConfigError, match="does not take a further table") as caught:
        home.bring()
    assert "[mcp.servers.a]" in caught.value.hint
    assert home.file.read_bytes() == before
    assert sorted(path.name for path in home.project.iterdir()) == [".mcp.json", "lineshaft.toml"]


def test_a_link_to_the_file_stays_one(home: Home) -> None:
    dots = home.root / "dots.toml"
    dots.write_text("# mine\n")
    home.user_file.symlink_to(dots)
    home.describe(a={"command": "x"})
    home.bring(target="user")
    assert home.user_file.is_symlink()
    assert dots.read_text().startswith("# mine\n")
    assert "a" in home.ours()


def test_a_projects_file_that_leads_out_of_it_is_neither_written_nor_approved(home: Home) -> None:
    home.user_file.write_text('# mine\n[mcp.servers.own]\ncommand = "x"\n')
    home.file.symlink_to(home.user_file)
    home.describe(a={"command": "x"})
    with pytest.raises(ConfigError, match="link out of the project"):
        home.bring()
    assert "servers.a" not in home.user_file.read_text()
    other = read_settings(home.project, environ=home.environ | {"XDG_CONFIG_HOME": "/nowhere"})
    (server,) = servers(other, environ=home.environ).servers
    assert server.of_project
    with pytest.raises(ConfigError, match="link out of the project"):
        approve(approval_of(server), environ=home.environ)


def test_a_projects_file_may_be_a_link_within_the_repository(home: Home) -> None:
    (home.root / ".git").mkdir()
    shared = home.root / "shared.toml"
    shared.write_text("# ours\n")
    home.file.symlink_to(shared)
    home.describe(a={"command": "x"})
    home.bring()
    assert "servers.a" in shared.read_text()


def test_a_folder_that_cannot_be_written(home: Home) -> None:
    if os.geteuid() == 0:
        home.file.mkdir()  # root may write everywhere, but not over a folder
    home.describe(a={"command": "x"})
    home.project.chmod(0o500)
    try:
        with pytest.raises(ConfigError, match="cannot be"):
            home.bring()
    finally:
        home.project.chmod(0o700)


@pytest.mark.parametrize("described", [{"command": 1}, {"command": "lineshaft", "args": ["serve"]}])
def test_what_cannot_be_used_is_not_brought_in(home: Home, described: object) -> None:
    home.describe(a=described)
    with pytest.raises(ConfigError, match="cannot be used"):
        home.bring()
    assert not home.file.exists()


def test_whether_a_server_is_ours_already(home: Home) -> None:
    home.describe(
        new={"command": "n"}, same={"command": "s", "env": {"TOKEN": TOKEN}}, other={"command": "o"}
    )
    new, same, other = home.found()
    home.file.write_text('[mcp.servers.other]\ncommand = "ours"\n')
    import_server(same, home.read(), environ=home.environ)
    said = [standing(each, home.read(), environ=home.environ) for each in (new, same, other)]
    assert said == ["new", "same", "other"]


def test_a_broken_file_of_secrets_is_named_and_not_shown(home: Home) -> None:
    path = secrets_file(home.environ)
    path.write_text('{"A": "hunter2"')
    with pytest.raises(ConfigError) as caught:
        kept_secrets(home.environ)
    assert str(path) in caught.value.message
    assert "hunter2" not in caught.value.message + caught.value.hint
    path.write_text("[1]")
    with pytest.raises(ConfigError, match="not a JSON object"):
        kept_secrets(home.environ)
