"""A host that keeps the protocol by itself: its tools answer at once, or as time passes.

Its time is its own: it passes when a script waits. It uses the standard library alone, since it is
also in the process of a guest, under any Python.
"""

import base64
import json
from typing import Any

PIECE = 3_000_000
CROSSING = 16_000_000

Tools = dict[str, str]


class NothingCanCome(Exception):
    """A guest waits for ever, which it has to notice itself."""


class Canned:
    """The host of one run.

    Args:
        files: Text of the files of packages, by path below `/packages`.
        modules: Text of the modules of the workspace, by dotted name.
    """

    def __init__(
        self, files: dict[str, str] | None = None, modules: dict[str, str] | None = None
    ) -> None:
        self.now = 1_000_000_000_000
        self.printed = {"stdout": "", "stderr": ""}
        self.writes: list[str] = []
        self.requests: list[dict[str, Any]] = []
        self.turns: list[tuple[float, str]] = []
        self._files = files or {}
        self._modules = modules or {}
        self._open: list[tuple[int, dict[str, Any]]] = []
        self._pieces = ""
        self._rest = ""

    def monotonic(self) -> int:
        """Return the time in nanoseconds."""
        self.now += 1_000
        return self.now

    def wall(self) -> int:
        """Return the time since 1970 in nanoseconds."""
        return 1_700_000_000_000_000_000 + self.now

    def random(self, count: int) -> bytes:
        """Return what no test looks at."""
        return bytes(range(256)) * (count // 256) + bytes(count % 256)

    def write(self, name: str, text: str) -> None:
        """Take what is printed."""
        text.encode()
        self.writes.append(name)
        self.printed[name] += text

    def turn(self, seconds: float, requests: str) -> str:
        """Take requests; answer with a completion, or once time has passed."""
        assert len(requests.encode()) <= CROSSING
        found = json.loads(requests)
        if found and "part" in found[0]:
            self._pieces += found[0]["part"]
            if found[0]["more"]:
                return "[]"
            found, self._pieces = json.loads(self._pieces), ""
        if found == [{"rest": True}]:
            return self._piece()
        self.turns.append((seconds, requests[:200]))
        return self._answered(seconds, found)

    def _answered(self, seconds: float, requests: list[dict[str, Any]]) -> str:
        for request in requests:
            self.requests.append(request)
            if "call" in request:
                self._open.append((self._due(request), request))
            elif "cancel" in request:
                self._open = [(n, r) for n, r in self._open if r["call"] != request["cancel"]]
        for_ever = not 0 <= seconds < 1e6
        end = self.now + (0 if for_ever else round(seconds * 1e9))
        sleeps = {"sleep": True} in requests
        due = sorted((n, r["call"], r) for n, r in self._open if r["tool"] != "hold")
        if not sleeps and due and (for_ever or due[0][0] <= end):
            at, _, request = due[0]
            self._open = [(n, r) for n, r in self._open if r is not request]
            self.now = max(self.now, at)
            return self._crossing(json.dumps([self._completion(request)]))
        if for_ever:
            raise NothingCanCome
        self.now = end
        return "[]"

    def _due(self, request: dict[str, Any]) -> int:
        if request["tool"] != "slow":
            return self.now
        return self.now + round(request["positional"][0] * 1e9)

    def _completion(self, request: dict[str, Any]) -> dict[str, Any]:
        given, named = request["positional"], request["arguments"]
        if request["tool"] == "fail":
            error = {"code": given[0], "message": given[1], "hint": "try"}
            return {"id": request["call"], "error": error}
        return {"id": request["call"], "value": given[0] if given else named or None}

    def _crossing(self, text: str) -> str:
        if len(text) <= CROSSING:
            return text
        self._rest = text
        return self._piece()

    def _piece(self) -> str:
        piece, self._rest = self._rest[:PIECE], self._rest[PIECE:]
        return json.dumps([{"part": piece, "more": bool(self._rest)}])

    def package(self, request: str) -> str:
        """Answer what is asked of packages and of the workspace."""
        asked = json.loads(request)
        if "find" in asked:
            return json.dumps(self._found(asked["find"].replace(".", "/")))
        if "workspace" in asked:
            return json.dumps(self._module(asked["workspace"]))
        path = (asked.get("stat") or asked.get("list") or asked["read"]).removeprefix("/packages")
        path = path.strip("/")
        if "read" in asked:
            data = self._files[path].encode()[asked["offset"] :][:8]
            more = asked["offset"] + 8 < len(self._files[path].encode())
            return json.dumps({"data": base64.b64encode(data).decode(), "more": more})
        inside = f"{path}/" if path else ""
        below = [name[len(inside) :] for name in self._files if name.startswith(inside)]
        if "list" in asked:
            return json.dumps({"names": sorted({name.partition("/")[0] for name in below})})
        if path in self._files:
            return json.dumps({"kind": "file", "size": len(self._files[path].encode())})
        return json.dumps({"kind": "folder" if below else "none"})

    def _found(self, place: str) -> dict[str, Any]:
        for path, package in ((f"{place}/__init__.py", True), (f"{place}.py", False)):
            if path in self._files:
                text = self._files[path]
                answer = {"kind": "source", "path": f"/packages/{path}", "package": package}
                return {**answer, "source": text}
        if f"{place}.so" in self._files:
            return {"kind": "native", "path": f"/packages/{place}.so"}
        if any(name.startswith(f"{place}/") for name in self._files):
            return {"kind": "namespace", "path": f"/packages/{place}"}
        return {"kind": "none"}

    def _module(self, name: str) -> dict[str, Any]:
        if name not in self._modules:
            return {"kind": "none"}
        if self._modules[name] == "denied":
            return {"error": f"the module {name} may not be read"}
        package = any(other.startswith(f"{name}.") for other in self._modules)
        path = f"/workspace/{name.replace('.', '/')}{'/__init__' if package else ''}.py"
        source = self._modules[name]
        return {"kind": "source", "path": path, "package": package, "source": source}


ORDER: dict[str, Any] = {
    "do": "script",
    "name": "script.py",
    "tools": ["give", "fail", "hold", "slow", "read_file", "write_file", "list_files"],
    "namespaces": {"github": ["give", "list_issues"]},
    "signatures": {"give": "value: int, more: str | None = None", "github.give": "x: Unknown"},
    "memory_mb": 256,
    "recursion": 1_000,
}
"""What every script of these tests is run with."""
