"""The commands beside `run`, as processes."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import cast

import pytest

from lineshaft import __version__
from lineshaft.cli._app import COMMANDS

Lineshaft = Callable[..., "subprocess.CompletedProcess[str]"]
Facts = dict[str, object]


def test_help_lists_every_command(here: Lineshaft) -> None:
    done = here("--help")
    assert done.returncode == 0
    for name in COMMANDS:
        assert f"\n  {name.partition(' ')[0]}" in done.stdout


def test_help_and_version_import_no_heavy_part(lineshaft: Lineshaft) -> None:
    done = lineshaft("--help", variables={"PYTHONPROFILEIMPORTTIME": "1"})
    heavy = ("pydantic", "rich", "anyio", "jsonschema")
    heavy += ("lineshaft.session", "lineshaft.config", "lineshaft.store", "lineshaft.values")
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "lineshaft.cli._app" in imported
    assert [name for name in heavy if name in imported] == []


def test_the_version_is_shown(here: Lineshaft) -> None:
    done = here("--version")
    assert (done.returncode, done.stdout) == (0, f"lineshaft {version('lineshaft')}\n")
    assert __version__ == version("lineshaft")


def test_without_a_command_there_is_help(here: Lineshaft) -> None:
    done = here()
    assert "Commands:" in done.stdout + done.stderr


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_has_help_of_its_own(here: Lineshaft, name: str) -> None:
    done = here(*name.split(), "--help")
    assert done.returncode == 0
    assert f"lineshaft {name}" in done.stdout
    assert COMMANDS[name] in " ".join(done.stdout.split())


@pytest.mark.parametrize("name", list(COMMANDS))
def test_help_ends_with_two_examples_whose_options_there_are(here: Lineshaft, name: str) -> None:
    text, _, examples = here(*name.split(), "--help").stdout.partition("Examples:\n")
    lines = examples.splitlines()
    assert len(lines) == 2
    for line in lines:
        words = shlex.split(line.rpartition("| ")[2])
        assert words[0] == "lineshaft"
        assert words[1 : 1 + len(name.split())] == name.split() or name in _SPELLED_SHORT
        assert all(word in text for word in words if word.startswith("-") and word != "-")


_SPELLED_SHORT = ("python run", "runs list", "cache show", "config mcp show")


def test_init_shows_what_holds_without_it(here: Lineshaft, workspace: Path) -> None:
    without = json.loads(here("config", "show", "--json").stdout)["settings"]
    here("init")
    path = workspace / "lineshaft.toml"
    lines = path.read_text().splitlines()
    path.write_text(
        "\n".join(line if line.startswith("# ") else line.removeprefix("#") for line in lines)
    )
    (workspace / "tools.py").write_text("")
    (workspace / "guards.py").write_text("")
    told = json.loads(here("config", "show", "--json").stdout)["settings"]
    differ = {name for name in told if told[name][-1]["value"] != without[name][-1]["value"]}
    assert differ == {
        "agents",
        "eval.prices",
        "tools.modules",
        "workspace.aliases",
        "workspace.pass_environment",
        "fetch.allow",
        "policy.rules",
        "python.path",
        "python.packages",
        "python.preload",
        "python.boundary",
        "store.url",
        "guards.modules",
        "guards.companion",
        "mcp.servers",
        "serve.direct",
    }


def test_init_writes_a_file_that_changes_nothing_and_is_kept(
    here: Lineshaft, workspace: Path
) -> None:
    before = json.loads(here("config", "show", "--json").stdout)
    assert here("init").returncode == 0
    path = workspace / "lineshaft.toml"
    text = path.read_text()
    after = json.loads(here("config", "show", "--json").stdout)
    assert after["settings"] == before["settings"]
    again = here("init")
    assert again.returncode == 2
    assert "stays as it is" in again.stderr
    assert path.read_text() == text


def test_every_line_of_the_file_that_init_writes_is_right_when_switched_on(
    here: Lineshaft, workspace: Path
) -> None:
    here("init")
    path = workspace / "lineshaft.toml"
    lines = path.read_text().splitlines()
    switched_on = [line if line.startswith("# ") else line.removeprefix("#") for line in lines]
    path.write_text("\n".join(switched_on))
    tomllib.loads(path.read_text())
    done = here("config", "show", "--json")
    assert done.returncode == 2  # the tools.py of the example is not there
    assert "tools.py" in done.stderr
    (workspace / "tools.py").write_text("")
    (workspace / "guards.py").write_text("")
    facts = json.loads(here("config", "show", "--json").stdout)
    assert {s[-1]["source"] for s in facts["settings"].values()} == {str(path)}


def test_config_show_says_where_each_value_comes_from(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    (workspace / "lineshaft.toml").write_text("[limits]\ncalls = 7")
    done = lineshaft("config", "show", variables={"LINESHAFT_POLICY_MODE": "read"})
    lines = {line.partition(" = ")[0]: line for line in done.stdout.splitlines()}
    assert lines["limits.calls"].split() == [
        "limits.calls",
        "=",
        "7",
        str(workspace / "lineshaft.toml"),
    ]
    assert lines["policy.mode"].endswith("LINESHAFT_POLICY_MODE")
    assert lines["limits.memory_mb"].endswith("default")


def test_config_show_says_which_level_of_a_guard_holds(
    here: Lineshaft, workspace: Path, environ: dict[str, str]
) -> None:
    (workspace / "lineshaft.toml").write_text('[guards]\nsyntax = "off"\nsecrets = "error"\n')
    own = Path(environ["XDG_CONFIG_HOME"]) / "lineshaft" / "lineshaft.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[guards]\nsecrets = "warning"\n')
    lines = here("config", "show").stdout.splitlines()
    assert [line.partition(" holds")[0] for line in lines if " holds" in line] == [
        "guards.syntax error",
        "guards.secrets error",
    ]
    facts = json.loads(here("config", "show", "--json").stdout)
    assert facts["guards"] == {
        "guards.syntax": "error",
        "guards.merge_markers": "error",
        "guards.secrets": "error",
    }


def test_a_projects_module_runs_after_config_trust(here: Lineshaft, workspace: Path) -> None:
    (workspace / "tools.py").write_text(
        "from lineshaft import tool\n\n@tool(effect='read')\ndef one() -> int:\n"
        '    """Return one."""\n    return 1\n'
    )
    (workspace / "lineshaft.toml").write_text('[tools]\nmodules = ["./tools.py"]')
    refused = here("call", "one")
    assert refused.returncode == 2
    assert "lineshaft config trust" in refused.stderr
    unasked = here("config", "trust")
    assert unasked.returncode == 2
    shown, _, refusal = unasked.stderr.partition("nothing is approved")
    assert "names the Python module ./tools.py" in shown
    assert str(workspace / "tools.py") in shown
    assert "--yes" in refusal
    assert here("call", "one").returncode == 2
    assert here("config", "trust", "--yes").returncode == 0
    done = here("call", "one")
    assert (done.returncode, done.stdout) == (0, "1\n")


def test_check_prints_findings_and_ends_in_one_where_they_block(here: Lineshaft) -> None:
    done = here("check", script="x = 1\nreturn await read_file(pth='x')\n")
    assert done.returncode == 1
    assert done.stdout.startswith("../s.py:2:")
    assert "path" in done.stdout
    facts = json.loads(here("check", "--json", script="return read_fil()").stdout)
    assert [finding["level"] for finding in facts] == ["error"]
    fine = here("check", "--arg", "name=x", script="return [name, *args]")
    assert (fine.returncode, fine.stdout) == (0, "")


def test_tools_lists_searches_and_describes(here: Lineshaft) -> None:
    names = [line.split()[0] for line in here("tools").stdout.splitlines()]
    assert {"read_file", "run_command", "write_file"} <= set(names)
    found = here("tools", "rename").stdout
    assert "move_file(" in found
    several = here("tools", "read", "file").stdout.splitlines()
    assert several[0].startswith("read_file ")
    assert len(several) > 2
    exact = here("tools", "read_file").stdout
    assert "read_file(" in exact
    assert "effect: read" in exact
    facts = cast("list[Facts]", json.loads(here("tools", "--json").stdout))
    assert [fact["name"] for fact in facts] == names
    nothing = here("tools", "zzzqqq")
    assert (nothing.stdout, "nothing fits" in nothing.stderr) == ("", True)


def test_stubs_come_in_two_languages(here: Lineshaft) -> None:
    python = here("tools", "--stubs", "python").stdout
    compile(python, "stubs.py", "exec")
    assert "async def read_file(" in python
    assert "read_file" in here("tools", "--stubs", "typescript").stdout
    assert here("tools", "--stubs", "cobol").returncode == 2


def test_call_takes_text_and_json_and_passes_policy(here: Lineshaft, workspace: Path) -> None:
    (workspace / "a.txt").write_text("one\ntwo\nthree\n")
    done = here("call", "read_file", "path=a.txt", "start:=2", "end:=2")
    assert json.loads(done.stdout)["content"] == "two\n"
    facts = json.loads(here("call", "read_file", "path=a.txt", "--json").stdout)
    assert (facts["status"], facts["value"]["total_lines"]) == ("done", 3)
    refused = here("call", "write_file", "path=b", "content=x", "--mode", "read")
    assert (refused.returncode, refused.stdout) == (3, "")
    assert "E_DENIED" in refused.stderr
    shown = json.loads(here("show", "--json").stdout)
    assert [call["status"] for call in shown["calls"]] == ["refused"]


def test_a_call_that_is_wrong_says_how_it_is_right(here: Lineshaft) -> None:
    done = here("call", "read_file", "path=a.txt", "start=2")
    assert done.returncode == 1
    assert "start" in done.stderr
    assert "write start:=..." in done.stderr
    unknown = here("call", "read_fil")
    assert unknown.returncode == 1
    assert "E_UNKNOWN_TOOL" in unknown.stderr
    assert "did you mean 'read_file'?" in unknown.stderr
    assert "hint: `lineshaft tools` lists them" in here("call", "forecast").stderr


def test_a_port_that_there_is_not_is_refused(here: Lineshaft) -> None:
    done = here("serve", "--http", "--port", "99999")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--port" in done.stderr


@pytest.mark.parametrize("words", [("--port", "0"), ("--host", "::1"), ("--token-env", "X")])
def test_options_of_http_are_refused_without_it(here: Lineshaft, words: tuple[str, str]) -> None:
    done = here("serve", *words)
    assert done.returncode == 2
    assert f"{words[0]} is for HTTP alone" in done.stderr
    assert "add --http" in done.stderr


def test_show_tells_calls_rules_changes_and_value(here: Lineshaft) -> None:
    script = "print('said')\nawait write_file(path='a.txt', content='x')\nreturn {'n': 1}"
    here("run", "-q", script=script)
    text = here("show").stdout
    assert 'write_file path="a.txt"' in text
    assert "[mode:auto]" in text
    assert "created a.txt" in text
    assert "said" in text
    assert '"n": 1' in text
    events = [json.loads(line) for line in here("show", "--events").stdout.splitlines()]
    assert [events[0]["kind"], events[-1]["kind"]] == ["run_started", "run_finished"]


def test_show_finds_a_run_by_the_beginning_of_its_id(here: Lineshaft) -> None:
    first, second = (
        json.loads(here("run", "--json", script=f"return {n}").stdout)["run_id"] for n in (1, 2)
    )
    assert json.loads(here("show", "--json").stdout)["run_id"] == second
    assert json.loads(here("show", first, "--json").stdout)["value"] == 1
    for wrong in ("2", "zz", "../../x"):
        done = here("show", wrong)
        assert (done.returncode, done.stdout) == (2, "")
    listed = json.loads(here("runs", "--json").stdout)
    assert [run["run_id"] for run in listed] == [second, first]


def test_show_without_any_run_says_so(here: Lineshaft) -> None:
    done = here("show")
    assert done.returncode == 2
    assert "no run" in done.stderr


def test_doctor_runs_a_script_on_each_engine_and_names_the_boundary(here: Lineshaft) -> None:
    done = here("doctor", "--quick", "--json")
    facts = json.loads(done.stdout)
    states = {check["name"]: check["state"] for check in facts["checks"]}
    assert done.returncode == 0
    assert {
        states[name]
        for name in ("python", "settings", "state", "native", "engine", "wasm", "limits", "check")
    } == {"ok"}
    texts = {check["name"]: check["text"] for check in facts["checks"]}
    assert texts["engine"].startswith("wasm: ")
    assert "runs every script" in texts["engine"]
    assert texts["wasm"].startswith("wasm: a script with one call ran")
    assert "full Python" in texts["cpython"] or texts["cpython"].startswith("cpython: a script")
    boundary = next(check for check in facts["checks"] if check["name"] == "boundary")
    assert "no operating system jail" in boundary["hint"]


FULL = """
mkdir ../full && mount -t tmpfs -o size=400k,mode=700 tmpfs ../full && cp -rp ../STATE/. ../full
export XDG_STATE_HOME="$PWD/../full"
echo 'return 1' | "$0" -m lineshaft run -q -
head -c 1000000 /dev/zero > ../full/ballast
"$0" -m lineshaft runs prune --days 0
truncate -s -40960 ../full/ballast
"$0" -m lineshaft runs prune --days 0
cat ../full/ballast >> ../full/ballast2
"$0" -m lineshaft doctor --quick --json
"""


def test_a_state_folder_on_a_full_disk_is_told_by_doctor_and_by_prune(
    workspace: Path, environ: dict[str, str]
) -> None:
    inside = ["unshare", "--user", "--map-root-user", "--mount", "/bin/sh", "-c"]
    mount = [*inside, "mount -t tmpfs tmpfs ."]
    done = shutil.which("unshare") and subprocess.run(mount, cwd=workspace, check=False)
    if not done or done.returncode:
        pytest.skip("needs file systems that a user may mount, in a namespace of their own")
    done = subprocess.run(
        [*inside, FULL, sys.executable],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=workspace,
        env=environ,
    )
    value, facts = done.stdout.splitlines()
    assert value == "1"
    assert "look whether the disk is full" in done.stderr  # no room for what goes beside the store
    assert "cannot be written: the disk is full" in done.stderr
    assert "`lineshaft cache clear` removes what can be made again" in done.stderr
    state = next(check for check in json.loads(facts)["checks"] if check["name"] == "state")
    assert state["state"] == "fail"
    assert state["text"].endswith("No space left on device")
    assert state["hint"].startswith("make room there")


@pytest.mark.long
def test_doctor_says_what_is_broken_and_ends_in_one(lineshaft: Lineshaft, workspace: Path) -> None:
    (workspace / "lineshaft.toml").write_text("[limits]\ncalls = 0")
    done = lineshaft("doctor", "--quick")
    assert done.returncode == 1
    assert "limits.calls" in done.stdout
    (workspace / "lineshaft.toml").write_text('[python]\nboundary = "wasm"')
    refused = lineshaft("doctor", "--quick")
    assert refused.returncode == 1
    assert "python.boundary is not for a project's file" in refused.stdout
    (workspace / "lineshaft.toml").unlink()
    unwritable = lineshaft("doctor", "--quick", variables={"XDG_STATE_HOME": "/dev/null"})
    assert unwritable.returncode == 1
    assert "/dev/null" in unwritable.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_completion_can_be_shown(lineshaft: Lineshaft, shell: str) -> None:
    done = lineshaft("completion", shell)
    assert done.returncode == 0
    assert f"{shell}_complete" in done.stdout
    assert done.stderr == ""


def test_tools_are_completed(lineshaft: Lineshaft) -> None:
    variables = {
        "_LINESHAFT_COMPLETE": "bash_complete",
        "COMP_WORDS": "lineshaft call read",
        "COMP_CWORD": "2",
    }
    assert lineshaft(variables=variables).stdout.split() == ["plain,read_file"]
    variables |= {"COMP_WORDS": "lineshaft ru", "COMP_CWORD": "1"}
    assert lineshaft(variables=variables).stdout.split() == ["plain,run", "plain,runs"]


def test_words_of_a_completion_do_not_count_without_one(lineshaft: Lineshaft) -> None:
    done = lineshaft("run", "-c", "return 7", variables={"COMP_WORDS": "lineshaft tools"})
    assert (done.returncode, done.stdout) == (0, "7\n")


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("run s.py --mode a", ["ask", "auto"]),
        ("preview s.py --engine w", ["wasm"]),
        ("tools write", ["write_file"]),
        ("run s", ["file,s"]),
        ("run s.py da", ["file,da"]),
        ("check --tools t", ["file,t"]),
        ("python p", ["file,p"]),
        ("python run p", ["file,p"]),
        ("python install a", ["file,a"]),
        ("show run-that-is-not", []),
    ],
)
def test_modes_engines_and_tools_are_completed(
    lineshaft: Lineshaft, line: str, offered: list[str]
) -> None:
    assert completed(lineshaft, line) == offered


@pytest.mark.parametrize("command", ["show", "resume", "undo", "replay"])
def test_run_ids_are_completed_the_newest_first(lineshaft: Lineshaft, command: str) -> None:
    ids = [
        json.loads(lineshaft("run", "-", "--json", stdin=f"return {n}").stdout)["run_id"]
        for n in (1, 2)
    ]
    assert completed(lineshaft, f"{command} {ids[0][:4]}") == ids[::-1]


def test_completion_is_silent_where_settings_are_broken(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    (workspace / "lineshaft.toml").write_text("what = [")
    assert [completed(lineshaft, f"{line} x") for line in ("show", "call", "tools")] == [[]] * 3


def completed(lineshaft: Lineshaft, line: str) -> list[str]:
    """Return what bash is offered for the last word of a command line."""
    variables = {
        "_LINESHAFT_COMPLETE": "bash_complete",
        "COMP_WORDS": f"lineshaft {line}",
        "COMP_CWORD": str(len(line.split())),
    }
    done = lineshaft(variables=variables)
    assert done.stderr == ""
    return [offer.removeprefix("plain,") for offer in done.stdout.split()]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("run", "nope.py", "--json"), "E_CONFIG", "nope.py"),
        (("run", "--json"), "E_CONFIG", "no script is named"),
        (("zzz", "--json"), "E_CONFIG", "not understood: No such command 'zzz'"),
        (("call", "--json"), "E_CONFIG", "not understood: Missing argument 'TOOL'"),
        (("runs", "--last", "x", "--json"), "E_CONFIG", "'x' is not a valid int"),
        (("tools", "--stubs", "python", "--json"), "E_CONFIG", "--stubs and --json"),
        (("tools", "--forget", "a", "--tokens", "--json"), "E_CONFIG", "--tokens and --forget"),
        (("tools", "a", "--tokens", "--json"), "E_CONFIG", "words and --tokens"),
        (("check", "-c", "return 1", "a.py", "--json"), "E_CONFIG", "'a.py' and -c"),
        (("runs", "--workspace", "", "--json"), "E_CONFIG", "it is empty"),
        (("show", "zzz", "--json"), "E_CONFIG", "no recorded run begins or ends with 'zzz'"),
        (("tools", "--workspace", "nope", "--json"), "E_CONFIG", "nope"),
        (("tools", "--tools", "nope.py", "--json"), "E_CONFIG", "--tools: tools.modules"),
        (("run", "-", "--limit", "calls=x", "--json"), "E_CONFIG", "--limit calls: limits.calls"),
        (("run", "-", "--engine", "x", "--json"), "E_CONFIG", "--engine: engine.name"),
        (("call", "nope", "--json"), "E_UNKNOWN_TOOL", "nope"),
    ],
)
def test_with_json_there_is_one_document_whatever_goes_wrong(
    here: Lineshaft, words: tuple[str, ...], code: str, message: str
) -> None:
    done = here(*words)
    told = json.loads(done.stdout)
    assert done.returncode == (1 if code == "E_UNKNOWN_TOOL" else 2)
    assert told["error"]["code"] == code
    assert message in told["error"]["message"]


def test_without_json_an_error_is_on_standard_error_alone(here: Lineshaft) -> None:
    assert here("run", "nope.py").stdout == ""
    assert here("call", "read_file", "path=a", "--", "--json").stdout == ""


def test_no_runs_are_an_empty_list(here: Lineshaft) -> None:
    assert json.loads(here("runs", "--json").stdout) == []


@pytest.mark.skipif(sys.platform == "win32", reason="platform: bash")
def test_bash_completes_what_the_printed_script_says(
    lineshaft: Lineshaft, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "script.py").write_text("return 1")
    (tmp_path / "completion.sh").write_text(lineshaft("completion", "bash").stdout)
    asks = """
source completion.sh
complete -p lineshaft
COMP_WORDS=(lineshaft run --mode a) COMP_CWORD=3
_lineshaft_completion lineshaft a --mode
printf '%s\n' "${COMPREPLY[@]}"
"""
    folder = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "--norc", "-c", asks],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split("\n")[1:] == ["ask", "auto", ""], done
    assert "-F _lineshaft_completion lineshaft" in done.stdout


@pytest.mark.parametrize(
    "group", ["", "agent", "cache", "config", "config mcp", "eval", "python", "runs"]
)
def test_no_line_of_a_list_of_commands_is_cut(lineshaft: Lineshaft, group: str) -> None:
    listed = lineshaft(*group.split(), "--help").stdout.split("Commands:")[1]
    assert "..." not in listed


def test_an_error_that_nobody_can_be_told_is_no_traceback(lineshaft: Lineshaft) -> None:
    command = [sys.executable, "-m", "lineshaft", "run", "--nope", "--json"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "--nope" in done.stderr


def test_the_version_is_told_with_zero_also_where_nobody_reads_it() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "lineshaft", "--version"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")
