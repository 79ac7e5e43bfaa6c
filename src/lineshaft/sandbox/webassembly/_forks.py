"""Forks: locks held in the parent are free in the child."""

import os
from collections.abc import Callable


def in_each_child(renew: Callable[[], None]) -> None:
    """Call a function in each process that is forked from this one."""
    register = getattr(os, "register_at_fork", None)  # Windows has none
    if register is not None:
        register(after_in_child=renew)
