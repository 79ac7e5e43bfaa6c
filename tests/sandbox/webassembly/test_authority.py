"""What a guest may call: the table and nothing else, and nothing that it says is believed."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
import wasmtime
from wasmtime.component import Component

from lineshaft.sandbox.webassembly import (
    GUEST_IMPORTS,
    GuestStopped,
    GuestTooLarge,
    GuestTrapped,
    Instances,
)
from lineshaft.sandbox.webassembly._runtime import (
    component_imports,
    linker_definitions,
    new_linker,
    runtime,
)
from sandbox.webassembly.scripted import AnsweringHost, Started


def test_the_linker_defines_the_table_and_the_image_asks_for_all_of_it() -> None:
    assert linker_definitions() == GUEST_IMPORTS
    assert set(GUEST_IMPORTS) <= set(component_imports())
    assert len(component_imports()) > 90
    assert not [each for each in GUEST_IMPORTS if "sockets" in each or "filesystem/types" in each]


def _closed() -> list[str]:
    """Return the closed functions that need no thing to be called on."""
    closed = set(component_imports()) - set(GUEST_IMPORTS)
    return sorted(each for each in closed if "[" not in each)


COMPONENT = """
(component
  (import "{interface}" (instance $closed (export "{name}" (func))))
  (core func $lowered (canon lower (func $closed "{name}")))
  (core module $program
    (import "" "closed" (func $closed))
    (func (export "run") (call $closed)))
  (core instance $instance
    (instantiate $program (with "" (instance (export "closed" (func $lowered))))))
  (func (export "run") (canon lift (core func $instance "run"))))
"""


def test_each_closed_function_traps_when_a_component_calls_it() -> None:
    """The component is a small one: Python's own would not call most of them."""
    shared = runtime()
    closed = _closed()
    interfaces = {each.partition("#")[0] for each in closed}
    assert {"wasi:cli/exit@0.2.9", "wasi:cli/stdin@0.2.9", "wasi:cli/stdout@0.2.9"} < interfaces
    assert sum("sockets" in each for each in interfaces) >= 4
    for each in closed:
        interface, _, name = each.partition("#")
        component = Component(shared.engine, COMPONENT.format(interface=interface, name=name))
        linker = new_linker(shared.engine, component)
        store = shared.store(1 << 20)
        ended = _in_a_thread(
            lambda linker=linker, store=store, component=component: _run(linker, store, component)
        )
        assert isinstance(ended, wasmtime.WasmtimeError), each
        assert "unknown import" in str(ended), each
        for held in (store, linker, component):
            held.close()


def _run(linker: Any, store: Any, component: Any) -> None:
    linker.instantiate(store, component).get_func(store, "run")(store)


def _in_a_thread(work: Callable[[], None]) -> BaseException | None:
    ended: list[BaseException] = []

    def caught() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  looked at in the thread of the test
            ended.append(error)

    before = threading.stack_size(80 << 20)
    try:
        thread = threading.Thread(target=caught)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    return ended[0] if ended else None


RAW = "import componentize_py_runtime as raw\n"
"""The way around the guest: the functions of the world, by number, with anything at all."""

TOO_LONG = {
    "requests": "raw.call_import(0, [1.0, 'x' * 100_000_000])",
    "wide": "raw.call_import(0, [1.0, '\\U0001f600' * 6_000_000])",
    "output": "raw.call_import(1, ['stdout', 'x' * 17_000_000])",
    "name": "raw.call_import(1, ['x' * 1_000_000, 'x'])",
    "package": "raw.call_import(2, ['x' * 60_000_000])",
}


@pytest.mark.parametrize("call", TOO_LONG.values(), ids=TOO_LONG)
def test_text_beyond_the_bound_ends_the_run_before_it_is_converted(
    call: str, instances: Instances
) -> None:
    run = Started(instances.take(), f"{RAW}try:\n    {call}\nfinally:\n    print('never')")
    end = run.end()
    assert isinstance(end, GuestStopped)
    assert isinstance(end.cause, GuestTooLarge)
    assert run.host.output == ""


GARBAGE = {
    "lone surrogate": "raw.call_import(1, ['stdout', '\\ud800'])",
    "no argument": "raw.call_import(2, [])",
    "wrong type": "raw.call_import(0, ['soon', 5])",
    "no such function": "raw.call_import(99, ['x'])",
}


@pytest.mark.parametrize("call", GARBAGE.values(), ids=GARBAGE)
def test_garbage_ends_its_own_run_and_no_other(call: str, instances: Instances) -> None:
    other = Started(instances.take(), "return await add(x=1)")
    end = Started(instances.take(), RAW + call).end()
    assert isinstance(end, GuestTrapped)
    assert end.kind == "trap"
    assert "/" not in end.message
    assert other.value() == 5


def test_the_host_hears_the_numbers_and_texts_that_a_script_makes_up(instances: Instances) -> None:
    """They reach the host as they are: it is the host that has to check them."""

    class Hearing(AnsweringHost):
        def turn(self, seconds: float, requests: str) -> str:
            heard.append((str(seconds), requests))
            return "[]"

    heard: list[tuple[str, str]] = []
    source = (
        RAW + "for seconds in (float('nan'), -1.0, 1e308): raw.call_import(0, [seconds, '\\0{'])"
    )
    Started(instances.take(), source, Hearing()).end()
    assert heard[:3] == [("nan", "\0{"), ("-1.0", "\0{"), ("1e+308", "\0{")]


def test_an_answer_beyond_the_bound_ends_the_run(instances: Instances) -> None:
    class Flooding(AnsweringHost):
        def turn(self, seconds: float, requests: str) -> str:
            return "x" * 17_000_000

    end = Started(instances.take(), "await add(x=1)", Flooding()).end()
    assert isinstance(end, GuestStopped)
    assert isinstance(end.cause, GuestTooLarge)


def test_random_bytes_are_those_of_the_host_and_so_many_as_asked(instances: Instances) -> None:
    class Numbered(AnsweringHost):
        def random(self, count: int) -> bytes:
            asked.append(count)
            return bytes(index % 251 for index in range(count))

    asked: list[int] = []
    run = Started(instances.take(), "import os\nreturn os.urandom(300).hex()", Numbered())
    given = bytes.fromhex(run.value())
    assert len(given) == 300
    assert given[:251] == bytes(range(251))
    assert max(asked) <= 65_536

    class Short(AnsweringHost):
        def random(self, count: int) -> bytes:
            return bytes(count - 1)

    end = Started(instances.take(), "import os\nos.urandom(8)", Short()).end()
    assert isinstance(end, GuestStopped)
    assert isinstance(end.cause, ValueError)


def test_clocks_and_environment_are_those_of_the_host(instances: Instances) -> None:
    class Fixed(AnsweringHost):
        def monotonic(self) -> int:
            return 5_000_000_000

        def wall(self) -> int:
            return 1_000_000_000_250_000_000

    source = "import os, time\nreturn [time.time(), time.monotonic(), dict(os.environ)]"
    run = Started(instances.take(), source, Fixed())
    assert run.value() == [1_000_000_000.25, 5.0, {"HOME": "/", "TZ": "UTC"}]


def test_the_interpreters_last_words_are_kept_and_bounded(instances: Instances) -> None:
    source = RAW + "import os\nfor _ in range(200): os.write(2, b'x' * 3000)\nos.abort()"
    end = Started(instances.take(), source).end()
    if isinstance(end, GuestTrapped):
        assert len(end.last_words) <= 4_096
    else:  # the guest itself refuses
        assert end["how"] == "raised"
