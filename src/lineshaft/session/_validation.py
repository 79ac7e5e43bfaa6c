"""Validation of a session's arguments, at once and not when a script first runs."""

import inspect
import warnings
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import cast, get_args

from lineshaft.errors import ConfigError
from lineshaft.policy import Policy
from lineshaft.tools import Provider, Tool
from lineshaft.trace import SHORTEST_SECRET
from lineshaft.values import (
    Approver,
    Caller,
    Elicit,
    Limits,
    Origin,
    PythonOptions,
    Roots,
    Sample,
    counted,
)


def refuse_unusable(**arguments: object) -> None:
    """Check a session's arguments.

    Raises:
        ConfigError: One of them cannot be used; says which, what it is and what it may be.
    """
    for name, value in arguments.items():
        allowed, fits = _ALLOWED[name]
        if not fits(value):
            shown = type(value).__name__ if name in _SHOWN_BY_TYPE else repr(value)
            hint = _NOTATIONS.get(name, "")
            raise ConfigError(f"{name} must be {allowed}, not {shown}", hint=hint)


def usable_caller(
    *,
    approver: Approver | None,
    elicit: Elicit | None,
    sample: Sample | None,
    roots: Roots | None,
) -> Caller:
    """Return the caller of runs that name none.

    Raises:
        ConfigError: One of them is no function.
    """
    refuse_unusable(approver=approver, elicit=elicit, sample=sample, roots=roots)
    return Caller(approver=approver, elicit=elicit, sample=sample, roots=roots)


def maskable(secrets: Iterable[str]) -> tuple[str, ...]:
    """Return the secrets that can be masked; a warning says how many are too short.

    Args:
        secrets: As a session was given them; empty ones are none.
    """
    given = tuple(filter(None, secrets))
    found = tuple(each for each in given if len(each) >= SHORTEST_SECRET)
    if short := len(given) - len(found):
        text = f"{counted(short, 'secret')} under {SHORTEST_SECRET} characters cannot be masked"
        warnings.warn(f"{text}; records and models may see what is that short", stacklevel=3)
    return found


def _is_tools(value: object) -> bool:
    return isinstance(value, Provider | Iterable) and not isinstance(value, str | bytes | Tool)


def _is_functions(value: object) -> bool:
    return isinstance(value, Collection) and all(map(callable, cast("Collection[object]", value)))


def _are_sinks(value: object) -> bool:
    """Return whether values can be called with events: nothing awaits a sink."""
    return _is_functions(value) and not any(
        inspect.iscoroutinefunction(each)
        or inspect.iscoroutinefunction(getattr(each, "__call__", None))  # noqa: B004  is it async?
        for each in cast("Collection[object]", value)
    )


def _is_asked(value: object) -> bool:
    """Return whether a value can be awaited for an answer; a lambda may return what can be."""
    if inspect.isfunction(value) and value.__name__ != "<lambda>":
        return inspect.iscoroutinefunction(value)
    return value is None or callable(value)


def _is_texts(value: object) -> bool:
    if isinstance(value, Collection) and not isinstance(value, str):
        return all(isinstance(each, str) for each in cast("Collection[object]", value))
    return isinstance(value, Iterable) and not isinstance(value, str)


_ORIGINS: tuple[str, ...] = get_args(Origin)


def _is_caller(value: object) -> bool:
    if value is None:
        return True
    if not isinstance(value, Caller) or value.origin not in _ORIGINS:
        return False
    asked = (value.approver, value.elicit, value.sample, value.roots)
    return all(map(_is_asked, asked)) and (value.sink is None or _are_sinks((value.sink,)))


_ALLOWED: dict[str, tuple[str, Callable[[object], bool]]] = {
    "tools": ("a list of tools", _is_tools),
    "workspace": (
        "a folder or a Workspace",
        lambda v: isinstance(v, str | Path) or _has(v, "begin"),
    ),
    "policy": ("a Policy", lambda v: v is None or isinstance(v, Policy)),
    "engine": ("a name or an Engine", lambda v: isinstance(v, str) or _has(v, "run")),
    "limits": ("Limits", lambda v: v is None or isinstance(v, Limits)),
    "seconds": ("a number above 0", lambda v: v is None or _is_time(v)),
    "check": ("'error', 'warn' or 'off'", lambda v: v in ("error", "warn", "off")),
    "approver": ("an async function", _is_asked),
    "elicit": ("an async function", _is_asked),
    "sample": ("an async function", _is_asked),
    "roots": ("an async function", _is_asked),
    "origin": (f"one of {', '.join(_ORIGINS)}", lambda v: v in _ORIGINS),
    "run_id": ("the id of a run", lambda v: isinstance(v, str)),
    "caller": (
        f"a Caller (origin: one of {', '.join(_ORIGINS)}; sink: not async; the others: async)",
        _is_caller,
    ),
    "middleware": ("a list of functions", _is_functions),
    "sinks": ("a list of functions that are not async", _are_sinks),
    "secrets": ("a list of texts", _is_texts),
    "guards": ("a list of functions", lambda v: v is None or _is_functions(v)),
    "atomic": ("True or False", lambda v: isinstance(v, bool)),
    "scripts": ("True or False", lambda v: isinstance(v, bool)),
    "python": ("PythonOptions", lambda v: v is None or isinstance(v, PythonOptions)),
    "store": (
        "a Store, a path, a URL, None or False",
        lambda v: v is None or v is False or isinstance(v, str | Path) or _has(v, "append"),
    ),
}


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _has(value: object, method: str) -> bool:
    return callable(getattr(value, method, None))


_NOTATIONS = {
    "policy": 'write policy=Policy(mode="auto")',
    "limits": "write limits=Limits(seconds=30)",
    "approver": "write async def approver(pending): ...",
    "run_id": "of a result, `result.run_id`",
}
_SHOWN_BY_TYPE = ("secrets", "run_id")
"""A secret is not shown, and a result, which may be given as the id of its run, is long."""
