"""On the editor's side nothing is done twice, and an answer is kept until the host has it."""

from typing import Any

import pytest

from lineshaft.remote.protocol import ReadObservation
from remote.events import READ, RUN
from remote.local import BeginAction, Executions, SendAnswer, SkipEvent

DELEGATED: dict[str, Any] = {**RUN, "execution_target": "editor"}


def refused(executions: Executions, frame: dict[str, Any]) -> str:
    told = executions.receive(frame)
    assert isinstance(told, SendAnswer)
    extras: Any = told.frame["extras"]
    assert told.frame["observation"] == "error"
    return extras["error_id"]


def test_an_action_begins_once() -> None:
    executions = Executions()
    told = executions.receive(DELEGATED)
    assert isinstance(told, BeginAction)
    assert told.event.id == "7"
    assert executions.receive(DELEGATED) == SkipEvent("action 7 is being done")
    assert executions.running == {"7"}


@pytest.mark.parametrize("acknowledged", [True, False])
def test_an_action_that_comes_again_gets_the_recorded_answer(acknowledged: bool) -> None:
    executions = Executions()
    executions.receive(DELEGATED)
    frame = executions.answered("7", ReadObservation(content="x", path="a"))
    if acknowledged:
        executions.acknowledged("7")
    assert executions.receive({**DELEGATED, "id": "7"}) == SendAnswer(frame)
    assert executions.running == set()


def test_an_answer_waits_for_its_acknowledgement() -> None:
    executions = Executions()
    executions.receive(DELEGATED)
    frame = executions.answered("7", ReadObservation(content="x", path="a"))
    assert executions.unacknowledged == (frame,)
    executions.acknowledged("7")
    executions.acknowledged("7")
    assert executions.unacknowledged == ()


def test_an_answer_that_is_no_longer_kept_is_not_made_anew() -> None:
    executions = Executions(kept=1)
    for key in ("1", "2"):
        executions.receive({**DELEGATED, "id": key})
        executions.answered(key, ReadObservation(content="x", path="a"))
        executions.acknowledged(key)
    assert refused(executions, {**DELEGATED, "id": 1}) == "E_UNKNOWN_STATE"


def test_what_is_not_supported_is_answered_by_an_error() -> None:
    executions = Executions()
    assert refused(executions, {**DELEGATED, "action": "run_ipython"}) == "E_UNSUPPORTED"
    assert refused(executions, {**DELEGATED, "id": 8, "args": None}) == "E_UNSUPPORTED"


@pytest.mark.parametrize("state", ["awaiting_confirmation", "rejected"])
def test_what_a_person_has_not_confirmed_is_not_begun(state: str) -> None:
    executions = Executions()
    frame = {**DELEGATED, "args": {**RUN["args"], "confirmation_state": state}}
    assert refused(executions, frame) == "E_DENIED"
    assert executions.running == set()


def test_events_for_display_and_without_an_id_are_left_alone() -> None:
    executions = Executions()
    assert executions.receive(READ) == SkipEvent("it is for display")
    told = executions.receive({**DELEGATED, "id": "first"})
    assert isinstance(told, SkipEvent)
    assert "no usable id" in told.reason
    assert executions.unacknowledged == ()
