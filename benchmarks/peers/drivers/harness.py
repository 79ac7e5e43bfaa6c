"""pydantic-ai-harness' CodeMode: an agent whose model, a function, sends one script."""

import json
import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from monty import HEAD
from protocol import Function, Peer, main

RETURN = re.compile(r"^return ", re.MULTILINE)


class AgentCodeMode(Peer):
    """One run of an agent for each script, as its users have it; no model is waited for."""

    package = "pydantic-ai-harness"
    protection = {  # noqa: RUF012  never changed
        "memory": "yes",
        "time": "yes, of its own work",
        "wall": "process, own interpreter",
        "policy": "by hooks of one's own",
        "staging": "no",
        "approvals": "not inside of scripts",
    }

    def __init__(self) -> None:
        self._tools: dict[str, Function] = {}

    async def open(self, tools: Mapping[str, Function], hidden: Mapping[str, Function]) -> None:
        """Take the tools."""
        self._tools = {name.replace(".", "_"): function for name, function in tools.items()}
        self._hidden = dict(hidden)

    def adapted(self, code: str, names: Mapping[str, list[str]]) -> str:
        """As for Monty, and end with an expression instead of `return`."""
        return HEAD + RETURN.sub("", code.replace("github.", "github_"))

    async def run(self, code: str, *, seconds: float = 60, memory_mb: int = 256) -> Any:
        """Run the agent: a turn with the script, and one that ends."""
        _, returned, refused = await self._agent_run(code, seconds, memory_mb)
        if refused:
            raise RuntimeError(refused)
        return returned

    async def loaded(self) -> str:
        """Return the definitions that the model gets."""
        told, _, _ = await self._agent_run("return 1", 60, 256)
        return told

    async def _agent_run(self, code: str, seconds: float, memory_mb: int) -> tuple[str, Any, str]:
        ai: Any = import_module("pydantic_ai")
        messages: Any = import_module("pydantic_ai.messages")
        function: Any = import_module("pydantic_ai.models.function")
        mode: Any = import_module("pydantic_ai_harness").CodeMode(
            tools=list(self._tools),
            max_tool_calls=100_000,
            max_retries=1,
            resource_limits={
                "max_duration_secs": seconds,
                "max_memory": memory_mb * 1_000_000,
                "max_suspensions": 100_000,
            },
        )
        told: list[str] = []
        given: list[Any] = []
        refused: list[str] = []

        def model(history: Any, info: Any) -> Any:
            if not told:
                tools = [
                    {
                        "name": each.name,
                        "description": each.description,
                        "parameters": each.parameters_json_schema,
                    }
                    for each in info.function_tools
                ]
                told.append(json.dumps(tools))
                part = messages.ToolCallPart("run_code", {"code": code}, tool_call_id="one")
                return messages.ModelResponse(parts=[part])
            for part in history[-1].parts:
                if part.part_kind == "tool-return" and part.outcome == "success":
                    given.append(part.content)
                elif part.part_kind in ("tool-return", "retry-prompt"):
                    refused.append(str(part.content))
            return messages.ModelResponse(parts=[messages.TextPart("done")])

        agent = ai.Agent(
            function.FunctionModel(model),
            tools=[ai.Tool(each, name=name) for name, each in self._tools.items()],
            capabilities=[mode],
        )
        await agent.run("go")
        return told[0], given[0] if given else None, "".join(refused[:1])


if __name__ == "__main__":
    main(AgentCodeMode())
