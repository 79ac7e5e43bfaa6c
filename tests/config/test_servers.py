"""Servers of our own files, who may start them, and what is shown of them."""

import json

import pytest

from config.homes import Home
from lineshaft.config import (
    approval_of,
    masked_url,
    read_settings,
    serve_settings,
    shown_server,
)
from lineshaft.errors import ConfigError

GITHUB = '[mcp.servers.github]\ncommand = "github-server"\n'


def test_everything_that_can_be_said_of_a_server(home: Home) -> None:
    files, web = home.servers(
        """
        [mcp.servers.files]
        command = "npx"
        args = ["-y", "server-files", "${workspaceFolder}"]
        env = { LEVEL = "${LEVEL:-info}" }
        env_file = ".env"
        cwd = "sub"
        tools = { include = ["read_*"], exclude = ["*_all"] }
        seconds = 30
        claims = "external"
        [mcp.servers.web]
        url = "https://mcp.test/mcp"
        headers = { Authorization = "Bearer ${WEB_TOKEN}" }
        auth = { client_id = "ours", client_secret = "${WEB_SECRET}" }
        tools = ["list_*"]
        inputs = [{ id = "region", options = ["eu", "us"], default = "eu" }]
        """
    )
    assert (files.name, files.transport, files.command) == ("files", "stdio", "npx")
    assert files.args == ("-y", "server-files", "${workspaceFolder}")
    assert (files.env, files.env_file, files.cwd) == ({"LEVEL": "${LEVEL:-info}"}, ".env", "sub")
    assert (files.include, files.exclude) == (("read_*",), ("*_all",))
    assert (files.seconds, files.claims, files.base) == (30, "external", home.project)
    assert (web.transport, web.url, web.include) == ("http", "https://mcp.test/mcp", ("list_*",))
    assert web.auth == {"client_id": "ours", "client_secret": "${WEB_SECRET}"}
    assert web.inputs["region"].default == "eu"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[mcp]\nservers = 3", "mcp.servers is 3"),
        ("[mcp.servers]\na = 3", "must be a table"),
        ("[mcp.servers.a]", "neither command nor url"),
        ('[mcp.servers.a]\ncommand = "x"\nurl = "https://mcp.test"', "both command and url"),
        ('[mcp.servers.a]\ncommand = " "', "mcp.servers.a.command"),
        ('[mcp.servers.a]\ncommand = "x"\nargs = "y"', "mcp.servers.a.args"),
        ('[mcp.servers.a]\ncommand = "x"\nenv = {A = 1}', "mcp.servers.a.env"),
        ('[mcp.servers.a]\ncommand = "x"\nheaders = {A = "1"}', "only for a server with url"),
        ('[mcp.servers.a]\nurl = "https://mcp.test"\nargs = []', "only for a server with command"),
        ('[mcp.servers.a]\nurl = "ftp://mcp.test"', "http://"),
        ('[mcp.servers.a]\nurl = "https://mcp.test"\ntype = "stdio"', "mcp.servers.a.type"),
        ('[mcp.servers.a]\nurl = "https://mcp.test"\nauth = "basic"', "mcp.servers.a.auth"),
        (
            '[mcp.servers.a]\nurl = "https://mcp.test"\nauth = {grant = "password"}',
            "mcp.servers.a.auth",
        ),
        ('[mcp.servers.a]\ncommand = "x"\ntools = {only = []}', "mcp.servers.a.tools"),
        ('[mcp.servers.a]\ncommand = "x"\nseconds = 0', "mcp.servers.a.seconds"),
        ('[mcp.servers.a]\ncommand = "x"\nseconds = true', "mcp.servers.a.seconds"),
        ('[mcp.servers.a]\ncommand = "x"\nclaims = "yes"', "mcp.servers.a.claims"),
        ('[mcp.servers.a]\ncommand = "x"\ninputs = [{}]', "mcp.servers.a.inputs"),
        ('[mcp.servers.a]\ncmd = "x"', "unknown key 'cmd'"),
        ('[mcp.servers."a.b"]\ncommand = "x"', "'a.b' cannot be a server's name"),
        ('[mcp.servers.json]\ncommand = "x"', "'json' means something else"),
        ('[serve]\napprovals = "nobody"', "serve.approvals"),
        ("[serve]\nport = 70000", "serve.port"),
        ('[serve]\nhost = "a b"', "serve.host"),
        ('[serve]\ntoken_env = "a-b"', "serve.token_env"),
    ],
)
def test_what_is_wrong_with_our_own_file_is_said(home: Home, text: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        home.read(text)
    assert problem in caught.value.message
    assert "lineshaft.toml" in caught.value.message


@pytest.mark.parametrize(
    ("auth", "problem"),
    [
        ('grant = "password"', "grant is one of 'authorization_code', 'client_credentials'"),
        ('assertion = "${T}", assertion_file = "/t"', "one of assertion and assertion_file"),
        ('assertion = "hunter2"', "assertion is a variable"),
        ('exchange_url = "https://idp.test"', "exchange_url needs one of assertion"),
        (
            'assertion = "${T}", exchange_client_id = "c"',
            "exchange_client_id is for exchange_url",
        ),
    ],
)
def test_what_is_wrong_with_how_we_name_ourselves_is_said(
    home: Home, auth: str, problem: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        home.read(f'[mcp.servers.a]\nurl = "https://mcp.test"\nauth = {{ {auth} }}')
    assert problem in caught.value.message
    assert "mcp.servers.a.auth" in caught.value.message
    assert "hunter2" not in caught.value.message


def test_a_project_names_no_command_for_an_assertion(home: Home) -> None:
    text = '[mcp.servers.a]\nurl = "https://mcp.test"\nauth = { assertion_command = "make token" }'
    with pytest.raises(ConfigError, match="assertion_command is not for a project's file"):
        home.servers(project=text)
    assert [each.problem for each in home.servers(user=text)] == [""]


def test_a_secret_in_a_wrong_place_is_not_shown(home: Home) -> None:
    with pytest.raises(ConfigError) as caught:
        home.read('[mcp.servers.a]\ncommand = "x"\nenv = ["TOKEN=hunter2"]')
    assert "hunter2" not in caught.value.message + caught.value.hint


def test_a_persons_own_server_needs_no_approval_and_a_projects_does(home: Home) -> None:
    (mine,) = home.servers(user=GITHUB)
    assert home.approved(mine)
    (theirs,) = home.servers(project=GITHUB)
    assert not home.approved(theirs)
    home.approve(theirs)
    assert home.approved(theirs)


@pytest.mark.parametrize(
    "changed",
    [
        GITHUB.replace("github-server", "github-server-2"),
        GITHUB + 'args = ["--admin"]',
        GITHUB + 'env = { NODE_OPTIONS = "--require ./evil.js" }',
        GITHUB + 'env_file = ".env"',
        GITHUB + 'cwd = "sub"',
        GITHUB + 'tools = ["*"]',
        '[mcp.servers.github]\nurl = "https://mcp.test"',
    ],
)
def test_a_changed_definition_needs_approval_again(home: Home, changed: str) -> None:
    home.approve(*home.servers(project=GITHUB))
    (server,) = home.servers(project=changed)
    assert not home.approved(server)


def test_what_is_approved_is_what_is_written_not_what_variables_hold(home: Home) -> None:
    text = GITHUB + 'env = { TOKEN = "${TOKEN}" }'
    home.approve(*home.servers(project=text))
    home.environ["TOKEN"] = "another"  # noqa: S105  a test's
    (server,) = home.servers(project=text)
    assert home.approved(server)


@pytest.mark.parametrize(
    "words",
    [
        'command = "python3"\nargs = ["server.py"]',
        'command = "./server.py"',
        'command = "node"\nargs = ["--require=${workspaceFolder}/server.py"]',
        'command = "x"\nenv_file = "server.py"',
        'command = "python3"\nargs = ["../server.py"]\ncwd = "sub"',
        'command = "python3"\nargs = ["-m", "server"]',
        'command = "python3"\nargs = ["${NO_SUCH_NAME:-server.py}"]',
        'command = "python3"\nargs = ["../server.py"]\ncwd = "${NO_SUCH_NAME:-sub}"',
        'command = "${NO_SUCH_NAME:-./server.py}"',
        'command = "python3"\nargs = ["${input:f}"]\ninputs = [{id = "f", default = "server.py"}]',
        'command = "x"\nargs = ["${input:f}"]\ninputs = [{id = "f", options = ["server.py"]}]',
        'command = "python3"\nargs = ["-mserver"]',
        'command = "python3"\nargs = ["-c", "import server; server.main()"]',
        'command = "uvicorn"\nargs = ["server:app"]',
        'command = "sh"\nargs = ["-c", "true;exec ./server.py>log"]',
        'command = "sh"\nargs = ["-c", "cd sub && python3 ../server.py"]',
        'command = "uv"\nargs = ["run", "--directory", "sub", "../server.py"]',
        'command = "node"\nargs = ["x"]\nenv = {NODE_OPTIONS = "--require ./server.py"}',
        'command = "x"\nenv = {LD_PRELOAD = "/no/lib.so:./server.py"}',
    ],
)
def test_a_changed_program_of_the_project_needs_approval_again(home: Home, words: str) -> None:
    (home.project / "sub").mkdir()
    program = home.project / "server.py"
    program.write_text("print('one')")
    text = f"[mcp.servers.local]\n{words}"
    (server,) = home.servers(project=text)
    assert approval_of(server).files == (program,)
    home.approve(server)
    assert home.approved(server)
    program.write_text("print('two')")
    assert not home.approved(server)


def test_all_that_answers_may_make_of_a_word_is_part_of_a_server(home: Home) -> None:
    paths = [home.project / folder / name for folder in ("x", "y") for name in ("a.py", "b.py")]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_text("one")
    inputs = '{id = "d", options = ["x", "y"]}, {id = "f", options = ["a.py", "b.py"]}'
    words = f'command = "python3"\nargs = ["${{input:d}}/${{input:f}}"]\ninputs = [{inputs}]'
    text = f"[mcp.servers.a]\n{words}"
    (server,) = home.servers(project=text)
    assert set(approval_of(server).files) == set(paths)


def test_more_answers_than_can_be_looked_through_are_said(home: Home) -> None:
    options = [f"o{number}" for number in range(100)]
    inputs = ", ".join(f'{{id = "{name}", options = {options}}}' for name in "abc")
    words = f'command = "${{input:a}}${{input:b}}${{input:c}}"\ninputs = [{inputs}]'
    text = f"[mcp.servers.a]\n{words}"
    (server,) = home.servers(project=text)
    with pytest.raises(ConfigError, match="more than 4,000 words"):
        approval_of(server)


def test_a_changed_program_in_a_folder_that_is_started_needs_approval_again(home: Home) -> None:
    (home.project / "app").mkdir()
    program = home.project / "app" / "index.js"
    program.write_text("one")
    (server,) = home.servers(project='[mcp.servers.a]\ncommand = "node"\nargs = ["./app"]')
    home.approve(server)
    assert home.approved(server)
    program.write_text("two")
    assert not home.approved(server)


def test_arguments_that_no_file_can_be_called_do_no_harm(home: Home) -> None:
    code = "x" * 10_000
    (server,) = home.servers(
        project=f'[mcp.servers.a]\ncommand = "{code}/y"\nargs = ["-c", "{code}", "a={code}.py"]'
    )
    home.approve(server)
    assert home.approved(server)


@pytest.mark.parametrize("at", ["tool", "sub/deep/tool", "notes.db"])
def test_any_file_that_is_named_is_part_of_a_server(home: Home, at: str) -> None:
    program = home.project / at
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text("one")
    (server,) = home.servers(project=f'[mcp.servers.a]\ncommand = "python3"\nargs = ["{at}"]')
    home.approve(server)
    assert home.approved(server)
    program.write_text("two")
    assert not home.approved(server)


@pytest.mark.parametrize("has_history", [True, False])
def test_a_program_beside_the_folder_of_the_file_is_part_of_a_server(
    home: Home, *, has_history: bool
) -> None:
    if has_history:
        (home.project / ".git").mkdir()
    for name in ("sub", "tools"):
        (home.project / name).mkdir()
    program = home.project / "tools" / "tool"
    program.write_text("one")
    text = '[mcp.servers.a]\ncommand = "python3"\nargs = ["../tools/tool"]'
    (home.project / "sub" / "lineshaft.toml").write_text(text)
    (server,) = home.found(read_settings(home.project / "sub", environ=home.environ)).servers
    home.approve(server)
    assert home.approved(server)
    program.write_text("two")
    assert not home.approved(server)


def test_a_program_that_was_not_there_is_not_approved_with_the_rest(home: Home) -> None:
    (server,) = home.servers(project='[mcp.servers.a]\ncommand = "x"\nargs = ["-m", "mcp_git"]')
    home.approve(server)
    assert home.approved(server)
    (home.project / "mcp_git.py").write_text("one")
    assert not home.approved(server)


def test_two_files_that_change_places_are_not_approved(home: Home) -> None:
    first, second = home.project / "a.py", home.project / "b.py"
    first.write_text("one")
    second.write_text("two")
    (server,) = home.servers(project='[mcp.servers.a]\ncommand = "x"\nargs = ["a.py", "b.py"]')
    home.approve(server)
    second.rename(home.project / "c.py")
    first.rename(second)
    (home.project / "c.py").rename(first)
    assert not home.approved(server)


def test_what_names_too_much_is_not_approved(home: Home) -> None:
    words = " ".join(f"word{number}" for number in range(5_000))
    (server,) = home.servers(project=f'[mcp.servers.a]\ncommand = "sh"\nargs = ["-c", "{words}"]')
    with pytest.raises(ConfigError, match="any of which may be a file"):
        home.approve(server)


def test_the_same_server_of_another_project_needs_its_own_approval(home: Home) -> None:
    home.approve(*home.servers(project=GITHUB))
    other = home.root / "other"
    other.mkdir()
    (other / "lineshaft.toml").write_text(GITHUB)
    (server,) = home.found(read_settings(other, environ=home.environ)).servers
    assert not home.approved(server)


def test_a_project_cannot_change_a_persons_server(home: Home) -> None:
    mine, theirs = home.servers(
        project='[mcp.servers.github]\ncommand = "evil"\n[mcp.servers.other]\ncommand = "x"',
        user=GITHUB,
    )[:2]
    assert (mine.command, mine.problem) == ("github-server", "")
    assert (theirs.command, theirs.giver) == ("evil", "project")
    assert "yours is used" in theirs.problem


def test_a_server_that_both_name_alike_is_one(home: Home) -> None:
    (server,) = home.servers(project=GITHUB, user=GITHUB)
    assert (server.giver, server.problem) == ("user", "")


def test_names_that_scripts_cannot_tell_apart_are_one_name(home: Home) -> None:
    first, second = home.servers(
        project='[mcp.servers.my_db]\ncommand = "x"', user='[mcp.servers.my-db]\ncommand = "y"'
    )
    assert (first.problem, bool(second.problem)) == ("", True)


@pytest.mark.parametrize(
    "text",
    [
        "[mcp]\nclients = true",
        GITHUB + 'claims = "accept"',
    ],
)
def test_a_project_does_not_loosen_what_servers_may(home: Home, text: str) -> None:
    with pytest.raises(ConfigError, match="not for a project's file"):
        home.servers(project=text)
    home.servers(user=text)


@pytest.mark.parametrize(
    "text", ['approvals = "client"', 'host = "0.0.0.0"', "port = 1", 'token_env = "PATH"']
)
def test_a_project_does_not_loosen_how_we_serve(home: Home, text: str) -> None:
    settings = home.read(project=f"[serve]\n{text}")
    with pytest.raises(ConfigError, match="not for a project's file"):
        serve_settings(settings, environ=home.environ)


def test_how_we_serve(home: Home) -> None:
    settings = home.read(
        project='[serve]\ndirect = ["memory.*"]',
        user='[serve]\napprovals = "client"\nport = 9000\ntoken_env = "OUR_TOKEN"',
    )
    serve = serve_settings(settings, environ=home.environ | {"OUR_TOKEN": "hunter2"})
    assert (serve.direct, serve.approvals, serve.port) == (("memory.*",), "client", 9000)
    assert (serve.host, serve.token) == ("127.0.0.1", "hunter2")
    assert "hunter2" not in repr(serve)
    assert serve_settings(home.read(), environ=home.environ).token is None


def test_the_variables_of_tokens_and_inputs_are_no_settings(home: Home) -> None:
    home.environ |= {"LINESHAFT_SERVE_TOKEN": "t", "LINESHAFT_INPUT_API_KEY": "k"}
    assert serve_settings(home.read(), environ=home.environ).token == "t"  # noqa: S105  a test's


def test_files_of_clients_count_where_a_person_said_so(home: Home) -> None:
    found = {"github": {"command": "theirs"}, "web": {"url": "https://mcp.test"}}
    off = {"off": {"command": "x", "disabled": True}}
    us = {"us": {"command": "lineshaft", "args": ["serve"]}}
    (home.project / ".mcp.json").write_text(json.dumps({"mcpServers": found | off | us}))
    assert [server.name for server in home.servers(user=GITHUB)] == ["github"]
    github, web = home.servers(user=f"[mcp]\nclients = true\n{GITHUB}")
    assert (github.command, github.giver) == ("github-server", "user")
    assert (web.name, web.giver, home.approved(web)) == ("web", "client", False)
    home.approve(web)
    assert home.approved(web)


def shown(home: Home, text: str) -> str:
    (server,) = home.servers(user=f"[mcp.servers.a]\n{text}")
    return shown_server(server)


@pytest.mark.parametrize(
    "text",
    [
        'command = "x"\nenv = {A = "hunter2"}',
        'command = "x"\nargs = ["--api-key", "hunter2"]',
        'command = "x"\nargs = ["--api-key=hunter2"]',
        'command = "docker"\nargs = ["run", "-e", "GITHUB_TOKEN=hunter2"]',
        'command = "x"\nargs = ["--header", "Authorization: Bearer hunter2"]',
        'command = "x"\nargs = ["https://u:hunter2@mcp.test/?q=hunter2"]',
        'url = "https://u:hunter2@mcp.test/mcp?key=hunter2"',
        'url = "https://mcp.test"\nheaders = {A = "hunter2"}',
    ],
)
def test_a_server_is_shown_without_its_secrets(home: Home, text: str) -> None:
    assert "hunter2" not in shown(home, text)


def test_a_server_is_shown_with_what_is_no_secret(home: Home) -> None:
    text = 'command = "npx"\nargs = ["-y", "x@1", "--dir=/tmp", "--token", "${TOKEN}"]'
    assert shown(home, text) == "npx -y x@1 --dir=/tmp --token ${TOKEN}"
    token = "ghp_" + "a1B2c3D4e5" * 4
    assert shown(home, f'command = "x"\nargs = ["{token}", "y"]') == "x *** y"
    assert (
        masked_url("https://mcp.test/s/aB3dE6gH9jK2mN5pQ8sT1v/mcp") == "https://mcp.test/s/***/mcp"
    )
