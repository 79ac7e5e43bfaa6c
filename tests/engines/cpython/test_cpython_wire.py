"""Frames between a host and a process: bytes in, messages out, in whatever pieces they come."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.engines.cpython._wire import (
    FROM_GUEST,
    FROM_HOST,
    HELLO,
    ORDER,
    READINGS,
    RESULT,
    STDOUT,
    TURN,
    Broken,
    Receiver,
    TooLong,
    frame,
    pack_answer,
    pack_turn,
    text_of,
    unpack_answer,
    unpack_turn,
)

HEAD = struct.Struct("!BI")


@pytest.mark.parametrize(
    "data",
    [HEAD.pack(99, 1), HEAD.pack(0, 0), HEAD.pack(ORDER, 1), HEAD.pack(HELLO, 17), b"\xff" * 5],
    ids=["an unknown kind", "none", "what only a host says", "too much", "noise"],
)
def test_what_may_not_come_breaks_the_connection(data: bytes) -> None:
    with pytest.raises(Broken):
        list(Receiver(FROM_GUEST).receive(data))


def test_frames_before_a_broken_one_count() -> None:
    frames = Receiver(FROM_GUEST).receive(frame(STDOUT, b"x") + HEAD.pack(99, 0))
    assert next(frames) == (STDOUT, b"x")
    with pytest.raises(Broken):
        next(frames)


def test_a_frame_that_is_too_long_is_not_made() -> None:
    for kind in (TURN, RESULT):
        with pytest.raises(TooLong):
            frame(kind, bytes(FROM_GUEST[kind] + 1))


def test_a_head_alone_is_judged_before_what_follows_it() -> None:
    with pytest.raises(Broken):
        list(Receiver(FROM_GUEST).receive(HEAD.pack(TURN, 1 << 31)))


@given(
    st.lists(
        st.tuples(st.sampled_from([TURN, STDOUT, READINGS, RESULT]), st.binary(max_size=40)),
        max_size=6,
    ),
    st.data(),
)
def test_any_split_of_the_bytes_gives_the_same_frames(
    frames: list[tuple[int, bytes]], data: st.DataObject
) -> None:
    text = b"".join(frame(kind, said) for kind, said in frames)
    receiver, found = Receiver(FROM_GUEST), list[tuple[int, bytes]]()
    while text:
        size = data.draw(st.integers(1, len(text)))
        found += receiver.receive(text[:size])
        text = text[size:]
    assert found == frames


@given(st.floats(allow_nan=False), st.booleans(), st.text())
def test_a_turn_arrives_as_it_was_said(seconds: float, behind: bool, requests: str) -> None:
    said = unpack_turn(pack_turn(seconds, behind=behind, requests=requests))
    assert said == (seconds, behind, requests.encode("utf-8", "replace").decode())


@given(st.integers(-(2**63), 2**63 - 1), st.booleans(), st.text())
def test_an_answer_arrives_as_it_was_said(now: int, live: bool, text: str) -> None:
    said = unpack_answer(pack_answer(now, live=live, text=text))
    assert said == (now, live, text.encode("utf-8", "replace").decode())


def test_what_is_no_text_or_no_turn_is_broken() -> None:
    with pytest.raises(Broken):
        text_of(b"\xff")
    with pytest.raises(Broken):
        unpack_turn(b"123")


def test_whole_orders_pass() -> None:
    order = b"x" * 20_000_000
    assert list(Receiver(FROM_HOST).receive(frame(ORDER, order))) == [(ORDER, order)]
