"""Commands about earlier runs start no server that the run does not need."""

import json
from pathlib import Path

import pytest

from cli.conftest import Lineshaft
from upstreams.real import python_server

ASKS = '\n[[policy.rules]]\nid = "ask"\ntool = "write_file"\nverdict = "ask"\n'


def trap(workspace: Path, name: str) -> dict[str, object]:
    """Return a server that leaves a file where it is started."""
    return {"command": "/bin/sh", "args": ["-c", f"touch {workspace / name}; exec cat"]}


@pytest.fixture
def brought(here: Lineshaft, workspace: Path) -> Lineshaft:
    """Return the command line in a workspace with one server that works and one that tells."""
    command, *args = python_server("notes")
    notes = {"command": command, "args": args, "env": {"NOTES_TOKEN": "x" * 12}}
    servers = {"notes": notes, "snare": trap(workspace, "started")}
    (workspace / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    assert here("init", "--import-mcp", "--accept-claims").returncode == 0
    with (workspace / "lineshaft.toml").open("a") as file:
        file.write(ASKS)
    return here


def test_what_only_reads_back_starts_none(brought: Lineshaft, workspace: Path) -> None:
    script = "await edit_file(path='a.txt', old='1', new='2')\nreturn await notes.get_note('a')"
    (workspace / "a.txt").write_text("1")
    assert brought("run", "--quiet", script=script).returncode == 0
    (workspace / ".mcp.json").unlink()
    assert brought("replay").returncode == 0
    for words in (("show",), ("runs",), ("explain", "1"), ("undo", _last(brought))):
        assert brought(*words).returncode in (0, 2), words
    assert (workspace / "a.txt").read_text() == "1"
    assert not (workspace / "started").exists()


def _last(here: Lineshaft) -> str:
    return str(json.loads(here("show", "--json").stdout)["run_id"])


def test_a_resumed_run_starts_the_servers_of_its_script_alone(
    brought: Lineshaft, workspace: Path
) -> None:
    script = "await write_file(path='a', content='b')\nreturn await notes.get_note('a')"
    assert brought("run", "--quiet", script=script).returncode == 5
    assert brought("resume").returncode == 5
    done = brought("resume", "--approve", "all")
    assert (done.stdout, done.returncode) == ("a: 12\n", 0)
    assert brought("replay").returncode == 0
    assert not (workspace / "started").exists()


def test_a_call_that_waited_starts_its_own_server(brought: Lineshaft, workspace: Path) -> None:
    text = (workspace / "lineshaft.toml").read_text()
    (workspace / "lineshaft.toml").write_text(
        text.replace('tool = "write_file"', 'tool = "notes.*"')
    )
    waits = brought("call", "notes.get_note", "name=a")
    assert waits.returncode == 5
    done = brought("resume", "--approve", "all")
    assert (done.stdout, done.returncode) == ("a: 12\n", 0)
    assert not (workspace / "started").exists()


def test_a_replay_of_a_script_without_calls_starts_none_though_it_names_them(
    brought: Lineshaft, workspace: Path
) -> None:
    script = "if False:\n    await snare.get_note('a')\nreturn 'no tools, and no search_tools'"
    assert brought("run", "--quiet", script=script).returncode in (0, 1)
    (workspace / "started").unlink(missing_ok=True)
    brought("replay")
    assert not (workspace / "started").exists()
