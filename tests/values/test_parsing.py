"""Python's parser, used by several threads at once and by code that takes no turn."""

import ast
import gc
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

import pytest

from lineshaft.values import steadily

DEEP = "x = [[[[[[[[1, 2], 3], 4], 5], 6], 7], 8], 9]\n" * 20


@contextmanager
def collecting(act: Callable[[], object]) -> Generator[None]:
    """Let the collector run all the time, and with it what others may have hung into it."""
    before = gc.get_threshold()

    def hook(_phase: str, _info: object) -> None:
        act()

    gc.callbacks.append(hook)
    gc.set_threshold(10, 1, 1)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(hook)


def test_what_the_parse_of_somebody_else_disturbs_is_tried_again() -> None:
    """Code in a finaliser parses in the middle of ours, without a turn, as it may."""
    disturbances = iter(range(10))

    def disturb() -> None:
        if next(disturbances, None) is not None:
            ast.parse("[((1))]")

    with collecting(disturb):
        assert steadily(lambda: ast.parse(DEEP))
    assert next(disturbances, 10) > 0


def test_threads_parse_one_after_the_other() -> None:
    inside: list[int] = []
    together: list[list[int]] = []
    switches = sys.getswitchinterval()

    def make() -> None:
        me = threading.get_ident()
        for _ in range(200):
            inside.append(me)
            ast.parse("[((1))]")
            if len(set(inside)) > 1:
                together.append([*inside])
            inside.remove(me)

    started = threading.Barrier(9)  # a tracer is installed at a thread's start, one at a time

    def work() -> None:
        started.wait()
        steadily(make)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    sys.setswitchinterval(1e-6)
    try:
        started.wait()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switches)
    assert together == []


def test_a_thread_may_parse_anew_within_its_turn() -> None:
    """As a handler of a signal does, or a finaliser."""
    found: list[int] = []
    nested = threading.Thread(
        target=lambda: found.append(steadily(lambda: steadily(lambda: 5))), daemon=True
    )
    nested.start()
    nested.join(60)
    assert found == [5]


def test_an_error_that_stays_is_raised() -> None:
    def fail() -> None:
        raise SystemError("each time")

    with pytest.raises(SystemError, match="each time"):
        steadily(fail)
