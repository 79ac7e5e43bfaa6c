"""Files of a person that several threads or processes change at once: each change counts."""

import json
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from config.homes import Home
from config.test_claims import CHANGED, CLAIMS
from lineshaft.config import (
    ServerSetting,
    Target,
    claims_for,
    client_servers,
    import_server,
    keep_claims,
    kept_secrets,
    read_settings,
    servers,
)

MANY = 8


@pytest.fixture(autouse=True)
def _threads_change_often() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]  a fixture
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def at_once(work: Sequence[Callable[[], object]]) -> None:
    begin = threading.Barrier(len(work))

    def do(each: Callable[[], object]) -> None:
        begin.wait()
        each()

    threads = [threading.Thread(target=do, args=(each,)) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_each_servers_claims_are_bound_to_the_tools_that_were_seen(home: Home) -> None:
    given = home.servers("".join(f'[mcp.servers.s{n}]\ncommand = "x"\n' for n in range(MANY)))
    for server in given:
        keep_claims(server, "accept", environ=home.environ)
    claims = [claims_for(server, environ=home.environ) for server in given]
    at_once([lambda each=each: each(CLAIMS, "one") for each in claims])
    assert [each(CHANGED, "two") for each in claims] == [{"a.set": "external"}] * MANY


def test_each_approval_is_kept(home: Home) -> None:
    given = home.servers("".join(f'[mcp.servers.s{n}]\ncommand = "x"\n' for n in range(MANY)))
    assert not any(map(home.approved, given))
    at_once([lambda each=each: home.approve(each) for each in given])
    assert all(map(home.approved, given))


def test_each_secret_is_kept(home: Home) -> None:
    def bring(project: Path) -> None:
        settings = read_settings(project, environ=home.environ)
        [found] = client_servers(settings, environ=home.environ).servers
        import_server(found, settings, target="project", environ=home.environ)

    projects = [home.root / f"p{n}" for n in range(MANY)]
    for n, project in enumerate(projects):
        project.mkdir()
        (project / "lineshaft.toml").touch()
        described = {f"s{n}": {"command": "x", "env": {"API_KEY": f"hunter2-{n}"}}}
        (project / ".mcp.json").write_text(json.dumps({"mcpServers": described}))
    at_once([lambda each=each: bring(each) for each in projects])
    assert sorted(kept_secrets(home.environ).values()) == [f"hunter2-{n}" for n in range(MANY)]


@pytest.mark.parametrize("target", ["project", "user"])
def test_each_server_that_is_brought_in_stays(home: Home, target: Target) -> None:
    (home.project / "lineshaft.toml").touch()
    described = {f"s{n}": {"command": "x"} for n in range(MANY)}
    (home.project / ".mcp.json").write_text(json.dumps({"mcpServers": described}))
    settings = read_settings(home.project, environ=home.environ)
    found = client_servers(settings, environ=home.environ).servers

    def bring(server: ServerSetting) -> None:
        import_server(server, settings, target=target, environ=home.environ)

    at_once([lambda each=each: bring(each) for each in found])
    now = servers(read_settings(home.project, environ=home.environ), environ=home.environ)
    assert sorted(each.name for each in now.servers) == sorted(described)
    assert {each.name for each in home.project.iterdir()} == {"lineshaft.toml", ".mcp.json"}
