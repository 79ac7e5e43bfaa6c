"""An agent in fifty lines: any model behind an OpenAI-compatible URL, and no framework.

Usage: OPENAI_BASE_URL=... OPENAI_API_KEY=... MODEL=... python agent_loop.py "your task"
"""

import asyncio
import json
import os
import sys
import urllib.request
from typing import Any

from lineshaft import Session, kit

URL = os.environ.get("OPENAI_BASE_URL", "http://127.0.0.1:8000/v1")
KEY = os.environ.get("OPENAI_API_KEY", "none")
MODEL = os.environ.get("MODEL", "any")


def ask(messages: list[Any], tools: list[Any]) -> dict[str, Any]:
    """Return the model's next message."""
    body = json.dumps({"model": MODEL, "messages": messages, "tools": tools}).encode()
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{URL}/chat/completions", body, headers)  # noqa: S310  yours
    with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310  yours
        return json.load(answer)["choices"][0]["message"]


async def solve(task: str, *, turns: int = 20) -> str:
    """Let the model work on a task until it answers in words."""
    async with Session(kit.tools(), workspace=".") as session:
        messages: list[Any] = [
            {"role": "system", "content": session.instructions()},
            {"role": "user", "content": task},
        ]
        tools = session.definitions("openai", direct=["read_file"])
        for _ in range(turns):
            message = await asyncio.to_thread(ask, messages, tools)
            messages.append(message)
            if not message.get("tool_calls"):
                return str(message["content"])
            for call in message["tool_calls"]:
                function = call["function"]
                done = await session.handle(function["name"], function["arguments"])
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": done.text})
    return "no answer within the turns"


if __name__ == "__main__":
    print(asyncio.run(solve(sys.argv[1])))
