"""Values as JSON."""

import math

import pytest

from lineshaft.values import encoded


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, "é", None]}, '{"a":[1,"é",null]}'),
        (2**70, "1180591620717411303424"),
        ([math.pi, True], f"[{math.pi},true]"),
    ],
)
def test_json_has_no_spaces_and_integers_of_any_size(value: object, text: str) -> None:
    assert encoded(value).decode() == text


def test_an_integer_of_more_digits_than_python_writes_is_written() -> None:
    assert encoded([10**5_000]).decode() == f"[1{'0' * 5_000}]"


@pytest.mark.parametrize("value", ["\ud800", {"a": "\ud800"}, object(), {"a": lambda: None}])
def test_a_value_that_is_not_json_is_a_value_error(value: object) -> None:
    with pytest.raises(ValueError, match="serializ"):
        encoded(value)
