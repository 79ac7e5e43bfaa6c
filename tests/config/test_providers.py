"""Servers of the settings, as a session gets them."""

import json
from pathlib import Path

import pytest

import lineshaft
from lineshaft.config import (
    Settings,
    Starting,
    providers,
    read_settings,
    servers,
)
from lineshaft.tools import Provider
from native import CACHE_HOME, vouch_for_native_code
from upstreams.addresses import free_port, listening
from upstreams.real import python_server

SHOP = python_server("plain")
NOTES = python_server("notes")


def table(name: str, command: list[str], more: str = "") -> str:
    program, *args = command
    return (
        f"[mcp.servers.{name}]\ncommand = {json.dumps(program)}\n"
        f"args = {json.dumps(args)}\n{more}\n"
    )


def by_assertion(more: str) -> str:
    auth = f'{{ grant = "jwt_bearer", issuer = "https://auth.test", {more} }}'
    return f'[mcp.servers.a]\nurl = "https://mcp.test"\nauth = {auth}'


class Home:
    """A person's own file, and their variables."""

    def __init__(self, project: Path, user_file: Path, environ: dict[str, str]) -> None:
        self.project = project
        self.user_file = user_file
        self.environ = environ

    def settings(self, text: str) -> Settings:
        self.user_file.write_text(text, encoding="utf-8")
        return read_settings(self.project, environ=self.environ)

    def providers(self, text: str, **more: object) -> dict[str, Provider]:
        starting = Starting(environ=self.environ)
        found = providers(self.settings(text), starting=starting, **more)  # pyright: ignore[reportArgumentType]  words and only
        return {provider.name: provider for provider in found}


@pytest.fixture
def home(project: Path, user_file: Path, environ: dict[str, str]) -> Home:
    return Home(project, user_file, environ)


async def tools_of(provider: Provider) -> list[str]:
    async with provider.opened(lambda: None):
        await provider.ready()
        assert provider.problem == ""
        return [name.partition(".")[2] for name in provider.tools]


async def test_a_filter_offers_some_of_the_tools(home: Home) -> None:
    more = 'tools = { include = ["o*", "p*"], exclude = ["*ess"] }\nclaims = "accept"'
    (shop,) = home.providers(table("shop", SHOP, more)).values()
    assert await tools_of(shop) == ["orders", "place"]


@pytest.mark.parametrize(
    ("more", "names"),
    [
        ('exclude = ["admin.*"]', {"print", "dash-ed"}),
        ('exclude = ["admin_*"]', {"print", "dash-ed"}),
        ('include = ["admin.*"]', {"admin_drop", "admin_list"}),
    ],
)
async def test_a_filter_means_the_servers_own_names(more: str, names: set[str], home: Home) -> None:
    (odd,) = home.providers(table("odd", python_server("odd"), f"tools = {{ {more} }}")).values()
    async with odd.opened(lambda: None):
        await odd.ready()
        offered = {name.partition(".")[2] for name in odd.tools}
    assert offered & {"admin_drop", "admin_list", "print", "dash-ed"} == names


async def test_a_filter_that_fits_nothing_is_told(home: Home) -> None:
    more = 'tools = { exclude = ["admin.*", "drop_*"] }'
    (odd,) = home.providers(table("odd", python_server("odd"), more)).values()
    async with odd.opened(lambda: None):
        await odd.ready()
        assert "`tools` excludes 'drop_*', which fits none of its tools" in odd.problem
        assert "admin.*" not in odd.problem


async def test_variables_are_put_in_when_a_server_is_started(home: Home) -> None:
    (home.project / "sub").mkdir()
    (home.project / "sub" / ".env").write_text("export NOTES_TOKEN='12345' # five\nOTHER=x")
    home.environ["WHERE"] = "sub"
    text = table("notes", NOTES, 'cwd = "${WHERE}"\nenv_file = ".env"\nclaims = "accept"')
    (notes,) = home.providers(text).values()
    async with lineshaft.Session([notes], store=False) as session:
        done = await session.call("notes.get_note", {"name": "a"})
    assert done.value == "a: 5"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (table("a", ["x"], 'env = { A = "${NO_SUCH}" }'), "the variable NO_SUCH is not set"),
        (table("a", ["x"], 'env = { A = "${input:key}" }'), "LINESHAFT_INPUT_KEY"),
        (table("a", ["x"], 'cwd = "missing"'), "is missing"),
        (table("a", ["x"], 'env_file = "missing"'), "cannot be read"),
        ('[mcp.servers.a]\nurl = "${WHERE}"', "http://"),
        ('[mcp.servers.a]\nurl = "https://mcp.test"\nheaders = { A = "${BREAK}" }', "line break"),
        (by_assertion('assertion = "${NO_SUCH}"'), "the variable NO_SUCH is not set"),
        (by_assertion('assertion_file = "token"'), "is no whole path; /... or ~/..."),
        (by_assertion('assertion_command = "\'a"'), "cannot be split"),
        (
            by_assertion('assertion = "${WHERE}", exchange_url = "http://idp.test"'),
            "must begin with https://",
        ),
        (by_assertion('client_id = "c"'), "needs an assertion"),
    ],
)
async def test_what_keeps_one_server_down_is_its_own_problem(
    home: Home, text: str, problem: str
) -> None:
    home.environ |= {"WHERE": "file:///etc/passwd", "BREAK": "a\r\nX-Evil: b"}
    found = home.providers(text + "\n" + table("shop", SHOP))
    assert problem in found["a"].problem
    assert not found["a"].tools
    assert "orders" in await tools_of(found["shop"])


@pytest.mark.parametrize(
    ("source", "assertion"),
    [
        ('assertion = "${VOUCHED}"', "by-variable"),
        ('assertion_file = "${FILE}"', "by-file"),
        ('assertion_command = "cat ${FILE}"', "by-file"),
        (
            'assertion = "${VOUCHED}", exchange_url = "${HERE}/company/token"',
            "assertion-of-by-variable",
        ),
    ],
)
async def test_an_assertion_comes_from_where_the_settings_say(
    home: Home, source: str, assertion: str
) -> None:
    port = free_port()
    here = f"http://127.0.0.1:{port}"
    file = home.project / "token"
    file.write_text("by-file\n", encoding="utf-8")
    home.environ |= {"VOUCHED": "by-variable", "FILE": str(file), "HERE": here}
    auth = f'{{ grant = "jwt_bearer", issuer = "{here}", {source} }}'
    text = f'[mcp.servers.vault]\nurl = "{here}/mcp"\nclaims = "accept"\nauth = {auth}'
    async with listening(python_server("company", str(port)), port) as process:
        (vault,) = home.providers(text).values()
        policy = lineshaft.Policy.from_dict({"mode": "open"})
        async with lineshaft.Session([vault], policy=policy, store=False) as session:
            done = await session.call("vault.content")
        assert done.value == "gold", vault.problem
        process.kill()
        assert process.stdout is not None
        *_, asked = (json.loads(line) for line in process.stdout)
    assert asked["form"]["assertion"] == assertion


async def test_a_script_that_names_a_server_that_is_down_is_told_why(home: Home) -> None:
    found = home.providers(table("a", ["x"], 'env = { A = "${NO_SUCH}" }'))
    async with lineshaft.Session(found.values(), store=False) as session:
        done = await session.run("return await a.b()")
    assert done.status == "error"
    assert done.error is not None
    assert done.error.message == "`a` is not defined"
    assert "NO_SUCH is not set" in done.error.hint


def test_only_what_a_script_can_reach_is_there(home: Home) -> None:
    text = table("my-shop", SHOP) + table("notes", NOTES)
    assert list(home.providers(text, words="return 1")) == []
    assert list(home.providers(text, words="return await my_shop.orders()")) == ["my-shop"]
    assert list(home.providers(text, words="search_tools('x')")) == ["my-shop", "notes"]
    assert list(home.providers(text, only=["notes"])) == ["notes"]
    assert list(home.providers(text, only=["my_shop"])) == ["my-shop"]


def test_nothing_of_a_resolved_value_is_in_what_can_be_printed(home: Home) -> None:
    home.environ["KEY"] = "hunter2"
    settings = home.settings(table("a", ["x"], 'env = { A = "${KEY}" }'))
    found = providers(settings, starting=Starting(environ=home.environ))
    assert "hunter2" not in repr((settings, found))


async def test_load_gives_a_session_with_the_servers(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in home.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(CACHE_HOME))
    vouch_for_native_code(Path(home.environ["XDG_STATE_HOME"]))
    home.settings(table("shop", SHOP, 'claims = "accept"'))
    async with lineshaft.load(home.project) as session:
        done = await session.run("return await shop.orders(customer='ada')")
    assert done.value == [1, 2]


async def test_what_nobody_approved_is_not_started(home: Home) -> None:
    marker = home.project / "started"
    trap = ["/bin/sh", "-c", f"touch {marker}"]
    (home.project / "lineshaft.toml").write_text(table("trap", trap))
    (trapped,) = home.providers("").values()
    async with trapped.opened(lambda: None):
        await trapped.ready()
    assert "it is not approved yet" in trapped.problem
    assert not marker.exists()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A=1\n\n# no\nB = two words ", {"A": "1", "B": "two words"}),
        ('A="x # y\\n\\""\nB=\'$A\'\nC=', {"A": 'x # y\n"', "B": "$A", "C": ""}),
        ("A=x#y # z", {"A": "x#y"}),
        ("\ufeffexport A=1\r\nB=2\r\n", {"A": "1", "B": "2"}),
    ],
)
async def test_files_of_variables(home: Home, text: str, found: dict[str, str]) -> None:
    (home.project / ".env").write_bytes(text.encode())
    show = "import json, os, sys; json.dump(dict(os.environ), open('seen.json', 'w'))"
    command = [SHOP[0], "-c", show]
    (shop,) = home.providers(table("shop", command, 'cwd = "."\nenv_file = ".env"')).values()
    async with shop.opened(lambda: None):
        await shop.ready()
    seen = json.loads((home.project / "seen.json").read_text())
    assert {name: seen.get(name) for name in found} == found


def test_a_file_of_variables_that_is_none(home: Home) -> None:
    (home.project / ".env").write_text("A=1\nhunter2 hunter2")
    found = home.providers(table("a", ["x"], 'cwd = "."\nenv_file = ".env"'))
    assert "line 2 is not NAME=value" in found["a"].problem
    assert "hunter2" not in found["a"].problem


@pytest.mark.parametrize(
    ("more", "runs"), [("", False), ('cwd = "${workspaceFolder}"', True), ('cwd = "."', True)]
)
async def test_a_persons_own_server_runs_no_code_of_the_project(
    home: Home, more: str, *, runs: bool
) -> None:
    marker = home.project.parent / "ran"
    (home.project / "mcp_server_git.py").write_text(f"open({str(marker)!r}, 'w')")
    text = table("git", [SHOP[0], "-m", "mcp_server_git"], more)
    (git,) = home.providers(text).values()
    async with git.opened(lambda: None):
        await git.ready()
    assert marker.exists() == runs


@pytest.mark.parametrize(("mine", "theirs"), [("my_shop", "my-shop"), ("my-shop", "my_shop")])
async def test_a_project_takes_no_name_away(home: Home, mine: str, theirs: str) -> None:
    (home.project / "lineshaft.toml").write_text(table(theirs, ["true"]))
    (shop,) = home.providers(table(mine, SHOP)).values()
    assert shop.name == mine
    assert "orders" in await tools_of(shop)


async def test_a_clients_file_of_a_project_takes_no_name_away(home: Home) -> None:
    own = home.project.parent / ".cursor" / "mcp.json"
    own.parent.mkdir()
    own.write_text(json.dumps({"mcpServers": {"my_shop": {"command": "mine"}, "a": {}}}))
    theirs = {"my-shop": {"command": "theirs"}, "a": {"command": "usable"}}
    (home.project / ".mcp.json").write_text(json.dumps({"mcpServers": theirs}))
    settings = home.settings("[mcp]\nclients = true")
    found = {server.name: server for server in servers(settings, environ=home.environ).servers}
    assert {name: server.command for name, server in found.items()} == {
        "my_shop": "mine",
        "a": "usable",
    }


async def test_an_issuer_that_is_no_address_costs_its_server_alone(home: Home) -> None:
    text = by_assertion('assertion_file = "/t"').replace("https://auth.test", "https://[x")
    text = text.replace("servers.a]", "servers.wrong]") + "\n" + table("shop", SHOP)
    found = home.providers(text)
    assert "the issuer is no address" in found["wrong"].problem
    assert found["shop"].problem == ""
