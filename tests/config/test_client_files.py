"""The servers that people already gave to other programs."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from lineshaft.config import (
    ClientFile,
    ServerSetting,
    client_files,
    client_servers,
    read_client_file,
    read_settings,
)
from lineshaft.errors import ConfigError

Read = Callable[..., tuple[ServerSetting, ...]]


@pytest.fixture
def read(project: Path) -> Read:
    """Return a function that reads a text as the file of a client."""

    def read(text: str, name: str = ".mcp.json", *, own: bool = False) -> tuple[ServerSetting, ...]:
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        file = ClientFile(client="a client", path=path, project=None if own else project)
        return read_client_file(file, base=project)

    return read


def as_json(**servers: object) -> str:
    return json.dumps({"mcpServers": servers})


def test_a_command_and_an_address(read: Read, project: Path) -> None:
    local, remote = read(
        as_json(
            files={
                "command": "npx",
                "args": ["-y", "server-files", "${workspaceFolder}"],
                "env": {"TOKEN": "${TOKEN:-none}"},
                "cwd": "sub",
                "envFile": "${workspaceFolder}/.env",
            },
            issues={"type": "http", "url": "https://mcp.test/", "headers": {"X-Key": "${env:K}"}},
        )
    )
    assert (local.name, local.transport, local.command) == ("files", "stdio", "npx")
    assert local.args == ("-y", "server-files", "${workspaceFolder}")
    assert local.env == {"TOKEN": "${TOKEN:-none}"}
    assert (local.cwd, local.env_file) == ("sub", "${workspaceFolder}/.env")
    assert (local.base, local.of_project, local.giver) == (project, True, "client")
    assert (remote.transport, remote.url) == ("http", "https://mcp.test/")
    assert remote.headers == {"X-Key": "${env:K}"}
    assert [server.problem for server in (local, remote)] == ["", ""]


def test_comments_last_commas_and_a_byte_order_mark(read: Read) -> None:
    text = """\ufeff{
      // servers of the team
      "mcpServers": {
        "web": { "url": "https://mcp.test/a//b", /* not a comment */ },
        "odd": { "command": "echo", "args": ["// no comment", ",]", "a\\"b",], },
      },
    }"""
    web, odd = read(text)
    assert (web.transport, web.url) == ("http", "https://mcp.test/a//b")
    assert odd.args == ("// no comment", ",]", 'a"b')


def test_both_keys_are_read_and_inputs_are_kept(read: Read) -> None:
    text = """{
      "inputs": [{"type": "promptString", "id": "key", "description": "API key", "password": true},
                 {"id": "region", "type": "pickString", "options": ["eu", "us"], "default": "eu"}],
      "servers": {"cloud": {"type": "stdio", "command": "cloud", "env": {"KEY": "${input:key}"}}}
    }"""
    (cloud,) = read(text, ".vscode/mcp.json")
    assert cloud.env == {"KEY": "${input:key}"}
    assert cloud.inputs["key"].description == "API key"
    assert cloud.inputs["key"].variable == "LINESHAFT_INPUT_KEY"
    assert (cloud.inputs["region"].default, cloud.inputs["region"].options) == ("eu", ("eu", "us"))


def test_the_servers_of_codex(read: Read) -> None:
    text = """
      model = "some"
      [mcp_servers.docs]
      command = "docs-server"
      args = ["--all"]
      env = { LEVEL = "1" }
      env_vars = ["DOCS_TOKEN"]
      startup_timeout_sec = 20
      tool_timeout_sec = 45
      enabled_tools = ["find"]
      disabled_tools = ["drop"]
      [mcp_servers.web]
      url = "https://mcp.test/mcp"
      bearer_token_env_var = "WEB_TOKEN"
      http_headers = { "X-Region" = "eu" }
      env_http_headers = { "X-User" = "WEB_USER" }
      enabled = false
    """
    docs, web = read(text, ".codex/config.toml")
    assert docs.env == {"DOCS_TOKEN": "${DOCS_TOKEN}", "LEVEL": "1"}
    assert (docs.seconds, docs.include, docs.exclude) == (45, ("find",), ("drop",))
    assert docs.rest == ("startup_timeout_sec",)
    assert web.headers == {
        "X-Region": "eu",
        "X-User": "${WEB_USER}",
        "Authorization": "Bearer ${WEB_TOKEN}",
    }
    assert web.disabled


@pytest.mark.parametrize("seconds", ["0", "-3", "nan", "true", "'9'", str(10**400)])
def test_a_time_of_codex_that_is_none_is_a_problem_of_its_server(read: Read, seconds: str) -> None:
    text = f"""
      [mcp_servers.wrong]
      command = "x"
      tool_timeout_sec = {seconds}
      [mcp_servers.right]
      command = "y"
    """
    wrong, right = read(text, ".codex/config.toml")
    assert "tool_timeout_sec must be a number above 0, up to 86,400" in wrong.problem
    assert right.problem == ""


def test_the_words_of_other_clients(read: Read) -> None:
    found = read(
        as_json(
            windsurf={"serverUrl": "https://mcp.test/sse", "disabledTools": ["drop"]},
            copilot={"type": "local", "command": "x", "args": [], "tools": ["*"]},
            chosen={"type": "streamableHttp", "url": "http://127.0.0.1/mcp", "tools": ["a", "b"]},
            off={"command": "x", "disabled": True},
        )
    )
    by_name = {server.name: server for server in found}
    assert by_name["windsurf"].transport == "http"
    assert by_name["windsurf"].exclude == ("drop",)
    assert (by_name["copilot"].transport, by_name["copilot"].include) == ("stdio", ())
    assert (by_name["chosen"].transport, by_name["chosen"].include) == ("http", ("a", "b"))
    assert by_name["off"].disabled
    assert not any(server.problem for server in found)


def test_what_claude_code_was_told_in_one_folder_counts_there(read: Read, project: Path) -> None:
    local = {str(project): {"mcpServers": {"here": {"command": "here"}}}, "/elsewhere": {}}
    everywhere = {"ever": {"command": "ever"}, "here": {"command": "other"}}
    text = json.dumps({"projects": local, "mcpServers": everywhere, "tips": 3})
    found = read(text, ".claude.json", own=True)
    assert [(server.name, server.command) for server in found] == [("here", "here"), ("ever",) * 2]


def test_keys_that_mean_nothing_here_do_no_harm(read: Read) -> None:
    (server,) = read(as_json(a={"command": "x", "alwaysAllow": ["y"], "icon": {"deep": [1]}}))
    assert (server.rest, server.problem) == (("alwaysAllow", "icon"), "")


@pytest.mark.parametrize(
    ("described", "problem"),
    [
        (None, "no object"),
        (["npx"], "no object"),
        ({}, "no command"),
        ({"command": ""}, "no command"),
        ({"command": ["npx", "x"]}, "command must be a text"),
        ({"command": "a\0b"}, "command must be a text"),
        ({"command": "x", "args": "-y"}, "args must be a list"),
        ({"command": "x", "args": [1]}, "args must be a list"),
        ({"command": "x", "env": ["A=1"]}, "env must be an object"),
        ({"command": "x", "env": {"A": {}}}, "env must be an object"),
        ({"command": "x", "env": {"A=B": "1"}}, "env must be an object"),
        ({"command": "x", "args": ["\ud800"]}, "cannot be passed on"),
        ({"type": "http"}, "no url"),
        ({"type": "sse", "url": "https://mcp.test/sse"}, "old HTTP+SSE transport"),
        ({"type": "carrier-pigeon", "url": "https://mcp.test"}, "carrier-pigeon"),
        ({"url": "file:///etc/passwd"}, "http://"),
        ({"url": "https://"}, "no host"),
        ({"url": "http://[::1"}, "no address"),
        ({"type": 3, "command": "x"}, "type must be a text"),
        ({"type": "stdio", "command": "x", "url": "https://mcp.test"}, "both"),
    ],
)
def test_one_wrong_server_has_a_problem_and_the_others_have_none(
    read: Read, described: object, problem: str
) -> None:
    wrong, right = read(as_json(wrong=described, right={"command": "x"}))
    assert problem in wrong.problem
    assert right.problem == ""


def test_numbers_and_nulls_in_an_environment(read: Read) -> None:
    (server,) = read(as_json(a={"command": "x", "env": {"PORT": 80, "NONE": None}}))
    assert server.env == {"PORT": "80"}


def test_switches_and_whole_numbers_are_passed_on_as_the_client_does(read: Read) -> None:
    text = """{"mcpServers": {"a": {"command": "x", "env":
        {"DEBUG": true, "COLOR": false, "RATE": 1.0, "MOST": 1e3, "SHARE": 0.5, "FAR": 1e30}}}}"""
    (server,) = read(text)
    assert server.env == {
        "DEBUG": "true",
        "COLOR": "false",
        "RATE": "1",
        "MOST": "1000",
        "SHARE": "0.5",
        "FAR": "1e+30",
    }


def test_a_server_that_is_described_twice_is_not_guessed_at(read: Read) -> None:
    text = '{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}, "b": {"command": "z"}}}'
    first, second = read(text)
    assert "twice" in first.problem
    assert second.problem == ""
    (key,) = read('{"mcpServers": {"a": {"command": "x", "command": "y"}}}')
    assert "'command' twice" in key.problem


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("my server", "my_server"),
        ("io.github.user/thing", "io_github_user_thing"),
        ("Größen", "Groen"),
        ("\x1b[31mred\x07", "31mred"),
        ("json", "json_mcp"),
        ("Tools", "Tools_mcp"),
        ("read_file", "read_file_mcp"),
        ("fetch-url", "fetch-url_mcp"),
        ("x" * 200, "x" * 64),
    ],
)
def test_an_odd_name_becomes_a_namespace(read: Read, label: str, name: str) -> None:
    (server,) = read(as_json(**{label: {"command": "x"}}))
    assert (server.name, server.label) == (name, label)


def test_names_without_letters_and_names_that_come_to_the_same(read: Read) -> None:
    empty, first, second = read(
        as_json(**{"日本": {"command": "x"}, "a b": {"command": "x"}, "a.b": {"command": "y"}})
    )
    assert empty.name.startswith("server_")
    assert (first.name, first.problem) == ("a_b", "")
    assert "'a_b'" in second.problem


def test_lineshaft_does_not_stand_before_itself(read: Read) -> None:
    found = read(
        as_json(
            a={"command": "/opt/bin/lineshaft", "args": ["serve"]},
            b={"command": "uvx", "args": ["lineshaft", "serve", "--quiet"]},
            c={"command": "python3", "args": ["-m", "lineshaft", "serve"]},
            other={"command": "npx", "args": ["serve"]},
        )
    )
    assert ["itself" in server.problem for server in found] == [True, True, True, False]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not JSON: line 1"),
        ('{"mcpServers": {\n"a": nothing}}', "not JSON: line 2"),
        ("[]", "not a JSON object"),
        ('{"mcpServers": []}', "mcpServers must be an object"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"mcpServers": ' + "[" * 500 + "]" * 500 + "}", "nested too deeply"),
        ('{"a": ' + "9" * 10_000 + "}", "too long a number"),
        ('"' + '\\"' * 200_000, "not JSON"),
        ("/* " * 200_000, "not JSON"),
        (" " * 1_000_001, "larger than"),
        (json.dumps({"servers": {f"s{n}": {"command": "x"} for n in range(201)}}), "more than 200"),
    ],
)
def test_a_broken_file_is_named(read: Read, project: Path, text: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem) as caught:
        read(text)
    assert str(project / ".mcp.json") in caught.value.message


def test_an_empty_file_has_no_servers(read: Read) -> None:
    assert read(" \n") == ()
    assert read("{}") == ()


def test_what_is_not_text_and_not_a_file(project: Path) -> None:
    latin = project / "latin.json"
    latin.write_bytes(b'{"a": "\xe9"}')
    pipe = project / "pipe.json"
    os.mkfifo(pipe)
    loop = project / "loop.json"
    loop.symlink_to(loop)
    for path, problem in (
        (latin, "not UTF-8"),
        (pipe, "not a regular file"),
        (loop, "cannot be read"),
        (project, "not a regular file|cannot be read"),
    ):
        with pytest.raises(ConfigError, match=problem):
            read_client_file(ClientFile(client="a client", path=path), base=project)


def test_a_message_about_a_broken_file_shows_nothing_of_it(read: Read) -> None:
    with pytest.raises(ConfigError) as caught:
        read('{"mcpServers": {"a": {"env": {"TOKEN": "hunter2 }}}')
    assert "hunter2" not in caught.value.message + caught.value.hint


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}", encoding="utf-8")


@pytest.mark.parametrize(
    ("platform", "variables", "programs"),
    [
        ("linux", {}, ".config"),
        ("linux", {"XDG_CONFIG_HOME": "xdg"}, "xdg"),
        ("darwin", {"XDG_CONFIG_HOME": "xdg"}, "Library/Application Support"),
        ("win32", {"APPDATA": "roaming"}, "roaming"),
        ("win32", {}, "AppData/Roaming"),
    ],
)
def test_the_files_of_a_person_on_every_system(
    tmp_path: Path, project: Path, platform: str, variables: Mapping[str, str], programs: str
) -> None:
    home, base = tmp_path, tmp_path / programs
    expected = [
        home / ".claude.json",
        base / "Claude" / "claude_desktop_config.json",
        home / ".cursor" / "mcp.json",
        base / "Code" / "User" / "mcp.json",
        base / "Code" / "User" / "profiles" / "work" / "mcp.json",
        home / ".copilot" / "mcp-config.json",
        home / ".codeium" / "windsurf" / "mcp_config.json",
        home / ".codex" / "config.toml",
    ]
    touch(*expected)
    environ = {name: str(tmp_path / value) for name, value in variables.items()}
    environ["USERPROFILE" if platform == "win32" else "HOME"] = str(home)
    found = client_files(project, environ=environ, platform=platform)
    assert [file.path for file in found] == expected
    assert all(file.project is None for file in found)


def test_the_folders_that_variables_name(tmp_path: Path, project: Path) -> None:
    names = {
        "CLAUDE_CONFIG_DIR": ".claude.json",
        "COPILOT_HOME": "mcp-config.json",
        "CODEX_HOME": "config.toml",
    }
    environ = {name: str(tmp_path / name) for name in names} | {"HOME": str(tmp_path)}
    expected = [tmp_path / name / file for name, file in names.items()]
    touch(*expected)
    assert [file.path for file in client_files(project, environ=environ)] == expected


def test_the_files_of_a_project_up_to_its_root(tmp_path: Path, project: Path) -> None:
    inner = project / "a" / "b"
    inner.mkdir(parents=True)
    files = [inner / ".mcp.json", project / ".cursor/mcp.json", project / ".vscode/mcp.json"]
    touch(*files, project / ".codex" / "config.toml", tmp_path / ".mcp.json")
    alone = client_files(inner, environ={})
    assert [file.path for file in alone] == [inner / ".mcp.json"]
    (project / ".git").mkdir()
    found = client_files(inner, environ={})
    assert [file.path for file in found] == [*files, project / ".codex" / "config.toml"]
    assert [file.project for file in found] == [inner, project, project, project]


def test_a_file_that_is_two_places_is_read_once(tmp_path: Path, environ: dict[str, str]) -> None:
    touch(tmp_path / ".cursor" / "mcp.json")
    assert len(client_files(tmp_path, environ=environ)) == 1


def test_a_broken_file_does_not_hide_the_others(
    tmp_path: Path, project: Path, environ: dict[str, str]
) -> None:
    (project / ".mcp.json").write_text("{", encoding="utf-8")
    (project / ".vscode").mkdir()
    (project / ".vscode" / "mcp.json").write_text('{"servers": {"a": {"command": "x"}}}')
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor" / "mcp.json").write_text(as_json(b={"command": "y"}))
    found = client_servers(read_settings(project, environ=environ), environ=environ)
    assert [server.name for server in found.servers] == ["a", "b"]
    assert [server.of_project for server in found.servers] == [True, False]
    assert [broken.file.path for broken in found.broken] == [project / ".mcp.json"]
    assert "not JSON" in found.broken[0].problem
