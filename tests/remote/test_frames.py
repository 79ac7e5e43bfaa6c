"""Events on the wire are those of OpenHands, both ways."""

import dataclasses
import json
from typing import Any

import pytest

from lineshaft.errors import RemoteProtocolError
from lineshaft.remote.protocol import (
    ACTIONS,
    OBSERVATIONS,
    ActionEvent,
    EditAction,
    EditObservation,
    ErrorObservation,
    FileEdit,
    LandAction,
    LandedFile,
    LandObservation,
    ObservationEvent,
    ReadAction,
    RunAction,
    RunMetadata,
    RunObservation,
    RunPythonAction,
    WriteAction,
    action_frame,
    is_delegated,
    key_of,
    observation_frame,
    read_action,
    read_observation,
)
from remote.events import EDIT, EDITED, FAILED, RAN, RAN_BEFORE, READ, RUN, WRITE

EXTRAS = {  # what OpenHands' classes take: another name is an error there
    "run": {"command", "metadata", "hidden"},
    "read": {"path", "impl_source"},
    "write": {"path"},
    "edit": {"path", "prev_exist", "old_content", "new_content", "impl_source", "diff"},
    "error": {"error_id"},
}


@pytest.mark.parametrize(
    ("frame", "action"),
    [
        (RUN, RunAction(command="pytest -q", thought="see whether it works")),
        (READ, ReadAction(path="/workspace/a.txt")),
        (WRITE, WriteAction(path="a.txt", content="x\n")),
        (
            EDIT,
            EditAction(path="/workspace/a.txt", command="str_replace", old_str="a", new_str="b"),
        ),
    ],
)
def test_an_action_of_openhands_is_read(frame: dict[str, Any], action: object) -> None:
    event = read_action(frame)
    assert event.action == action
    assert event.id == str(frame["id"])
    assert event.timeout == frame.get("timeout")
    assert event.confirmed


def test_an_observation_of_openhands_is_read() -> None:
    metadata = RunMetadata(exit_code=1, pid=4711, working_dir="/workspace")
    assert read_observation(RAN) == ObservationEvent(
        cause="7",
        observation=RunObservation(content="1 failed\n", command="pytest -q", metadata=metadata),
        timestamp=RAN["timestamp"],
    )
    edited = read_observation(EDITED).observation
    assert isinstance(edited, EditObservation)
    assert (edited.old_content, edited.new_content) == ("a\n", "b\n")
    failed = read_observation(FAILED).observation
    assert failed == ErrorObservation(content="there is no file", error_id="E_FILE_NOT_FOUND")


def test_the_older_form_of_an_exit_code_is_read() -> None:
    ran = read_observation(RAN_BEFORE).observation
    assert isinstance(ran, RunObservation)
    assert ran.metadata == RunMetadata(exit_code=0, pid=12)


def test_an_exit_code_that_nobody_gave_is_no_success() -> None:
    ran = read_observation({**RAN_BEFORE, "extras": {"command": "true"}}).observation
    assert isinstance(ran, RunObservation)
    assert ran.metadata.exit_code == -1


@pytest.mark.parametrize(
    "action",
    [
        RunAction(command="ls", cwd="src", is_input=True),
        ReadAction(path="a", view_range=[1, 2]),
        WriteAction(path="a", content="ä", start=1, end=2),
        EditAction(path="a", command="insert", insert_line=0, new_str="x"),
        RunPythonAction(code="print(1)", args=["a"]),
    ],
)
def test_an_action_comes_back_as_it_was_sent(action: Any) -> None:
    frame = action_frame(ActionEvent(id="3", action=action, timeout=2.5, timestamp="now"))
    assert frame["id"] == 3
    assert frame["source"] == "agent"
    assert is_delegated(frame)
    assert read_action(frame) == ActionEvent(id="3", action=action, timeout=2.5, timestamp="now")


@pytest.mark.parametrize("name", EXTRAS)
def test_observations_have_no_fields_that_openhands_refuses(name: str) -> None:
    given = {field.name for field in dataclasses.fields(OBSERVATIONS[name])}
    assert given - {"content"} <= EXTRAS[name]


@pytest.mark.parametrize("code", [0, 3, -1])
def test_an_observation_says_success_only_for_zero(code: int) -> None:
    ran = RunObservation(content="", command="x", metadata=RunMetadata(exit_code=code))
    frame = observation_frame(ObservationEvent(cause="12", observation=ran))
    assert frame["success"] is (code == 0)
    assert frame["cause"] == 12
    assert "id" not in frame


@pytest.mark.parametrize(
    ("given", "key"),
    [
        (12, "12"),
        ("12", "12"),
        (0, "0"),
        (-1, None),
        ("-1", None),
        ("012", None),
        (True, None),
        (1.0, None),
        (None, None),
        ("delegated_action_event_123", None),
        ("9" * 40, None),
    ],
)
def test_ids_are_compared_as_the_digits_of_a_number(given: object, key: str | None) -> None:
    assert key_of(given) == key


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ({**RUN, "id": None}, "no usable id"),
        ({**RUN, "action": "run_ipython"}, "'run_ipython' is not supported"),
        ({**RUN, "action": ["run"]}, "is not supported"),
        ({**RUN, "args": []}, "`args` of an event is list"),
        ({**RUN, "args": {}}, "action 7 cannot be read: .command is missing"),
        ({**RUN, "args": {"command": 3}}, ".command is int"),
        ({**RUN, "timeout": "long"}, "no number"),
        ({**EDIT, "args": {"path": "a", "command": "undo"}}, ".command"),
    ],
)
def test_an_action_that_is_none_is_refused_by_what_is_wrong(
    frame: dict[str, Any], said: str
) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        read_action(frame)
    assert said in caught.value.message


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ({**RAN, "cause": "x"}, "no usable cause"),
        ({**RAN, "observation": "browse"}, "unknown kind, 'browse'"),
        ({**RAN, "content": None}, ".content is NoneType"),
        ({**RAN, "extras": {"metadata": 1}}, "no object"),
        ({**EDITED, "extras": {"path": 1}}, ".path is int"),
    ],
)
def test_an_observation_that_is_none_is_refused_by_what_is_wrong(
    frame: dict[str, Any], said: str
) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        read_observation(frame)
    assert said in caught.value.message


def test_an_action_without_a_target_is_for_display() -> None:
    assert not is_delegated(RUN)
    assert is_delegated({**RUN, "execution_target": "editor"})
    assert not is_delegated({**RAN, "execution_target": "editor"})


def test_an_action_that_waits_for_a_person_is_not_confirmed() -> None:
    for state in ("awaiting_confirmation", "rejected"):
        assert not read_action(
            {**RUN, "args": {**RUN["args"], "confirmation_state": state}}
        ).confirmed


def test_every_kind_has_a_name_on_the_wire() -> None:
    openhands = {"run", "read", "write", "edit"}
    assert set(ACTIONS) == {
        *openhands,
        "run_python",
        "get_errors",
        "buffers",
        "prepare",
        "review",
        "land",
        "approve",
        "call_tool",
    }
    assert set(ACTIONS) < set(OBSERVATIONS)


def test_changes_that_land_together_come_back_as_they_were_sent() -> None:
    land = LandAction(edits=[FileEdit(path="a", before="0" * 64, data="eA==")])
    frame = action_frame(ActionEvent(id="3", action=land))
    assert read_action(json.loads(json.dumps(frame))).action == land
    done = LandObservation(content="", files=[LandedFile(path="a", by_editor=True)])
    answer = observation_frame(ObservationEvent(cause="3", observation=done))
    assert read_observation(json.loads(json.dumps(answer))).observation == done
    with pytest.raises(RemoteProtocolError, match=r"edits\[0\]\.path is missing"):
        read_action({**frame, "args": {"edits": [{"data": ""}]}})
