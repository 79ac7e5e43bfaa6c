"""Arguments on the command line: text with `=`, JSON with `:=`."""

import pytest

from lineshaft.cli._pairs import read_pairs
from lineshaft.errors import ConfigError


def test_text_stays_text_and_json_becomes_a_value() -> None:
    assert read_pairs(["a=1", "b:=1", "c:=[1, null]", "d=x=y", "e=", "f=:=", "g:=-2"]) == {
        "a": "1",
        "b": 1,
        "c": [1, None],
        "d": "x=y",
        "e": "",
        "f": ":=",
        "g": -2,
    }


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("plain", "not name=text"),
        ("=x", "not name=text"),
        ("a:=", "not JSON"),
        ("a:={", "not JSON"),
        ("a:=" + "[" * 100_000, "not JSON"),
    ],
)
def test_other_words_are_refused(word: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        read_pairs([word])


def test_a_name_given_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match="'a' is given twice"):
        read_pairs(["a=1", "a:=1"])


def test_a_word_without_a_name_is_answered_with_how_to_give_one() -> None:
    with pytest.raises(ConfigError) as caught:
        read_pairs(["notes.txt"])
    assert "path=notes.txt" in caught.value.hint
