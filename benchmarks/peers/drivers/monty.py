"""Monty alone: the interpreter behind several peers, in a worker process."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from protocol import Function, Peer, main

HEAD = (
    "import asyncio\nimport json\nimport math\nimport re\nimport datetime\nToolError = Exception\n"
)
"""What scripts of Lineshaft have without an import."""


class Monty(Peer):
    """A pool of workers, and a fresh session for each script."""

    package = "pydantic-monty"
    protection = {  # noqa: RUF012  never changed
        "memory": "yes",
        "time": "yes, of its own work",
        "wall": "process, own interpreter",
        "policy": "no",
        "staging": "no",
        "approvals": "by snapshots, by hand",
    }

    def __init__(self) -> None:
        self._pool: Any = None
        self._tools: dict[str, Function] = {}

    async def open(self, tools: Mapping[str, Function], hidden: Mapping[str, Function]) -> None:
        """Start a pool."""
        monty: Any = import_module("pydantic_monty")
        self._tools = {name.replace(".", "_"): function for name, function in tools.items()}
        self._pool = monty.AsyncMonty()
        await self._pool.__aenter__()

    async def close(self) -> None:
        """End the pool."""
        if self._pool is not None:
            await self._pool.__aexit__(None, None, None)
            self._pool = None

    def adapted(self, code: str, names: Mapping[str, list[str]]) -> str:
        """Import what scripts of Lineshaft have; namespaces are prefixes."""
        return HEAD + code.replace("github.", "github_")

    async def run(self, code: str, *, seconds: float = 60, memory_mb: int = 256) -> Any:
        """Run it in a fresh session."""
        limits = {
            "max_memory": memory_mb * 1_000_000,
            "max_feed_duration_secs": seconds,
            "max_suspensions": 100_000,
        }
        async with self._pool.checkout(limits=limits) as session:
            return await session.feed_run(code, external_lookup=self._tools)


if __name__ == "__main__":
    main(Monty())
