"""Lineshaft: a session as its users have it, on one of its engines."""

import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from protocol import Function, Peer, main

from lineshaft import Context, Limits, Policy, Session, Tool

WALLS = {"wasm": "WebAssembly", "cpython": "process, jailed"}


class Ours(Peer):
    """A session; what policy closes and stages is as it is outside of a benchmark."""

    package = "lineshaft"

    def __init__(self, engine: str) -> None:
        self._engine = engine
        self._session: Session | None = None
        self.protection = {
            "memory": "yes",
            "time": "yes",
            "wall": WALLS[engine],
            "policy": "yes",
            "staging": "yes",
            "approvals": "yes, durable",
        }

    async def open(self, tools: Mapping[str, Function], hidden: Mapping[str, Function]) -> None:
        """Open a session."""
        made = [
            Tool.from_function(function, name=name, effect="read")
            for name, function in {**tools, **hidden}.items()
            if name != "write_note"
        ]
        if "write_note" in tools:
            made.append(_writing())
        closed = [
            {"id": f"no-{name}", "tool": name, "verdict": "deny"} for name in ("refused", *hidden)
        ]
        self._session = Session(
            made,
            workspace=self._folder(),
            policy=Policy.from_dict({"mode": "auto", "rules": closed}),
            engine=self._engine,
            store=False,
        )
        await self._session.__aenter__()
        if self._engine == "wasm":
            await asyncio.sleep(0.1)  # the first instance is made while a user reads on

    def _folder(self) -> str:
        return self.folder or tempfile.gettempdir()

    async def close(self) -> None:
        """Close it."""
        if self._session is not None:
            await self._session.__aexit__(None, None, None)
            self._session = None

    async def run(self, code: str, *, seconds: float = 60, memory_mb: int = 256) -> Any:
        """Run it."""
        limits = Limits(seconds=seconds, calls=100_000, memory_mb=memory_mb)
        result = await self._there().run(code, limits=limits)
        return result.raise_for_status().value

    async def loaded(self) -> str:
        """Return the definition of the script tool."""
        return json.dumps(self._there().definitions("mcp"))

    def _there(self) -> Session:
        if self._session is None:
            raise RuntimeError("it is not open")
        return self._session


def _writing() -> Tool:
    """Return the tool that writes by the workspace, as a tool of Lineshaft does."""

    async def write_note(text: str, context: Context) -> int:
        """Write a note into the folder."""
        await context.workspace.write("note.txt", text.encode())
        return len(text)

    return Tool.from_function(write_note, name="write_note", effect="write")


if __name__ == "__main__":
    main(Ours(Path(sys.argv[1]).name))
