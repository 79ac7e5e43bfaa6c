"""smolagents' local executor: an interpreter of the syntax tree, in the host's process."""

import asyncio
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from protocol import Function, Peer, main

RETURN = re.compile(r"^return (.*)", re.DOTALL | re.MULTILINE)


class LocalExecutor(Peer):
    """A fresh executor for each script, in a thread; tools are plain functions."""

    package = "smolagents"
    protection = {  # noqa: RUF012  never changed
        "memory": "no",
        "time": "by counts of steps",
        "wall": "no",
        "policy": "no",
        "staging": "no",
        "approvals": "no",
    }

    def __init__(self) -> None:
        self._tools: dict[str, Function] = {}

    async def open(self, tools: Mapping[str, Function], hidden: Mapping[str, Function]) -> None:
        """Take the tools."""
        self._tools = {name.replace(".", "_"): function for name, function in tools.items()}

    def adapted(self, code: str, names: Mapping[str, list[str]]) -> str:
        """Leave out `await`, and end with its own `final_answer`."""
        code = code.replace("github.", "github_").replace("await ", "")
        return RETURN.sub(lambda found: f"final_answer({found[1].strip()})", code)

    async def run(self, code: str, *, seconds: float = 60, memory_mb: int = 256) -> Any:
        """Run it in a thread."""
        local: Any = import_module("smolagents.local_python_executor")
        loop = asyncio.get_running_loop()

        def plain(function: Function) -> Callable[..., Any]:
            def called(*args: Any, **kwargs: Any) -> Any:
                made: Any = function(*args, **kwargs)
                return asyncio.run_coroutine_threadsafe(made, loop).result()

            return called

        executor = local.LocalPythonExecutor(["json"], timeout_seconds=max(1, int(seconds)))
        tools: dict[str, Callable[..., Any]] = {n: plain(f) for n, f in self._tools.items()}
        executor.send_tools({**tools, "final_answer": _same})
        return (await asyncio.to_thread(executor, code)).output


def _same(answer: object) -> object:
    return answer


if __name__ == "__main__":
    main(LocalExecutor())
