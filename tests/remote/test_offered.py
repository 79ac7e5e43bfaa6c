"""Tools of a window in a session, over real sockets: calls, and what may go wrong with them."""

import asyncio
import errno
import hashlib
import json
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from lineshaft import Policy, Session, kit
from lineshaft.config import (
    Settings,
    Starting,
    claims_for,
    keep_claims,
    providers,
    read_settings,
    user_file,
)
from lineshaft.config import servers as servers_of
from lineshaft.mcp import Claim
from lineshaft.remote.host import HostAddress, addresses
from lineshaft.remote.offered import WindowTools
from lineshaft.remote.window import EditorWindow, window_at
from lineshaft.values import CallResult, Event
from remote.far import SECONDS, WINDOWS, Far, Near, hosted

FIND: dict[str, Any] = {
    "name": "find",
    "description": "Find a word.",
    "input_schema": {
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
    },
    "output_schema": {"type": "array", "items": {"type": "integer"}},
}
FREE: dict[str, Any] = {"name": "say", "input_schema": {"type": "object"}}
OPEN = Policy(mode="open")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # The state stays: in another one the native code of scripts would not count.
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "ws").mkdir()
    return (tmp_path / "ws").resolve()


def offered(root: Path, **more: Any) -> WindowTools:
    return WindowTools(window_at(root), name="window", **more)


@asynccontextmanager
async def working(
    root: Path, *tools: dict[str, Any], policy: Policy = OPEN, kind: str = "python", **more: Any
) -> AsyncGenerator[tuple[Session, Far, Near]]:
    """Give a session with the tools of a window, and that window."""
    grace = more.pop("grace", 30)
    async with hosted(root, "w", kind=kind, grace=grace) as (here, [far]):
        assert (await far.offer(*tools))["ok"]
        given = [kit.tools(), offered(root, **more)]
        async with Session(given, workspace=root, policy=policy) as session:
            await session.ready("window")
            yield session, far, here


async def names(session: Session, *wanted: str) -> None:
    """Wait until these are the tools of the window."""
    with anyio.fail_after(SECONDS):
        while tuple(n for n in session.tools if n.startswith("window.")) != wanted:
            await anyio.sleep(0.01)


def result(value: object) -> dict[str, Any]:
    return {
        "observation": "call_tool",
        "content": "",
        "extras": {"structured": True, "value": value},
    }


def error(code: str, text: str) -> dict[str, Any]:
    return {"observation": "error", "content": text, "extras": {"error_id": code}}


def begun(
    session: Session, tool: str = "window.find", **arguments: object
) -> asyncio.Task[CallResult]:
    return asyncio.create_task(session.call(tool, arguments or {"word": "x"}))


@pytest.mark.parametrize("kind", WINDOWS)
async def test_a_script_calls_a_tool_of_the_window(root: Path, kind: str) -> None:
    async with working(root, FIND, FREE, kind=kind, invocation="chat-1") as (session, far, _):
        script = 'found = await window.find(word="x")\nreturn [sum(found), await window.say()]'
        running = asyncio.create_task(session.run(script))
        frame = await far.next("oh_event")
        assert frame["action"] == "call_tool"
        assert frame["args"]["name"] == "find"
        assert frame["args"]["arguments"] == {"word": "x"}
        assert frame["args"]["invocation"] == "chat-1"
        assert 0 < frame["timeout"] <= 60
        await far.answer(frame["id"], **result([1, 2]))
        frame = await far.next("oh_event")
        await far.answer(frame["id"], "call_tool", content="hello", extras={})
        done = await running
        assert (done.status, done.value) == ("success", [3, "hello"]), done.error
        assert [call.tool for call in done.calls] == ["window.find", "window.say"]


async def test_progress_comes_as_events_of_the_call(root: Path) -> None:
    async with working(root, FIND) as (session, far, _):
        run = await session.start('return await window.find(word="x")')
        heard: list[Event] = []

        async def hear() -> None:
            async for event in run:
                heard.append(event)  # noqa: PERF401  looked at meanwhile

        hearing = asyncio.create_task(hear())
        frame = await far.next("oh_event")
        cause = frame["id"]
        for strange in (None, 7, {}, {"cause": 99, "done": 1}, {"cause": cause, "done": "1"}):
            await far.tell("oh_progress", strange)
        await far.tell("oh_progress", {"cause": cause, "done": 1, "total": 2, "text": "half"})
        with anyio.fail_after(SECONDS):
            while not any(event.kind == "progress" for event in heard):
                await anyio.sleep(0.01)
        await far.answer(cause, **result([]))
        assert (await run.result()).status == "success"
        await hearing
        told = [event.data for event in heard if event.kind == "progress"]
        assert [(each["done"], each["total"], each["text"]) for each in told] == [(1, 2, "half")]


async def test_a_tools_error_keeps_its_code_and_text(root: Path) -> None:
    async with working(root, FIND) as (session, far, _):
        for code, told in (("E_DENIED", "E_DENIED"), ("E_STRANGE", "E_TOOL_FAILED")):
            calling = begun(session)
            frame = await far.next("oh_event")
            await far.answer(frame["id"], **error(code, "the person said no"))
            done = await calling
            assert done.error is not None
            assert (done.error.code, done.error.message) == (told, "the person said no")
            assert done.status == "failed"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (result("x" * 10_000_001), "larger than 10,000,000 bytes"),
        (result({"a": 1}), "does not fit"),
        ({"observation": "write", "content": "", "extras": {"path": "a"}}, "another observation"),
        (
            {"observation": "call_tool", "content": "", "extras": {"structured": 1}},
            "cannot be read",
        ),
    ],
)
async def test_a_result_that_is_none_is_an_error(
    root: Path, answer: dict[str, Any], text: str
) -> None:
    async with working(root, FIND) as (session, far, _):
        calling = begun(session)
        frame = await far.next("oh_event")
        await far.answer(frame["id"], **answer)
        done = await calling
        assert done.error is not None
        assert text in done.error.message


async def test_a_text_is_read_as_json_where_the_tool_says_what_it_gives(root: Path) -> None:
    async with working(root, FIND) as (session, far, _):
        calling = begun(session)
        frame = await far.next("oh_event")
        await far.answer(frame["id"], "call_tool", content="[1, 2]", extras={})
        assert (await calling).value == [1, 2]


async def test_a_cancel_reaches_the_window(root: Path) -> None:
    async with working(root, FIND) as (session, far, here):
        run = await session.start('await window.find(word="x")')
        frame = await far.next("oh_event")
        run.cancel()
        assert await far.next("oh_cancel") == {"id": frame["id"]}
        done = await run.result()
        assert done.status == "cancelled"
        assert here.conversation.pending == ()


async def test_a_tool_that_is_taken_back_fails_its_call_and_is_gone(root: Path) -> None:
    async with working(root, FIND, FREE) as (session, far, here):
        calling, other = begun(session), begun(session, "window.say")
        frame = await far.next("oh_event")
        await far.offer(FREE)
        assert await far.next("oh_cancel") == {"id": frame["id"]}
        done = await calling
        assert done.error is not None
        assert done.status == "unknown"
        assert "took its tool 'find' back in the middle of the call" in done.error.message
        frame = await far.next("oh_event")  # it had waited for its turn
        await far.answer(frame["id"], "call_tool", content="hello", extras={})
        assert (await other).value == "hello"
        await names(session, "window.say")
        gone = await session.call("window.find", {"word": "x"})
        assert gone.error is not None
        assert gone.error.code == "E_UNKNOWN_TOOL"
        assert here.conversation.pending == ()


async def test_its_tools_come_once_a_limit_of_the_system_has_passed(root: Path) -> None:
    room = anyio.Event()

    def hosts() -> tuple[HostAddress, ...]:
        if not room.is_set():
            raise OSError(errno.EMFILE, "Too many open files")
        return addresses()

    async with hosted(root, "w") as (_, [far]):
        await far.offer(FIND)
        found = WindowTools(EditorWindow(root, hosts), name="window")
        async with Session([found], workspace=root) as session:
            with anyio.fail_after(SECONDS):
                await session.ready("window")
            assert "Too many open files" in found.problem
            room.set()
            await names(session, "window.find")
            assert found.problem == ""


async def test_its_tools_stay_up_where_the_one_who_is_told_fails(root: Path) -> None:
    told = list[str]()
    found = offered(root)

    def changed() -> None:
        told.append(found.problem)
        if len(told) <= 2:
            raise ValueError("of who is told")

    async with hosted(root, "w") as (_, [far]):
        await far.offer(FIND)
        async with found.opened(changed):
            with anyio.fail_after(SECONDS):
                while len(told) <= 2:
                    await anyio.sleep(0.01)
            assert list(found.tools) == ["window.find"]
    assert told == ["", "of who is told", ""]


async def test_a_window_that_goes_takes_its_tools_along(root: Path) -> None:
    async with working(root, FIND, grace=0.2) as (session, far, here):
        calling = begun(session)
        await far.next("oh_event")
        await far.send({"act": "end"})
        done = await calling
        assert done.error is not None
        assert done.status == "unknown"
        assert "did not come back in 0.2 s" in done.error.message
        await names(session)
        assert here.conversation.offer.tools == ()


async def test_a_tool_that_has_changed_is_not_called_by_who_knows_the_former_one(
    root: Path,
) -> None:
    async with hosted(root, "w") as (here, [far]), here.http() as client:
        at = f"/api/conversations/{here.conversation.id}"
        await far.offer(FIND)
        (told,) = (await client.get(f"{at}/tools")).json()["tools"]
        await far.offer({**FIND, "description": "Delete all."})
        for args, code in (
            ({"name": "find", "sha256": told["sha256"]}, "E_STALE"),
            ({"name": "none"}, "E_UNKNOWN_TOOL"),
        ):
            answer = await client.post(f"{at}/actions", json={"action": "call_tool", "args": args})
            said = answer.json()
            assert (said["status"], said["extras"]["error_id"]) == ("failed", code)
        assert far.none("oh_event")


async def test_who_waits_is_told_once_the_tools_are_others(root: Path) -> None:
    async with hosted(root, "w") as (here, [far]), here.http() as client:
        at = f"/api/conversations/{here.conversation.id}/tools"
        first = (await client.get(at)).json()
        assert first == {"tools": [], "left_out": {}, "number": 0}
        waiting = asyncio.create_task(client.get(at, params={"after": 0}))
        await far.offer(FIND, {"name": "?"})
        said = (await waiting).json()
        assert [tool["name"] for tool in said["tools"]] == ["find"]
        assert list(said["left_out"]) == ["?"]
        await far.offer(FIND, {"name": "?"})  # as before: nobody is told
        assert (await client.get(at)).json()["number"] == said["number"]
        assert (await client.get("/api/conversations/none/tools")).status_code == 404
    async with hosted(root) as (here, _):
        url = f"{here.url}/api/conversations/{here.conversation.id}/tools"
        async with here.http(Authorization="Bearer x") as stranger:
            assert (await stranger.get(url)).status_code == 401


async def test_lines_tell_how_far_an_action_is_and_end_with_its_observation(root: Path) -> None:
    async with hosted(root, "w") as (here, [far]), here.http() as client:
        at = f"/api/conversations/{here.conversation.id}/actions"
        await far.offer(FREE)
        asked = {"action": "call_tool", "args": {"name": "say"}}
        headers = {"Accept": "application/x-ndjson"}

        async def lines() -> list[Any]:
            async with client.stream("POST", at, json=asked, headers=headers) as answer:
                assert answer.headers["content-type"] == "application/x-ndjson"
                return [json.loads(line) async for line in answer.aiter_lines()]

        for steps in (0, 1):
            reading = asyncio.create_task(lines())
            frame = await far.next("oh_event")
            for _ in range(steps):
                await far.tell("oh_progress", {"cause": frame["id"], "done": 3, "total": 1e999})
            await far.answer(frame["id"], **result({"a": 1}))
            *progress, end = await reading
            assert progress in ([], [{"progress": {"done": 3, "total": None, "text": ""}}])
            assert (end["status"], end["extras"]["value"]) == ("done", {"a": 1})
        answer = await client.post(at, json={"action": "none"}, headers=headers)
        assert answer.status_code == 400
    async with hosted(root) as (here, _), here.http() as client:
        at = f"/api/conversations/{here.conversation.id}/actions"
        answer = await client.post(at, json=asked, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (503, "E_CONNECT")


async def test_a_client_of_lines_that_goes_cancels_the_action(root: Path) -> None:
    async with hosted(root, "w") as (here, [far]), here.http() as client:
        await far.offer(FREE)
        asked = {"action": "call_tool", "args": {"name": "say"}}
        headers = {"Accept": "application/x-ndjson"}
        at = f"/api/conversations/{here.conversation.id}/actions"
        asking = asyncio.create_task(client.post(at, json=asked, headers=headers))
        frame = await far.next("oh_event")
        asking.cancel()
        assert await far.next("oh_cancel") == {"id": frame["id"]}
        assert here.conversation.pending == ()


async def test_what_is_no_announcement_changes_nothing(root: Path) -> None:
    async with hosted(root, "w") as (here, [far]):
        await far.offer(FIND)
        for said in (None, "x", {}, {"tools": 1}):
            assert (await far.emit("oh_tools", said))["ok"] is False
        assert [tool.name for tool in here.conversation.offer.tools] == ["find"]


async def test_another_window_has_none_of_the_tools_of_the_one_before(root: Path) -> None:
    async with hosted(root, "w") as (here, [far]):
        await far.offer(FIND)
        about = {"conversation_id": here.conversation.id, "protocol": 1}
        async with WINDOWS["python"](here.url, {**about, "window": "w"}) as again:
            await again.next("connected")  # the same window, over another connection
            assert [tool.name for tool in here.conversation.offer.tools] == ["find"]
        async with WINDOWS["python"](here.url, {**about, "window": "v"}) as other:
            await other.next("connected")
            assert here.conversation.offer.tools == ()


async def test_no_built_in_tool_is_taken_and_each_call_lands_first(root: Path) -> None:
    builtin = {**FREE, "name": "read_file"}
    async with working(root, builtin, {**FREE, "name": "Read_File"}) as (session, far, _):
        await names(session, "window.Read_File")  # two spellings of one name: the first stays
        assert "read_file" in session.tools
        script = 'await write_file(path="a", content="x")\nreturn await window.Read_File()'
        running = asyncio.create_task(session.run(script))
        frame = await far.next("oh_event")
        assert (root / "a").read_text() == "x"
        await far.answer(frame["id"], "call_tool", content="hello", extras={})
        done = await running
        assert done.value == "hello", done.error


async def test_a_claim_counts_once_accepted_and_until_the_tool_changes(root: Path) -> None:
    reads = {**FIND, "effects": {"read_only": True}}
    seen: list[tuple[Sequence[Claim], str]] = []

    def claims(claimed: Sequence[Claim], digest: str) -> bool | Mapping[str, Any] | None:
        seen.append((claimed, digest))
        return len({each[1] for each in seen}) == 1 or None

    async with working(root, reads, policy=Policy(), claims=claims) as (session, far, _):
        calling = begun(session)
        frame = await far.next("oh_event")
        await far.answer(frame["id"], **result([1]))
        assert (await calling).value == [1]
        await far.offer({**reads, "description": "Find it all."})
        with anyio.fail_after(SECONDS):
            while session.tools["window.find"].effect != "external":
                await anyio.sleep(0.01)
        done = await session.call("window.find", {"word": "x"})
        assert done.status == "pending"
        assert far.none("oh_event")
    assert [[each.effect for each in claimed] for claimed, _ in seen] == [["read"], ["read"]]


def settings_of(root: Path, text: str = "") -> Settings:
    own = user_file()
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(f'[workspace]\nroot = "vscode:{root}"\n{text}', encoding="utf-8")
    return read_settings(root)


async def test_settings_offer_the_tools_of_the_window(root: Path) -> None:
    async with hosted(root, "w") as (_, [far]):
        await far.offer(FIND, {**FREE, "effects": {"read_only": True}})
        for text, wanted in (
            ("", {"window.find", "window.say"}),
            ('window_tools = ["f*"]', {"window.find"}),
            ("window_tools = []", set[str]()),
        ):
            told = providers(settings_of(root, text), starting=Starting())
            found: set[str] = set()
            for provider in told:
                async with provider.opened(lambda: None):
                    await provider.ready()
                    found |= set(provider.tools)
            assert found == wanted
    taken = '[mcp.servers.window]\ncommand = "true"\n'
    (_, window) = servers_of(settings_of(root, taken)).servers
    assert "you have a server that is named 'window'" in window.problem


async def test_an_answer_about_claims_is_for_the_window_of_one_folder(root: Path) -> None:
    (server,) = servers_of(settings_of(root)).servers
    claim = Claim(tool="window.say", effect="read", destructive=False, idempotent=True, sha256="1")
    keep_claims(server, "accept", claims=[claim])
    assert claims_for(server)([claim], "d") is True
    other = root.parent / "other"
    other.mkdir()
    (elsewhere,) = servers_of(settings_of(other)).servers
    assert claims_for(elsewhere)([claim], "d") is None
    for rule, counts in (("accept", True), ("external", False)):
        (ruled,) = servers_of(settings_of(root, f'window_claims = "{rule}"')).servers
        assert claims_for(ruled)([claim], "d") is counts


@pytest.mark.long
async def test_the_command_line_takes_an_answer_about_the_windows_claims(root: Path) -> None:
    settings_of(root)
    command = [sys.executable, "-m", "lineshaft"]
    async with hosted(root, "w") as (_, [far]):
        await far.offer({**FREE, "effects": {"read_only": True}})
        for words, told in (
            (("config", "mcp", "claims", "window", "--accept"), "window.say: only reads"),
            (("tools", "window.say"), "read"),
            (("config", "mcp"), str(root)),
        ):
            done = await anyio.run_process([*command, *words], cwd=root, check=False)
            assert done.returncode == 0, done.stderr
            assert told in done.stdout.decode()
        calling = asyncio.create_task(
            anyio.run_process([*command, "call", "window.say"], cwd=root, check=False)
        )
        frame = await far.next("oh_event")
        while frame["action"] != "call_tool":  # the folder is proved to be on this machine
            nonce = Path(frame["args"]["nonce"])
            proof = hashlib.sha256(nonce.read_bytes()).hexdigest()
            await far.answer(frame["id"], "buffers", content="", extras={"nonce": proof})
            frame = await far.next("oh_event")
        await far.answer(frame["id"], "call_tool", content="hello", extras={})
        ended = await calling
        assert (ended.returncode, ended.stdout) == (0, b"hello\n"), ended.stderr
