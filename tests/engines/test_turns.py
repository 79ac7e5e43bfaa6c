"""Turns in their order, without a guest: recorded, played back, and refused."""

import json
import math
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.engines.host.protocol import PART, RunEnded, completion_text, order_text, read_result
from lineshaft.engines.host.turns import TurnOrder
from lineshaft.values import (
    Crashed,
    Diverged,
    Exceeded,
    Failure,
    Limits,
    Outcome,
    Program,
    Raised,
    ReplayInputs,
    Returned,
    Value,
)


def asks(*numbers: int, **more: object) -> str:
    """Return the requests of a turn that makes calls."""
    calls: list[object] = [
        {"call": n, "tool": "give", "positional": [n], "arguments": {}} for n in numbers
    ]
    if more:
        calls.append(more)
    return json.dumps(calls)


def inputs(*turns: int, readings: bytes = b"") -> ReplayInputs:
    """Return a record."""
    return ReplayInputs(seed="seed", turns=list(turns), readings=readings)


def order(replay: ReplayInputs | None = None, *, most_calls: int = 100) -> TurnOrder:
    """Return the turns of a run."""
    return TurnOrder(replay, most_calls=most_calls, most_bytes=10_000_000)


def end_of(act: Callable[[], object]) -> Outcome:
    """Return how something ends the run, which it must."""
    with pytest.raises(RunEnded) as ended:
        act()
    return ended.value.outcome


def test_a_turn_is_ended_by_the_completion_that_comes_first() -> None:
    replay = inputs()
    turns = order(replay)
    begun = turns.begin(-1, asks(1, 2))
    assert [call.id for call in begun.calls] == ["1", "2"]
    assert (begun.answer, begun.seconds, begun.blocked) == (None, None, True)
    assert turns.completed(2, Value("b")) == '[{"id":2,"value":"b"}]'
    assert turns.completed(1, Value("a")) is None
    assert turns.begin(-1, "[]").answer == '[{"id":1,"value":"a"}]'
    assert replay.turns == [2, 1]


def test_a_poll_is_answered_at_once_and_recorded() -> None:
    replay = inputs()
    turns = order(replay)
    assert turns.begin(0, asks(1)).answer == "[]"
    assert turns.begin(0, "[]").answer == "[]"
    turns.completed(1, Value(1))
    assert turns.begin(0, "[]").answer == '[{"id":1,"value":1}]'
    assert replay.turns == [0, 0, 1]


def test_a_time_that_passes_ends_a_turn_and_is_recorded() -> None:
    replay = inputs()
    turns = order(replay)
    begun = turns.begin(2.5, asks(1))
    assert (begun.answer, begun.seconds, begun.blocked) == (None, 2.5, True)
    assert turns.passed() == "[]"
    assert not order().begin(2.5, "[]").blocked  # no call is under way
    assert replay.turns == [0]


def test_only_time_ends_a_sleep() -> None:
    turns = order(inputs())
    assert turns.begin(1.0, asks(1, sleep=True)).answer is None
    assert turns.completed(1, Value(1)) is None
    assert turns.passed() == "[]"
    assert turns.begin(-1, "[]").answer == '[{"id":1,"value":1}]'


def test_a_call_that_is_withdrawn_completes_no_turn() -> None:
    turns = order(inputs())
    turns.begin(0, asks(1, 2, 3))
    turns.completed(1, Value(1))
    begun = turns.begin(-1, '[{"cancel":1},{"cancel":2}]')
    assert (begun.cancels, begun.answer) == ((2,), None)
    assert turns.completed(2, Value(2)) is None
    assert turns.completed(3, Value(3)) == '[{"id":3,"value":3}]'


@pytest.mark.parametrize("seconds", [-1, math.inf, math.nan, -math.inf, 1e300])
def test_a_turn_that_nothing_can_end_ends_the_run(seconds: float) -> None:
    outcome = end_of(lambda: order().begin(seconds, "[]"))
    assert isinstance(outcome, Raised)
    assert outcome.kind == "RuntimeError"


def test_a_record_is_played_back_in_its_order() -> None:
    replay = inputs(2, 0, 1)
    turns = order(replay)
    first = turns.begin(-1, asks(1, 2))
    assert (first.live, first.blocked, first.answer) == (False, False, None)
    assert all(call.recorded for call in first.calls)
    assert turns.completed(1, Value("a")) is None
    assert turns.completed(2, Value("b")) == '[{"id":2,"value":"b"}]'
    assert turns.begin(100, "[]").answer == "[]"
    assert turns.playing
    assert turns.begin(0, "[]").answer == '[{"id":1,"value":"a"}]'
    assert not turns.playing
    live = turns.begin(-1, asks(3))
    assert (live.live, live.blocked) == (True, True)
    assert [call.recorded for call in live.calls] == [True]
    turns.completed(3, Value("c"))
    later = turns.begin(-1, asks(4))
    assert (later.live, [call.recorded for call in later.calls]) == (False, [False])
    assert replay.turns == [2, 0, 1, 3]


def test_the_calls_of_a_run_that_was_suspended_at_once_are_recorded() -> None:
    assert order(inputs(readings=b"\1")).begin(-1, asks(1)).calls[0].recorded
    assert not order(inputs()).begin(-1, asks(1)).calls[0].recorded
    assert not order().begin(-1, asks(1)).calls[0].recorded


DIVERGING: dict[str, tuple[list[int], float, str]] = {
    "a call that was not made": ([5], -1, asks(1)),
    "a call twice": ([1, 1], -1, asks(1)),
    "waiting where time passed": ([0], -1, asks(1)),
    "sleeping where a call ended": ([1], 3.0, asks(1, sleep=True)),
}


@pytest.mark.parametrize(("past", "seconds", "asked"), DIVERGING.values(), ids=DIVERGING)
def test_a_turn_that_is_out_of_step_diverges(past: list[int], seconds: float, asked: str) -> None:
    turns = order(inputs(*past))

    def act() -> None:
        turns.begin(seconds, asked)
        turns.completed(1, Value(1))
        turns.begin(seconds, "[]")

    assert isinstance(end_of(act), Diverged)


def test_a_script_that_ends_before_its_record_diverges() -> None:
    turns = order(inputs(1))
    assert isinstance(end_of(turns.finished), Diverged)
    turns.begin(-1, asks(1))
    turns.completed(1, Value(1))
    turns.finished()


def test_long_requests_come_in_pieces_of_which_the_last_is_the_turn() -> None:
    replay = inputs()
    turns = order(replay)
    text = asks(1) + " " * 300_000
    starts = range(0, len(text), 100_000)
    begun = [
        turns.begin(-1, _piece(text[at : at + 100_000], more=at != starts[-1])) for at in starts
    ]
    assert [one.answer for one in begun] == ["[]"] * (len(starts) - 1) + [None]
    assert [call.id for call in begun[-1].calls] == ["1"]
    assert replay.turns == []


def _piece(text: str, *, more: bool) -> str:
    return json.dumps([{"part": text, "more": more}])


def test_pieces_are_few_whatever_a_guest_sends() -> None:
    outcome = end_of(lambda: order().begin(-1, _piece("x" * 99_999, more=True)))
    assert isinstance(outcome, Crashed)
    assert "a piece of fewer than 100,000 characters" in outcome.message
    turns = order()
    for _ in range(640):
        assert turns.begin(-1, _piece("x" * 100_000, more=True)).answer == "[]"
    outcome = end_of(lambda: turns.begin(-1, _piece("x", more=False)))
    assert isinstance(outcome, Crashed)
    assert "more than 64,000,000 bytes" in outcome.message


def test_a_message_in_pieces_is_counted_by_itself() -> None:
    turns = TurnOrder(None, most_calls=100, most_bytes=100_000_000)
    for number in range(1, 4):
        text = asks(number)
        for _ in range(300):
            turns.begin(-1, _piece(" " * 100_000, more=True))
        turns.begin(-1, _piece(text, more=False))
        turns.completed(number, Value(1))


@pytest.mark.parametrize("text", ["x" * 10_000_000, "\U0001f600" * 7_000_000, '"' * 9_000_000])
def test_long_answers_go_in_pieces_that_can_cross(text: str) -> None:
    turns = order(inputs())
    turns.begin(-1, asks(1))
    answer = turns.completed(1, Value(text))
    pieces: list[str] = []
    while answer is not None:
        assert len(answer.encode()) <= 16_000_000
        [item] = json.loads(answer)
        if "part" not in item:
            pieces.append(answer)
            break
        pieces.append(item["part"])
        answer = turns.begin(0, '[{"rest":true}]').answer if item["more"] else None
    assert json.loads("".join(pieces)) == [{"id": 1, "value": text}]
    assert max(map(len, pieces)) <= max(PART, 16_000_000)


def test_an_answer_that_is_too_long_is_an_error_of_its_call() -> None:
    [item] = json.loads(completion_text(1, Value("x" * 70_000_000)))
    assert item["error"]["code"] == "E_TOO_LARGE"


BAD: dict[str, object] = {
    "NaN": math.nan,
    "a set": {1},
    "too deep": json.loads("[" * 300 + "]" * 300),
    "an endless list": (endless := []),
}
endless.append(endless)


@pytest.mark.parametrize("value", BAD.values(), ids=BAD)
def test_a_result_that_cannot_be_sent_is_an_error_of_its_call(value: object) -> None:
    [item] = json.loads(completion_text(1, Value(value)))
    assert item["error"]["code"] == "E_INVALID_RESULT"


def test_a_failure_is_given_with_its_parts() -> None:
    [item] = json.loads(completion_text(7, Failure("E_X", "m\ud800", "h")))
    assert item == {"id": 7, "error": {"code": "E_X", "message": "m?", "hint": "h"}}


def test_more_calls_than_may_be_end_the_run() -> None:
    turns = order(most_calls=2)
    assert isinstance(end_of(lambda: turns.begin(0, asks(1, 2, 3))), Exceeded)


@given(st.text(max_size=40) | st.lists(st.sampled_from('[]{}",:0123ecallpt ')).map("".join))
def test_any_text_of_a_guest_is_a_turn_or_the_end_of_the_run(text: str) -> None:
    ended: list[Outcome] = []
    try:
        order().begin(0, text)
    except RunEnded as error:
        ended.append(error.outcome)
    assert all(isinstance(outcome, Crashed) for outcome in ended)


RESULTS: dict[str, tuple[str, Outcome | None]] = {
    "a value": ('{"how":"returned","value":[1]}', Returned(value=[1])),
    "an error": ('{"how":"raised","kind":"E","message":"m"}', Raised(kind="E", message="m")),
    "a limit": (
        '{"how":"exceeded","limit":"memory_mb","message":"m","line":3}',
        Exceeded(limit="memory_mb", message="m", line=3),
    ),
    "no way": ("{}", None),
    "no object": ("[]", None),
    "nothing": ("", None),
    "another limit": ('{"how":"exceeded","limit":"calls","message":"m"}', None),
    "a line that is none": ('{"how":"raised","kind":"E","message":"m","line":-1}', None),
    "a kind that is none": ('{"how":"raised","kind":5,"message":"m"}', None),
    "infinity": ('{"how":"returned","value":1e999}', None),
    "too deep": ('{"how":"returned","value":' + "[" * 400 + "]" * 400 + "}", None),
}


@pytest.mark.parametrize(("text", "outcome"), RESULTS.values(), ids=RESULTS)
def test_the_last_word_of_a_guest_is_judged(text: str, outcome: Outcome | None) -> None:
    found = read_result(text)
    assert found == outcome if outcome is not None else isinstance(found, Crashed)


def test_inputs_that_cannot_be_sent_are_an_error() -> None:
    for value in (math.inf, {1}, "x" * 20_000_000):
        program = Program(source="1", inputs={"x": value})
        outcome = end_of(lambda p=program: order_text(p, Limits(), packages=False))
        assert isinstance(outcome, Raised)
        assert outcome.kind == "TypeError"


PIECES = ("[", "{", '"', "\\", '\\"', "[[", "é😀", "x" * 99_999, "[" * 1_000_001, '["{' * 400_000)


@given(st.lists(st.sampled_from(PIECES), max_size=6).map("".join))
def test_brackets_in_a_text_are_no_lists(text: str) -> None:
    found = read_result(json.dumps({"how": "returned", "value": text}, ensure_ascii=False))
    assert found == Returned(value=text)


MANY: dict[str, str] = {
    "lists": "[" + "[]," * 1_000_001 + "[]]",
    "dicts": "[" + "{}," * 1_000_001 + "{}]",
    "behind texts": "[" + r'"[\"{\\",[],' * 1_000_001 + "[]]",
    "behind a long text": '["' + "[" * 1_000_001 + '",' + "[]," * 1_000_001 + "[]]",
}


@pytest.mark.parametrize("text", MANY.values(), ids=MANY)
def test_more_lists_and_dicts_than_may_be_end_the_run(text: str) -> None:
    ended = end_of(lambda: order().begin(0, text))
    assert isinstance(ended, Crashed)
    assert "more than 1,000,000 lists and dicts" in ended.message


HOSTILE: dict[str, str] = {
    "a text without an end": '["' + "[" * 20_000_000,
    "nothing but escapes": "[" * 1_000_001 + '"' + "\\" * 20_000_000,
    "nothing but quotes": '["' + "[" * 1_000_001 + '"' * 20_000_000,
    "escaped quotes outside of texts": '\\"[' * 7_000_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_long_text_that_is_not_json_ends_the_run_soon(text: str) -> None:
    begun = time.process_time()
    assert isinstance(end_of(lambda: order().begin(0, text)), Crashed)
    assert time.process_time() - begun < 10
