"""What somebody writes at first is refused at once, with what to write instead."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from lineshaft import Limits, Policy, Session, tool
from lineshaft.errors import ConfigError

pytestmark = pytest.mark.behaviour("B9")
_session = cast("Callable[..., Any]", Session)


def approver(pending: object) -> object:
    return pending


@pytest.mark.parametrize(
    ("write", "told"),
    [
        (lambda: cast("Any", Policy)(rules=[{"id": "x"}]), "Policy.from_dict"),
        (lambda: _session([], policy="auto"), 'Policy(mode="auto")'),
        (lambda: _session([], limits={"seconds": 1}), "Limits(seconds=30)"),
        (lambda: cast("Any", tool)(effcet="read"), "did you mean effect?"),
        (lambda: cast("Any", tool)(color="red"), "there are: name, description, effect"),
        (lambda: _session([], approver=approver), "async def approver(pending)"),
    ],
)
def test_a_notation_that_cannot_be_meant_is_told_how_to_be_written(
    write: Callable[[], object], told: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        write()
    assert told in caught.value.hint


@pytest.mark.parametrize("text", ["nope.py", " tools/run-me.py\n"])
async def test_the_name_of_a_file_is_no_script(text: str, tmp_path: Path) -> None:
    async with Session([], workspace=tmp_path) as session:
        with pytest.raises(ConfigError) as caught:
            await session.run(text)
        fine = await session.run("x = 'nope.py'\nreturn x", limits=Limits(seconds=20))
    assert f"Path({text.strip()!r})" in caught.value.hint
    assert fine.value == "nope.py"


async def test_a_package_that_is_not_there_names_the_setting_that_brings_it(tmp_path: Path) -> None:
    async with Session([], workspace=tmp_path) as session:
        pandas = await session.run("import pandas")
        yaml = await session.run("import yaml")
        own = await session.run("import helpers")
    for result, names in (
        (pandas, 'python.packages = ["pandas"] brings it'),
        (yaml, 'python.packages = ["pyyaml"] brings it'),
        (own, "python.packages brings packages, by the index's names"),
    ):
        assert result.error is not None
        assert names in result.error.hint
        assert "workspace_imports" in result.error.hint
