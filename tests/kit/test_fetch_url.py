"""`fetch_url`: what it gives, and what a hostile address, name or server gets from it."""

import gzip
import json
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

import pytest

from kit.web import LOCAL, Page, Site, serving
from lineshaft import Answer, ConfigError, Limits, Pending, Policy, Rule, Session, Tool, kit
from lineshaft.kit.fetch import fetch_tool
from lineshaft.kit.fetch.client import Fetching
from lineshaft.values import CallResult, VerdictKind

OPEN = Policy(mode="open")
HTML = {"content-type": "text/html; charset=utf-8"}
JSON = {"content-type": "application/json"}
BOMB = b"\0" * 50_000_000
STAYS = threading.Event()
PACKAGES = [f"package-{number}" for number in range(12)]

PAGE = """<!doctype html><html><head><title>A page</title><script>bad()</script></head><body>
<h1>Gr\u00fc\u00dfe</h1>
<p>See <a href="/next?a=1">the <b>next</b></a>, not <a href="javascript:x()">this</a>.
<svg><text>drawn</text></svg></p><ul><li>one</li><li>two</li></ul>
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
</body></html>"""

PAGES: dict[str, Page] = {
    "/page": Page(PAGE.encode(), HTML),
    "/data": Page(b'{"a": 1}', JSON),
    "/latin": Page(b"caf\xe9", {"content-type": "text/plain; charset=iso-8859-1"}),
    "/broken": Page(b"caf\xe9 \x80", {"content-type": "text/plain"}),
    "/strange": Page(b"abc", {"content-type": "text/plain; charset=punycode"}),
    "/picture": Page(b"\x89PNG\0\1", {"content-type": "image/png"}),
    "/zipped": Page(gzip.compress(b"a") + gzip.compress(b"b"), {"content-encoding": "gzip"}),
    "/nothing": Page(b"", {"content-encoding": "gzip"}, status=404),
    "/cut": Page(gzip.compress(b"a" * 900)[:-9], {"content-encoding": "gzip"}),
    "/not-zipped": Page(b"plain", {"content-encoding": "gzip"}),
    "/brotli": Page(b"plain", {"content-encoding": "br"}),
    "/bomb": Page(gzip.compress(BOMB), {"content-encoding": "gzip"}),
    "/bomb-deflate": Page(zlib.compress(BOMB), {"content-encoding": "deflate"}),
    "/empty-members": Page(gzip.compress(b"") * 60_000, {"content-encoding": "gzip"}),
    "/long": Page(b"x" * 2_000, {"content-type": "text/plain"}),
    "/slow": Page(b"xyz", {"content-type": "text/plain"}, stays=STAYS),
    "/moved": Page(headers={"location": "page"}, status=302),
    "/circle": Page(headers={"location": "/circle"}, status=301),
    "/metadata": Page(headers={"location": "http://169.254.169.254/latest/"}, status=302),
    "/elsewhere": Page(headers={"location": "https://example.org/"}, status=307),
    "/file": Page(headers={"location": "file:///etc/passwd"}, status=302),
    "/secret": Page(headers={"location": "//u:p@site.test/"}, status=302),
    "/deep": Page(b"<div>" * 3_000 + b"text", HTML),
    **{f"/{name}.json": Page(json.dumps({"name": name, "size": len(name)}).encode(), JSON)
       for name in PACKAGES},
}  # fmt: skip  # a table


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    STAYS.clear()
    with serving(PAGES) as found:
        try:
            yield found
        finally:
            STAYS.set()


async def fetch(tool: Tool, url: str, folder: Path, **more: object) -> CallResult:
    async with Session([tool], workspace=folder, policy=OPEN) as session:
        return await session.call("fetch_url", {"url": url, **more})


async def told(tool: Tool, url: str, folder: Path, **more: object) -> str:
    """Return the code and message of a call that fails."""
    done = await fetch(tool, url, folder, **more)
    assert done.error is not None, done.value
    return f"{done.error.code} {done.error.message}"


async def value(tool: Tool, url: str, folder: Path) -> dict[str, object]:
    done = await fetch(tool, url, folder)
    assert done.error is None, done.error
    return cast("dict[str, object]", done.value)


async def test_a_page_comes_as_markdown_with_whole_links(site: Site, tmp_path: Path) -> None:
    base = f"http://site.test:{site.port}"
    page = await value(site.tool("site.test"), f"{base}/moved#part", tmp_path)
    assert page["url"] == f"{base}/page"
    assert (page["status"], page["media_type"]) == (200, "text/html")
    assert page["title"] == "A page"
    content = str(page["content"])
    assert "# Gr\u00fc\u00dfe" in content
    assert f"See [the **next**]({base}/next?a=1), not this." in content
    assert "- one" in content
    assert "| 1 | 2 |" in content
    assert not any(word in content for word in ("bad()", "drawn", "javascript"))


async def test_text_comes_in_the_encoding_that_the_server_says(site: Site, tmp_path: Path) -> None:
    tool, base = site.tool("site.test"), f"http://site.test:{site.port}"
    assert (await value(tool, f"{base}/data", tmp_path))["content"] == '{"a": 1}'
    assert (await value(tool, f"{base}/latin", tmp_path))["content"] == "caf\u00e9"
    broken = await value(tool, f"{base}/broken", tmp_path)
    assert (broken["content"], broken["exact"]) == ("caf\ufffd \ufffd", False)
    strange = await value(tool, f"{base}/strange", tmp_path)
    assert (strange["content"], strange["exact"]) == ("abc", True)


async def test_what_is_no_text_comes_in_base64(site: Site, tmp_path: Path) -> None:
    found = await value(site.tool("site.test"), f"http://site.test:{site.port}/picture", tmp_path)
    assert (found["content"], found["base64"], found["bytes"]) == ("", "iVBORwAB", 6)


async def test_a_model_is_given_no_base64(site: Site, tmp_path: Path) -> None:
    tool = site.tool("site.test")
    url = f"http://site.test:{site.port}/picture"
    async with Session([tool], workspace=tmp_path, policy=OPEN) as session:
        session.definitions("openai", direct=["fetch_url"])
        done = await session.handle("fetch_url", {"url": url})
    assert "image/png" in done.text
    assert "iVBORw" not in done.text


async def test_an_answer_of_the_server_is_a_result_also_where_it_is_a_refusal(
    site: Site, tmp_path: Path
) -> None:
    found = await value(site.tool("site.test"), f"http://site.test:{site.port}/none", tmp_path)
    assert (found["status"], found["content"]) == (404, "nothing here")


async def test_a_script_compares_twelve_packages(site: Site, tmp_path: Path) -> None:
    script = f"""
    async def data(name):
        page = await fetch_url(f"http://site.test:{site.port}/{{name}}.json")
        return json.loads(page["content"])
    found = await asyncio.gather(*[data(name) for name in {PACKAGES}])
    return max(found, key=lambda each: (each["size"], each["name"]))["name"]
    """
    async with Session([site.tool("site.test")], workspace=tmp_path, policy=OPEN) as session:
        result = await session.run(script.replace("\n    ", "\n"))
    assert (result.status, result.value, len(result.calls)) == ("success", "package-11", 12)


WRONG = {
    "file:///etc/passwd": "'file' is not fetched",
    "ftp://site.test/": "'ftp' is not fetched",
    "site.test/page": "not whole",
    "http:/site.test": "not whole",
    "http://user:pass@site.test/": "user or password",
    "http://site.test@evil.test/": "user or password",
    "http://@site.test/": "user or password",
    "http://site.test:80@evil.test/": "user or password",
    "http://evil.test\\@site.test/": "backslash",
    "http://site.test /": "a space",
    "http://site.test/\n": "a space",
    "http://si\u200bte.test/": "without a sign",
    "http://site.test:0/": "no port 0",
    "http://site.test:65536/": "no port 65536",
    "http://site.test:99999999999/": "port is no number",
    "http://site.test:+80/": "port is no number",
    "http://site.test:\uff18\uff10/": "port is no number",
    "http:///page": "no host",
    "http://2130706433/": "four numbers",
    "http://0x7f.0.0.1/": "four numbers",
    "http://127.1/": "four numbers",
    "http://0177.0.0.01/": "four numbers",
    "http://[::1%25eth0]/": "no host",
    "http://[fe80::1%eth0]/": "no host",
    "http://-site.test/": "no host name",
    "http://site..test/": "no host name",
    "http://xn--a.\u00e4\u0338/": "no host name",
    "http://" + "a" * 5_000: "at most 4,000",
}


@pytest.mark.parametrize("url", WRONG, ids=lambda url: url[:40].encode("ascii", "replace").decode())
async def test_an_address_that_is_none_is_told_so(url: str, tmp_path: Path) -> None:
    said = await told(fetch_tool(how=Fetching(resolve=_nowhere)), url, tmp_path)
    assert said.startswith("E_INVALID_ARGS fetch_url(): ")
    assert WRONG[url] in said


async def _nowhere(host: str, port: int) -> Sequence[str]:
    raise AssertionError(f"{host}:{port} is not to be looked up")


CLOSED = [
    "127.0.0.1", "127.8.8.8", "0.0.0.1", "10.1.2.3", "100.64.0.1", "169.254.169.254", "172.31.0.1",
    "192.168.1.1", "192.0.0.170", "198.18.0.1", "224.0.0.1", "255.255.255.255", "168.63.129.16",
    "::", "::1", "fe80::1", "fd00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
    "::127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::8.8.8.8",
    "2002:7f00:1::", "2002:808:808::1", "2001::1", "2001:db8::1", "3fff::1",
    "2600::5efe:127.0.0.1", "fe80::1%1", "no address",
]  # fmt: skip  # a table


@pytest.mark.parametrize("address", CLOSED)
async def test_a_name_that_leads_to_no_public_address_is_refused(
    address: str, tmp_path: Path
) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        del host, port
        return ["93.184.216.34", address]  # one that is public beside it opens nothing

    said = await told(fetch_tool(how=Fetching(resolve=resolve)), "http://name.test/", tmp_path)
    assert said.startswith(f"E_DENIED name.test ({address}) is no address of the public network")


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "[::ffff:7f00:1]", "localhost"])
async def test_this_machine_is_refused_by_each_of_its_names(
    host: str, site: Site, tmp_path: Path
) -> None:
    asked = len(site.asked)
    said = await told(kit.fetch_url, f"http://{host}:{site.port}/page", tmp_path)
    assert said.startswith("E_DENIED")
    assert len(site.asked) == asked


async def test_a_connection_is_made_to_the_address_that_was_checked(
    site: Site, tmp_path: Path
) -> None:
    answers = iter([[LOCAL], ["169.254.169.254"]])

    async def resolve(host: str, port: int) -> Sequence[str]:
        del host, port
        return next(answers)

    allowed = frozenset({f"name.test:{site.port}"})
    tool = fetch_tool(how=Fetching(allowed=allowed, resolve=resolve))
    page = await value(tool, f"http://name.test:{site.port}/data", tmp_path)
    assert page["content"] == '{"a": 1}'  # asked a second time, the name would lead elsewhere
    assert site.asked[-1][1]["host"] == f"name.test:{site.port}"


async def test_each_redirect_is_looked_up_and_checked_anew(site: Site, tmp_path: Path) -> None:
    answers = iter([[LOCAL], ["no address any more"]])
    seen: list[str] = []

    async def resolve(host: str, port: int) -> Sequence[str]:
        seen.append(f"{host}:{port}")
        return next(answers)

    place = f"name.test:{site.port}"
    tool = fetch_tool(how=Fetching(allowed=frozenset({place}), resolve=resolve))
    said = await told(tool, f"http://{place}/moved", tmp_path)
    assert said.startswith("E_TOOL_FAILED")
    assert seen == [place, place]


REDIRECTS = {
    "/metadata": "leads to another server: http://169.254.169.254/latest/",
    "/elsewhere": "leads to another server: https://example.org/",
    "/file": "the scheme 'file' is not fetched",
    "/secret": "user or password",
    "/circle": "sent on 5 times",
}


@pytest.mark.parametrize("path", REDIRECTS)
async def test_a_redirect_leads_to_no_other_server(path: str, site: Site, tmp_path: Path) -> None:
    said = await told(site.tool("site.test"), f"http://site.test:{site.port}{path}", tmp_path)
    assert said.startswith("E_TOOL_FAILED")
    assert REDIRECTS[path] in said


@pytest.mark.parametrize("verdict", ["deny", "ask"])
async def test_a_redirect_passes_no_rule_about_where_it_leads(
    verdict: VerdictKind, site: Site, tmp_path: Path
) -> None:
    base = f"http://site.test:{site.port}"
    rule = Rule("closed", verdict, arguments={"url": f"{base}/page*"})
    asked: list[object] = []

    async def approver(pending: tuple[Pending, ...]) -> Mapping[str, Answer]:
        asked.extend(each.arguments["url"] for each in pending)
        return {each.id: Answer(allow=True) for each in pending}

    async with Session(
        [site.tool("site.test")],
        workspace=tmp_path,
        policy=Policy("open", (rule,)),
        approver=approver,
    ) as session:
        before = len(site.asked)
        led = await session.call("fetch_url", {"url": f"{base}/moved"})
        named = await session.call("fetch_url", {"url": f"{base}/page"})
    assert led.error is not None
    assert (led.error.code, f"{base}/page" in led.error.message) == ("E_DENIED", True)
    assert (named.error is None) == (verdict == "ask")
    assert [path for path, _ in site.asked[before:]] == ["/moved", "/page"][: 1 + len(asked)]


async def test_a_redirect_is_followed_where_the_same_was_asked_about(
    site: Site, tmp_path: Path
) -> None:
    async def approver(pending: tuple[Pending, ...]) -> Mapping[str, Answer]:
        return {each.id: Answer(allow=True) for each in pending}

    tool = site.tool("site.test")
    async with Session([tool], workspace=tmp_path, approver=approver) as session:
        done = await session.call("fetch_url", {"url": f"http://site.test:{site.port}/moved"})
    assert done.error is None


BODIES = {
    "/bomb": "E_TOO_LARGE",
    "/bomb-deflate": "E_TOO_LARGE",
    "/empty-members": "E_TOO_LARGE",
    "/cut": "it breaks off",
    "/not-zipped": "not compressed as it says",
    "/brotli": "compressed by 'br'",
    "/deep": "cannot be turned into text: ",
}


@pytest.mark.parametrize("path", BODIES)
async def test_a_hostile_body_is_an_error(path: str, site: Site, tmp_path: Path) -> None:
    said = await told(site.tool("site.test"), f"http://site.test:{site.port}{path}", tmp_path)
    assert BODIES[path] in said


async def test_a_compressed_body_comes_whole(site: Site, tmp_path: Path) -> None:
    page = await value(site.tool("site.test"), f"http://site.test:{site.port}/zipped", tmp_path)
    assert page["content"] == "ab"


async def test_no_body_is_empty_also_where_it_is_said_to_be_compressed(
    site: Site, tmp_path: Path
) -> None:
    page = await value(site.tool("site.test"), f"http://site.test:{site.port}/nothing", tmp_path)
    assert (page["status"], page["bytes"]) == (404, 0)


async def test_a_body_has_the_bytes_that_were_asked_for_at_most(site: Site, tmp_path: Path) -> None:
    tool, url = site.tool("site.test"), f"http://site.test:{site.port}/long"
    assert "more than 1,999 bytes" in await told(tool, url, tmp_path, max_bytes=1_999)
    assert (await fetch(tool, url, tmp_path, max_bytes=2_000)).error is None
    for wrong in (0, 10_000_001):
        assert "E_INVALID_ARGS" in await told(tool, url, tmp_path, max_bytes=wrong)


async def test_a_body_that_never_ends_ends_with_the_time_of_the_call(
    site: Site, tmp_path: Path
) -> None:
    script = f'return await fetch_url("http://site.test:{site.port}/slow")'

    async with Session(
        [site.tool("site.test")], workspace=tmp_path, policy=OPEN, limits=Limits(call_seconds=1)
    ) as session:
        result = await session.run(script)
    assert result.error is not None
    assert result.error.code == "E_TOOL_TIMEOUT"


async def test_variables_of_the_environment_name_no_proxy(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    page = await value(site.tool("site.test"), f"http://site.test:{site.port}/data", tmp_path)
    assert page["content"] == '{"a": 1}'


SPELLINGS = [
    "HTTP://SITE.TEST:{port}/data",
    "http://site.test.:{port}/data",
    "http://site.test:{port}/./x/../data#part",
    "http://site.test:{port}/%64ata",
    "http://\uff53ite.test:{port}/data",
]


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_a_rule_holds_for_each_spelling_of_an_address(
    spelling: str, site: Site, tmp_path: Path
) -> None:
    rule = {
        "id": "closed",
        "tool": "fetch_url",
        "arguments": {"url": f"http://site.test:{site.port}/data"},
        "verdict": "deny",
    }
    policy = Policy.from_dict({"mode": "open", "rules": [rule]})
    async with Session([site.tool("site.test")], workspace=tmp_path, policy=policy) as session:
        done = await session.call("fetch_url", {"url": spelling.format(port=site.port)})
    assert (done.error and done.error.code, done.rule) == ("E_DENIED", "closed")


@pytest.mark.parametrize("host", ["[::ffff:127.0.0.1]", "[0:0::FFFF:7f00:1]", "[64:ff9b::7f00:1]"])
async def test_an_ipv6_spelling_of_an_ipv4_address_is_that_address(
    host: str, site: Site, tmp_path: Path
) -> None:
    tool = fetch_tool(allowed=[f"{LOCAL}:{site.port}"])
    page = await value(tool, f"http://{host}:{site.port}/data", tmp_path)
    assert page["url"] == f"http://{LOCAL}:{site.port}/data"
    pattern = f"http://{LOCAL}:{site.port}/*"
    policy = Policy("open", (Rule("closed", "deny", arguments={"url": pattern}),))
    async with Session([tool], workspace=tmp_path, policy=policy) as session:
        done = await session.call("fetch_url", {"url": f"http://{host}:{site.port}/data"})
    assert (done.error and done.error.code, done.rule) == ("E_DENIED", "closed")


async def test_a_yes_for_the_run_holds_for_scheme_host_and_port(site: Site, tmp_path: Path) -> None:
    asked: list[tuple[object, str]] = []

    async def approver(pending: tuple[Pending, ...]) -> Mapping[str, Answer]:
        asked.extend((each.arguments["url"], each.holds_for) for each in pending)
        return {each.id: Answer(allow=True, scope="run") for each in pending}

    one, other = f"http://site.test:{site.port}", f"http://other.test:{site.port}"
    script = f"""
for url in ["{one}/data", "{one}/page", "{other}/data", "{other}/latin", "http://site.test/data"]:
    try:
        await fetch_url(url)
    except ToolError as error:
        print(error.code)
"""
    tool = site.tool("site.test", "other.test")
    async with Session([tool], workspace=tmp_path, approver=approver) as session:
        result = await session.run(script)
    assert asked == [
        (f"{one}/data", one),
        (f"{other}/data", other),
        ("http://site.test/data", "http://site.test:80"),
    ]
    assert result.stdout == "E_DENIED\n"  # by the network: no person allowed port 80


async def test_a_yes_for_the_run_to_another_tool_opens_no_address(
    site: Site, tmp_path: Path
) -> None:
    async def send(what: str) -> str:
        """Send something.

        Args:
            what: The thing.
        """
        return what

    asked: list[str] = []

    async def approver(pending: tuple[Pending, ...]) -> Mapping[str, Answer]:
        asked.extend(each.tool for each in pending)
        return {each.id: Answer(allow=True, scope="run") for each in pending}

    script = f"""
await send("a")
await send("b")
await fetch_url("http://site.test:{site.port}/data")
await send("c")
"""
    tools = [site.tool("site.test"), Tool.from_function(send)]
    async with Session(tools, workspace=tmp_path, approver=approver) as session:
        assert (await session.run(script)).status == "success"
    assert asked == ["send", "fetch_url"]


async def test_a_paused_run_keeps_for_which_server_the_yes_was(site: Site, tmp_path: Path) -> None:
    one, other = f"http://site.test:{site.port}", f"http://other.test:{site.port}"
    script = f"""
for url in ["{one}/data", "{one}/page", "{other}/data"]:
    await fetch_url(url)
"""
    tool = site.tool("site.test", "other.test")
    async with Session([tool], workspace=tmp_path) as session:
        first = await session.run(script)
        yes = {"*": Answer(allow=True, scope="run")}
        second = await session.resume(first.run_id, yes)
        third = await session.resume(second.run_id, yes)
    assert [each.holds_for for each in (*first.pending, *second.pending)] == [one, other]
    assert third.status == "success"


def test_it_is_offered_where_it_is_named() -> None:
    assert "fetch_url" not in kit.tools()
    assert list(kit.tools("fetch_url")) == ["fetch_url"]
    assert set(kit.tools("default", "fetch_url")) == {*kit.tools(), "fetch_url"}
    with pytest.raises(ConfigError, match="no tool 'fetch'"):
        kit.tools("fetch")


async def test_a_script_is_given_nothing_of_what_reads_pages(tmp_path: Path) -> None:
    script = """
import sys
found = [name for name in sys.modules if name.partition(".")[0] in ("bs4", "six", "markdownify")]
for name in ("bs4", "six", "six.moves", "markdownify", "soupsieve", "typing_extensions"):
    try:
        __import__(name)
    except ImportError:
        continue
    found.append(name)
return found
"""
    async with Session([], workspace=tmp_path, policy=OPEN, check="off") as session:
        result = await session.run(script)
    assert (result.error, result.value) == (None, [])
