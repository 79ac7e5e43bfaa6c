"""A short script that runs before the real one.

It runs while an image is made, so that caches of the interpreter are filled in it, and once more in
each instance, whose memory is warm then.
"""

import linecache
import sys
from collections.abc import Mapping
from typing import Any

from . import script
from .codec import dumps, loads
from .current import current
from .platform import Platform

# Short on purpose: pages dirtied by compiling stay with every instance, some 50 KB a line.
_SOURCE = """
import json
async def more(name): return await rehearse(name)
try:
    found = await asyncio.gather(more("b"), rehearse(c=json.loads("[1.5, null]")))
    raise ToolError("E_X", "no")
except ToolError as error:
    print(f"{error.code}: {error}")
{"found": found}
"""

_ORDER: Mapping[str, Any] = {
    "source": _SOURCE,
    "name": "script.py",
    "tools": ["rehearse"],
    "namespaces": {"rehearsed": ["rehearse"]},
    "inputs": {"given": [1]},
}


class _Host:
    """Answers each call with null."""

    def __init__(self) -> None:
        self._open: list[int] = []

    def turn(self, seconds: float, requests: str) -> str:
        """Complete the oldest call."""
        del seconds
        for request in loads(requests):  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType]  a list, as the guest writes it
            if "call" in request:
                self._open.append(request["call"])  # pyright: ignore[reportUnknownArgumentType]  as above
        if not self._open:
            return "[]"
        return dumps([{"id": self._open.pop(0), "value": None}])

    def write(self, name: str, text: str) -> None:
        """Take it."""

    def package(self, request: str) -> str:
        """Have none."""
        del request
        return '{"kind":"none"}'


def rehearse(platform: Platform) -> None:
    """Run the little script."""
    script.run(_ORDER, _Host(), platform, rehearsal=True)
    for name in ("tools", "rehearsed", "__main__"):
        sys.modules.pop(name, None)
    linecache.cache.pop("script.py", None)
    current.end()
