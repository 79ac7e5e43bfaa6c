"""FastMCP's code mode: a server in front of tools, called by its own client in the process."""

import json
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

from monty import HEAD
from protocol import Function, Peer, main


class CodeModeServer(Peer):
    """A server with the transform; a script has `call_tool` alone."""

    package = "fastmcp"
    protection = {  # noqa: RUF012  never changed
        "memory": "yes",
        "time": "yes, of its own work",
        "wall": "process, own interpreter",
        "policy": "by middleware of one's own",
        "staging": "no",
        "approvals": "no",
    }

    def __init__(self) -> None:
        self._client: Any = None
        self._provider: Any = None

    async def open(self, tools: Mapping[str, Function], hidden: Mapping[str, Function]) -> None:
        """Start a server and a client."""
        fastmcp: Any = import_module("fastmcp")
        code_mode: Any = import_module("fastmcp.experimental.transforms.code_mode")
        self._provider = code_mode.MontySandboxProvider(limits={})
        mode = code_mode.CodeMode(sandbox_provider=self._provider, max_tool_calls=None)
        server = fastmcp.FastMCP("bench", transforms=[mode])
        for name, function in {**tools, **hidden}.items():
            server.tool(function, name=name.replace(".", "_"))
        if hidden:
            server.disable(names=set(hidden))
        self._client = fastmcp.Client(server)
        await self._client.__aenter__()

    async def close(self) -> None:
        """Close the client."""
        if self._client is not None:
            await self._client.__aexit__(None, None, None)
            self._client = None

    def adapted(self, code: str, names: Mapping[str, list[str]]) -> str:
        """Put a function around `call_tool` for each tool that the script names."""
        code = code.replace("github.", "github_")
        shims = ""
        for tool, parameters in names.items():
            name = tool.replace(".", "_")
            if f"{name}(" in code:
                takes = ", ".join(f"{each}=None" for each in parameters)
                pairs = ", ".join(f"{each!r}: {each}" for each in parameters)
                shims += (
                    f"async def {name}({takes}):\n"
                    f"    given = {{{pairs}}}\n"
                    "    given = {k: v for k, v in given.items() if v is not None}\n"
                    f"    found = await call_tool({name!r}, given)\n"
                    "    return found['result'] if list(found) == ['result'] else found\n"
                )
        return HEAD + shims + code

    async def run(self, code: str, *, seconds: float = 60, memory_mb: int = 256) -> Any:
        """Call `execute`."""
        self._provider.limits = {
            "max_memory": memory_mb * 1_000_000,
            "max_feed_duration_secs": seconds,
            "max_suspensions": 100_000,
        }
        result = await self._client.call_tool("execute", {"code": code})
        if result.structured_content and "result" in result.structured_content:
            return result.structured_content["result"]
        text = "".join(getattr(part, "text", "") for part in result.content)
        with suppress(ValueError):
            return json.loads(text)
        return text

    async def loaded(self) -> str:
        """Return the definitions that a client lists."""
        listed = await self._client.list_tools()
        return json.dumps([each.model_dump(mode="json", exclude_none=True) for each in listed])


if __name__ == "__main__":
    main(CodeModeServer())
