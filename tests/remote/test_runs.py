"""Runs that a host tells its windows: lists, one run, the files that it changed."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from lineshaft import Policy, Session, kit, tool
from lineshaft.remote.host import EditorHost, KeptRuns
from lineshaft.store import Store, workspace_folder
from lineshaft.trace import Redactor
from lineshaft.values import Answer
from lineshaft.workspace import Folder
from native import own_state
from remote.far import near

FILES = kit.tools("read_file", "write_file", "edit_file", "move_file", "run_command")
SECRET = "correct-horse-battery"  # noqa: S105  of these tests alone


@tool(effect="external")
async def send(text: str) -> str:
    """Send a text."""
    return text


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_state(tmp_path / "state", monkeypatch)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


@asynccontextmanager
async def told(root: Path) -> AsyncGenerator[httpx2.AsyncClient]:
    """Serve a host of a folder, and give a client of it."""

    def open_runs() -> KeptRuns:
        folder = Folder(root, journals=workspace_folder(root))
        return KeptRuns(Store(), folder, Redactor([SECRET]).text)

    async with near(open_runs=open_runs) as here, here.http() as client:
        yield client


def session(root: Path, **more: Any) -> Session:
    return Session([FILES, send], workspace=root, store=Store(), secrets=[SECRET], **more)


async def got(client: httpx2.AsyncClient, path: str) -> Any:
    answer = await client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_run_is_told_with_its_calls_and_its_changes(root: Path) -> None:
    (root / "a.txt").write_text("one\n")
    async with told(root) as client:
        assert (await got(client, "/api/runs"))["results"] == []
        async with session(root) as here:
            run = await here.run(
                'await edit_file(path="a.txt", old="one", new="two")\n'
                'await read_file(path="none.txt")',
                name="fix.py",
            )
        (line,) = (await got(client, "/api/runs"))["results"]
        assert (line["run_id"], line["status"], line["name"]) == (run.run_id, "error", "fix.py")
        assert (line["calls"], line["process"]) == (2, None)
        one = await got(client, f"/api/runs/{run.run_id}")
        edit, read = one["call_list"]
        assert edit["text"] == 'edit_file path="a.txt" old="one" new="two"'
        assert (edit["status"], read["status"]) == ("done", "failed")
        assert read["error"]["code"] == "E_FILE_NOT_FOUND"
        assert one["error"]["code"] == "E_FILE_NOT_FOUND"


@pytest.mark.skipif(sys.platform != "linux", reason="platform: names of files are text there")
async def test_a_run_is_told_though_it_made_a_file_whose_name_is_no_text(root: Path) -> None:
    make = [sys.executable, "-c", "open(bytes([97, 255]), 'w')"]
    async with told(root) as client:
        async with session(root, policy=Policy(mode="open")) as here:
            run = await here.run(f"await run_command(command={make[0]!r}, args={make[1:]!r})")
        assert run.status == "success", run.error
        changes = (await got(client, f"/api/runs/{run.run_id}"))["changes"]
        assert [each["path"] for each in changes] == ["a\udcff"]


async def test_a_changed_file_is_told_before_and_after_without_secrets(root: Path) -> None:
    (root / "a.txt").write_text("one\n")
    async with told(root) as client:
        async with session(root) as here:
            run = await here.run(
                'await edit_file(path="a.txt", old="one", new="two")\n'
                'await move_file(source="a.txt", target="b.txt")\n'
                f'await write_file(path="new.txt", content="{SECRET}\\n")'
            )
        assert run.status == "success", run.error
        at = f"/api/runs/{run.run_id}/changes?path="
        assert await got(client, f"{at}b.txt") == {"before": "one\n", "after": "two\n", "note": ""}
        new = await got(client, f"{at}new.txt")
        assert (new["before"], new["after"]) == (None, "[redacted]\n")
        listed = (await got(client, f"/api/runs/{run.run_id}"))["changes"]
        assert {each["path"] for each in listed} == {"b.txt", "new.txt"}
        missing = await client.get(f"{at}../secret")
        assert (missing.status_code, missing.json()["code"]) == (404, "E_UNKNOWN_RUN")
        async with session(root) as here:
            await here.undo(run.run_id)
        gone = await client.get(f"{at}b.txt")
        assert gone.status_code == 400
        assert "undone" in gone.json()["message"]


async def test_a_file_that_is_no_text_has_a_note_in_place_of_a_diff(root: Path) -> None:
    (root / "a.bin").write_bytes(b"\xff\xfe\x00\x01")
    async with told(root) as client:
        async with session(root) as here:
            run = await here.run('await move_file(source="a.bin", target="b.bin")')
        one = await got(client, f"/api/runs/{run.run_id}/changes?path=b.bin")
        assert (one["before"], one["after"]) == (None, None)
        assert "no text" in one["note"]


async def test_who_waits_is_told_of_a_run_while_it_goes_on(root: Path) -> None:
    async with told(root) as client, session(root) as here:
        mark = (await got(client, "/api/runs"))["mark"]
        waiting = asyncio.create_task(got(client, f"/api/runs?after={mark}"))
        running = await here.start("import asyncio\nawait asyncio.sleep(600)")
        listed = await waiting
        assert listed["mark"] != mark
        (line,) = listed["results"]
        assert (line["run_id"], line["status"]) == (running.run_id, "running")
        assert line["process"] is not None
        running.cancel()
        assert (await running.result()).status == "cancelled"
        while (line := (await got(client, f"/api/runs?after={mark}"))["results"][0])["process"]:
            pass  # the end comes with the next write of the store
        assert line["status"] == "cancelled"


async def test_a_run_that_waits_says_what_for_and_what_a_yes_would_do(root: Path) -> None:
    async with told(root) as client, session(root, policy=Policy(mode="ask")) as here:
        run = await here.run(
            'await write_file(path="a.txt", content="hello\\n")\nawait send(text="x\\u202ey")'
        )
        assert run.status == "paused"
        one = await got(client, f"/api/runs/{run.run_id}")
        assert (one["status"], one["pending"]) == ("paused", 1)
        (call,) = one["waiting"]
        assert call["tool"] == "write_file"
        assert "+hello" in call["diff"]
        run = await here.resume(run.run_id, {"*": Answer(allow=True)})
        (call,) = (await got(client, f"/api/runs/{run.run_id}"))["waiting"]
        assert call["text"] == '"text": "x\\u202ey"'


async def test_runs_of_another_folder_are_not_told(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    async with told(root) as client:
        async with session(other) as here:
            run = await here.run('await write_file(path="a.txt", content="")')
        assert (await got(client, "/api/runs"))["results"] == []
        for path in ("", "/changes?path=a.txt"):
            answer = await client.get(f"/api/runs/{run.run_id}{path}")
            assert answer.status_code == 404
            assert "of this workspace" in answer.json()["message"]


async def test_a_host_without_a_reader_tells_of_no_runs() -> None:
    host = EditorHost(version="1")
    transport = httpx2.ASGITransport(host.app())
    async with httpx2.AsyncClient(transport=transport, base_url="http://here") as client:
        assert (await client.get("/api/runs")).status_code == 404
