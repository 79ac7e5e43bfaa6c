"""Values as text for the interpreter, and back."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.engines._micropython import _wire

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=30,
)  # fmt: skip  # words, not one a line


@given(value=values)
def test_a_value_comes_back_as_it_was(value: object) -> None:
    back = _wire.decode(_wire.encode_text(value))
    assert back == value
    assert json.dumps(back) == json.dumps(value)


def test_no_dict_and_no_long_float_stands_in_the_text() -> None:
    text = _wire.encode({"b": 0.1 + 0.2, "a": 1.5})
    assert json.loads(text) == {"d": ["b", {"f": "343333333333d33f"}, "a", 1.5]}


NOT_WRITTEN = (
    "{", '{"x": 1}', '{"d": 5}', '{"d": [1, 2]}', '{"d": ["a"]}', '{"f": "zz"}', '{"f": 5}', "NaN",
    "[Infinity]", '{"f": "000000000000f07f"}', '{"f": "00"}',
)  # fmt: skip  # words, not one a line


@pytest.mark.parametrize("text", NOT_WRITTEN)
def test_text_that_the_interpreter_does_not_write_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        _wire.decode(text.encode())


def test_half_characters_become_question_marks() -> None:
    assert _wire.readable("a\ud800b".encode("utf-8", "surrogatepass")) == "a?b"
    assert _wire.readable("\ud83d\ude00".encode("utf-8", "surrogatepass")) == "😀"
    assert _wire.readable(b"a\xff") == "a\ufffd"
    assert _wire.encode_text(["\ud800", math.pi]) == b'["?",{"f":"182d4454fb210940"}]'
