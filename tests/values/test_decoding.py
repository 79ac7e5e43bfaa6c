"""Envelopes of our own formats are read strictly."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.values import Answer, DecodeError, Pending, decode


@dataclass(frozen=True, slots=True)
class Inner:
    """A part."""

    kind: Literal["a", "b"]
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Outer:
    """A whole."""

    parts: tuple[Inner, ...]
    seconds: float
    names: list[str]
    by_name: Mapping[str, Inner] = field(default_factory=dict[str, Inner])
    payload: object = None


GOOD = {
    "parts": [{"kind": "a"}, {"kind": "b", "size": 1}],
    "seconds": 1,
    "names": ["x"],
    "by_name": {"y": {"kind": "a", "size": None}},
    "payload": {"any": ["thing", "\ud800"]},
}


def test_data_becomes_its_type_and_a_payload_stays_what_it_is() -> None:
    found = decode(Outer, GOOD)
    assert found == Outer(
        (Inner("a"), Inner("b", 1)), 1, ["x"], {"y": Inner("a")}, {"any": ["thing", "\ud800"]}
    )
    assert found.payload is GOOD["payload"]


NOTHING: dict[str, object] = {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seconds": "1"}, ".seconds is str, not float"),
        ({"seconds": True}, ".seconds is bool, not float"),
        ({"names": "x"}, ".names is str, not list"),
        ({"names": [1]}, ".names[0] is int, not str"),
        ({"by_name": ["x"]}, ".by_name is list, not dict"),
        ({"parts": [{"kind": "c"}]}, ".parts[0].kind is str, not"),
        ({"parts": [NOTHING]}, ".parts[0].kind is missing"),
        ({"parts": [{"kind": "a", "size": 1.5}]}, ".parts[0].size is float, not int | None"),
        ({"more": 1}, ".more is unknown"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(
    change: Mapping[str, object], message: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(Outer, {**GOOD, **change})
    assert str(caught.value).startswith(message)


@given(st.booleans(), st.text(), st.sampled_from(["call", "run"]))
def test_what_a_value_was_taken_apart_into_makes_it_again(
    allow: bool, reason: str, scope: str
) -> None:
    data = {"allow": allow, "reason": reason, "scope": scope}
    answer = decode(Answer, data)
    assert (answer.allow, answer.reason, answer.scope) == (allow, reason, scope)


def test_an_empty_envelope_lacks_what_it_needs() -> None:
    with pytest.raises(DecodeError, match="arguments is missing"):
        decode(Pending, {})
