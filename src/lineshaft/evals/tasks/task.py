"""A task of an evaluation, and the world beside its files."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import field

from lineshaft.evals._results import TaskKind
from lineshaft.tools import Tool
from lineshaft.values import Struct


class TaskLimits(Struct, frozen=True, kw_only=True):
    """The bounds of one run of a task."""

    turns: int = 60
    """Replies of the model."""

    calls: int = 200
    """Calls that the model writes."""

    tokens: int = 1_000_000
    """Input and output together."""

    seconds: float = 600
    checker_seconds: float = 60
    """Of the checker, hidden tests included."""


class EvalTask(Struct, frozen=True, kw_only=True):
    """One task: what is asked, over what, and within what."""

    name: str
    folder: Path
    kind: TaskKind
    summary: str
    """One line for a person."""

    prompt: str
    kit: tuple[str, ...]
    """Built-in tools that the agent gets."""

    mode: str
    """Of the policy, the same in all variants unless the mode is what is compared."""

    answer: Mapping[str, object]
    """JSON Schema of the result."""

    limits: TaskLimits


class World(Struct, frozen=True, kw_only=True):
    """The tools of a task's `tools.py`, with a state of their own, made anew for each run."""

    tools: Sequence[Tool]
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """More files of the workspace, by path."""

    state: Callable[[], object] = dict[str, object]
    """Returns what the checker is to know of the world afterwards; JSON-like."""
