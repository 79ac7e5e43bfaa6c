"""A script's tools: functions that return coroutines, each a call of the host when awaited."""

import __future__

import inspect
import itertools
import sys
import typing
from asyncio import events
from collections.abc import Coroutine, Mapping, Sequence
from types import FrameType, ModuleType
from typing import Any

from .calls import Calls
from .frames import owns
from .schemas import schema_of
from .tool_error import ToolError

# pyright: reportPrivateUsage=false, reportAttributeAccessIssue=false

_CREATED = inspect.CORO_CREATED
_state = inspect.getcoroutinestate
_running_loop = events.get_running_loop
_AGENTS = "agents"
_TYPING: tuple[str, ...] = tuple(vars(typing)["__all__"])
_frame = sys._getframe  # noqa: SLF001  there is no public way


class Made:
    """The calls that a script created and has not begun.

    Args:
        calls: The calls that they become.
    """

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self._numbers = itertools.count()
        self._made: dict[int, tuple[int, Coroutine[Any, Any, object]]] = {}

    def new(
        self, tool: "Tool", positional: Sequence[object], arguments: Mapping[str, object]
    ) -> Coroutine[Any, Any, object]:
        """Return the coroutine of a call."""
        key = next(self._numbers)
        coroutine = self._call(key, tool.tool, positional, arguments)
        coroutine.__name__ = coroutine.__qualname__ = tool.__name__
        # Kept, so that Python itself prints no warning when it is dropped.
        self._made[key] = _line(_frame(2)), coroutine
        return coroutine

    async def _call(
        self, key: int, tool: str, positional: Sequence[object], arguments: Mapping[str, object]
    ) -> object:
        del self._made[key]
        calls = self.calls
        future = _running_loop().create_future()
        try:
            number = calls.make(tool, positional, arguments, future)
            try:
                return await future
            finally:
                calls.give_up(number)
        except ToolError as error:
            raise error.with_traceback(None) from None

    def never_awaited(self) -> int | None:
        """Return the line of the first call that was written down and never awaited."""
        lines = [line for line, made in self._made.values() if _state(made) == _CREATED]
        return min(lines, default=None)


class Tool:
    """One tool, as a function.

    Args:
        name: As a script knows it.
        tool: With its namespace.
        made: Notes its calls.
        parameters: As they stand in a `def`; None: they are not known.
    """

    # With these `inspect` takes it for a function, and that one for a coroutine function.
    __code__ = Made._call.__code__  # noqa: SLF001  of this file
    __defaults__ = __kwdefaults__ = None

    def __init__(self, name: str, tool: str, made: Made, parameters: str | None) -> None:
        self.__name__ = self.__qualname__ = name
        self.__module__ = tool.rpartition(".")[0] or "tools"
        self.__annotations__ = {}
        self.tool = tool
        self._made = made
        self._parameters = parameters

    def __call__(self, /, *args: object, **kwargs: object) -> Coroutine[Any, Any, object]:
        """Return a call, to be awaited."""
        if "returns" in kwargs and self.__module__ == _AGENTS:
            kwargs["returns"] = _result_schema(self.tool, kwargs["returns"])
        return self._made.new(self, args, kwargs)

    def __repr__(self) -> str:
        return f"<tool {self.tool}>"

    def _documented(self) -> str:
        """Return its signature and where its description is, for `help` and `__doc__`."""
        given = "..." if self._parameters is None else self._parameters
        more = f"The description: print(await describe_tool({self.tool!r}))"
        return f"{self.__name__}({given})\n\n{more}"

    __doc__ = property(_documented)  # pyright: ignore[reportAssignmentType]  of the object

    @property
    def __signature__(self) -> inspect.Signature:
        """Its parameters, for `inspect.signature`."""
        return _signature(self._parameters)


def _result_schema(tool: str, kind: object) -> object:
    try:
        return schema_of(kind)
    except (TypeError, NameError) as error:
        text = f"{tool}(): `returns`: {error}"
        raise ToolError(text, code="E_INVALID_ARGS", tool=tool) from None


def _signature(parameters: str | None) -> inspect.Signature:
    if parameters is not None:
        # Annotations with names unknown here stay text.
        for flags in (0, __future__.annotations.compiler_flag):
            try:
                return _parsed(parameters, flags)
            except Exception:  # noqa: BLE001, S112  a signature that cannot be built is left general
                continue
    kinds = inspect.Parameter
    return inspect.Signature(
        [kinds("args", kinds.VAR_POSITIONAL), kinds("kwargs", kinds.VAR_KEYWORD)]
    )


def _parsed(parameters: str, flags: int) -> inspect.Signature:
    names: dict[str, Any] = {n: getattr(typing, n) for n in _TYPING}
    code = compile(f"def tool({parameters}): ...", "<tool>", "exec", flags, dont_inherit=True)
    exec(code, names)  # noqa: S102  the host's own text
    return inspect.signature(names["tool"])


def module_of(name: str, tools: Mapping[str, Tool]) -> ModuleType:
    """Return a module that holds tools."""
    module = ModuleType(name, "Tools that the script may call.")
    vars(module).update(tools)
    vars(module)["__all__"] = sorted(tools)
    return module


def _line(frame: FrameType | None) -> int:
    while frame is not None and not owns(frame):
        frame = frame.f_back
    return frame.f_lineno if frame is not None else 1
