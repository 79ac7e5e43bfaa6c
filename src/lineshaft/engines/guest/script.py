"""One script, from its order to the answer."""

import asyncio
import atexit
import builtins
import datetime
import importlib
import inspect
import json
import linecache
import math
import os
import random
import re
import sys
from collections.abc import Coroutine, Mapping, Sequence
from types import CodeType, ModuleType
from typing import Any, cast

from . import helpers
from .calls import Calls
from .code import STAR, VALUE, compile_script
from .codec import dumps
from .current import Run, current
from .frames import depth
from .loop import run_to_end
from .output import Output
from .platform import Platform
from .reports import misspelt, raised, told
from .teardown import drop_names
from .tool_error import ToolError
from .tools import Made, Tool, module_of
from .values import NotPlain, encoded
from .wire import Wire

# pyright: reportPrivateUsage=false, reportAttributeAccessIssue=false

_IN_TOOLS = {
    "json_parse": helpers.json_parse,
    "retry": helpers.retry,
    "batched": helpers.batched,
    "table": helpers.table,
    "ToolError": ToolError,
}
"""Names that the module `tools` has beside the tools."""

_IN_SCOPE = {
    "asyncio": asyncio,
    "json": json,
    "math": math,
    "re": re,
    "datetime": datetime,
    **_IN_TOOLS,
}
"""Names that every script has without an import."""

_MOST = 16_000_000
"""Bytes of a script's value at most."""

_ROOM = 10_000
"""Nested calls that telling of an error may take."""

_run_exit_functions = atexit._run_exitfuncs  # noqa: SLF001  there is no public way
_set_recursion_limit = sys.setrecursionlimit
_urandom = os.urandom
_seed = random.seed


def run(
    order: Mapping[str, Any], wire: Wire, platform: Platform, *, rehearsal: bool = False
) -> str:
    """Run a script and return the answer.

    Args:
        order: The host's order.
        wire: The host.
        platform: The platform.
        rehearsal: Whether it runs only to warm the memory.
    """
    output = Output(wire)
    calls = Calls(wire, output.flush)
    name = order.get("name", "script.py")
    main = ModuleType("__main__")
    names = vars(main)
    current.begin(
        Run(
            wire=wire,
            calls=calls,
            output=output,
            name=name,
            names=names,
            tools=frozenset(order.get("tools", ())),
            packages=bool(order.get("packages")),
            workspace_imports=bool(order.get("workspace_imports")),
        )
    )
    _seed(int.from_bytes(_urandom(32), "big"))
    made = Made(calls)
    _fill(names, order, made)
    sys.modules["__main__"] = main
    args: object = order.get("inputs", {}).get("args")
    sys.argv = [name, *map(str, cast("list[object]", args) if isinstance(args, list) else ())]
    source = order["source"].removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = [line + "\n" for line in source.split("\n")]
    linecache.cache[name] = (len(source), None, lines, name)
    answer = _answer(source, name, names, order, made, platform, rehearsal=rehearsal)
    _bound_depth(order)
    drop_names(names, name, source.rstrip().count("\n") + 1)
    output.flush()
    return answer


def _fill(names: dict[str, Any], order: Mapping[str, Any], made: Made) -> None:
    signatures: Mapping[str, str] = order.get("signatures", {})
    flat = {n: Tool(n, n, made, signatures.get(n)) for n in order.get("tools", ())}
    modules = {
        space: module_of(space, _tools(space, of, made, signatures))
        for space, of in order.get("namespaces", {}).items()
    }
    spaces = dict(modules)
    tools = modules.setdefault("tools", module_of("tools", flat))
    for name, helper in {**spaces, **_IN_TOOLS}.items():
        vars(tools).setdefault(name, helper)
    names.update(_IN_SCOPE)
    names.update(flat)
    names.update(modules)
    names.update(order.get("inputs", {}))
    names.update(__builtins__=builtins, __file__=order.get("name", "script.py"), __cached__=None)

    def star(module_name: str, level: int) -> None:
        names.update(_public(module_name, level))

    names[STAR] = star
    sys.modules.update(modules)
    sys.modules.update({f"tools.{space}": module for space, module in spaces.items()})


def _tools(
    space: str, of: Sequence[str], made: Made, signatures: Mapping[str, str]
) -> dict[str, Tool]:
    return {
        name: Tool(name, f"{space}.{name}", made, signatures.get(f"{space}.{name}")) for name in of
    }


def _public(module_name: str, level: int) -> dict[str, object]:
    if level:
        raise ImportError("attempted relative import with no known parent package")
    module = importlib.import_module(module_name)
    public = getattr(module, "__all__", None)
    if public is None:
        public = [name for name in vars(module) if not name.startswith("_")]
    return {name: getattr(module, name) for name in public}


def _answer(
    source: str,
    name: str,
    names: dict[str, Any],
    order: Mapping[str, Any],
    made: Made,
    platform: Platform,
    *,
    rehearsal: bool,
) -> str:
    try:
        code = compile_script(source, name)
    except SyntaxError as error:
        return dumps(misspelt(error, name))
    _bound_depth(order)
    try:
        return _value(_executed(code, names, rehearsal=rehearsal), name, made)
    except BaseException as error:  # noqa: BLE001  any exception of the script is its answer
        platform.relax()
        _set_recursion_limit(_ROOM)
        return _told(error, order)


def _bound_depth(order: Mapping[str, Any]) -> None:
    _set_recursion_limit(depth() + order.get("recursion", 1_000))


def _told(error: BaseException, order: Mapping[str, Any]) -> str:
    return dumps(told(error, memory_mb=order.get("memory_mb", 0)))


def _executed(code: CodeType, names: dict[str, Any], *, rehearsal: bool) -> object:
    """Return a script's value once everything that Python awaits at its end is over."""
    try:
        try:
            return run_to_end(_main(code, names))
        except SystemExit as ended:
            if ended.code not in (None, 0):
                raise
            return None
        except _Stopped as stopped:
            raise cast("StopIteration", stopped.__cause__) from None
    finally:
        if not rehearsal:
            _run_exit_functions()


class _Stopped(Exception):
    """Carries a `StopIteration` out of a coroutine, which cannot raise one."""


async def _main(code: CodeType, names: dict[str, Any]) -> object:
    try:
        result: object = eval(code, names)  # noqa: S307  this is the script
    except StopIteration as error:
        raise _Stopped from error
    if code.co_flags & inspect.CO_COROUTINE:
        result = await cast("Coroutine[Any, Any, object]", result)
    if result is not None:
        names[VALUE] = result  # what is in it goes with the names
    return names.get(VALUE)


def _value(value: object, name: str, made: Made) -> str:
    line = made.never_awaited()
    if line is not None:
        message = "a call is made here and never awaited, so it did not run: write `await`"
        report = raised("NotAwaited", message, [(name, line, "<module>")], line)
        return dumps({**report, "code": "E_NOT_AWAITED"})
    try:
        text = encoded(value)
    except NotPlain as error:
        return _refused(error.sentence("the script's value"), "E_NOT_JSON")
    except (ValueError, TypeError, RecursionError) as error:
        return _refused(f"the script's value is not JSON: {error}", "E_NOT_JSON")
    size = len(text) if text.isascii() else len(text.encode())
    if size > _MOST:
        message = f"the script's value has {size:,} bytes of JSON; at most {_MOST:,} can cross"
        return _refused(f"{message}: return less, or write it into files", "E_TOO_LARGE")
    return f'{{"how":"returned","value":{text}}}'


def _refused(message: str, code: str) -> str:
    return dumps({**raised("TypeError", message, [], None), "code": code})
