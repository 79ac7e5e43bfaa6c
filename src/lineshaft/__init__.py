"""One Python script drives every tool of an agent, and stays under control.

Names are loaded when they are first used, so that `import lineshaft` stays cheap.
"""

TYPE_CHECKING = False  # `typing` and `importlib` are most of what `import lineshaft` would take
if TYPE_CHECKING:
    from lineshaft import kit
    from lineshaft.config import load
    from lineshaft.errors import ConfigError, LineshaftError, ToolError
    from lineshaft.policy import Policy, Rule
    from lineshaft.session import Run, Session, run_sync
    from lineshaft.tools import EntryPath, Tool, Toolset, WebAddress, WorkspacePath, tool
    from lineshaft.values import (
        Answer,
        Call,
        Caller,
        CallResult,
        Context,
        Event,
        Finding,
        Handled,
        Limits,
        Pending,
        RunResult,
        ShownImage,
    )

__version__ = "0.1.0"
"""The version; the build reads it here, since the metadata of packages are slow to read."""

_ROOMS = {
    "errors": ("ConfigError", "LineshaftError", "ToolError"),
    "policy": ("Policy", "Rule"),
    "session": ("Run", "Session", "run_sync"),
    "config": ("load",),
    "tools": ("EntryPath", "Tool", "Toolset", "WebAddress", "WorkspacePath", "tool"),
    "values": (
        "Answer",
        "Call",
        "Caller",
        "CallResult",
        "Context",
        "Event",
        "Finding",
        "Handled",
        "ShownImage",
        "Limits",
        "Pending",
        "RunResult",
    ),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "Answer",
    "Call",
    "CallResult",
    "Caller",
    "ConfigError",
    "Context",
    "EntryPath",
    "Event",
    "Finding",
    "Handled",
    "Limits",
    "LineshaftError",
    "Pending",
    "Policy",
    "Rule",
    "Run",
    "RunResult",
    "Session",
    "ShownImage",
    "Tool",
    "ToolError",
    "Toolset",
    "WebAddress",
    "WorkspacePath",
    "kit",
    "load",
    "run_sync",
    "tool",
]


def __getattr__(name: str) -> object:
    from importlib import import_module  # noqa: PLC0415  see above

    if name == "kit":
        return import_module("lineshaft.kit")
    room = _ROOM_OF.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"lineshaft.{room}"), name)
    globals()[name] = value
    return value
