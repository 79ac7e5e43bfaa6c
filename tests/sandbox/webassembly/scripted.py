"""A host for instances, and a way to give them a script and wait for the end."""

import json
import threading
import time
from typing import Any

from lineshaft.sandbox.webassembly import Instance


class AnsweringHost:
    """Answers each call with 5, at once; keeps what was asked and printed."""

    def __init__(self) -> None:
        self.turns: list[str] = []
        self.output = ""

    def turn(self, seconds: float, requests: str) -> str:
        self.turns.append(requests)
        for request in json.loads(requests or "[]"):
            if "call" in request:
                return json.dumps([{"id": request["call"], "value": 5}])
        return "[]"

    def write(self, name: str, text: str) -> None:
        self.output += text

    def package(self, request: str) -> str:
        return '{"kind": "none"}'

    def monotonic(self) -> int:
        return time.monotonic_ns()

    def wall(self) -> int:
        return time.time_ns()

    def random(self, count: int) -> bytes:
        return bytes(count)


class Started:
    """A script that runs."""

    def __init__(
        self,
        instance: Instance,
        source: str,
        host: Any = None,
        *,
        memory_mb: int = 256,
    ) -> None:
        self.host = host or AnsweringHost()
        self.instance = instance
        self._ended = threading.Event()
        self._end: Any = None
        order = {
            "do": "script",
            "source": source,
            "name": "script.py",
            "tools": ["add"],
            "packages": True,
            "memory_mb": memory_mb,
        }
        instance.start(json.dumps(order), self.host, memory_mb=memory_mb, done=self._done)

    def _done(self, end: str | BaseException) -> None:
        assert not self._ended.is_set()
        self._end = end
        self._ended.set()

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._ended.is_set()

    def end(self) -> Any:
        """Wait for the answer, as a dict, or for the exception."""
        if not self._ended.wait(100):
            self.instance.stop()
            raise TimeoutError("the script does not end")
        return json.loads(self._end) if isinstance(self._end, str) else self._end

    def value(self) -> Any:
        """Wait for the value that the script returned."""
        end = self.end()
        assert end["how"] == "returned", end
        return end["value"]
