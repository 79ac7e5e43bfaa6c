"""A host and windows over real sockets: actions out, observations in, and who may come."""

import asyncio
import socket
from typing import Any

import anyio
import pytest

from lineshaft.errors import ConnectFailed
from lineshaft.http import _connections as connections
from lineshaft.remote.protocol import (
    Action,
    ActionEnd,
    ErrorObservation,
    ReadAction,
    RunAction,
    RunObservation,
    WriteAction,
    WriteObservation,
)
from remote.far import TOKEN, WINDOWS, Far, Near, near, node_window, python_window

BOTH = pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)


def about(near: Near, **more: object) -> dict[str, object]:
    return {"conversation_id": near.conversation.id, "window": "w", "protocol": 1, **more}


def begun(here: Near, action: Action, seconds: float | None = None) -> asyncio.Task[ActionEnd]:
    return asyncio.create_task(here.conversation.perform(action, seconds=seconds))


def code(end: ActionEnd) -> tuple[str, str]:
    assert isinstance(end.observation, ErrorObservation)
    return end.status, end.observation.error_id


async def joined(far: Far, here: Near) -> None:
    await far.next("connected")
    with anyio.fail_after(60):
        while not here.conversation.window:
            await anyio.sleep(0.01)


@BOTH
async def test_an_action_goes_out_and_its_observation_comes_back(window: Any) -> None:
    async with near() as here, window(here.url, about(here)) as far:
        await joined(far, here)
        act = begun(here, RunAction(command="exit 3"), 9)
        frame = await far.next("oh_event")
        assert frame["action"] == "run"
        assert frame["args"]["command"] == "exit 3"
        assert frame["timeout"] == 9
        assert frame["execution_target"] == "editor"
        extras = {"command": "exit 3", "metadata": {"exit_code": 3, "pid": 5}}
        acked = await far.answer(frame["id"], "run", content="out", extras=extras)
        assert acked == {"ok": True}
        end = await act
        assert end.status == "done"
        assert isinstance(end.observation, RunObservation)
        assert (end.observation.metadata.exit_code, end.observation.content) == (3, "out")


@BOTH
async def test_answers_out_of_order_twice_and_to_nothing(window: Any) -> None:
    async with near() as here, window(here.url, about(here)) as far:
        await joined(far, here)
        acts = [begun(here, WriteAction(path=str(number), content="x")) for number in range(3)]
        frames = [await far.next("oh_event") for _ in acts]
        for frame in reversed(frames):
            answer = {"content": frame["args"]["path"], "extras": {"path": "a"}}
            assert await far.answer(str(frame["id"]), **answer) == {"ok": True}
        assert [(await act).observation.content for act in acts] == ["0", "1", "2"]
        again = await far.answer(frames[0]["id"])
        assert again == {"ok": False, "reason": "duplicate"}
        assert await far.answer(4711) == {"ok": False, "reason": "unknown cause"}
        assert await far.answer(None) == {"ok": False, "reason": "no cause"}
        assert await far.emit("oh_event", "text") == {"ok": False, "reason": "no observation"}
        assert here.conversation.pending == ()


async def test_a_cut_link_loses_nothing_and_does_nothing_twice() -> None:
    async with near() as here, node_window(here.url, about(here)) as far:
        await joined(far, here)
        act = begun(here, ReadAction(path="a"))
        frame = await far.next("oh_event")
        await far.send({"act": "cut"})
        await far.next("disconnected")
        await far.next("connected")
        assert await far.next("oh_event") == frame
        extras = {"path": "a", "impl_source": "default"}
        acked = await far.answer(frame["id"], "read", content="text", extras=extras)
        assert acked == {"ok": True}
        assert (await act).observation.content == "text"
        assert here.conversation.pending == ()


async def test_a_link_that_stays_lost_ends_its_actions_and_the_next_window_works() -> None:
    async with near(grace=0.2) as here:
        async with python_window(here.url, about(here)) as far:
            await joined(far, here)
            act = begun(here, RunAction(command="x"))
            await far.next("oh_event")
        assert code(await act) == ("unknown", "E_CONNECTION_LOST")
        with pytest.raises(ConnectFailed, match="no editor is connected"):
            await here.conversation.perform(RunAction(command="x"))
        async with python_window(here.url, about(here)) as far:
            await joined(far, here)
            act = begun(here, RunAction(command="x"))
            frame = await far.next("oh_event")
            assert frame["id"] == 1
            await far.answer(frame["id"])
            assert isinstance((await act).observation, WriteObservation)


async def test_a_cancelled_wait_cancels_the_action_in_the_window() -> None:
    async with near() as here, python_window(here.url, about(here)) as far:
        await joined(far, here)
        act = begun(here, RunAction(command="sleep 60"))
        frame = await far.next("oh_event")
        act.cancel()
        assert await far.next("oh_cancel") == {"id": frame["id"]}
        assert here.conversation.pending == ()
        assert (await far.answer(frame["id"]))["reason"] == "late"


async def test_time_that_is_over_cancels_in_the_window_and_a_dialog_stops_the_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lineshaft.remote.protocol.delegations.SLACK_SECONDS", 0.1)
    async with near() as here, python_window(here.url, about(here)) as far:
        await joined(far, here)
        act = begun(here, ReadAction(path="a"), 0.1)
        frame = await far.next("oh_event")
        assert await far.next("oh_cancel") == {"id": frame["id"]}
        assert code(await act) == ("unknown", "E_TOOL_TIMEOUT")
        act = begun(here, ReadAction(path="a"), 1)
        frame = await far.next("oh_event")
        await far.tell("oh_status", {"cause": frame["id"], "status": "waiting"})
        await far.answer(frame["id"], "read", content="x", extras={"path": "a"})
        assert (await act).status == "done"


async def test_events_are_shown_and_those_that_were_missed_come_later() -> None:
    async with near() as here:
        for text in ("a", "b"):
            await here.conversation.show({"action": "message", "args": {"content": text}})
        async with python_window(here.url, about(here, latest_event_id="0")) as far:
            await joined(far, here)
            event = await far.next("oh_event")
            assert (event["id"], event["args"]) == (1, {"content": "b"})
            assert "execution_target" not in event
            assert far.none("oh_event")


@BOTH
@pytest.mark.parametrize(
    ("auth", "code", "said"),
    [
        ({"conversation_id": "nonesuch"}, "no_conversation", "nonesuch"),
        ({"protocol": 0}, "protocol", "update the extension"),
        ({"protocol": 2}, "protocol", "update Lineshaft"),
    ],
)
async def test_a_window_is_refused_with_the_reason(
    window: Any, auth: dict[str, object], code: str, said: str
) -> None:
    async with near() as here, window(here.url, about(here, **auth)) as far:
        refused = await far.next("refused")
        assert refused["code"] == code
        assert said in refused["message"]
        assert here.conversation.window is None


async def test_a_conversation_has_one_window_and_it_may_come_back_before_it_left() -> None:
    async with near() as here, python_window(here.url, about(here)) as first:
        await joined(first, here)
        async with python_window(here.url, about(here, window="other")) as second:
            assert (await second.next("refused"))["code"] == "taken"
        async with python_window(here.url, about(here)) as back:
            await back.next("connected")
            act = begun(here, ReadAction(path="a"))
            frame = await back.next("oh_event")
            await back.answer(frame["id"], "read", content="", extras={"path": "a"})
            assert (await act).status == "done"
            assert first.none("oh_event")


async def test_an_event_with_the_name_of_a_connections_end_is_none() -> None:
    async with near() as here, python_window(here.url, about(here)) as far:
        await joined(far, here)
        for name in ("connect", "disconnect"):
            assert await far.emit(name, {"conversation_id": "nonesuch"}) is None
        act = begun(here, ReadAction(path="a"))
        frame = await far.next("oh_event")
        await far.answer(frame["id"], "read", content="", extras={"path": "a"})
        assert (await act).status == "done"


@BOTH
async def test_nobody_comes_in_without_the_token(window: Any) -> None:
    async with (
        near() as here,
        window(here.url, about(here), token=TOKEN[::-1]) as far,
    ):
        assert (await far.next("refused"))["code"] == "http"
        assert here.conversation.window is None


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Authorization": "Bearer wrong-wrong-wrong"}, 401),
        ({"Authorization": ""}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://localhost:3000"}, 200),
    ],
)
async def test_requests_come_from_this_machine_and_show_the_token(
    headers: dict[str, str], status: int
) -> None:
    async with near() as here, here.http(**headers) as client:
        assert (await client.get("/api/conversations")).status_code == status
        assert (await client.get("/socket.io/?EIO=4&transport=websocket")).status_code in (
            {400} if status == 200 else {status}
        )


async def test_a_websocket_of_a_foreign_page_is_refused_before_it_opens() -> None:
    async with near() as here:
        port = int(here.url.rpartition(":")[2])
        request = (
            "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\n"
            f"Host: 127.0.0.1:{port}\r\nOrigin: http://evil.example\r\n"
            f"Authorization: Bearer {TOKEN}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )

        def asked() -> bytes:
            with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
                connection.sendall(request.encode())
                return connection.recv(4096)

        assert (await anyio.to_thread.run_sync(asked)).startswith(b"HTTP/1.1 403")


async def test_a_link_outlives_the_time_in_which_a_header_must_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.5)
    async with near() as here, python_window(here.url, about(here)) as far:
        await joined(far, here)
        window = here.conversation.window

        def given_up() -> bytes:
            """Begin a request after the window has come, and wait until it is closed."""
            port = int(here.url.rpartition(":")[2])
            with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
                connection.sendall(b"GET /api")
                return connection.recv(4096)

        assert await anyio.to_thread.run_sync(given_up) == b""
        act = begun(here, ReadAction(path="a.txt"), 9)
        frame = await far.next("oh_event")
        await far.answer(frame["id"], "read", content="a", extras={"path": "a.txt"})
        assert (await act).status == "done"
        assert here.conversation.window == window
        assert far.none("connected")


async def test_actions_are_delegated_over_http() -> None:
    async with near() as here, here.http() as client:
        made = (await client.post("/api/conversations")).json()
        assert made["status"] == "ok"
        at = f"/api/conversations/{made['conversation_id']}"
        action = {"action": "read", "args": {"path": "a"}}
        none = await client.post(f"{at}/actions", json=action)
        assert (none.status_code, none.json()["code"]) == (503, "E_CONNECT")
        auth = about(here, conversation_id=made["conversation_id"], editor="E", version="9")
        async with python_window(here.url, auth) as far:
            await far.next("connected")
            act = asyncio.create_task(client.post(f"{at}/actions", json=action))
            frame = await far.next("oh_event")
            told = (await client.get(at)).json()
            assert told["pending"] == [str(frame["id"])]
            assert told["window"] == {"id": "w", "editor": "E", "version": "9"}
            assert told["conversation_status"] == "RUNNING"
            await far.answer(frame["id"], "read", content="text", extras={"path": "a"})
            answer = (await act).json()
        assert (answer["content"], answer["status"]) == ("text", "done")
        assert answer["cause"] == frame["id"]
        shown = await client.post(f"{at}/events", json={"action": "message", "args": {}})
        assert shown.json() == {"id": 1}


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"{", 400, "not JSON"),
        (b"[]", 400, "no JSON object"),
        (b'{"action": "browse"}', 400, "'browse' is not supported"),
        (b'{"action": "run", "args": {}}', 400, ".command is missing"),
        (b'{"action": "run", "args": {"command": "x"}, "timeout": -1}', 400, "positive number"),
        (
            b'{"action": "run", "args": {"command": "x", "confirmation_state": "rejected"}}',
            400,
            "no person has confirmed the action",
        ),
        (
            b'{"action": "run", "args": {"command": "x"}, "timeout": 1%s}' % (b"0" * 400),
            400,
            "the timeout of action 0 is too large",
        ),
        (b" " * (33 * 1024 * 1024), 413, "larger than 33,554,432 bytes"),
    ],
    ids=["text", "list", "unknown", "empty", "time", "refused", "endless", "large"],
)
async def test_a_request_that_is_none_is_refused(body: bytes, status: int, said: str) -> None:
    async with near() as here, here.http() as client, python_window(here.url, about(here)) as far:
        await joined(far, here)
        at = f"/api/conversations/{here.conversation.id}/actions"
        answer = await client.post(at, content=body)
        assert answer.status_code == status
        assert said in answer.json()["message"]
        assert here.conversation.pending == ()
        missing = await client.post("/api/conversations/none/actions", content=b"{}")
        assert missing.status_code == 404


async def test_texts_with_half_a_character_reach_who_asked() -> None:
    half = "cut in the middle of an emoji: \ud83d"
    async with near() as here, here.http() as client, python_window(here.url, about(here)) as far:
        await joined(far, here)
        at = f"/api/conversations/{here.conversation.id}"
        action = {"action": "read", "args": {"path": "a"}}
        act = asyncio.create_task(client.post(f"{at}/actions", json=action))
        frame = await far.next("oh_event")
        await far.answer(frame["id"], "read", content=half, extras={"path": "a"})
        answer = await act
        assert (answer.status_code, answer.json()["content"]) == (200, half)
        await far.offer({"name": "count", "description": half, "input_schema": {"type": "object"}})
        told = (await client.get(f"{at}/tools")).json()
        assert [tool["description"] for tool in told["tools"]] == [half]


async def test_an_answer_that_is_nested_too_deep_is_told_as_done_and_lost() -> None:
    async with near() as here, here.http() as client, node_window(here.url, about(here)) as far:
        await joined(far, here)
        await far.offer({"name": "count", "input_schema": {"type": "object"}})
        at = f"/api/conversations/{here.conversation.id}/actions"
        action = {"action": "call_tool", "args": {"name": "count"}}
        value: list[object] = []
        for _ in range(600):
            value = [value]
        for headers in ({}, {"Accept": "application/x-ndjson"}):
            act = asyncio.create_task(client.post(at, json=action, headers=headers))
            frame = await far.next("oh_event")
            extras = {"structured": True, "value": value}
            await far.answer(frame["id"], "call_tool", content="", extras=extras)
            told = (await act).json()
            assert (told["status"], told["extras"]["error_id"]) == ("unknown", "E_REMOTE_PROTOCOL")
            assert "was done, but its answer is nested too deep" in told["content"]


@pytest.mark.parametrize("levels", [300, 700, 900])
async def test_what_is_nested_too_deep_is_refused_and_keeps_nothing_from_a_window(
    levels: int,
) -> None:
    deep = f'{{"x": {"[" * levels}{"]" * levels}}}'
    async with near() as here, here.http() as client:
        at = f"/api/conversations/{here.conversation.id}"
        told = await client.post(
            f"{at}/events", content=f'{{"observation": "x", "extras": {deep}}}'
        )
        assert (told.status_code, told.json()["message"]) == (400, "the request is nested too deep")
        await here.conversation.show({"observation": "later"})
        async with python_window(here.url, about(here)) as far:
            await far.next("connected")
            assert (await far.next("oh_event"))["observation"] == "later"
            await far.offer({"name": "count", "input_schema": {"type": "object"}})
            call = f'{{"action": "call_tool", "args": {{"name": "count", "arguments": {deep}}}}}'
            told = await client.post(f"{at}/actions", content=call)
        assert (told.status_code, told.json()["code"]) == (400, "E_REMOTE_PROTOCOL")
        assert here.conversation.pending == ()


@pytest.mark.no_cover
async def test_messages_of_thirty_megabytes_pass_both_ways_and_larger_ones_are_refused() -> None:
    text = "ä" * (15 * 1024 * 1024)
    async with near() as here, node_window(here.url, about(here)) as far:
        await joined(far, here)
        act = begun(here, WriteAction(path="a", content=text))
        frame = await far.next("oh_event")
        assert frame["args"]["content"] == text
        await far.answer(frame["id"], content=text)
        assert (await act).observation.content == text
        end = await begun(here, WriteAction(path="a", content=text * 2))
        assert code(end) == ("failed", "E_TOO_LARGE")
        assert here.conversation.pending == ()


async def test_conversations_are_bounded() -> None:
    async with near() as here, here.http() as client:
        first = here.conversation.id
        async with python_window(here.url, about(here)) as far:
            await joined(far, here)
            for _ in range(120):
                assert (await client.post("/api/conversations")).status_code == 200
            listed = (await client.get("/api/conversations")).json()["results"]
            assert len(listed) == 100
            assert first in [each["conversation_id"] for each in listed]


async def test_a_host_that_ends_ends_what_is_pending() -> None:
    async with near() as here, python_window(here.url, about(here)) as far:
        await joined(far, here)
        act = begun(here, RunAction(command="x"))
        await far.next("oh_event")
        here.host.close()
        assert code(await act) == ("unknown", "E_CONNECTION_LOST")


async def test_an_action_ends_in_the_window_when_its_client_goes() -> None:
    async with near() as here, python_window(here.url, about(here)) as far:
        await joined(far, here)
        at = f"/api/conversations/{here.conversation.id}/actions"
        async with here.http() as client:
            action = {"action": "run", "args": {"command": "x"}}
            act = asyncio.create_task(client.post(at, json=action))
            frame = await far.next("oh_event")
            act.cancel()
            await asyncio.wait([act])
        assert await far.next("oh_cancel") == {"id": frame["id"]}
        assert here.conversation.pending == ()
