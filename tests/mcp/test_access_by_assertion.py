"""Servers that nobody has to be asked for: an assertion of who we are opens them."""

import json
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from lineshaft import Policy, Session
from lineshaft.errors import ConfigError
from lineshaft.mcp import ServerSpec
from lineshaft.mcp.client import McpServer, assertion_from_command, assertion_from_file, exchanged
from upstreams.addresses import free_port, listening
from upstreams.real import python_server

OPEN = Policy.from_dict({"mode": "open"})
SECRET = "our-secret & more"  # noqa: S105  of no use elsewhere
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"


class Company:
    """A running vault, and what it was asked for."""

    def __init__(self, port: int, process: "subprocess.Popen[str]") -> None:
        self.here = f"http://127.0.0.1:{port}"
        self.url = f"{self.here}/mcp"
        self._process = process

    def spec(self, assertion: Any = "workload-token", **more: Any) -> ServerSpec:
        spec = ServerSpec(url=self.url, issuer=self.here, grant="jwt_bearer", assertion=assertion)
        return replace(spec, **more)

    def asked(self) -> list[dict[str, Any]]:
        """End it, and return the requests for tokens."""
        self._process.kill()
        assert self._process.stdout is not None
        return [json.loads(line) for line in self._process.stdout]


@asynccontextmanager
async def company() -> AsyncGenerator[Company]:
    port = free_port()
    async with listening(python_server("company", str(port)), port) as process:
        yield Company(port, process)


async def content(spec: ServerSpec) -> str:
    """Return what is in the vault, or why it stays shut."""
    source = McpServer(spec, name="vault")
    async with Session([source], policy=OPEN, store=False) as session:
        result = await session.call("vault.content")
        return str(result.value) if result.error is None else source.problem


async def test_an_assertion_opens_a_server_and_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    wanted: list[tuple[str, str]] = []

    async def workload(issuer: str, resource: str) -> str:
        wanted.append((issuer, resource))
        return "workload-token\n"

    async with company() as vault:
        assert await content(vault.spec(workload)) == "gold"
        (asked,) = vault.asked()
    form = {"grant_type": GRANT, "assertion": "workload-token", "resource": vault.url}
    assert asked == {"at": "/token", "form": form, "named": ""}
    assert wanted == [(vault.here, vault.url)]
    assert list(tmp_path.rglob("*")) == []


async def test_a_client_that_has_a_secret_names_itself_as_the_issuer_wants() -> None:
    async with company() as vault:
        known = vault.spec(client_id="our id", client_secret=SECRET)
        assert await content(known) == "gold"
        assert await content(replace(known, issuer=f"{vault.here}/form")) == "gold"
        assert await content(vault.spec(client_id="public")) == "gold"
        header, form, public = vault.asked()
    assert header["named"] == "our%20id:our-secret%20%26%20more"
    assert not {"client_id", "client_secret"} & set(header["form"])
    assert (form["named"], form["form"]["client_id"]) == ("", "our id")
    assert form["form"]["client_secret"] == SECRET
    assert (public["named"], public["form"]["client_id"]) == ("", "public")


async def test_a_companys_identity_provider_vouches() -> None:
    async with company() as vault:
        assertion = exchanged(
            "identity",
            url=f"{vault.here}/company/token",
            client_id="at-home",
            client_secret=SECRET,
        )
        spec = vault.spec(assertion, client_id="ours", client_secret=SECRET)
        assert await content(spec) == "gold"
        home, away = vault.asked()
    assert home["at"] == "/company/token"
    assert home["named"] == "at-home:our-secret%20%26%20more"
    assert home["form"]["subject_token"] == "identity"  # noqa: S105  a made-up token
    assert home["form"]["requested_token_type"].endswith(":id-jag")
    assert (home["form"]["audience"], home["form"]["resource"]) == (vault.here, vault.url)
    assert away["form"]["assertion"] == "assertion-of-identity"
    assert "identity" not in {*away["form"].values()}


async def test_a_token_that_no_longer_opens_is_renewed_once_for_all_calls() -> None:
    async with company() as vault:
        source = McpServer(vault.spec(), name="vault")
        async with Session([source], policy=OPEN, store=False) as session:
            assert (await session.call("vault.content")).value == "gold"
            async with httpx2.AsyncClient() as client:
                await client.post(f"{vault.here}/revoke")
            values: list[object] = []

            async def call() -> None:
                values.append((await session.call("vault.content")).value)

            async with anyio.create_task_group() as tasks:
                for _ in range(3):
                    tasks.start_soon(call)
        assert values == ["gold"] * 3
        assert len(vault.asked()) == 2


async def test_what_is_refused_is_told_without_the_assertion_and_not_tried_again() -> None:
    async with company() as vault:
        told = await content(vault.spec("refused-assertion"))
        assert "refused: invalid_grant nobody vouches for [redacted]" in told
        assert "refused-assertion" not in told
        assert len(vault.asked()) == 1


@pytest.mark.parametrize(
    ("issuer", "problem"),
    [
        ("another", "says that it is another one"),
        ("elsewhere", "gives tokens at another address, which is not gone to"),
        ("empty", "does not say where it gives tokens"),
        ("moved", "does not say where it gives tokens"),
        ("large", "answered with more than 100,000 bytes"),
    ],
)
async def test_an_assertion_goes_only_where_the_settings_say(issuer: str, problem: str) -> None:
    async with company() as vault:
        told = await content(vault.spec(issuer=f"{vault.here}/{issuer}"))
        assert f"the authorisation server {vault.here}/{issuer} {problem}" in told
        assert vault.asked() == []


async def test_an_issuer_that_is_not_there_is_told() -> None:
    async with company() as vault:
        told = await content(vault.spec(issuer=f"http://127.0.0.1:{free_port()}"))
        assert "cannot be reached" in told
        assert "gave no token" in await content(vault.spec("odd-assertion"))


@pytest.mark.parametrize(
    ("identity", "problem"),
    [("plain", "something else than an assertion"), ("stranger", "refused: it answered 403")],
)
async def test_an_identity_provider_that_does_not_vouch_is_told(
    identity: str, problem: str
) -> None:
    async with company() as vault:
        assertion = exchanged(identity, url=f"{vault.here}/company/token")
        told = await content(vault.spec(assertion))
        assert "the identity provider at 127.0.0.1" in told
        assert problem in told
        assert [each["at"] for each in vault.asked()] == ["/company/token"]


async def test_an_assertion_may_stand_in_for_the_secret_of_a_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    async with company() as vault:
        spec = vault.spec(grant="client_credentials", client_id="ours")
        told = await content(replace(spec, issuer="https://auth.example.org"))
        assert "https://auth.example.org" in told
        assert await content(spec) == "gold"
        (asked,) = vault.asked()
    assert asked["form"]["grant_type"] == "client_credentials"
    assert asked["form"]["client_assertion"] == "workload-token"


async def test_an_assertion_that_an_answer_repeats_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    refused = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ3b3JrbG9hZCJ9.refused-signature"
    async with company() as vault:
        spec = vault.spec(refused, grant="client_credentials", client_id="ours")
        told = await content(spec)
    assert "nobody vouches for [redacted]" in told
    assert "signature" not in told


async def test_a_file_and_a_command_are_asked_anew_for_each_assertion(tmp_path: Path) -> None:
    file = tmp_path / "token"
    show = "import sys; print(open(sys.argv[1]).read())"
    command = assertion_from_command([sys.executable, "-c", show, str(file)])
    async with company() as vault:
        for number, source in enumerate((assertion_from_file(file), command, command)):
            file.write_text(f"assertion-{number}\n", encoding="utf-8")
            assert await content(vault.spec(source)) == "gold"
        asked = [each["form"]["assertion"] for each in vault.asked()]
    assert asked == ["assertion-0", "assertion-1", "assertion-2"]


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("", "is no token"),
        ("two words", "is no token"),
        ("schl\N{LATIN SMALL LETTER U WITH DIAERESIS}ssel", "is no token"),
        ("x" * 70_000, "is too large for a token"),
        (None, "cannot be read: No such file"),
    ],
)
async def test_a_file_that_holds_no_token_is_told_and_not_sent(
    tmp_path: Path, said: str | None, problem: str
) -> None:
    if said is not None:
        (tmp_path / "token").write_text(said, encoding="utf-8")
    async with company() as vault:
        told = await content(vault.spec(assertion_from_file(tmp_path / "token")))
        assert problem in told
        assert not said or said not in told
        assert vault.asked() == []


async def test_a_command_that_fails_is_told_without_secrets() -> None:
    says = "import sys; sys.exit('log in first; token=hunter2hunter2')"
    async with company() as vault:
        told = await content(vault.spec(assertion_from_command([sys.executable, "-c", says])))
        assert "ended with 1: log in first" in told
        assert "hunter2" not in told
        missing = await content(vault.spec(assertion_from_command(["no-such-program"])))
        assert "there is no program 'no-such-program'" in missing


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"grant": "jwt_bearer"}, "needs an assertion"),
        ({"grant": "jwt_bearer", "assertion": "x"}, "an assertion needs an issuer"),
        ({"assertion": "x", "issuer": "https://a.test"}, "is for the grants"),
        (
            {
                "grant": "jwt_bearer",
                "assertion": "x",
                "issuer": "https://a.test",
                "client_secret": "y",
            },
            "belongs to a client_id",
        ),
        ({"grant": "client_credentials", "client_id": "c"}, "client_key or an assertion"),
        ({"issuer": "http://a.test"}, "the issuer must begin with https://"),
        ({"issuer": "ftp://localhost"}, "the issuer must begin with https://"),
        ({"issuer": "https://a@b.test"}, "the issuer must begin with https://"),
        ({"issuer": "https://"}, "the issuer must begin with https://"),
    ],
)
def test_what_does_not_go_together_is_said_at_once(said: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        ServerSpec(url="https://example.org/mcp", **said)


def test_identity_tokens_go_nowhere_unguarded() -> None:
    with pytest.raises(ConfigError, match="changes identity tokens must begin with https://"):
        exchanged("hidden-1", url="http://idp.example.org/token")
    spec = ServerSpec(
        url="https://example.org/mcp",
        issuer="https://a.test",
        grant="jwt_bearer",
        assertion="hidden-2",
    )
    assert "hidden" not in repr(spec)
