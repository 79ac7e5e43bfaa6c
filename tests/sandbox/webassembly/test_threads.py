"""The threads of guests: deep, whatever the process's threads are, and never the main one."""

import threading

import pytest

from lineshaft.sandbox.webassembly import WasmUnavailable
from lineshaft.sandbox.webassembly._threads import THREAD_STACK, check_depth, start_deep


def test_a_deep_thread_is_deep_and_leaves_the_size_of_others_alone() -> None:
    failed: list[BaseException] = []

    def work() -> None:
        try:
            check_depth()
        except BaseException as error:  # noqa: BLE001  looked at in the thread of the test
            failed.append(error)

    before = threading.stack_size(256 << 10)
    try:
        start_deep(work, "deep").join()
        assert threading.stack_size() == 256 << 10
    finally:
        threading.stack_size(before)
    assert failed == []
    assert THREAD_STACK > 7 << 20


def test_a_shallow_thread_is_refused() -> None:
    refused: list[WasmUnavailable] = []

    def work() -> None:
        try:
            check_depth()
        except WasmUnavailable as error:
            refused.append(error)

    before = threading.stack_size(1 << 20)
    try:
        thread = threading.Thread(target=work)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert len(refused) == 1
    assert "stack" in str(refused[0])


def test_the_main_thread_is_refused() -> None:
    with pytest.raises(WasmUnavailable, match="main thread"):
        check_depth()
