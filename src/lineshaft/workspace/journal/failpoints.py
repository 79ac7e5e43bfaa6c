"""The steps of landing, recovering and undoing, by name.

Tests end the process at each of them and check the files left. Only tests set the hook.
"""

from collections.abc import Callable
from typing import Literal, get_args

Step = Literal[
    "lock-taken",
    "checked",
    "journal-opened",
    "journal-half-written",
    "journal-written",
    "journal-synced",
    "committed",
    "temporary-made",
    "folder-made",
    "file-placed",
    "thing-removed",
    "mode-set",
    "applied",
    "journal-done",
    "contents-linked",
    "taking-back",
    "taken-back",
    "journal-dropped",
    "recovery-found",
    "recovery-judged",
    "undo-judged",
    "undo-marked",
]

STEPS: tuple[Step, ...] = get_args(Step)

_hook: list[Callable[[Step], object]] = []


def reached(step: Step) -> None:
    """Say that a step was reached."""
    if _hook:
        _hook[0](step)


def at_each_step(call: Callable[[Step], object] | None) -> None:
    """Call a function at each step, in tests."""
    _hook[:] = [] if call is None else [call]


def hook() -> Callable[[Step], object] | None:
    """Return the hook that is called at each step."""
    return _hook[0] if _hook else None
