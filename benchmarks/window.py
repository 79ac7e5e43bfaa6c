"""A window for the figures of the wire: a process that does actions on a folder, without an editor.

Started with the host's address, its token, a conversation and the folder.
"""

import asyncio
import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from remote.local import BeginAction, Executions, LocalRuntime, SendAnswer


async def main(url: str, token: str, conversation: str, folder: str) -> None:
    """Do what the host asks for, several at once, until the link ends."""
    client: Any = importlib.import_module("socketio").AsyncClient(
        reconnection_delay=0.1, randomization_factor=0
    )
    runtime, executions = LocalRuntime(folder), Executions()
    tasks: set[asyncio.Task[None]] = set()

    async def act(told: BeginAction) -> None:
        done = await runtime.perform(told.event.action, seconds=told.event.timeout)
        await client.emit("oh_event", executions.answered(told.event.id, done))

    async def came(frame: Mapping[str, object]) -> None:
        told = executions.receive(frame)
        if isinstance(told, BeginAction):
            task = asyncio.create_task(act(told))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        elif isinstance(told, SendAnswer):
            await client.emit("oh_event", told.frame)

    client.on("oh_event", came)
    await client.connect(
        url,
        headers={"Authorization": f"Bearer {token}"},
        auth={"conversation_id": conversation, "window": "bench", "protocol": 1},
        transports=["websocket"],
    )
    await client.wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
