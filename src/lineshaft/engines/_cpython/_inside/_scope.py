"""What a script sees: the names in scope, and the modules that hold tools."""

import builtins
import importlib
import itertools
import sys
import threading
from _sitebuiltins import Quitter
from collections.abc import Callable, Mapping, Sequence
from types import FrameType, ModuleType

from lineshaft.engines import _helpers
from lineshaft.engines._cpython._inside import _code
from lineshaft.engines._cpython._inside._channel import Channel
from lineshaft.engines._cpython._inside._interpreter import (
    calling_frame,
    mark_coroutine_function,
    running_loop,
)
from lineshaft.engines._cpython._inside._tool_error import ToolError
from lineshaft.engines._cpython._wire import Execute

MODULES = ("asyncio", "json", "math", "re", "datetime")
"""In scope without an import."""

HELPERS = ("json_parse", "retry", "batched", "table")
"""Functions of `_helpers.py` in scope without an import."""

_Tool = Callable[..., object]


class Scope:
    """One script's names.

    Args:
        order: The script.
        channel: Makes its calls.
    """

    def __init__(self, order: Execute, channel: Channel) -> None:
        self._channel = channel
        self._file = order.name
        self._names: dict[int, str] = {}
        self._made: dict[int, tuple[int, object]] = {}
        self._count = itertools.count()
        self.main = ModuleType("__main__")
        self.names = self.main.__dict__
        """The script's globals."""

        flat = {name: self._tool(name, name) for name in order.tools}
        modules = {name: self._module(name, of) for name, of in order.namespaces.items()}
        modules.setdefault("tools", _module("tools", flat))
        self.names.update({name: importlib.import_module(name) for name in MODULES})
        self.names.update({name: getattr(_helpers, name) for name in HELPERS})
        self.names["ToolError"] = ToolError
        self.names.update(flat)
        self.names.update(modules)
        self.names.update(order.inputs)
        self.names.update(__builtins__=builtins, __file__=order.name, __cached__=None)
        sys.modules.update(modules)
        sys.modules["__main__"] = self.main
        setattr(builtins, _code.NOW, self._now)
        for name in ("exit", "quit"):
            setattr(builtins, name, Quitter(name, "Ctrl-D"))
        setattr(builtins, _code.STAR, self._star)

    @property
    def never_awaited(self) -> int | None:
        """Line of the first call that was made and never awaited."""
        return min((line for line, _ in self._made.values()), default=None)

    def owns(self, frame: FrameType) -> bool:
        """Return whether a frame executes the script's own text."""
        return frame.f_globals is self.names and frame.f_code.co_filename == self._file

    def _module(self, namespace: str, names: Sequence[str]) -> ModuleType:
        tools = {name: self._tool(name, f"{namespace}.{name}") for name in names}
        return _module(namespace, tools)

    def _tool(self, name: str, tool: str) -> _Tool:
        channel, made = self._channel, self._made

        async def call(key: int, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
            del made[key]
            try:
                return await channel.ask(tool, args, kwargs)
            except ToolError as error:
                raise error.with_traceback(None) from None

        def make(*args: object, **kwargs: object) -> object:
            caller = calling_frame()
            if not self.owns(caller) and _in_plain_thread():
                return channel.ask_now(tool, args, kwargs)
            key = next(self._count)
            coroutine = call(key, args, kwargs)
            coroutine.__name__ = coroutine.__qualname__ = name
            # Kept, so that Python says nothing of its own when it is thrown away.
            made[key] = self._line(caller), coroutine
            return coroutine

        make.__name__ = make.__qualname__ = name
        make.__module__ = tool.rpartition(".")[0] or "tools"
        mark_coroutine_function(make)
        self._names[id(make)] = tool
        return make

    def _line(self, frame: FrameType | None) -> int:
        while frame is not None and not self.owns(frame):
            frame = frame.f_back
        return frame.f_lineno if frame is not None else 1

    def _now(self, function: object) -> object:
        """Return the form of a tool that answers with its value; anything else as it is."""
        tool = self._names.get(id(function))
        if tool is None:
            return function

        def ask(*args: object, **kwargs: object) -> object:
            return self._channel.ask_now(tool, args, kwargs)

        return ask

    def _star(self, name: str, level: int) -> None:
        module = importlib.import_module(name) if not level else _relative(name)
        public = getattr(module, "__all__", None)
        if public is None:
            public = [name for name in vars(module) if not name.startswith("_")]
        self.names.update({name: getattr(module, name) for name in public})


def _module(name: str, tools: Mapping[str, _Tool]) -> ModuleType:
    module = ModuleType(name, "Tools that the script may call.")
    module.__dict__.update(tools)
    module.__all__ = sorted(tools)  # pyright: ignore[reportAttributeAccessIssue]  as modules have
    return module


def _relative(name: str) -> ModuleType:
    raise ImportError(f"attempted relative import of {name!r} with no known parent package")


def _in_plain_thread() -> bool:
    """Return whether this is a thread without an event loop, so that nobody can await here."""
    return running_loop() is None and threading.current_thread() is not threading.main_thread()
