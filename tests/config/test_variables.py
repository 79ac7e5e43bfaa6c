"""Variables in the definitions of servers: what stands for what, and what is said of none."""

from pathlib import Path

import pytest

from lineshaft.config import Input, Variables
from lineshaft.errors import ConfigError


def variables(folder: Path = Path("/w/project"), **environ: str) -> Variables:
    secret = {"KEPT": "from the safe"}
    asked = {
        "region": Input(id="region", options=("eu", "us"), default="eu"),
        "token": Input(id="token"),
    }
    return Variables(environ=environ, secrets=secret, folder=folder, inputs=asked)


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("plain $HOME and {x}", "plain $HOME and {x}"),
        ("a ${ONE}-${env:ONE} b", "a 1-1 b"),
        ("${NONE:-x}${EMPTY:-y}${ONE:-z}", "xy1"),
        ("${env:NONE:-http://a:1}", "http://a:1"),
        ("[${EMPTY}]", "[]"),
        ("${workspaceFolder}/x ${workspaceFolderBasename}", "/w/project/x project"),
        ("${userHome}${pathSeparator}", "/home/"),
        ("${KEPT}", "from the safe"),
        ("${input:region}", "eu"),
        ("${TRICK}", "${ONE}"),
    ],
)
def test_variables_of_all_kinds(text: str, filled: str) -> None:
    held = variables(ONE="1", EMPTY="", TRICK="${ONE}", HOME="/home")
    assert held.fill(text) == filled


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("${NONE}", "NONE"),
        ("${env:NONE}", "NONE"),
        ("${input:token}", "LINESHAFT_INPUT_TOKEN"),
        ("${input:other-one}", "LINESHAFT_INPUT_OTHER_ONE"),
        ("${command:evil}", "not known"),
        ("${}", "not known"),
        ("${ONE}${NONE}", "NONE"),
    ],
)
def test_a_variable_without_a_value_is_named_and_no_value_is_shown(text: str, named: str) -> None:
    with pytest.raises(ConfigError) as caught:
        variables(ONE="hunter2").fill(text)
    said = caught.value.message + caught.value.hint
    assert named in said
    assert "hunter2" not in said


def test_an_input_comes_from_its_variable_or_is_asked_for() -> None:
    asked: list[tuple[str, str]] = []

    def ask(server: str, wanted: Input) -> str | None:
        asked.append((server, wanted.id))
        return "typed"

    held = Variables(environ={"LINESHAFT_INPUT_A": "set"}, folder=Path(), server="s", ask=ask)
    assert held.fill("${input:a} ${input:b}") == "set typed"
    assert asked == [("s", "b")]


def test_an_answer_must_be_one_of_the_options() -> None:
    with pytest.raises(ConfigError, match="none of its options"):
        variables(LINESHAFT_INPUT_REGION="mars").fill("${input:region}")
