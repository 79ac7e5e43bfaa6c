"""A folder that a window shows, beside the same folder alone: what the wire costs.

The window is a process of this machine that does the actions on the folder (`window.py`): so the
figures are those of host, sockets and protocol, not those of an editor.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, cast

import httpx2

from lineshaft import Policy, Session, kit
from lineshaft.remote.host import HostAddress
from lineshaft.remote.protocol import ActionEvent, ReadAction, action_frame
from lineshaft.remote.window import actions_of, client_options, window_at
from lineshaft.workspace import Folder

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from remote.local import LocalRuntime

READS = 1_000
FILES = 5_000
EDITS = 100
SMALL = b"a line of text\n" * 20
TOKEN = "a-token-of-the-figures-alone"  # noqa: S105  of this machine, as long as they last

Figures = AsyncGenerator[tuple[str, float, float]]
Work = Callable[[], Awaitable[object]]


def show(turns: int) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as base:
        before = os.environ.get("XDG_STATE_HOME")
        os.environ["XDG_STATE_HOME"] = str(Path(base) / "state")
        try:
            root = Path(base).resolve() / "folder"
            fill(root)
            with hosted(root) as (host, conversation):
                place = HostedFolder(root, host, conversation)
                rows = measured(root, place, Path(base) / "journals", turns)
                asyncio.run(print_table("a folder, and a window over it", "wire", rows))
        finally:
            del os.environ["XDG_STATE_HOME"]
            if before is not None:
                os.environ["XDG_STATE_HOME"] = before


def fill(root: Path) -> None:
    """Make a folder of many small files."""
    for number in range(FILES):
        file = root / f"part-{number // 100}" / f"file-{number}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(SMALL)
    (root / "part-7" / "file-777.txt").write_bytes(SMALL + b"a needle\n")


@contextmanager
def hosted(root: Path) -> Generator[tuple[HostAddress, str]]:
    """Run a host and a window, each a process; yield the host's address and the conversation."""
    serve = [sys.executable, "-m", "lineshaft", "editor", str(root)]
    with subprocess.Popen(serve, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as host:
        stdin, stdout = cast("IO[str]", host.stdin), cast("IO[str]", host.stdout)
        stdin.write(f"{TOKEN}\n")
        stdin.flush()
        url = str(json.loads(stdout.readline())["url"])
        address = HostAddress(url=url, token=TOKEN, pid=host.pid, root=str(root), version="")
        with httpx2.Client(**client_options(address)) as client:
            made = client.post("/api/conversations", json={}).json()["conversation_id"]
            script = str(Path(__file__).with_name("window.py"))
            window = subprocess.Popen([sys.executable, script, url, TOKEN, made, str(root)])
            try:
                at = f"/api/conversations/{made}"
                while client.get(at).json()["conversation_status"] != "RUNNING":
                    time.sleep(0.05)
                yield address, made
            finally:
                window.terminate()
                window.wait()
                stdin.close()


@dataclass(frozen=True, slots=True)
class HostedFolder:
    """A folder that a window shows, with its host and conversation."""

    root: Path
    host: HostAddress
    conversation: str


async def measured(alone: Path, shown: HostedFolder, journals: Path, turns: int) -> Figures:
    """Give name, time of a folder alone, and time over a window that shows one as large."""
    local, action = LocalRuntime(alone), ReadAction(path="part-0/file-0.txt")
    frame = dict(action_frame(ActionEvent(id="0", action=action)))
    async with httpx2.AsyncClient(**client_options(shown.host)) as client:

        async def asked() -> None:
            (await client.post(actions_of(shown.conversation), json=frame)).raise_for_status()

        trip = await _pair(partial(local.perform, action), asked, turns * 50)
    yield "one action and its answer, ms", *trip
    folders = (
        Folder(alone, journals=journals),
        Folder(shown.root, journals=journals, editor=window_at(shown.root)),
    )
    reads = await _pair(partial(_reads, folders[0]), partial(_reads, folders[1]), turns)
    yield f"{READS:,} small reads, ms", *reads
    edits = await _pair(partial(_edits, folders[0]), partial(_edits, folders[1]), turns)
    yield f"{EDITS} edits, landed and saved, ms", *edits
    sessions = [
        Session(kit.tools(), workspace=folder, policy=Policy("open"), store=False)
        for folder in folders
    ]
    async with sessions[0], sessions[1]:
        near, far = sessions
        search = await _pair(partial(_search, near), partial(_search, far), turns)
    yield f"search over {FILES:,} files, ms", *search


async def _reads(folder: Folder) -> None:
    view = folder.begin("reads", atomic=True)
    for number in range(READS):
        await view.read(f"part-{number // 100}/file-{number}.txt")
    await view.discard()


async def _edits(folder: Folder) -> None:
    view = folder.begin("edits", atomic=True)
    for number in range(EDITS):
        path = f"part-{number // 100}/file-{number}.txt"
        data = (await view.read(path)).data
        await view.write(path, data[: len(SMALL)] + str(time.perf_counter_ns()).encode())
    await view.land()
    await view.discard()


async def _search(session: Session) -> None:
    found = await session.call("search_text", {"pattern": "a needle"})
    if found.error is not None:
        raise RuntimeError(found.error.message)


async def _pair(alone: Work, wire: Work, turns: int) -> tuple[float, float]:
    """Return medians of both in milliseconds, taken in turns; the first ones warm up."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(turns + 1):
        for work, kept in zip((alone, wire), times, strict=True):
            start = time.perf_counter()
            await work()
            if turn:
                kept.append((time.perf_counter() - start) * 1000)
    return statistics.median(times[0]), statistics.median(times[1])


async def print_table(title: str, column: str, rows: Figures) -> None:
    """Print figures of a folder alone beside others, as they come."""
    print(f"\n| {title:<44} | {'alone':>8} | {column:>9} | ratio |")
    print(f"| {'-' * 44} | {'-' * 7}: | {'-' * 8}: | {'-' * 4}: |", flush=True)
    async for name, alone, other in rows:
        print(f"| {name:<44} | {alone:8.2f} | {other:9.2f} | {other / alone:5.2f} |", flush=True)


if __name__ == "__main__":
    show(3 if "--quick" in sys.argv else 20)
