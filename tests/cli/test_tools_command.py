"""`lineshaft tools`: what clients load, and what results looked like."""

import json
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from lineshaft.session import _session_tools

Lineshaft = Callable[..., "subprocess.CompletedProcess[str]"]
WIDE = Path(__file__).parents[1] / "upstreams" / "wide.py"

LOOK = """
from lineshaft import tool

@tool(effect="read")
async def look(n: int):
    "Look."
    return {"id": n, "token": "hunter2"} if n < 9 else {"id": None}

@tool(effect="read")
async def sure(n: int) -> list[int]:
    "Be sure."
    return [n]
"""


@pytest.fixture
def wide(here: Lineshaft, environ: dict[str, str]) -> Lineshaft:
    """Return the command of a person who has a server with 798 tools."""
    folder = Path(environ["XDG_CONFIG_HOME"]) / "lineshaft"
    folder.mkdir(parents=True)
    command, args = json.dumps(sys.executable), json.dumps([str(WIDE)])
    text = f"[mcp.servers.wide]\ncommand = {command}\nargs = {args}\n"
    (folder / "lineshaft.toml").write_text(text)
    return here


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: socket.socket, address: object) -> None:
        raise AssertionError(f"{self} connects to {address}")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.usefixtures("no_network")
def test_tokens_are_counted_on_this_machine(
    here: Lineshaft, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    lines = here("tools", "--tokens").stdout.splitlines()
    assert lines[0].split() == ["tools", "tokens"]
    name, tools, tokens = lines[1].split()
    assert (name, int(tools)) == ("directly", len(here("tools").stdout.splitlines()))
    assert int(tokens.replace(",", "")) > 1_000
    assert lines[2].startswith("through Lineshaft")
    assert not (temporary / "data-gym-cache").exists()


@pytest.mark.long
def test_many_tools_cost_a_client_no_more_than_few(
    wide: Lineshaft, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_session_tools, "PATIENCE_SECONDS", 0.0)  # every server is a slow one
    done = wide("tools", "--tokens", "--json")
    assert done.returncode == 0, done.stderr
    loads = json.loads(done.stdout)
    assert loads["encoding"] == "cl100k_base"
    assert loads["directly"]["tools"] == 798
    assert loads["directly"]["tokens"] > 40_000
    assert set(loads["directly"]["namespaces"]) == {"wide"}  # no client loads the kit today
    assert loads["through"]["tools"] <= 6
    assert 100 < loads["through"]["tokens"] < 1_500
    found = wide("tools", "give", "a", "buyer", "their", "money", "back", "in", "stripe")
    assert "wide.stripe_create_refund" in found.stdout


def test_without_the_packages_the_command_for_them_is_named(
    here: Lineshaft, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    done = here("tools", "--tokens")
    assert done.returncode == 2
    assert 'pip install "lineshaft[tokens]"' in done.stderr
    assert done.stdout == ""


def test_results_that_were_seen_are_told_until_they_are_forgotten(
    here: Lineshaft, workspace: Path
) -> None:
    (workspace / "t.py").write_text(LOOK)
    more = ("--tools", "t.py")
    assert "-> Any" in here("tools", "look", *more).stdout
    for n in range(3):
        assert here("call", "look", f"n:={n}", "--mode", "open", *more).returncode == 0
    text = here("tools", "look", *more).stdout
    assert "async def look(n: int) -> LookResult:  # observed, not promised" in text
    assert "token: str" in text
    assert "hunter2" not in text
    assert "# observed, not promised" in here("tools", "--stubs", "python", *more).stdout
    (fact,) = json.loads(here("tools", "look", "--json", *more).stdout)
    assert fact["observed"]["properties"]["id"] == {"type": "integer"}
    assert "observed" not in here("tools", "sure", *more).stdout
    assert here("tools", "--forget", "nothing").stdout.startswith("forgot what the results of 0 t")
    assert here("tools", "--forget", "look").stdout.startswith("forgot what the results of 1 tool ")
    assert "-> Any" in here("tools", "look", *more).stdout


def test_all_results_are_forgotten_at_once(here: Lineshaft, workspace: Path) -> None:
    (workspace / "t.py").write_text(LOOK)
    here("call", "look", "n:=1", "--mode", "open", "--tools", "t.py")
    assert json.loads(here("tools", "--forget", "all", "--json").stdout) == {"forgotten": 1}
    assert json.loads(here("tools", "--forget", "all", "--json").stdout) == {"forgotten": 0}


@pytest.mark.long
def test_a_server_whose_tools_say_nothing_of_results_is_learned(wide: Lineshaft) -> None:
    done = wide("call", "wide.slack_slack_get_users", "--mode", "open")
    assert done.returncode == 0, done.stderr
    text = wide("tools", "wide.slack_slack_get_users").stdout
    assert "-> str:  # observed, not promised: JSON text of list[{" in text


def test_a_tool_whose_name_is_taken_is_told_of_beside_all_others(
    here: Lineshaft, environ: dict[str, str]
) -> None:
    folder = Path(environ["XDG_CONFIG_HOME"]) / "lineshaft"
    folder.mkdir(parents=True)
    served = ""
    for name, tools in {"a": ["y__z"], "a__y": ["other", "z"]}.items():
        made = "".join(f"@server.tool()\ndef {tool}() -> int:\n    return 1\n" for tool in tools)
        start = "from mcp.server import MCPServer\nserver = MCPServer('s')\n"
        (folder / f"{name}.py").write_text(f"{start}{made}server.run()\n")
        command, args = json.dumps(sys.executable), json.dumps([str(folder / f"{name}.py")])
        served += f"[mcp.servers.{name}]\ncommand = {command}\nargs = {args}\n"
    (folder / "lineshaft.toml").write_text(served)
    done = here("tools")
    assert done.returncode == 0, done.stderr
    names = [line.split()[0] for line in done.stdout.splitlines()]
    assert [name for name in names if name.startswith("a")] == ["a.y__z", "a__y.other"]
    assert "read_file" in names
    assert "a__y: left out: 'a__y.z' towards models is 'a__y__z', and so is 'a.y__z'" in done.stderr


def test_a_person_is_told_which_rule_closes_a_tool(here: Lineshaft, workspace: Path) -> None:
    (workspace / "lineshaft.toml").write_text('[policy]\nmode = "read"\n')
    lines = here("tools").stdout.splitlines()
    (line,) = [line for line in lines if line.startswith("write_file ")]
    assert "closed by project:mode:read" in line
    assert not [line for line in lines if line.startswith("read_file ") and "closed" in line]
    assert "idempotent, closed by project:mode:read" in here("tools", "write_file").stdout
    facts = json.loads(here("tools", "--json").stdout)
    closed = {fact["name"]: fact["closed_by"] for fact in facts}
    assert closed["write_file"] == "project:mode:read"
    assert closed["read_file"] is None


def test_all_tools_that_fit_are_shown(here: Lineshaft, workspace: Path) -> None:
    each = '@tool(effect="read")\nasync def look{0}(n: int) -> int:\n    "Look."\n    return n\n'
    text = "from lineshaft import tool\n" + "".join(each.format(n) for n in range(12))
    (workspace / "t.py").write_text(text)
    words = ("tools", "look", "--tools", "t.py")
    names = {f"look{n}" for n in range(12)}
    assert {line.split()[0] for line in here(*words).stdout.splitlines()} >= names
    assert {spec["name"] for spec in json.loads(here(*words, "--json").stdout)} >= names
    stubs = here(*words, "--stubs", "python").stdout
    assert all(f"def {name}(" in stubs for name in names)


def test_what_a_module_prints_while_it_starts_is_no_part_of_the_result(
    here: Lineshaft, tmp_path: Path
) -> None:
    module = tmp_path / "own.py"
    module.write_text(f"print('own.py starts')\n{LOOK}")
    done = here("tools", "sure", "--json", "--tools", str(module))
    assert json.loads(done.stdout)[0]["name"] == "sure"
    assert "own.py starts" in done.stderr


PRINTS = '''
from lineshaft import tool


@tool(effect="read")
def loud() -> str:
    """Say and return something."""
    print("said beside")
    return "r"
'''


@pytest.mark.parametrize(
    "words",
    [
        ("call", "loud", "--json"),
        ("run", "-c", "return await loud()", "--json"),
        ("preview", "-c", "return await loud()", "--json"),
    ],
    ids=["call", "run", "preview"],
)
def test_what_a_tool_prints_is_no_part_of_the_result(
    here: Lineshaft, tmp_path: Path, words: tuple[str, ...]
) -> None:
    module = tmp_path / "own.py"
    module.write_text(PRINTS)
    done = here(*words, "--tools", str(module))
    assert all(json.loads(line) for line in done.stdout.splitlines())
    assert '"r"' in done.stdout
    assert "said beside" in done.stderr


def test_what_a_tool_prints_is_no_part_of_the_result_of_a_run_that_goes_on(
    here: Lineshaft, tmp_path: Path
) -> None:
    module = tmp_path / "own.py"
    module.write_text(PRINTS.replace("read", "external"))
    paused = here("run", "-c", "return await loud()", "--json", "--tools", str(module))
    waits = json.loads(paused.stdout)["run_id"]
    done = here("resume", waits, "--approve", "all", "--json", "--tools", str(module))
    assert json.loads(done.stdout)["value"] == "r"
    assert "said beside" in done.stderr
