"""Addresses of a README are asked for once, with one question, and only on the public network."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from azure_sdk.scripted import contents, ends, refusals
from azure_sdk.test_readme import DONE, GIVEN, GOOD, write
from kit.web import LOCAL, Page, Site, serving
from lineshaft import Policy, Session
from lineshaft.agents import AgentResult
from lineshaft.errors import AgentError
from lineshaft.kit.fetch.client import Fetching
from lineshaft.testing import call
from lineshaft.values import Answer, Pending
from lineshaft_azure_sdk.readme import check_links, links_tool, readme_agent

STAYS = threading.Event()
PAGES = {
    "/there": Page(b"x" * 100_000),
    "/gone": Page(status=410),
    "/closed": Page(status=403),
    "/busy": Page(status=429),
    "/broken": Page(status=500),
    "/moved": Page(status=301, headers={"Location": "/there"}),
    "/lost": Page(status=302, headers={"Location": "/none"}),
    "/away": Page(status=301, headers={"Location": "https://elsewhere.test/"}),
    "/inside": Page(status=302, headers={"Location": "http://127.0.0.1/"}),
    "/round": Page(status=302, headers={"Location": "/round"}),
}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with serving(PAGES) as found:
        yield found


def how(site: Site, *hosts: str, leads: str = LOCAL) -> Fetching:
    """Return how names lead to a server of the test; only those named are allowed to."""

    async def resolve(host: str, port: int) -> Sequence[str]:
        del port
        if not host.endswith(".test"):
            raise OSError("unknown host")
        return [leads]

    return Fetching(allowed=frozenset(f"{host}:{site.port}" for host in hosts), resolve=resolve)


async def states(tool: Any, addresses: Sequence[str], work: Path) -> dict[str, Any]:
    async with Session([tool], workspace=work, policy=Policy("open")) as session:
        done = await session.call("azure_sdk.check_links", {"addresses": list(addresses)})
    assert done.error is None, done.error
    return {each["address"]: each for each in done.value}


async def test_dead_is_what_a_server_says_is_not_there(site: Site, work: Path) -> None:
    base = f"http://a.test:{site.port}"
    found = await states(
        links_tool(how=how(site, "a.test")),
        [*(f"{base}{path}" for path in PAGES), f"{base}/none#part", "https://nowhere.invalid/"],
        work,
    )
    told = {address.removeprefix(base): each["state"] for address, each in found.items()}
    assert told == {
        "/there": "alive",
        "/moved": "alive",
        "/gone": "dead",
        "/lost": "dead",
        "/none#part": "dead",
        **dict.fromkeys(("/closed", "/busy", "/broken", "/away", "/inside"), "unchecked"),
        "/round": "unchecked",
        "https://nowhere.invalid/": "unchecked",
    }
    assert found[f"{base}/gone"] == {
        "address": f"{base}/gone",
        "state": "dead",
        "status": 410,
        "reason": "",
    }
    assert found[f"{base}/busy"]["reason"] == "the server answers 429"
    assert "another server" in found[f"{base}/away"]["reason"]


@pytest.mark.parametrize("leads", [LOCAL, "10.0.0.1", "169.254.169.254", "::1", "fd00::1"])
async def test_what_is_not_on_the_public_network_is_not_asked(
    site: Site, work: Path, leads: str
) -> None:
    asked = len(site.asked)
    address = f"http://private.test:{site.port}/there"
    found = await states(links_tool(how=how(site, leads=leads)), [address], work)
    assert found[address]["state"] == "unchecked"
    assert "no address of the public network" in found[address]["reason"]
    usual = await states(check_links, [f"http://127.0.0.1:{site.port}/there", "ftp://x/"], work)
    assert [each["state"] for each in usual.values()] == ["unchecked", "unchecked"]
    assert len(site.asked) == asked


async def test_one_question_is_asked_for_all_hosts_and_each_address_once(
    site: Site, work: Path
) -> None:
    questions: list[Pending] = []

    async def approver(pending: Sequence[Pending]) -> Mapping[str, Answer]:
        questions.extend(pending)
        return {each.id: Answer(allow=True) for each in pending}

    asked = len(site.asked)
    addresses = [f"http://{host}.test:{site.port}/there" for host in ("a", "b", "a")]
    tool = links_tool(how=how(site, "a.test", "b.test"))
    async with Session([tool], workspace=work, approver=approver) as session:
        done = await session.call("azure_sdk.check_links", {"addresses": addresses})
    assert [each["state"] for each in done.value] == ["alive", "alive"]
    [question] = questions
    assert question.arguments == {"addresses": addresses}
    assert len(site.asked) == asked + 2
    async with Session([tool], workspace=work) as session:
        waits = await session.call("azure_sdk.check_links", {"addresses": addresses})
        assert len(waits.pending) == 1
        for wrong in ([], ["https://a.test/"] * 201):
            refused = await session.call("azure_sdk.check_links", {"addresses": wrong})
            assert refused.value is None
    assert len(site.asked) == asked + 2


async def test_a_readme_whose_address_is_dead_or_was_not_asked_for_is_refused(
    site: Site, work: Path
) -> None:
    (work / "sdk" / "samples").mkdir(parents=True)
    (work / "sdk" / "samples" / "one.py").write_text("")
    (work / "sdk" / "notes.md").write_text("# Notes\n\n## What is new in 1.0\n")
    (work / "template.md").write_text("# {{name}}\n")
    base = f"http://a.test:{site.port}"
    good = GOOD.replace("https://learn.microsoft.com/azure/widget", f"{base}/there")
    dead = good.replace("/there", "/gone")
    agent = readme_agent(links_tool(how=how(site, "a.test")))

    def ask(path: str) -> Any:
        return call("azure_sdk__check_links", addresses=[f"{base}{path}"])

    replies = [write(dead), DONE, ask("/gone"), DONE, write(good), ask("/there"), DONE]
    given = {**GIVEN, "web": True}
    ended, model = await ends(agent, replies, work, policy=Policy("open"), **given)
    assert isinstance(ended, AgentResult), ended
    first, second = refusals(model)
    assert f"{base}/gone was not asked for" in first
    assert f"{base}/gone leads nowhere: the server answers 410" in second
    assert (work / "sdk" / "README.md").read_text() == good
    before = contents(work)
    ended, _ = await ends(
        agent, [write(dead), DONE, call("GiveUp", reason="x")], work, policy=Policy("open"), **given
    )
    assert isinstance(ended, AgentError)
    assert contents(work) == before
