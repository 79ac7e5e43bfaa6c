"""Scripts that compute, more than the machine has cores: each has its turn, and ends when told."""

import os
import threading

import pytest

from lineshaft.sandbox.webassembly import GuestStopped, Instances
from lineshaft.sandbox.webassembly._cores import Cores
from sandbox.webassembly.scripted import AnsweringHost, Started

MANY = 2 * (os.cpu_count() or 1) + 2
ENDLESS = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
SUM = "total = 0\nfor i in range(400_000): total += i\nreturn total"
SUMMED = 79_999_800_000


def test_each_of_many_computing_scripts_comes_to_its_end(instances: Instances) -> None:
    runs = [Started(instances.take(), SUM) for _ in range(MANY)]
    assert [run.value() for run in runs] == [SUMMED] * MANY


def test_scripts_that_never_end_hold_up_none_that_do(instances: Instances) -> None:
    endless = [Started(instances.take(), ENDLESS) for _ in range(MANY)]
    assert Started(instances.take(), SUM).value() == SUMMED
    for run in endless:
        run.instance.stop()
    assert all(isinstance(run.end(), GuestStopped) for run in endless)


def test_a_script_that_waits_for_a_core_is_stopped_alone(instances: Instances) -> None:
    endless = [Started(instances.take(), ENDLESS) for _ in range(MANY)]
    assert Started(instances.take(), SUM).value() == SUMMED  # all of them have had a turn
    while endless:
        run = endless.pop()
        run.instance.stop()
        assert isinstance(run.end(), GuestStopped)
        assert all(not each.over for each in endless)


class Patient(AnsweringHost):
    """Keeps a script waiting in its first call."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()
        self.woken = threading.Event()

    def turn(self, seconds: float, requests: str) -> str:
        if "call" in requests:
            self.asked.set()
            assert self.woken.wait(100)
        return super().turn(seconds, requests)


def test_a_script_that_waits_for_a_call_has_no_core(instances: Instances) -> None:
    hosts = [Patient() for _ in range(MANY)]
    source = SUM.replace("return total", "return total + await add(x=1)")
    waiting = [Started(instances.take(), source, host) for host in hosts]
    assert all(host.asked.wait(100) for host in hosts)
    computing = [Started(instances.take(), SUM) for _ in range(MANY)]
    assert [run.value() for run in computing] == [SUMMED] * MANY
    for host in hosts:
        host.woken.set()
    assert [run.value() for run in waiting] == [SUMMED + 5] * MANY


def test_a_guest_that_no_thread_could_be_started_for_leaves_the_turns_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cores, turn = Cores(1), threading.Event()
    cores.enter(turn.set)

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="new thread"):
            cores.enter(turn.set)
    second = cores.enter(turn.set)
    assert turn.wait(20)
    cores.leave(second)
