"""An action ends with exactly one answer, however the wire behaves; time is a number here."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.errors import ConnectFailed, LocalProtocolError
from lineshaft.remote.protocol import (
    ActionEnd,
    Delegations,
    DroppedFrame,
    ErrorObservation,
    ObservationEvent,
    ReadAction,
    RunAction,
    WriteObservation,
    observation_frame,
)

ACTION = RunAction(command="true")


def answer(cause: object, text: str = "written") -> dict[str, Any]:
    frame = dict(
        observation_frame(
            ObservationEvent(cause="0", observation=WriteObservation(content=text, path="a"))
        )
    )
    return {**frame, "cause": cause}


def linked(**settings: float) -> Delegations:
    delegations = Delegations(**settings)  # type: ignore[arg-type]  numbers alone
    delegations.joined(None, now=0)
    return delegations


def ended(delegations: Delegations, frame: object) -> ActionEnd:
    end = delegations.receive(frame)
    assert isinstance(end, ActionEnd)
    return end


def dropped(delegations: Delegations, frame: object) -> str:
    end = delegations.receive(frame)
    assert isinstance(end, DroppedFrame)
    return end.reason


def code(end: ActionEnd) -> str:
    assert isinstance(end.observation, ErrorObservation)
    return end.observation.error_id


def test_ids_grow_by_one_over_actions_and_events() -> None:
    delegations = linked()
    assert delegations.delegate(ACTION, now=0)[0] == "0"
    assert delegations.show({"action": "message"})["id"] == 1
    assert delegations.delegate(ACTION, now=0)[0] == "2"
    assert delegations.latest_event_id == 2
    assert delegations.pending == ("0", "2")


@pytest.mark.parametrize("written", [int, str])
def test_answers_out_of_order_find_their_actions(written: Any) -> None:
    delegations = linked()
    for _ in range(3):
        delegations.delegate(ACTION, now=0)
    for key in ("2", "0", "1"):
        end = ended(delegations, answer(written(key), key))
        assert (end.id, end.status, end.observation.content) == (key, "done", key)
    assert delegations.pending == ()


def test_a_second_answer_is_dropped() -> None:
    delegations = linked()
    delegations.delegate(ACTION, now=0)
    assert ended(delegations, answer(0, "first")).observation.content == "first"
    assert dropped(delegations, answer(0, "second")) == "duplicate"


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (answer(99), "unknown cause"),
        (answer(-1), "no cause"),
        (answer(None), "no cause"),
        ({"observation": "run"}, "no cause"),
        ({"action": "run", "cause": 0}, "no observation"),
        ("text", "no observation"),
        (None, "no observation"),
        ([], "no observation"),
    ],
)
def test_what_answers_nothing_changes_nothing(frame: object, reason: str) -> None:
    delegations = linked()
    delegations.delegate(ACTION, now=0)
    assert dropped(delegations, frame) == reason
    assert delegations.pending == ("0",)


def test_an_answer_that_cannot_be_read_ends_its_action_as_unknown() -> None:
    delegations = linked()
    delegations.delegate(ACTION, now=0)
    end = ended(delegations, {"cause": 0, "observation": "run", "content": 3, "extras": {}})
    assert (end.status, code(end)) == ("unknown", "E_REMOTE_PROTOCOL")
    assert delegations.pending == ()


def test_an_error_of_the_editor_is_a_failure() -> None:
    delegations = linked()
    delegations.delegate(ACTION, now=0)
    frame = {"cause": "0", "observation": "error", "content": "no", "extras": {"error_id": "E_X"}}
    assert ended(delegations, frame).status == "failed"


@pytest.mark.parametrize("code", ["E_UNKNOWN_STATE", "E_CANCELLED"])
def test_an_editor_that_cannot_say_how_far_an_action_came_says_so(code: str) -> None:
    delegations = linked()
    delegations.delegate(ACTION, now=0)
    frame = {"cause": 0, "observation": "error", "content": "x", "extras": {"error_id": code}}
    assert ended(delegations, frame).status == "unknown"


def test_time_is_the_actions_own_and_five_seconds_or_120() -> None:
    delegations = linked()
    delegations.delegate(ACTION, now=0, timeout=10)
    delegations.delegate(ACTION, now=1)
    assert delegations.next_deadline() == 15
    assert delegations.expire(now=14.9) == ()
    (end,) = delegations.expire(now=15)
    assert (end.id, end.status, code(end)) == ("0", "unknown", "E_TOOL_TIMEOUT")
    assert delegations.next_deadline() == 121
    assert [each.id for each in delegations.expire(now=121)] == ["1"]
    assert delegations.next_deadline() == math.inf


def test_an_answer_after_the_time_is_dropped_as_late() -> None:
    delegations = linked()
    delegations.delegate(ACTION, now=0, timeout=1)
    delegations.expire(now=6)
    assert dropped(delegations, answer(0)) == "late"
    key, _ = delegations.delegate(ACTION, now=7)
    assert ended(delegations, answer(key)).status == "done"


def test_a_clock_stands_while_a_dialog_waits() -> None:
    delegations = linked()
    delegations.delegate(ACTION, now=0, timeout=10)
    delegations.waits("0", True, now=14)
    assert delegations.expire(now=10_000) == ()
    delegations.waits(0, False, now=10_000)
    assert delegations.expire(now=10_000.9) == ()
    assert len(delegations.expire(now=10_001)) == 1


def test_a_lost_link_keeps_what_is_pending_through_the_grace() -> None:
    delegations = linked(grace=30)
    delegations.delegate(ACTION, now=0, timeout=1)
    delegations.left(now=5)
    assert delegations.expire(now=34) == ()
    assert delegations.next_deadline() == 35
    assert ended(delegations, answer(0)).status == "done"


def test_a_link_that_stays_lost_ends_everything_as_unknown() -> None:
    delegations = linked(grace=30)
    delegations.delegate(ACTION, now=0)
    delegations.left(now=5)
    delegations.delegate(ReadAction(path="a"), now=20)
    ends = delegations.expire(now=35)
    assert [(end.id, end.status, code(end)) for end in ends] == [
        ("0", "unknown", "E_CONNECTION_LOST"),
        ("1", "unknown", "E_CONNECTION_LOST"),
    ]
    assert delegations.pending == ()
    with pytest.raises(ConnectFailed, match="no editor is connected"):
        delegations.delegate(ACTION, now=36)
    delegations.joined(None, now=40)
    key, _ = delegations.delegate(ACTION, now=41)
    assert ended(delegations, answer(key)).status == "done"


def test_an_editor_that_comes_back_is_sent_what_is_pending_and_not_yet_seen() -> None:
    delegations = linked()
    delegations.delegate(ACTION, now=0)
    delegations.show({"action": "message", "args": {"content": "a"}})
    delegations.delegate(ReadAction(path="a"), now=0)
    delegations.show({"action": "message", "args": {"content": "b"}})
    delegations.receive(answer(0))
    delegations.left(now=1)
    again = delegations.joined("1", now=2)
    assert [frame["id"] for frame in again] == [2, 3]
    assert [frame["id"] for frame in delegations.joined(None, now=3)] == [1, 2, 3]
    assert [frame["id"] for frame in delegations.joined(3, now=3)] == [2]


def test_an_action_has_time_left_for_its_answer_after_the_link_is_back() -> None:
    delegations = linked()
    delegations.delegate(ACTION, now=0, timeout=1)
    delegations.left(now=5.9)
    delegations.joined(0, now=20)
    assert delegations.expire(now=24.9) == ()
    assert [code(end) for end in delegations.expire(now=25)] == ["E_TOOL_TIMEOUT"]


def test_events_for_display_are_never_delegated() -> None:
    delegations = linked()
    shown = delegations.show({"action": "run", "execution_target": "editor", "id": 77})
    assert "execution_target" not in shown
    assert shown["id"] == 0
    assert delegations.pending == ()


def test_events_for_display_are_kept_as_far_as_they_are_few_and_small() -> None:
    delegations = linked()
    for number in range(1_200):
        delegations.show({"number": number})
    again = delegations.joined(-1, now=0)
    assert [frame["number"] for frame in again] == list(range(200, 1_200))
    for _ in range(3):
        delegations.show({"text": "ä" * 3_000_000})
    kept = delegations.joined(-1, now=0)
    assert [frame["id"] for frame in kept] == [1_201, 1_202]


@pytest.mark.parametrize("event", [{"x": object()}, {"x": {}}], ids=["object", "deep"])
def test_an_event_that_is_not_json_is_refused(event: dict[str, Any]) -> None:
    inner = event["x"]
    if inner == {}:
        for _ in range(100_000):
            inner["x"] = inner = {}
    delegations = linked()
    with pytest.raises(LocalProtocolError, match="as JSON"):
        delegations.show(event)
    assert delegations.latest_event_id == -1


def test_an_action_that_is_given_up_ends_once() -> None:
    delegations = linked()
    delegations.delegate(ACTION, now=0)
    end = delegations.give_up("0", ErrorObservation(content="cancelled", error_id="E_CANCELLED"))
    assert end is not None
    assert end.status == "unknown"
    assert delegations.give_up("0", ErrorObservation(content="again")) is None
    assert dropped(delegations, answer(0)) == "late"


@pytest.mark.parametrize("seconds", [0, -1, math.inf, math.nan])
def test_a_time_that_is_none_is_refused(seconds: float) -> None:
    delegations = linked()
    with pytest.raises(LocalProtocolError, match="positive number"):
        delegations.delegate(ACTION, now=0, timeout=seconds)
    assert delegations.pending == ()


def test_without_an_editor_nothing_is_delegated() -> None:
    with pytest.raises(ConnectFailed) as caught:
        Delegations().delegate(ACTION, now=0)
    assert "VS Code" in caught.value.hint


STEPS = st.lists(
    st.one_of(
        st.just(("delegate",)),
        st.just(("leave",)),
        st.just(("join",)),
        st.just(("expire",)),
        st.tuples(st.just("answer"), st.integers(0, 12)),
        st.tuples(st.just("wait"), st.integers(0, 12)),
        st.tuples(st.just("go"), st.integers(0, 12)),
    ),
    max_size=60,
)


@given(STEPS, st.lists(st.floats(0, 60), min_size=60, max_size=60))
def test_whatever_happens_each_action_ends_at_most_once_and_at_last(
    steps: list[tuple[Any, ...]], pauses: list[float]
) -> None:
    delegations, now = linked(), 0.0
    began: set[str] = set()
    ends: list[str] = []
    for step, pause in zip(steps, pauses, strict=False):
        now += pause
        match step:
            case ("delegate",) if delegations.reachable(now=now):
                began.add(delegations.delegate(ACTION, now=now)[0])
            case ("leave",):
                delegations.left(now=now)
            case ("join",):
                delegations.joined(None, now=now)
            case ("expire",):
                ends += [end.id for end in delegations.expire(now=now)]
            case ("answer", key):
                end = delegations.receive(answer(key))
                ends += [end.id] if isinstance(end, ActionEnd) else []
            case (word, key):
                delegations.waits(key, word == "wait", now=now)
            case _:
                pass
    delegations.left(now=now)
    ends += [end.id for end in delegations.expire(now=now + 1_000)]
    assert sorted(ends) == sorted(began)
    assert delegations.pending == ()
