"""Settings that a nested run takes over from the run of the same session around it."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from lineshaft.gate import Gate
from lineshaft.policy import MODES, Mode

_around: ContextVar[Gate | None] = ContextVar("lineshaft_gate_around", default=None)


@contextmanager
def beginning_runs(gate: Gate) -> Generator[None]:
    """Tell runs that begin in the block which gate the run around them uses."""
    token = _around.set(gate)
    try:
        yield
    finally:
        _around.reset(token)


def mode_within(gate: Gate, mode: Mode) -> Mode:
    """Return a mode, or that of the run around, where that one is stricter.

    Args:
        gate: The session's; another session inside of a tool is the tool's own affair.
        mode: The widest that the run itself may be in.
    """
    around = _around.get()
    if around is None or around.approving is not gate.approving:
        return mode
    modes: list[Mode] = [mode, around.policy.own_mode]
    return min(modes, key=MODES.index)
