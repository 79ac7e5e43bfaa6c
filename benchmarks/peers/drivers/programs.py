"""The natural programs and their world, without an engine."""

import inspect
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, get_args, get_origin, is_typeddict

from corpora.world import TOOLS, World, use

CORPUS = Path(__file__).parents[3] / "tests" / "corpora"


class ProgramWorld:
    """Programs, what they give, and tools for them."""

    tools = TOOLS

    def __init__(self) -> None:
        self._world = World()

    def programs(self) -> dict[str, str]:
        """Return the text of each program."""
        found = sorted((CORPUS / "programs").glob("[0-9]*.py"))
        return {path.stem: path.read_text(encoding="utf-8") for path in found}

    def expected(self) -> dict[str, Any]:
        """Return the value of each program."""
        told = json.loads((CORPUS / "programs.json").read_text(encoding="utf-8"))
        return {name: each["value"] for name, each in told.items()}

    def functions(self) -> dict[str, Callable[..., Awaitable[Any]]]:
        """Return the tools over the world that there is at each call."""
        return {name: self._bound(name) for name in TOOLS}

    def renew(self) -> None:
        """Begin with a fresh world."""
        self._world = World()

    def _bound(self, name: str) -> Callable[..., Awaitable[Any]]:
        function: Any = TOOLS[name]
        parameters = list(inspect.signature(function).parameters.values())[1:]

        async def made(*args: Any, **kwargs: Any) -> Any:
            bound = inspect.Signature(parameters).bind(*args, **kwargs)
            return await use(name, self._world, dict(bound.arguments))

        tool: Any = made
        returns = _plain(function.__annotations__["return"])
        tool.__signature__ = inspect.Signature(parameters, return_annotation=returns)
        tool.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": returns}
        tool.__name__ = tool.__qualname__ = name.replace(".", "_")
        tool.__doc__ = function.__doc__
        return tool


def _plain(kind: Any) -> Any:
    """Return a type with `dict` for each typed dict: some peers do not take those of `typing`."""
    if is_typeddict(kind):
        return dict[str, Any]
    if get_origin(kind) is list:
        return list[_plain(get_args(kind)[0])]
    return kind
