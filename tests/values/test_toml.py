"""TOML of settings: what Python's parser reads, within bounds."""

import tomllib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.values import toml_table

PIECES = st.sampled_from(
    [
        "a",
        "b.c",
        " = ",
        "1",
        "1.5",
        '"',
        '"""',
        "'",
        "'''",
        "\\",
        "\n",
        "#",
        "[",
        "]",
        "{",
        "}",
        ",",
    ]
)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_what_python_reads_is_read_alike(text: str) -> None:
    assert read(toml_table, text) == read(tomllib.loads, text)


def read(parse: Callable[[str], object], text: str) -> object:
    """Return what a parser makes of a text, or what it says is wrong."""
    try:
        return parse(text)
    except tomllib.TOMLDecodeError as error:
        return str(error)


@pytest.mark.parametrize(
    "text",
    [
        ".".join("a" * 31),
        f'x = "{"a." * 500}"',
        f"x = '{'a.' * 500}'",
        f'x = """\n"{"a." * 500}\n"""',
        f"x = '''\n'{'a.' * 500}\n'''",
        f"x = 1  # {'a.' * 500}",
        f"x = [{'1.5, ' * 500}]",
    ],
)
def test_dots_elsewhere_are_no_parts_of_a_key(text: str) -> None:
    text = text if "=" in text else f"{text} = 1"
    assert toml_table(text) == tomllib.loads(text)


LONG = "a." * 200_000 + "a"


@pytest.mark.parametrize(
    "text",
    [
        f"{LONG} = 1",
        f"[{LONG}]",
        f"x = {{ {LONG} = 1 }}",
        LONG.replace("a.", "'a' . ") + " = 1",
        LONG.replace("a.", '"\\"".') + " = 1",
        f'x = {{ b = """""a"""", {LONG} = 1 }}',
        f"x = {{ b = '''''a'''', {LONG} = 1 }}",
        f"x = '\"'\n{LONG} = 1",
        "# a\n" * 200_000,
    ],
)
def test_what_would_take_the_parser_for_ever_is_refused_at_once(text: str) -> None:
    with pytest.raises(ValueError, match="more than"):
        toml_table(text)
