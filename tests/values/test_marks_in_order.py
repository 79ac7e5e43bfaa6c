"""Marks in order normalise to what they would have, and soon."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft import Policy, Session, tool
from lineshaft.values import marks_in_order

MARKS = [
    chr(number)
    for number in range(sys.maxunicode + 1)
    if unicodedata.combining(unicodedata.normalize("NFD", chr(number))[0])
]


@given(
    st.lists(
        st.one_of(
            st.lists(st.sampled_from(MARKS), min_size=25, max_size=60).map("".join),
            st.text(max_size=5),
            st.sampled_from(["é", "ḍ̇", "가", "ᄀ", "ᅡ", "ｶﾞ"]),
        ),
        max_size=4,
    ).map("".join)
)
def test_a_text_normalises_to_the_same(text: str) -> None:
    for form in ("NFC", "NFD"):
        wanted = unicodedata.normalize(form, text)
        assert unicodedata.normalize(form, marks_in_order(text)) == wanted


def test_every_mark_is_known_as_one() -> None:
    for mark in MARKS:
        below = unicodedata.combining(unicodedata.normalize("NFD", mark)[-1]) == 220
        mixed = (mark + ("\u0301" if below else "\u0316")) * 20
        ordered = marks_in_order(mixed)
        classes = [unicodedata.combining(each) for each in ordered]
        assert classes == sorted(classes)
        assert unicodedata.normalize("NFC", ordered) == unicodedata.normalize("NFC", mixed)


@pytest.mark.parametrize("marks", ["\u0301\u0316", "\u0f73", "\u0f81\u0344"])
async def test_a_call_with_any_number_of_marks_is_judged_soon(marks: str) -> None:
    @tool(effect="read")
    async def pay(to: str) -> int:
        """Pay."""
        return len(to)

    rule = {"id": "evil", "verdict": "deny", "arguments": {"to": ["*evil*"]}}
    policy = Policy.from_dict({"mode": "open", "rules": [rule]})
    async with Session([pay], policy=policy, store=False) as session:
        paid = await session.call("pay", {"to": f"a{marks * 200_000}"})
        refused = await session.call("pay", {"to": f"a{marks * 1_000} EVIL"})
    assert (paid.status, refused.status) == ("done", "refused")
