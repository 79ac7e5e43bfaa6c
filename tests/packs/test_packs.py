"""Packs: found by metadata, loaded by name, told where they are broken."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from forked.programs import Command, Programs
from lineshaft import Tool
from lineshaft.config import read_settings, tools
from lineshaft.errors import ConfigError
from lineshaft.packs import Pack, discover, find_pack, load_pack
from lineshaft.testing import ScriptedModel, call, exit_with
from native import vouch_for_native_code

EXAMPLE = Path(__file__).parents[2] / "examples" / "pack"
Install = Callable[..., Path]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of installed distributions, first on the path."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    for name in [name for name in sys.modules if name.startswith(("tiny_", "lineshaft_notes"))]:
        monkeypatch.delitem(sys.modules, name)
    return folder


def offer(site: Path, distribution: str, points: str, source: str = "") -> None:
    """Write what a distribution leaves where it is installed."""
    module = distribution.replace("-", "_")
    info = site / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[lineshaft.packs]\n{points}\n")
    (site / f"{module}.py").write_text(source)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel of the example, built as anybody builds it."""
    folder = tmp_path_factory.mktemp("wheel")
    command = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    done = subprocess.run(command, cwd=EXAMPLE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture
def notes(site: Path, wheel: Path) -> Path:
    """Return the folder into which the wheel of the example was installed."""
    told = ("--no-deps", "--no-index", "--no-compile", "--quiet", "--target", str(site))
    command = (sys.executable, "-m", "pip", "install", "--disable-pip-version-check", *told)
    done = subprocess.run((*command, str(wheel)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return site


@pytest.fixture
def line(tmp_path: Path, site: Path, programs: Programs) -> Command:
    """Return a function that carries out a command line in a folder of its own."""
    work = tmp_path / "work"
    work.mkdir()
    home = {f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("CONFIG", "STATE")}
    vouch_for_native_code(tmp_path / "STATE")

    def run(*words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        env = {**os.environ, **home, "PYTHONPATH": str(site), **variables}
        return programs.lineshaft(*words, cwd=work, env=env)

    return run


def test_a_pack_from_a_wheel_is_found_without_being_imported(notes: Path) -> None:
    [found] = [pack for pack in discover() if pack.name == "notes"]
    assert (found.distribution, found.version) == ("lineshaft-notes", "1.0.0")
    assert (found.module, found.problem) == ("lineshaft_notes", "")
    assert "lineshaft_notes" not in sys.modules
    assert [pack.name for pack in discover(path=[str(notes)])] == ["notes"]
    assert find_pack("notes") == found
    assert "lineshaft_notes" not in sys.modules


@pytest.mark.usefixtures("notes")
async def test_a_pack_loads_when_it_is_named_and_its_agent_runs(tmp_path: Path) -> None:
    pack = load_pack("notes")
    (tmp_path / "n.md").write_text("# Tides\nThe sea rises.\n")
    model = ScriptedModel(
        [
            call("notes__headings", path="n.md"),
            exit_with(title="nine words are more than a title may have"),
            exit_with(title="The sea rises"),
        ]
    )
    done = await pack.agent("title").run(path="n.md", model=model, workspace=str(tmp_path))
    assert done.output == {"title": "The sea rises"}
    assert "Tides" in model.requests[1].messages[-1].text
    assert sorted(pack.toolset()) == ["agents.title", "notes.headings"]
    with pytest.raises(ConfigError, match="no agent 'nope'") as told:
        pack.agent("nope")
    assert told.value.hint == "it has: title"


@pytest.mark.usefixtures("notes")
def test_settings_offer_the_tools_and_agents_of_a_pack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "c"), "XDG_STATE_HOME": str(tmp_path / "s")}
    monkeypatch.chdir(tmp_path)
    assert "notes.headings" not in tools(read_settings(environ=environ), environ=environ)
    assert "lineshaft_notes" not in sys.modules
    own = tmp_path / "c" / "lineshaft" / "lineshaft.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[tools]\nkit = false\npacks = ["notes", "notes"]\n')
    settings = read_settings(environ=environ)
    assert sorted(tools(settings, environ=environ)) == ["agents.title", "notes.headings"]


@pytest.mark.usefixtures("notes")
def test_a_pack_that_a_project_names_starts_once_it_is_approved(
    line: Command, tmp_path: Path
) -> None:
    (tmp_path / "work" / "lineshaft.toml").write_text('[tools]\npacks = ["notes"]\n')
    (tmp_path / "work" / "a.md").write_text("# One\n## Two\n")
    refused = line("call", "notes.headings", "path=a.md")
    assert refused.returncode == 2
    assert "not approved yet" in refused.stderr
    trusted = line("config", "trust", "--yes")
    assert trusted.returncode == 0, trusted.stderr
    assert "lineshaft_notes" in trusted.stderr
    done = line("call", "notes.headings", "path=a.md", "--json")
    assert json.loads(done.stdout)["value"] == ["One", "Two"]
    listed = line("agent", "list", "--json")
    assert [each["name"] for each in json.loads(listed.stdout)["agents"]] == ["title"]


@pytest.mark.usefixtures("notes")
def test_the_command_line_lists_and_shows_the_agents_of_a_pack(line: Command) -> None:
    listed = line("agent", "list")
    assert "pack notes  of lineshaft-notes 1.0.0" in listed.stdout
    assert "notes.title  Find a title for a note." in line("agent", "list", "notes").stdout
    shown = line("agent", "show", "notes.title")
    assert "lineshaft agent run notes.title path=PATH" in shown.stdout
    run = line("agent", "run", "notes.title", "path=a.md", LINESHAFT_MODEL="nope")
    assert run.returncode == 2
    assert "there is no model 'nope'" in run.stderr
    alone = line("agent", "run", "notes", "path=a.md")
    assert (alone.returncode, "'notes' is a pack" in alone.stderr) == (2, True)
    assert "notes.title" in alone.stderr
    missing = line("agent", "run", "notes.nope", "path=a.md")
    assert (missing.returncode, "the pack has no agent 'nope'" in missing.stderr) == (2, True)


def test_without_packs_everything_else_works_and_says_nothing_of_them(line: Command) -> None:
    done = line("run", "-c", "return 1 + 1", "--json")
    assert json.loads(done.stdout)["status"] == "success"
    assert done.stderr == ""
    missing = line("agent", "run", "azure-nothing.spelling")
    assert missing.returncode == 2
    assert "there is no pack 'azure-nothing'" in missing.stderr
    assert line("agent", "run", "x", "--timeout", "0").returncode == 2


BROKEN = [
    (
        "tiny = tiny_pack:pack",
        "raise RuntimeError('no sea')",
        "does not start: RuntimeError: no sea",
    ),
    ("tiny = tiny_pack:pack", "raise SystemExit(3)", "does not start: SystemExit: 3"),
    ("tiny = tiny_pack:pack", "import no_such_module_here", "does not start: ModuleNotFoundError"),
    ("tiny = tiny_pack:nothing", "", "does not start: AttributeError"),
    ("tiny = tiny_pack:pack", "pack = 3", "is no pack: 'tiny_pack:pack' is a int"),
    ("tiny = tiny_pack", "pack = 3", "is not module:attribute"),
    ("tiny = no_such_module_here:pack", "", "does not start: ModuleNotFoundError"),
]


@pytest.mark.parametrize(("points", "source", "told"), BROKEN)
def test_a_broken_pack_is_reported_with_its_distribution(
    site: Path, points: str, source: str, told: str
) -> None:
    offer(site, "tiny-pack", points, source)
    assert "tiny" in [pack.name for pack in discover()]
    with pytest.raises(ConfigError, match=told) as error:
        load_pack("tiny")
    assert "the pack 'tiny' of tiny-pack 1.0 " in error.value.message
    assert "everything else works without it" in error.value.hint


def test_packs_of_one_name_and_malformed_names_are_told_and_hinder_no_other(
    site: Path, line: Command
) -> None:
    offer(site, "tiny-one", "tiny = tiny_one:pack")
    offer(site, "tiny-two", "tiny = tiny_two:pack")
    offer(site, "tiny-bad", "Bad_Name = tiny_bad:pack")
    source = "from lineshaft.packs import Pack\npack = Pack(description='Fine.')"
    offer(site, "tiny-good", "good = tiny_good:pack", source)
    with pytest.raises(ConfigError, match="several distributions: tiny-one, tiny-two"):
        load_pack("tiny")
    with pytest.raises(ConfigError, match="malformed name"):
        load_pack("Bad_Name")
    assert load_pack("good").description == "Fine."
    listed = line("agent", "list")
    assert listed.returncode == 0
    assert "pack good  of tiny-good 1.0" in listed.stdout
    assert listed.stderr.count("broken: the pack tiny of") == 2
    told = {
        each["name"]: each["problem"]
        for each in json.loads(line("agent", "list", "--json").stdout)["packs"]
    }
    assert told["good"] is None
    assert "malformed" in told["Bad_Name"]


def test_a_pack_whose_things_clash_is_refused() -> None:
    def one() -> None:
        """Do nothing."""

    with pytest.raises(ConfigError, match="no namespace"):
        Pack(description="x", tools=[Tool.from_function(one, effect="read")])
    named = Tool.from_function(one, effect="read", name="a.one")
    with pytest.raises(ConfigError, match=r"a\.one"):
        Pack(description="x", tools=[named, named.with_name("a.one")])
