"""No peer: the host's own Python executes the script, with the functions themselves in scope."""

import asyncio
import datetime
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from protocol import Function, Peer, main


class Plain(Peer):
    """`exec` in the host: what a wall, a gate and a record are measured against."""

    protection = dict.fromkeys(("memory", "time", "wall", "policy", "staging", "approvals"), "no")

    def __init__(self) -> None:
        self._scope: dict[str, Any] = {}

    async def open(self, tools: Mapping[str, Function], hidden: Mapping[str, Function]) -> None:
        """Put them in scope."""
        modules = {m.__name__: m for m in (asyncio, datetime, json, math, re)}
        self._scope = {**modules, **{name.replace(".", "_"): f for name, f in tools.items()}}

    def adapted(self, code: str, names: Mapping[str, list[str]]) -> str:
        """Make a function of it; namespaces are prefixes."""
        lines = code.replace("github.", "github_").splitlines()
        return "async def program():\n" + "".join(f"    {line}\n" for line in lines)

    async def run(self, code: str, *, seconds: float = 60, memory_mb: int = 256) -> Any:
        """Execute it."""
        scope = dict(self._scope)
        exec(code, scope)  # noqa: S102  this is the peer without a wall
        return await scope["program"]()


if __name__ == "__main__":
    main(Plain())
