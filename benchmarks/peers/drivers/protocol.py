"""The protocol between the runner and a peer: one JSON document a line, on standard streams.

A driver needs nothing but the standard library and its peer. Requests are `{"do": ..., ...}`;
answers are `{"ok": true, ...}` or `{"ok": false, "error": ...}`.
"""

import asyncio
import json
import os
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module, metadata
from types import ModuleType
from typing import Any, TextIO

Function = Callable[..., Awaitable[Any]]


class Peer(ABC):
    """One way to run scripts over tools."""

    package = ""
    """Its distribution, for the version; empty: none."""

    folder = ""
    """Where tools write, for peers with a workspace."""

    protection: Mapping[str, str]
    """By column: memory, time, wall, policy, staging, approvals."""

    async def open(self, tools: Mapping[str, Function], hidden: Mapping[str, Function]) -> None:
        """Take tools, and tools that a script must not reach."""
        del tools, hidden

    async def close(self) -> None:
        """Let go of all of it; there may be nothing."""
        return

    @abstractmethod
    async def run(self, code: str, *, seconds: float = 60, memory_mb: int = 256) -> Any:
        """Run one script as its users would; return its value, raise what it raised."""

    def adapted(self, code: str, names: Mapping[str, list[str]]) -> str:
        """Return a program in the form that the peer takes.

        Args:
            code: With `await tool(...)` and a `return` at its end.
            names: The parameters of each tool.
        """
        del names
        return code

    async def loaded(self) -> str:
        """Return the text that a client loads of the tools; empty where the peer has none."""
        return ""


class Tools:
    """The tools of the workloads, and what they did."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.ran: list[str] = []

    async def add(self, a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    async def blob(self, size: int) -> str:
        """Return a text of a size."""
        return "x" * size

    async def refused(self) -> str:
        """Do what nobody permits."""
        self.ran.append("refused")
        raise PermissionError("this is not permitted")

    async def secret(self) -> str:
        """Return what no script may see."""
        self.ran.append("secret")
        return "the secret"

    async def write_note(self, text: str) -> int:
        """Write a note into the folder."""
        path = os.path.join(self.folder, "note.txt")  # noqa: PTH118  the one line that needs it
        with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123, ASYNC230  as it is meant
            return file.write(text)

    def given(self) -> dict[str, Function]:
        """Return those that scripts get."""
        return {
            "add": self.add,
            "blob": self.blob,
            "refused": self.refused,
            "write_note": self.write_note,
        }


def many(count: int) -> dict[str, Function]:
    """Return tools of a catalogue of some size."""
    found: dict[str, Function] = {}
    for number in range(count):

        async def record(customer: str, limit: int = 10, open_only: bool = False) -> list[str]:  # noqa: FBT001, FBT002  as tools have it
            """Return the records of a customer, newest first."""
            return [customer] * limit if open_only else []

        record.__name__ = record.__qualname__ = f"records_{number:03}"
        found[record.__name__] = record
    return found


class Driver:
    """Answers the runner's requests for one peer."""

    def __init__(self, peer: Peer, pipe: TextIO) -> None:
        self._peer = peer
        self._pipe = pipe
        self._tools = Tools("")
        self._names: dict[str, list[str]] = {}

    async def serve(self) -> None:
        """Answer until standard input ends."""
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            asked = json.loads(line)
            try:
                answer = {"ok": True, **await self._answer(asked.pop("do"), **asked)}
            except Exception as error:  # noqa: BLE001  whatever a peer raises is its answer
                answer = {"ok": False, "error": f"{type(error).__name__}: {error}"[:500]}
            self._pipe.write(json.dumps(answer, default=repr) + "\n")
            self._pipe.flush()
        await self._peer.close()

    async def _answer(self, do: str, **given: Any) -> dict[str, Any]:
        return await getattr(self, f"_{do}")(**given)

    async def _hello(self) -> dict[str, Any]:
        peer = self._peer
        version = metadata.version(peer.package) if peer.package else ""
        return {"version": version, "protection": dict(peer.protection)}

    async def _open(self, folder: str) -> dict[str, Any]:
        self._tools, self._peer.folder = Tools(folder), folder
        given = self._tools.given()
        self._names = {name: _parameters(each) for name, each in given.items()} | {"secret": []}
        begun = time.perf_counter()
        await self._peer.open(given, {"secret": self._tools.secret})
        return {"ms": (time.perf_counter() - begun) * 1000}

    async def _run(self, code: str, seconds: float = 60, memory_mb: int = 256) -> dict[str, Any]:
        text = self._peer.adapted(code, self._names)
        self._tools.ran.clear()
        begun = time.perf_counter()
        try:
            value = await self._peer.run(text, seconds=seconds, memory_mb=memory_mb)
            told: dict[str, Any] = {"value": value}
        except Exception as error:  # noqa: BLE001  how a script ends is what is asked
            told = {"raised": f"{type(error).__name__}: {error}"[:300]}
        return {"ms": (time.perf_counter() - begun) * 1000, "ran": list(self._tools.ran), **told}

    async def _shut(self) -> dict[str, Any]:
        await self._peer.close()
        return {}

    async def _together(self, codes: list[str]) -> dict[str, Any]:
        texts = [self._peer.adapted(code, self._names) for code in codes]
        begun = time.perf_counter()
        values = await asyncio.gather(*[self._peer.run(text) for text in texts])
        return {"ms": (time.perf_counter() - begun) * 1000, "values": values}

    async def _catalogue(self, count: int) -> dict[str, Any]:
        await self._peer.close()
        begun = time.perf_counter()
        await self._peer.open(many(count), {})
        text = await self._peer.loaded()
        return {"ms": (time.perf_counter() - begun) * 1000, "text": text}

    async def _programs(self, folder: str, seconds: float) -> dict[str, Any]:
        """Run the natural programs, each in a fresh world."""
        world = _world(folder)
        plain, right, failed = 0, 0, dict[str, int]()
        names = {name: _parameters(each)[1:] for name, each in world.tools.items()}
        expected = world.expected()
        await self._peer.close()
        await self._peer.open(world.functions(), {})
        for name, code in world.programs().items():
            world.renew()
            text = self._peer.adapted(code, names)
            try:
                value = await self._peer.run(text, seconds=seconds)
            except Exception as error:  # noqa: BLE001  counted by kind
                why = type(error).__name__
                failed[why] = failed.get(why, 0) + 1
                continue
            plain += 1
            right += json.loads(json.dumps(value, default=repr)) == expected[name]
        return {"ended": plain, "right": right, "of": len(expected), "failed": failed}


def _world(folder: str) -> Any:
    """Return the world of the natural programs, which is a package of the tests."""
    sys.path.insert(0, folder)
    try:
        import_module("lineshaft.errors")
    except ImportError:
        _stand_in()
    from programs import ProgramWorld  # noqa: PLC0415  needs the path above

    return ProgramWorld()


def _stand_in() -> None:
    """Give the world the one class that it takes from Lineshaft."""

    class ToolError(Exception):
        """An error with a code."""

        def __init__(self, code: str, message: str) -> None:
            super().__init__(message)
            self.code = code

    package, errors = ModuleType("lineshaft"), ModuleType("lineshaft.errors")
    errors.__dict__["ToolError"] = ToolError
    sys.modules |= {"lineshaft": package, "lineshaft.errors": errors}


def _parameters(function: Function) -> list[str]:
    code = function.__code__  # type: ignore[attr-defined]  a function's
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return [name for name in names if name != "self"]


def main(peer: Peer) -> None:
    """Serve a peer; what it prints itself goes to standard error."""
    pipe = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    asyncio.run(Driver(peer, pipe).serve())
