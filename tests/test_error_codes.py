"""The page of error codes names a cause and a cure for each, and names only what is there."""

import re
import tomllib
from pathlib import Path

import pytest

from lineshaft.config import KEYS

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
CAUSES: dict[str, list[dict[str, str]]] = tomllib.loads(
    (FOLDER / "errors.toml").read_text(encoding="utf-8")
)
COMMANDS = dict(
    re.findall(
        r"^## lineshaft ([a-z ]+)\n(.*?)(?=^## |\Z)",
        (FOLDER / "commands.md").read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
)
ROOMS = {key.partition(".")[0] for key in KEYS}
LINES = [line for causes in CAUSES.values() for line in causes]


@pytest.mark.parametrize("code", CAUSES)
def test_a_cure_says_more_than_to_read_the_message(code: str) -> None:
    for line in CAUSES[code]:
        assert set(line) == {"cause", "cure"}
        assert not re.fullmatch(
            r"(?i)(read the message|try again( later)?|report it)\W*", line["cure"]
        )
        assert all(text.endswith(".") and "|" not in text for text in line.values())


def test_a_cause_stands_once() -> None:
    told = [(code, line["cause"]) for code, causes in CAUSES.items() for line in causes]
    assert len(told) == len(set(told))


def quoted() -> list[str]:
    return [
        word for line in LINES for text in line.values() for word in re.findall("`(.+?)`", text)
    ]


def test_settings_that_are_named_exist() -> None:
    named = {word for word in quoted() if re.fullmatch(r"[a-z]+\.[a-z_]+", word)}
    settings = {word for word in named if word.partition(".")[0] in ROOMS}
    assert len(settings) > 20
    assert settings <= set(KEYS)


def test_commands_and_options_that_are_named_exist() -> None:
    told = [word.removeprefix("lineshaft ") for word in quoted() if word.startswith("lineshaft ")]
    assert len(told) > 20
    for words in told:
        command = max((name for name in COMMANDS if f"{words} ".startswith(f"{name} ")), key=len)
        for option in re.findall(r"--[a-z-]+", words):
            assert f"`{option}" in COMMANDS[command], words
    assert all(word.startswith("lineshaft ") for word in quoted() if word.startswith("linesh"))
