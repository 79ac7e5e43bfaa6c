"""What a window says of its tools, and what of it can be used."""

from typing import Any

import pytest

from lineshaft.errors import RemoteProtocolError
from lineshaft.remote.protocol import (
    MOST_OFFERED,
    CallToolAction,
    Delegations,
    ErrorObservation,
    ReadAction,
    offer_frame,
    read_offer,
)

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"word": {"type": "string"}}}


def defined(name: object = "find", **more: object) -> dict[str, object]:
    return {"name": name, "description": "Find.", "input_schema": SCHEMA, **more}


def test_a_definition_comes_out_as_it_went_in_with_its_hash() -> None:
    given = defined(output_schema={"type": "array"}, effects={"read_only": True})
    offer = read_offer({"tools": [given]})
    frame: Any = offer_frame(offer)
    assert (
        frame["tools"][0].items()
        >= {
            **given,
            "effects": {"read_only": True, "destructive": False, "idempotent": False},
        }.items()
    )
    assert read_offer(frame) == offer
    assert frame["tools"][0]["sha256"] == offer.tools[0].sha256


@pytest.mark.parametrize(
    "more",
    [
        {"description": "Find!"},
        {"input_schema": {**SCHEMA, "required": ["word"]}},
        {"output_schema": {}},
        {"effects": {"read_only": True}},
    ],
)
def test_any_change_of_a_definition_changes_its_hash(more: dict[str, object]) -> None:
    one, other = (read_offer({"tools": [each]}).tools[0] for each in (defined(), defined(**more)))
    assert one.sha256 != other.sha256


@pytest.mark.parametrize("said", [None, [], "x", {}, {"tools": {}}, {"tools": "x"}])
def test_what_is_no_announcement_is_an_error(said: object) -> None:
    with pytest.raises(RemoteProtocolError, match="an object with a list"):
        read_offer(said)


def nested(levels: int) -> dict[str, object]:
    made: dict[str, object] = {}
    for _ in range(levels):
        made = {"items": made}
    return made


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (7, "no object"),
        ({"name": "find"}, "cannot be read: .input_schema is missing"),
        (defined(input_schema=[]), "cannot be read: .input_schema"),
        (defined(strange=1), "cannot be read: .strange is unknown"),
        (defined(name=7), "cannot be read: .name"),
        (defined(name=""), "other characters"),
        (defined(name="a b"), "other characters"),
        (defined(name="find\n"), "other characters"),
        (defined(name="f\u0456nd"), "other characters"),
        (defined(name="x" * 129), "over 128"),
        (defined(description="x" * 20_001), "more than 20,000"),
        (defined(input_schema={"description": "x" * 200_000}), "more than 200,000"),
        (defined(input_schema={"minimum": float("inf")}), "no JSON"),
        (defined(input_schema=nested(300)), "nested too deep"),
        (defined(input_schema=nested(100_000)), "nested too deep"),
    ],
)
def test_a_tool_that_cannot_be_used_is_left_out_and_the_others_stay(
    given: object, why: str
) -> None:
    offer = read_offer({"tools": [given, defined(name="other")]})
    assert [tool.name for tool in offer.tools] == ["other"]
    assert [why in each for each in offer.left_out.values()] == [True], offer.left_out


def test_one_name_is_one_tool_and_the_first_stays() -> None:
    offer = read_offer({"tools": [defined(), defined(description="Another.")]})
    assert [tool.description for tool in offer.tools] == ["Find."]
    assert offer.left_out == {"find": "there is a tool of this name already"}


def test_there_are_bounds_for_all_tools_together() -> None:
    many = read_offer({"tools": [defined(name=f"t{number}") for number in range(100_000)]})
    assert len(many.tools) == MOST_OFFERED
    assert list(many.left_out) == [f"t{MOST_OFFERED}"]
    large = [defined(name=f"t{n}", input_schema={"title": "x" * 190_000}) for n in range(30)]
    offer = read_offer({"tools": large})
    assert len(offer.tools) == 21
    assert set(offer.left_out.values()) == {
        "all tools together have more than 4,000,000 characters"
    }
    broken = read_offer({"tools": [{"name": f"{n}-{'y' * 1_000}"} for n in range(1_000)]})
    assert len(broken.left_out) <= 200
    assert max(map(len, broken.left_out)) <= 200


def test_a_tool_that_is_taken_back_ends_its_calls_and_no_other_action() -> None:
    table = Delegations()
    table.joined(None, now=0)
    keys = [
        table.delegate(action, now=0)[0]
        for action in (
            CallToolAction(name="find"),
            CallToolAction(name="other"),
            ReadAction(path="a"),
        )
    ]
    (end,) = table.withdraw({"find", "none"})
    assert (end.id, end.status) == (keys[0], "unknown")
    assert isinstance(end.observation, ErrorObservation)
    assert "took its tool 'find' back" in end.observation.content
    assert table.pending == tuple(keys[1:])
    late: Any = table.receive({"cause": int(keys[0]), "observation": "call_tool", "content": "x"})
    assert late.reason == "late"


def test_an_action_that_is_refused_has_an_id_and_is_not_pending() -> None:
    table = Delegations()
    table.joined(None, now=0)
    end = table.refuse("E_UNKNOWN_TOOL", "no")
    assert (end.status, table.pending, table.latest_event_id) == ("failed", (), int(end.id))
    again: Any = table.receive({"cause": int(end.id), "observation": "call_tool", "content": "x"})
    assert again.reason == "duplicate"
