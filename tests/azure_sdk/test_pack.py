"""The pack is installed as a wheel, and its agents are commands."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "packages" / "lineshaft-azure-sdk"
Line = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the pack, installed from its wheel."""
    built, site = (tmp_path_factory.mktemp(name) for name in ("built", "site"))
    python = (sys.executable, "-m")
    told = ("--no-deps", "--no-index", "--no-compile", "--quiet", "--disable-pip-version-check")
    build = (*python, "hatchling", "build", "-t", "wheel", "-d", str(built))
    subprocess.run(build, cwd=PACKAGE, capture_output=True, check=True)
    [wheel] = built.glob("*.whl")
    subprocess.run(
        (*python, "pip", "install", *told, "--target", str(site), str(wheel)), check=True
    )
    return site


@pytest.fixture
def line(tmp_path: Path, site: Path) -> Line:
    """Return a function that carries out a command line."""
    home = {f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("CONFIG", "STATE")}

    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "lineshaft", *words],
            cwd=tmp_path,
            env={**os.environ, **home, "PYTHONPATH": str(site)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_its_agents_are_commands_with_a_whole_line_each(line: Line) -> None:
    listed = json.loads(line("agent", "list", "azure-sdk", "--json").stdout)["agents"]
    readme = (PACKAGE / "README.md").read_text()
    assert len(listed) >= 3
    for agent in listed:
        assert f"lineshaft agent run {agent['name']} " in readme
        shown = line("agent", "show", agent["name"], "--json")
        told = json.loads(shown.stdout)
        assert told["command"].startswith(f"lineshaft agent run {agent['name']} "), shown.stderr
        assert all(name in told["command"] for name in told["inputs"].get("required", []))


def test_its_tools_are_there_where_settings_name_it(line: Line, tmp_path: Path) -> None:
    own = tmp_path / "CONFIG" / "lineshaft" / "lineshaft.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[tools]\npacks = ["azure-sdk"]\n')
    (tmp_path / "a.txt").write_text("one two")
    words = ("path=a.txt", "old=two", "new=2", "--json")
    done = line("call", "azure_sdk.patch_file", *words)
    assert json.loads(done.stdout)["value"]["success"], done.stderr
    assert (tmp_path / "a.txt").read_text() == "one 2"
