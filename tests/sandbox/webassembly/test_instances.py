"""Instances: what a script gets, how it is ended, what is left of it."""

import json
import random
import subprocess
import sys
import threading
from pathlib import Path
from textwrap import dedent

import psutil
import pytest

from lineshaft.sandbox.webassembly import GuestStopped, GuestTrapped, Instances, image
from sandbox.webassembly.scripted import AnsweringHost, Started


def test_a_script_calls_and_returns(instances: Instances) -> None:
    run = Started(instances.take(), "print('hello')\nreturn await add(x=1) + 1")
    assert run.value() == 6
    assert run.host.output == "hello\n"
    assert [json.loads(each)[0]["tool"] for each in run.host.turns if "call" in each] == ["add"]


def test_an_instance_is_given_one_order_once(instances: Instances) -> None:
    instance = instances.take()
    run = Started(instance, "return 1")
    with pytest.raises(RuntimeError, match="once"):
        Started(instance, "return 2")
    assert run.value() == 1
    instance.close()
    instance.stop()


def test_a_script_sees_nothing_of_another_one(instances: Instances) -> None:
    first = Started(instances.take(), "import json, sys\njson.mine = sys.mine = 1\nreturn 0")
    assert first.value() == 0
    second = Started(
        instances.take(), "import json, sys\nreturn [hasattr(json, 'mine'), hasattr(sys, 'mine')]"
    )
    assert second.value() == [False, False]


SAME = """
import random, uuid
class Thing: pass
things = [Thing(), object(), [], {}]
return [
    [id(each) for each in things], repr(things[0]), list({"a", "b", "c", "Thing"}), hash("x"),
    random.random(), str(uuid.uuid4()), [repr(each) for each in {Thing(), Thing(), Thing()}],
]
"""


def test_all_instances_have_one_history_in_other_processes_too(instances: Instances) -> None:
    with_pool = [Started(instances.take(), SAME).value() for _ in range(3)]
    alone = Instances(ready=0)
    with_pool.append(Started(alone.take(), SAME).value())
    program = f"""
import json, sys
sys.path[:0] = {[str(Path(__file__).parents[2])]!r}
from sandbox.webassembly.scripted import Started
from lineshaft.sandbox.webassembly import Instances
print(json.dumps(Started(Instances(ready=0).take(), {SAME!r}).value()))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=200
    )
    with_pool.append(json.loads(done.stdout))
    assert all(each == with_pool[0] for each in with_pool[1:])


ENDLESS = {
    "loop": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "regex": "import re\nre.match('(a+)+$', 'a' * 60 + 'b')",
    "power": "x = 9 ** 9 ** 9",
    "digits": "import sys\nsys.set_int_max_str_digits(0)\nstr(3 ** 3_000_000)\nwhile True: pass",
    "calls": "while True:\n    try:\n        await add(x=1)\n    except BaseException: pass",
    "sort": "while True: sorted(range(1_000_000), key=lambda each: -each)",
    "brackets": "while True:\n    try: eval('(' * 300_000)\n    except BaseException: 0",
}


@pytest.mark.parametrize("source", ENDLESS.values(), ids=ENDLESS)
def test_whatever_a_script_computes_it_is_stopped_and_others_go_on(
    source: str, instances: Instances
) -> None:
    other = Started(
        instances.take(), "total = 0\nfor i in range(300_000): total += i\nreturn total"
    )
    run = Started(instances.take(), source)
    run.instance.stop()
    end = run.end()
    assert isinstance(end, GuestStopped)
    assert end.cause is None
    assert other.value() == 44_999_850_000


def test_a_script_that_waits_is_stopped_once_its_host_wakes(instances: Instances) -> None:
    class Waiting(AnsweringHost):
        def __init__(self) -> None:
            super().__init__()
            self.asked = threading.Event()
            self.woken = threading.Event()

        def turn(self, seconds: float, requests: str) -> str:
            self.asked.set()
            assert self.woken.wait(100)
            return "[]"

    host = Waiting()
    run = Started(
        instances.take(),
        "import time\ntry:\n    time.sleep(1e9)\nfinally:\n    print('never')",
        host,
    )
    assert host.asked.wait(100)
    run.instance.stop()
    host.woken.set()
    assert isinstance(run.end(), GuestStopped)
    assert host.output == ""


class Mine(BaseException):
    """An exception that is no `Exception`."""


@pytest.mark.parametrize("kind", [Mine, KeyboardInterrupt, SystemExit, ValueError, MemoryError])
@pytest.mark.parametrize("name", ["turn", "write", "package", "monotonic", "wall", "random"])
def test_what_a_function_of_the_host_raises_ends_the_script_and_is_its_cause(
    kind: type[BaseException], name: str, instances: Instances
) -> None:
    error = kind("mine")

    def fail(*_: object) -> str:
        raise error

    host = AnsweringHost()
    setattr(host, name, fail)
    source = dedent("""
        import os, time
        try:
            await add(x=1)
            print("x")
            time.monotonic(), time.time(), os.urandom(8)
            import some_package
        except BaseException:
            while True: pass
        finally:
            while True: pass
    """)
    end = Started(instances.take(), source, host).end()
    assert isinstance(end, GuestStopped)
    assert end.cause is error


def test_runs_of_eight_threads_end_each_by_its_own_error(instances: Instances) -> None:
    class Failing(AnsweringHost):
        def __init__(self, after: int, error: BaseException) -> None:
            super().__init__()
            self._left = after
            self._error = error

        def _one(self) -> None:
            self._left -= 1
            if self._left < 0:
                raise self._error

        def turn(self, seconds: float, requests: str) -> str:
            self._one()
            return super().turn(seconds, requests)

        def monotonic(self) -> int:
            self._one()
            return super().monotonic()

        def write(self, name: str, text: str) -> None:
            self._one()

    wrong: list[object] = []
    source = "import time\nwhile True:\n    await add(x=1)\n    time.monotonic()\n    print(1)"

    def work(seed: int) -> None:
        chosen = random.Random(seed)  # noqa: S311  points to fail at
        for _ in range(25):
            error = chosen.choice([Mine, SystemExit, ValueError])(str(chosen.random()))
            host = Failing(chosen.randrange(60), error)
            end = Started(instances.take(), source, host).end()
            if not (isinstance(end, GuestStopped) and end.cause is error):
                wrong.append(end)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


DEEP = {
    "plain recursion": "import sys\nsys.setrecursionlimit(10 ** 9)\ndef f(): f()\nf()",
    "a list freed": "x = None\nfor _ in range(2_000_000): x = [x]\ndel x",
}


@pytest.mark.parametrize("source", DEEP.values(), ids=DEEP)
def test_the_end_of_the_stack_is_told_apart(source: str, instances: Instances) -> None:
    end = Started(instances.take(), source, memory_mb=512).end()
    assert isinstance(end, GuestTrapped)
    assert end.kind == "stack"


def test_a_lock_taken_twice_is_told_apart(instances: Instances) -> None:
    source = "import _thread\nlock = _thread.allocate_lock()\nlock.acquire()\nlock.acquire()"
    end = Started(instances.take(), source).end()
    if isinstance(end, dict):  # the guest itself refuses
        assert end["how"] == "raised"
    else:
        assert end.kind == "deadlock"


def test_ordinary_depth_is_no_end_on_a_host_thread_of_any_stack(instances: Instances) -> None:
    source = dedent("""
        import functools, json, sys
        @functools.lru_cache
        def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
        class Endless:
            def __repr__(self): return repr(self)
            def __getattr__(self, name): return getattr(self, name + "x")
        found = [fib(400) % 1000]
        for act in (lambda: repr(Endless()), lambda: Endless().y):
            try: act()
            except RecursionError: found.append("recursion")
        found.append(len(json.dumps(json.loads("[" * 2000 + "]" * 2000))))
        node = None
        for _ in range(100_000): node = [node]
        del node
        try: compile("(" * 200 + ")" * 200, "x", "eval")
        except (MemoryError, SyntaxError) as error: found.append(type(error).__name__)
        return found
    """)
    before = threading.stack_size(256 << 10)
    try:
        run = Started(instances.take(), source)
    finally:
        threading.stack_size(before)
    assert run.value() == [675, "recursion", "recursion", 4000, "MemoryError"]


def test_memory_is_bounded_and_the_script_may_catch_it(instances: Instances) -> None:
    source = dedent("""
        held, caught = [], False
        try:
            while True: held.append(bytearray(1 << 20))
        except MemoryError:
            caught, many = True, len(held)
            held.clear()
        return [caught, many]
    """)
    caught, many = Started(instances.take(), source, memory_mb=64).value()
    assert caught
    assert 32 < many < 68  # what is free of the interpreter's own memory comes on top
    assert Started(instances.take(), source, memory_mb=128).value()[1] > 96


@pytest.mark.no_cover
@pytest.mark.long
def test_hundreds_of_runs_leave_nothing() -> None:
    pool = Instances(ready=2)
    process = psutil.Process()

    def some(count: int) -> tuple[int, int, int]:
        for _ in range(count):
            assert Started(pool.take(), "return await add(x=1)").value() == 5
        held = process.memory_full_info().pss if sys.platform == "linux" else 0
        maps = len(process.memory_maps(grouped=False)) if sys.platform == "linux" else 0
        return held, maps, process.num_fds() if sys.platform != "win32" else 0

    some(100)
    first = some(20)
    last = some(300)
    pool.close()
    assert last[0] - first[0] < 40 << 20  # without closing it is 700 MB
    assert last[1] - first[1] < 60
    assert last[2] <= first[2]


def test_no_more_than_the_image_is_needed_to_know_what_is_in_it() -> None:
    program = """
import sys
from lineshaft.sandbox.webassembly import image, GUEST_IMPORTS, native_code_ready
found = image()
native_code_ready()
assert "wasmtime" not in sys.modules
print(found.python, found.digest, len(found.modules), "ssl" in found.missing)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=100
    )
    python, digest, modules, missing = done.stdout.split()
    assert (python, digest) == (image().python, image().digest)
    assert int(modules) > 560
    assert missing == "True"
