"""The pool of ready instances, and the instance that is kept to be asked."""

import asyncio
import faulthandler
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lineshaft.sandbox.webassembly import Asker, GuestStopped, GuestTrapped, Instances
from sandbox.webassembly.scripted import Started


def test_ready_ones_are_given_away_once_each() -> None:
    pool = Instances(ready=2)
    taken = [pool.take() for _ in range(6)]
    assert len({id(each) for each in taken}) == 6
    runs = [Started(each, f"return {number}") for number, each in enumerate(taken)]
    assert [run.value() for run in runs] == list(range(6))
    pool.close()


def test_a_pool_of_none_makes_one_when_it_is_asked() -> None:
    pool = Instances(ready=0)
    before = threading.active_count()
    assert pool.take_ready() is None
    assert threading.active_count() == before
    assert Started(pool.take(), "return 1").value() == 1
    assert pool.take_ready() is None
    pool.close()


def test_a_warm_pool_becomes_ready_by_itself() -> None:
    pool = Instances(ready=1)
    pool.warm()
    found = None
    made = threading.Event()

    def look() -> None:
        nonlocal found
        while found is None and not made.wait(0.005):
            found = pool.take_ready()

    looking = threading.Thread(target=look)
    looking.start()
    looking.join(100)
    made.set()
    assert found is not None
    assert Started(found, "return 2").value() == 2
    pool.close()


def test_a_closed_pool_gives_none_and_what_it_gave_lives_on() -> None:
    pool = Instances(ready=2)
    instance = pool.take()
    pool.close()
    pool.close()
    assert Started(instance, "return 3").value() == 3
    with pytest.raises(RuntimeError, match="closed"):
        pool.take()


def test_one_pool_serves_two_event_loops_at_once(instances: Instances) -> None:
    async def work(number: int) -> list[int]:
        async def one(step: int) -> int:
            instance = await asyncio.to_thread(instances.take)
            done: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            loop = asyncio.get_running_loop()
            run = Started(instance, f"return {number * step}")
            loop.run_in_executor(None, lambda: loop.call_soon_threadsafe(done.set_result, ""))
            await done
            value: int = await asyncio.to_thread(run.value)
            return value

        return list(await asyncio.gather(*(one(step) for step in range(5))))

    found: dict[int, list[int]] = {}

    def in_a_loop(number: int) -> None:
        found[number] = asyncio.run(work(number))

    threads = [threading.Thread(target=in_a_loop, args=(number,)) for number in (1, 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {1: [0, 1, 2, 3, 4], 10: [0, 10, 20, 30, 40]}


FORKING = f"""
import faulthandler, json, os, sys
sys.path[:0] = {[str(Path(__file__).parents[2])]!r}
faulthandler.enable()
from sandbox.webassembly.scripted import Started
from lineshaft.sandbox.webassembly import Asker, GuestStopped, GuestTrapped, Instances
pool, asker = Instances(ready=2), Asker()
pool.warm()
assert Started(pool.take(), "return 1").value() == 1
asker.ask('{{"do": "rehearse"}}')
child = os.fork()
if not child:
    deep = Started(pool.take(), "import sys\\nsys.setrecursionlimit(10 ** 9)\\ndef f(): f()\\nf()")
    endless = Started(pool.take(), "while True: pass")
    endless.instance.stop()
    asker.ask('{{"do": "rehearse"}}')
    right = (
        Started(pool.take(), "return 2").value() == 2
        and isinstance(deep.end(), GuestTrapped)
        and isinstance(endless.end(), GuestStopped)
    )
    pool.close()
    os._exit(0 if right else 3)
assert os.waitpid(child, 0)[1] == 0
assert Started(pool.take(), "return 4").value() == 4
pool.close()
print("both")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="platform: no fork")
def test_instances_work_in_a_forked_child_and_with_faulthandler() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKING],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("both\n", "", 0)


NO_ROOM = """
import resource
from lineshaft import run_sync
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
error = run_sync("return 1").error
print(error.code, error.message.partition(":")[0], "ulimit -v" in error.hint)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of addresses that holds")
def test_where_there_is_no_room_for_an_interpreter_the_run_says_what_limits_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", NO_ROOM], capture_output=True, text=True, check=False, timeout=200
    )
    assert done.stdout == "E_NO_WASM an interpreter cannot be made True\n", done.stderr


UNCLOSED = f"""
import sys
sys.path[:0] = {[str(Path(__file__).parents[2])]!r}
from sandbox.webassembly.scripted import Started
from lineshaft.sandbox.webassembly import Instances
pool = Instances(ready=3)
Started(pool.take(), "while True: pass")
print("left")
"""


def test_a_process_ends_though_a_script_computes_and_the_pool_is_open() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", UNCLOSED],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("left\n", "", 0)


def test_faulthandler_and_traps_do_not_disturb_each_other(instances: Instances) -> None:
    was_on = faulthandler.is_enabled()
    faulthandler.enable()
    try:
        end = Started(instances.take(), "x = None\nfor _ in range(2_000_000): x = [x]\ndel x").end()
        assert isinstance(end, GuestTrapped)
    finally:
        if not was_on:
            faulthandler.disable()


def _script(source: str) -> str:
    """Return an order that only a test gives to such an instance: it shows that it can break."""
    return json.dumps({"do": "script", "source": source, "name": "script.py"})


def test_a_kept_instance_answers_again_and_again() -> None:
    asker = Asker()
    source = json.dumps(
        {"do": "compile", "modules": [{"name": "m", "path": "/m.py", "source": "x"}]}
    )
    answers = {asker.ask(source) for _ in range(5)}
    assert len(answers) == 1
    assert json.loads(answers.pop())["modules"][0]["name"] == "m"
    asker.close()
    assert "modules" in json.loads(asker.ask(source))
    asker.close()


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("while True: pass", GuestStopped),
        ("x = None\nfor _ in range(2_000_000): x = [x]\ndel x", GuestTrapped),
        ("import asyncio\nawait asyncio.sleep(100)", GuestStopped),
    ],
)
def test_a_kept_instance_that_breaks_is_replaced(source: str, error: type[BaseException]) -> None:
    asker = Asker(seconds=20)
    with pytest.raises(error):
        asker.ask(_script(source), 0.2 if "while" in source else None)
    assert json.loads(asker.ask('{"do": "rehearse"}')) == {}
    asker.close()


def test_questions_of_many_threads_are_answered_each_by_its_own() -> None:
    asker = Asker()
    wrong: list[object] = []

    def work(number: int) -> None:
        order = {"do": "compile", "modules": [{"name": f"m{number}", "path": "/m", "source": "1"}]}
        for _ in range(5):
            name = json.loads(asker.ask(json.dumps(order)))["modules"][0]["name"]
            if name != f"m{number}":
                wrong.append(name)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asker.close()
    assert wrong == []
