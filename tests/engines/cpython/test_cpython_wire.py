"""The protocol between a host and an engine: frames, events, and nonsense."""

import json
import struct
from collections.abc import Mapping
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.engines._cpython._wire import (
    DEPTH,
    TO_ENGINE,
    TO_HOST,
    VERSION,
    Answered,
    Asked,
    Blocked,
    Broken,
    Execute,
    Finished,
    Hello,
    Printed,
    Refused,
    Took,
    TooLarge,
    Withdrawn,
    frame,
    from_engine,
    from_host,
)

MESSAGES: dict[str, tuple[Mapping[str, object], object]] = {
    "hello": ({"type": "hello", "version": VERSION}, Hello(VERSION)),
    "a call": (
        {"type": "tool_call", "id": "1", "tool": "t", "positional": [1], "arguments": {"a": None}},
        Asked("1", "t", (1,), {"a": None}),
    ),
    "a call without arguments": (
        {"type": "tool_call", "id": "1", "tool": "t"},
        Asked("1", "t", (), {}),
    ),
    "a call of no tool": (
        {"type": "tool_call", "id": "1", "tool": 5},
        Refused("1", "`tool` must be a text"),
    ),
    "a withdrawn call": ({"type": "tool_call_cancel", "id": "1"}, Withdrawn("1")),
    "a call that may come in another order": (
        {"type": "tool_call", "id": "1", "tool": "t", "replayable": False},
        Asked("1", "t", (), {}, replayable=False),
    ),
    "readings": ({"type": "clock", "readings": [1.5, 2.0]}, Took((1.5, 2.0))),
    "too many readings": ({"type": "clock", "torn": True}, Took((), torn=True)),
    "waiting": ({"type": "waiting", "ids": ["1", "2"]}, Blocked(("1", "2"))),
    "printed": ({"type": "output"}, Printed("stdout", "")),
    "printed text": ({"type": "output", "stream": "stderr", "text": "é"}, Printed("stderr", "é")),
    "a value": (
        {"type": "result", "how": "returned", "value": [1]},
        Finished(how="returned", value=[1]),
    ),
    "an error": (
        {"type": "result", "how": "raised", "kind": "E", "message": "m", "line": 3, "code": None},
        Finished(how="raised", kind="E", message="m", line=3),
    ),
    "a limit": (
        {"type": "result", "how": "exceeded", "limit": "memory_mb", "message": "m"},
        Finished(how="exceeded", limit="memory_mb", message="m"),
    ),
}


@pytest.mark.parametrize(("message", "event"), MESSAGES.values(), ids=MESSAGES)
def test_a_message_of_an_engine_is_an_event(message: Mapping[str, object], event: object) -> None:
    assert from_engine().receive(frame(message, TO_HOST)) == [event]


def test_a_message_of_a_host_is_an_event() -> None:
    order = {"type": "execute", "source": "1", "name": "s.py", "inputs": {"a": 1}, "recursion": 9}
    answer = {"type": "tool_call_response", "id": "7", "value": {"a": 1}}
    failure = {"type": "tool_call_response", "id": "8", "error": {"code": "E", "message": "m"}}
    data = b"".join(frame(message, TO_ENGINE) for message in (order, answer, failure))
    assert from_host().receive(data) == [
        Execute(source="1", name="s.py", inputs={"a": 1}, recursion=9),
        Answered("7", {"a": 1}),
        Answered("8", None, {"code": "E", "message": "m"}),
    ]


VALUE = b'{"type": "result", "how": "returned", "value": %s}'

WRONG: dict[str, bytes] = {
    "not JSON": b"{",
    "not UTF-8": b'"\xff"',
    "not an object": b"[1]",
    "no type": b"{}",
    "an unknown type": b'{"type": "execute", "source": "1"}',
    "a type that is no text": b'{"type": [1]}',
    "a call without an id": b'{"type": "tool_call", "tool": "t"}',
    "an id that is no text": b'{"type": "tool_call", "id": 1, "tool": "t"}',
    "a number that JSON has not": VALUE % b"NaN",
    "a number that takes too long": VALUE % (b"9" * 5000),
    "a nest": VALUE % (b"[" * 900 + b"]" * 900),
    "a deep nest": b"[" * 200_000,
    "a result of no kind": b'{"type": "result"}',
    "a result with a limit of no kind": b'{"type": "result", "how": "exceeded", "limit": "luck"}',
    "a line that is none": b'{"type": "result", "how": "raised", "line": true}',
    "a negative line": b'{"type": "result", "how": "raised", "line": -1}',
    "a code that is no text": b'{"type": "result", "how": "raised", "code": 5}',
    "ids that are no list": b'{"type": "waiting", "ids": "12"}',
    "an id of a list that is no text": b'{"type": "waiting", "ids": ["1", 2]}',
    "readings that are no list": b'{"type": "clock", "readings": 1.5}',
    "a reading that is no number": b'{"type": "clock", "readings": ["1"]}',
    "a reading that is true": b'{"type": "clock", "readings": [true]}',
    "an output to nowhere": b'{"type": "output", "stream": "stdin", "text": "x"}',
    "very many lists": VALUE % (b"[" + b"[]," * 600_000 + b"[]]"),
}


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG)
def test_nonsense_breaks_the_connection_and_raises_nothing(body: bytes) -> None:
    receiver = from_engine()
    good = frame({"type": "waiting", "ids": []}, TO_HOST)
    events = receiver.receive(good + struct.pack("!I", len(body)) + body + good)
    assert events[0] == Blocked(())
    assert isinstance(events[1], Broken)
    assert events[1].why
    assert len(events) == 2
    assert receiver.receive(good) == []


def test_a_frame_that_is_too_long_is_refused_by_its_head() -> None:
    [event] = from_engine().receive(struct.pack("!I", TO_HOST + 1))
    assert event == Broken(f"a frame of {TO_HOST + 1:,} bytes")
    with pytest.raises(TooLarge, match="at most 10 "):
        frame({"a": "x" * 20}, 10)


def test_what_is_not_json_cannot_be_framed() -> None:
    for value in (object(), {1, 2}):
        with pytest.raises(TypeError):
            frame({"a": value}, TO_HOST)
    for value in (float("nan"), 10**5000):
        with pytest.raises(ValueError, match=r".+"):
            frame({"a": value}, TO_HOST)
    nest: list[object] = []
    for _ in range(DEPTH + 5):
        nest = [nest]
    with pytest.raises(ValueError, match="nested more than 200 deep"):
        frame({"a": nest}, TO_HOST)


def test_half_a_character_becomes_a_question_mark() -> None:
    data = frame({"type": "result", "how": "returned", "value": {"\ud800": "é\udc00😀"}}, TO_HOST)
    assert from_engine().receive(data) == [Finished(how="returned", value={"?": "é?😀"})]


def test_five_megabytes_pass_both_ways() -> None:
    value = "é" * 2_500_000
    [event] = from_engine().receive(
        frame({"type": "result", "how": "returned", "value": value}, TO_HOST)
    )
    assert event == Finished(how="returned", value=value)
    [answer] = from_host().receive(
        frame({"type": "tool_call_response", "id": "1", "value": value}, TO_ENGINE)
    )
    assert answer == Answered("1", value)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """Return bytes in pieces."""
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in pairwise(edges)]


json_like = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=10,
)
frames = st.one_of(
    st.sampled_from([frame(message, TO_HOST) for message, _ in MESSAGES.values()]),
    json_like.map(lambda v: frame({"type": "result", "how": "returned", "value": v}, TO_HOST)),
    st.sampled_from(
        [struct.pack("!I", len(body)) + body for body in WRONG.values() if len(body) < 2000]
    ),
    st.binary(max_size=20),
)


@given(parts=st.lists(frames, max_size=8), places=st.lists(st.integers(min_value=0), max_size=12))
def test_any_split_of_the_bytes_gives_the_same_events(
    parts: list[bytes], places: list[int]
) -> None:
    data = b"".join(parts)
    whole = from_engine().receive(data)
    receiver = from_engine()
    pieces = [event for piece in cut(data, places) for event in receiver.receive(piece)]
    assert pieces == whole


@given(value=json_like)
def test_a_value_arrives_as_it_was_sent(value: object) -> None:
    data = frame({"type": "tool_call", "id": "1", "tool": "t", "positional": [value]}, TO_HOST)
    [event] = from_engine().receive(data)
    assert isinstance(event, Asked)
    assert json.dumps(event.positional[0]) == json.dumps(value).encode("utf-8", "replace").decode()
