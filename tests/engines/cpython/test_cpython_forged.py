"""A script that writes to the wire of its process spoils its own run only."""

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.play import Play, fresh
from lineshaft.values import Crashed, Diverged, Limits, Outcome, Raised, Returned

SEND = """
import ctypes, struct
libc = ctypes.CDLL(None)
def send(kind, data, size=None):
    text = struct.pack("!BI", kind, len(data) if size is None else size) + data
    libc.write(3, text, len(text))
"""
HELLO, TURN, STDOUT, STDERR, PACKAGE, READINGS, DIVERGED, RESULT = range(1, 9)

JUNK: dict[str, str] = {
    "an unknown kind": "send(99, b'')",
    "a frame of a host": "send(34, b'x')",
    "a hello": f"send({HELLO}, b'x')",
    "a frame that is too long": f"send({TURN}, b'', 1 << 31)",
    "a turn that is cut short": f"send({TURN}, b'123')",
    "a turn that is no JSON": f"send({TURN}, bytes(9) + b'x')",
    "a turn that is no text": f"send({TURN}, bytes(9) + bytes([255]))",
    "a call twice": f"""
call = b'[{{"call": 1, "tool": "give", "positional": [1], "arguments": {{}}}}]'
send({TURN}, struct.pack("!d?", -1, False) + call)
send({TURN}, struct.pack("!d?", -1, False) + call)
""",
    "a request that is no JSON": f"send({PACKAGE}, b'x')",
    "readings that are not asked for": f"send({READINGS}, bytes(9))",
    "output that is no text": f"send({STDOUT}, bytes([255]))",
}


@pytest.mark.parametrize("source", JUNK.values(), ids=JUNK)
async def test_junk_ends_the_run_that_sent_it(held: Play, source: str) -> None:
    outcome = await held(f"{SEND}{source}\nwhile True: pass", limits=Limits(seconds=20))
    assert isinstance(outcome, Crashed), outcome
    assert "protocol" in outcome.message
    assert await held.value("return await give(1)") == 1


ENDS: dict[str, tuple[str, type[Outcome]]] = {
    "a result": (f"""send({RESULT}, b'\\0{{"how": "returned", "value": 5}}')""", Returned),
    "a result that is none": (f"send({RESULT}, b'\\0x')", Crashed),
    "no result at all": (f"send({RESULT}, b'')", Crashed),
    "a failure": (f"""send({RESULT}, b'\\0{{"how": "raised", "kind": "X"}}')""", Raised),
    "a divergence": (f"send({DIVERGED}, b'x')", Diverged),
}


@pytest.mark.parametrize(("source", "kind"), ENDS.values(), ids=ENDS)
async def test_a_forged_end_ends_the_run_and_nothing_comes_after_it(
    held: Play, source: str, kind: type[Outcome]
) -> None:
    outcome = await held(f"{SEND}{source}\nprint('late')\nawait give(1)")
    assert isinstance(outcome, kind)
    assert held.calls == []
    assert held.output == []


async def test_a_forged_call_is_the_runs_own(held: Play) -> None:
    source = f"""{SEND}
send({TURN}, struct.pack("!d?", -1, False) +
     b'[{{"call": 1, "tool": "secret", "positional": [], "arguments": {{}}}}]')
while True: pass
"""
    task = asyncio.create_task(held(source, limits=Limits(seconds=1)))
    await task
    assert held.tools == ["secret"]  # which the gate judges, as every call


async def test_forged_readings_fill_no_memory(held: Play) -> None:

    replay = fresh()
    source = f"{SEND}for _ in range(30): send({READINGS}, bytes([0]) + bytes(1_000_000))\nreturn 1"
    assert await held(source, replay=replay) == Returned(value=1)
    assert len(replay.readings) <= 8_000_000
    assert replay.torn


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.binary(max_size=300))
async def test_no_bytes_of_a_script_disturb_the_host(play: Play, junk: bytes) -> None:
    source = f"{SEND}junk = bytes.fromhex({junk.hex()!r})\nlibc.write(3, junk, len(junk))\nreturn 1"
    await play(source, limits=Limits(seconds=1))
    assert await play.value("return await give(2)") == 2


async def test_output_of_machine_code_is_the_scripts(held: Play) -> None:
    source = """
import ctypes
libc = ctypes.CDLL(None)
def put(fd, text):
    libc.write(fd, text, len(text))
put(1, b"one ")
print("two ", end="")
await give(1)
put(2, "grün\\n".encode())
put(1, b"three ")
await give(2)
put(1, b"four")
"""
    await held(source)
    assert held.printed == "one two three four"
    assert ("stderr", "grün\n") in held.output
    assert held.printed_at_calls == ["one two ", "one two three "]
