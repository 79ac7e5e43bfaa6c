"""Real programs that are ended leave no process, whether their time is up or they are cancelled."""

import shutil
from collections.abc import Callable
from pathlib import Path

import anyio
import psutil
import pytest

from lineshaft.errors import ProgramTimedOut
from lineshaft.processes.programs import (
    CommandOptions,
    MavenOptions,
    NpmExecOptions,
    ProgramOptions,
    run_program,
)

SHORT = 0.4
"""Seconds, of which each of these programs takes more."""


@pytest.fixture(params=["cspell", "tsp", "tsp-client", "npm", "mvn"])
def program(
    request: pytest.FixtureRequest, work: Path, npm_programs: Path, require: Callable[[str], str]
) -> Callable[[float], ProgramOptions]:
    """Return a function that gives a real program some time for a long work."""
    (work / "README.md").write_text("word recieve\n" * 20_000)
    (work / "main.tsp").write_text(
        "model A {}\n" + "".join(f"model M{n} {{}}\n" for n in range(5_000))
    )
    (work / "pom.xml").write_text(
        "<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId>"
        "<artifactId>b</artifactId><version>1</version></project>"
    )
    binaries = npm_programs / "node_modules" / ".bin"
    wanted = request.param
    if wanted == "mvn":
        require("mvn")
        pom = work / "pom.xml"
        return lambda seconds: MavenOptions(("validate",), pom, offline=True, seconds=seconds)
    if wanted == "npm":
        require("npm")
        words = ("cspell", "lint", "README.md")
        shutil.copy(npm_programs / "package.json", work / "package.json")
        (work / "node_modules").symlink_to(npm_programs / "node_modules")
        return lambda seconds: NpmExecOptions(work, words, cwd=work, seconds=seconds)
    words = {
        "cspell": ("lint", "README.md"),
        "tsp": ("compile", "main.tsp", "--dry-run"),
        "tsp-client": ("convert", "--swagger-readme", "README.md", "-o", "."),
    }[wanted]
    path = str(binaries / wanted)
    return lambda seconds: CommandOptions(path, words, cwd=work, seconds=seconds)


@pytest.mark.parametrize("turn", [1, 2])
async def test_nothing_is_left_of_a_real_program(
    program: Callable[[float], ProgramOptions],
    turn: int,
    started: Callable[[], list[psutil.Process]],
) -> None:
    with pytest.raises(ProgramTimedOut):
        await run_program(program(SHORT))
    assert started() == [], turn
    with anyio.move_on_after(SHORT) as scope:
        await run_program(program(60))
    assert scope.cancelled_caught
    assert started() == [], turn
