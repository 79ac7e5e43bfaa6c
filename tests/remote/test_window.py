"""The window that a workspace asks, over real sockets: which one it is, and what can go wrong."""

import asyncio
import hashlib
import os
import sys
from base64 import b64encode
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

from lineshaft import Policy, Rule, Session, Tool, Toolset, kit
from lineshaft.errors import ConfigError, StaleFile, TooLarge, WindowRefused, WorkspaceError
from lineshaft.remote.host import HostAddress, addresses, published
from lineshaft.remote.window import EditorWindow, editor_tools, only_folder, window_at, window_over
from lineshaft.values import Answer, Call, Context, Pending, Value
from lineshaft.workspace import EditorEdit, EditorReview, Folder
from native import own_state
from remote.far import TOKEN, Far, hosted, near, python_window

SAID: Mapping[str, Any] = {"content": "", "extras": {}}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    own_state(tmp_path / "state", monkeypatch)
    (tmp_path / "ws").mkdir()
    return (tmp_path / "ws").resolve()


async def answers(far: Far, *said: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Answer the next actions in order, and return them."""
    came: list[dict[str, Any]] = []
    for each in said:
        frame = await far.next("oh_event")
        came.append(frame)
        more = {"observation": frame["action"], **SAID, **each}
        await far.answer(frame["id"], **more)
    return came


async def served(far: Far, running: asyncio.Task[Any], **said: dict[str, Any]) -> Any:
    """Answer every action by its kind until something has ended, and return what it gives."""
    while not running.done():
        coming = asyncio.create_task(far.next("oh_event"))
        await asyncio.wait((coming, running), return_when=asyncio.FIRST_COMPLETED)
        if coming.done():
            frame = await coming
            kind = frame["action"]
            await far.answer(frame["id"], kind, content="", extras=said[kind])
        else:
            coming.cancel()
    return await running


def failed(code: str) -> dict[str, Any]:
    return {"observation": "error", "content": "no", "extras": {"error_id": code}}


async def asked(act: Any, *arguments: Any) -> Any:
    return await to_thread.run_sync(partial(act, *arguments))


async def test_a_window_proves_that_it_is_on_this_machine(root: Path) -> None:
    async with hosted(root, "w") as (_, [far]):
        finding = asyncio.create_task(asked(window_over, root))
        frame = await far.next("oh_event")
        nonce = Path(frame["args"]["nonce"])
        sha256 = hashlib.sha256(nonce.read_bytes()).hexdigest()
        await far.answer(frame["id"], "buffers", content="", extras={"nonce": sha256})
        assert isinstance(await finding, EditorWindow)
        assert not nonce.exists()
        finding = asyncio.create_task(asked(window_over, root))
        await answers(far, {"extras": {"nonce": None}})
        with pytest.raises(ConfigError, match="on another machine"):
            await finding


async def test_no_window_several_and_one_that_is_not_trusted_are_told(
    root: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="there is no window"):
        only_folder()
    async with hosted(root):
        assert only_folder() == root
        with pytest.raises(ConfigError, match="its window is not connected"):
            await asked(window_over, root)
        with pytest.raises(ConfigError, match=f"there are windows over {root}"):
            await asked(window_over, tmp_path)
        async with hosted(tmp_path):
            with pytest.raises(ConfigError, match="several windows"):
                only_folder()
    async with hosted(root, "w", "v"):
        with pytest.raises(ConfigError, match="several windows of VS Code show"):
            await asked(window_over, root)
    async with hosted(root, "w") as (_, [far]):
        finding = asyncio.create_task(asked(window_over, root))
        await answers(far, failed("E_DENIED"))
        with pytest.raises(ConfigError, match=r"no window of VS Code shows .*: no"):
            await finding


async def test_what_is_not_saved_is_sent_once_and_said_to_be_unclear(root: Path) -> None:
    typed = {"path": "a/b", "version": "1.2", "state": "sent", "data": b64encode(b"x").decode()}
    unclear = {"path": "c", "version": "2.1", "state": "unclear", "data": None}
    async with hosted(root, "w") as (_, [far]):
        window = window_at(root)
        looking = asyncio.create_task(asked(window.unsaved))
        await answers(far, {"extras": {"buffers": [typed, unclear]}})
        found = await looking
        assert {real: each.data for real, each in found.items()} == {
            str(root / "a" / "b"): b"x",
            str(root / "c"): None,
        }
        window.look_again()
        looking = asyncio.create_task(asked(window.unsaved))
        (frame,) = await answers(
            far, {"extras": {"buffers": [{**typed, "state": "known", "data": None}]}}
        )
        assert frame["args"]["known"] == {"a/b": "1.2"}
        assert {each.data for each in (await looking).values()} == {b"x"}


@pytest.mark.parametrize(
    ("said", "kind", "text"),
    [
        (failed("E_STALE"), StaleFile, "no"),
        (failed("E_TOO_LARGE"), TooLarge, "no"),
        (failed("E_WHATEVER"), WorkspaceError, "no"),
        (
            {"observation": "read", "extras": {"path": "a"}},
            WorkspaceError,
            "^the window answered the action 'land' with 'read'$",
        ),
        ({"extras": {"files": []}}, WorkspaceError, "says nothing of 'a'"),
        (
            {"extras": {"files": [{"path": "a", "by_editor": True, "data": "?"}]}},
            WorkspaceError,
            "no Base64",
        ),
        ({"extras": {"files": 1}}, WorkspaceError, "cannot be read"),
    ],
)
async def test_an_answer_that_is_no_landing_is_an_error(
    root: Path, said: dict[str, Any], kind: type[WorkspaceError], text: str
) -> None:
    edit = EditorEdit(path="a", real=str(root / "a"), before=None, after=b"x")
    async with hosted(root, "w") as (_, [far]):
        editing = asyncio.create_task(asked(window_at(root).edit, [edit]))
        await answers(far, said)
        with pytest.raises(kind, match=text):
            await editing


async def test_a_window_that_was_loaded_again_is_found_again(root: Path) -> None:
    window = window_at(root)
    for _ in range(2):  # another host each time, at another address
        async with hosted(root, "w") as (_, [far]):
            window.look_again()
            looking = asyncio.create_task(asked(window.unsaved))
            await answers(far, {"extras": {"buffers": []}})
            assert await looking == {}
    window.look_again()
    with pytest.raises(WorkspaceError, match="not connected"):
        await asked(window.unsaved)


async def test_nothing_is_sent_to_the_port_of_a_host_that_has_ended(root: Path) -> None:
    window = window_at(root)
    async with near() as here:
        about = {"conversation_id": here.conversation.id, "window": "w", "protocol": 1}
        address = HostAddress(url=here.url, token=TOKEN, pid=1, root=str(root), version="1")
        async with python_window(here.url, about) as far:
            await far.next("connected")
            with published(address):
                looking = asyncio.create_task(asked(window.unsaved))
                await answers(far, {"extras": {"buffers": []}})
                assert await looking == {}
            window.look_again()  # its port still answers, but its address is gone
            with pytest.raises(WorkspaceError, match="not connected"):
                await asked(window.unsaved)


@pytest.mark.parametrize(
    "url", ["http://example.org:80", "http://127.0.0.1:80@example.org", "http://127.0.0.1:8/x", ""]
)
def test_an_address_that_is_not_on_this_machine_does_not_count(root: Path, url: str) -> None:
    with published(HostAddress(url=url, token=TOKEN, pid=1, root=str(root), version="1")):
        assert addresses() == ()


@pytest.mark.skipif(sys.platform == "win32", reason="needs modes of files")
def test_an_address_file_that_others_may_open_does_not_count(root: Path) -> None:
    address = HostAddress(
        url="http://127.0.0.1:80", token=TOKEN, pid=1, root=str(root), version="1"
    )
    with published(address) as file:
        assert addresses() == (address,)
        for mode in (0o604, 0o620):
            file.chmod(mode)
            assert addresses() == ()
        file.chmod(0o600)
        kept = file.rename(file.with_name("kept"))
        file.symlink_to(kept)
        assert addresses() == ()
        kept.unlink()


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="needs root, to give a file away"
)
def test_an_address_file_of_another_user_does_not_count(root: Path) -> None:
    address = HostAddress(
        url="http://127.0.0.1:80", token=TOKEN, pid=1, root=str(root), version="1"
    )
    with published(address) as file:
        os.chown(file, 65_534, 65_534)
        assert addresses() == ()


async def test_a_person_at_the_window_answers_and_silence_leaves_calls_waiting(root: Path) -> None:
    call = Pending(id="c1", tool="run_command", arguments={"command": "ls"}, reason="it acts")
    async with hosted(root, "w") as (_, [far]):
        asking = asyncio.create_task(window_at(root).approve([call]))
        (frame,) = await answers(
            far, {"extras": {"answers": [{"id": "c1", "allow": True, "scope": "run"}]}}
        )
        assert frame["args"]["calls"] == [
            {
                "id": "c1",
                "tool": "run_command",
                "text": '"command": "ls"',
                "reason": "it acts",
                "diff": "",
                "holds_for": "",
            }
        ]
        assert await asking == {"c1": Answer(allow=True, scope="run")}
        asking = asyncio.create_task(window_at(root).approve([call]))
        await answers(far, failed("E_DENIED"))
        assert await asking == {}
        asking = asyncio.create_task(window_at(root).approve([call]))
        no = {"id": "c1", "allow": False, "reason": f"use\n\u202e`make` {'x ' * 1_000}"}
        await answers(far, {"extras": {"answers": [no]}})
        reason = (await asking)["c1"].reason
        assert reason.startswith(r"use \u202e`make` x x x")
        assert len(reason) <= 510
    assert await window_at(root).approve([call]) == {}


async def test_a_person_is_sent_all_of_a_call_in_a_form_that_no_value_can_fake(root: Path) -> None:
    long = "echo " + "x" * 300_000 + "; rm -r a"
    faked = Pending(
        id="c1",
        tool="fetch_url",
        arguments={"url": 'x", "max_bytes": "1\nurl: y\u202e', "command": long},
        reason="it acts",
        holds_for="https://example.org:443",
    )
    text = "a b " * 1_000_000
    huge = Pending(id="c2", tool="write_file", arguments={"content": text}, reason="it acts")
    async with hosted(root, "w") as (_, [far]):
        asking = asyncio.create_task(window_at(root).approve([faked, huge]))
        (frame,) = await answers(far, {"extras": {"answers": []}})
        assert await asking == {}
    first, second = frame["args"]["calls"]
    assert first["text"].split("\n") == [
        r'''"url": "x\", \"max_bytes\": \"1\nurl: y\u202e"''',
        f'"command": "{long}"',
    ]
    assert first["holds_for"] == "https://example.org:443"
    shown, mark = second["text"].rsplit("\n", 1)
    left = len('"content": ""') + len(text) - len(shown)
    assert mark == f"… {left:,} more characters are left out"
    assert 900_000 < len(shown) <= 1_000_000


async def test_errors_of_files_that_policy_closes_are_not_told(root: Path) -> None:
    for folder in ("src", "docs"):
        (root / folder).mkdir()
    for name in (".env", "src/a.py", "docs/b.py", "shut.py"):
        (root / name).write_text("x\n")
    (root / "link.py").symlink_to(".env")
    paths = [".env", "link.py", "shut.py", "../out.py", "/etc/passwd", "src/a.py", "docs/b.py"]
    found = [{"path": path, "range": [1, 1, 1, 2], "message": "m"} for path in paths]
    extras = {"count": 7, "diagnostics": [{**each, "severity": "error"} for each in found]}

    async def box(context: Context) -> object:
        """Look with less."""
        less = await context.narrowed(read=["src"])
        done = await less.dispatch(Call(tool="editor.get_errors", arguments={}, origin="code"))
        assert isinstance(done, Value), done
        return done.value

    narrow = Tool.from_function(box, effect="read", container=True)
    policy = Policy(rules=(Rule("shut", "deny", path="shut.py"),))
    tools = editor_tools(root).combine(Toolset([narrow]))
    async with (
        hosted(root, "w") as (_, [far]),
        Session(tools, workspace=root, policy=policy) as session,
    ):
        for tool, told in (
            ("editor.get_errors", ["src/a.py", "docs/b.py"]),
            ("box", ["src/a.py"]),
        ):
            running = asyncio.create_task(session.call(tool))
            await answers(far, {"extras": extras})
            done = await running
            assert done.error is None, done.error
            value: Any = done.value
            assert [each["path"] for each in value["diagnostics"]] == told
            assert value["count"] == len(told)


async def test_a_window_that_has_lost_its_link_is_waited_for(root: Path) -> None:
    about: dict[str, object] = {"window": "w", "protocol": 1}
    async with hosted(root) as (here, _):
        about["conversation_id"] = here.conversation.id
        window = window_at(root)
        async with python_window(here.url, about) as far:
            await far.next("connected")
            looking = asyncio.create_task(asked(window.unsaved))
            await answers(far, {"extras": {"buffers": []}})
            assert await looking == {}
        asking = asyncio.create_task(asked(window_at(root).errors, None))
        async with python_window(here.url, about) as far:
            extras: dict[str, object] = {"count": 0, "diagnostics": []}
            await answers(far, {"extras": extras})
            assert (await asking).count == 0


async def test_a_person_decides_about_what_is_not_saved_and_is_not_asked_twice(root: Path) -> None:
    async with hosted(root, "w") as (_, [far]):
        window = window_at(root)
        for known, left in (({}, {"a": "1.1"}), ({"a": "1.1"}, {})):
            asking = asyncio.create_task(window.prepare(["b"], "pytest \u202e"))
            (frame,) = await answers(far, {"extras": {"left": left, "saved": []}})
            assert frame["args"] == {
                "paths": ["b"],
                "process": r"pytest \u202e",
                "known": known,
                "thought": "",
            }
            assert frame.get("timeout") is None  # a dialog may stay open
            await asking
        asking = asyncio.create_task(window.prepare(["b"]))
        await answers(far, failed("E_DENIED"))
        with pytest.raises(WindowRefused, match="no"):
            await asking
    with pytest.raises(WorkspaceError, match="its window is not connected"):
        await window.prepare([], "pytest")


async def test_a_question_goes_with_who_asked_it(root: Path) -> None:
    async with hosted(root, "w") as (_, [far]):
        asking = asyncio.create_task(window_at(root).prepare([], "pytest"))
        frame = await far.next("oh_event")
        asking.cancel()
        assert (await far.next("oh_cancel"))["id"] == frame["id"]


RUNS_TWICE = """
codes = []
for _ in range(2):
    try:
        codes.append((await run_command(command="touch ran"))["exit_code"])
    except ToolError as error:
        codes.append([error.code, error.message])
return codes
"""


async def test_a_refusal_to_save_reaches_the_script_with_the_names(root: Path) -> None:
    folder = Folder(root, journals=root.parent / "journals", editor=window_at(root))
    refused = {"observation": "error", "content": "not started: 'a' is not saved"}
    async with (
        hosted(root, "w") as (_, [far]),
        Session(
            kit.tools("run_command"),
            workspace=folder,
            policy=Policy(mode="open"),
        ) as session,
    ):
        running = asyncio.create_task(session.run(RUNS_TWICE))
        (frame,) = await answers(far, {**refused, "extras": {"error_id": "E_DENIED"}})
        assert frame["action"] == "prepare"
        assert frame["args"]["process"] == 'run_command {"command":"touch ran"}'
        assert not (root / "ran").exists()
        done = await served(far, running, prepare={}, buffers={"buffers": []})
    assert done.value == [["E_DENIED", "not started: 'a' is not saved"], 0], done.error
    assert [call.status for call in done.calls] == ["refused", "done"]
    assert (root / "ran").exists()


async def test_a_command_is_not_started_where_there_is_no_window_to_ask(root: Path) -> None:
    folder = Folder(root, journals=root.parent / "journals", editor=window_at(root))
    async with Session(
        kit.tools("run_command"), workspace=folder, policy=Policy(mode="open")
    ) as session:
        done = await session.run('await run_command(command="touch ran")')
    assert done.error is not None
    assert "its window is not connected" in done.error.message
    assert not (root / "ran").exists()


async def test_a_person_is_shown_changes_and_tells_which_are_dropped(root: Path) -> None:
    changes = [
        EditorReview(path="a", kind="modified", before=b"1", after=b"2"),
        EditorReview(path="b", kind="moved", moved_from="c", note="a folder"),
        EditorReview(path="huge", kind="created", after=b"x" * 2_000_000),
    ]
    async with hosted(root, "w") as (_, [far]):
        looking = asyncio.create_task(window_at(root).review(changes))
        said = {"a": f"no\n{'x ' * 1_000}", "b": "", "unknown": "not asked about"}
        (frame,) = await answers(far, {"extras": {"dropped": said}})
        dropped = await looking
    assert list(dropped) == ["a", "b"]
    assert dropped["a"].startswith("no x x x")
    assert len(dropped["a"]) <= 500
    first, second, third = frame["args"]["changes"]
    assert (first["before"], first["after"]) == ("MQ==", "Mg==")
    assert (second["moved_from"], second["note"]) == ("c", "a folder")
    assert (third["after"], third["note"]) == (None, "too large to show: 2,000,000 bytes")
