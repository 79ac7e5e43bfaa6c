"""`lineshaft run`, as a process."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import cast

import pytest

Lineshaft = Callable[..., "subprocess.CompletedProcess[str]"]
Outcome = dict[str, object]


def outcome(done: "subprocess.CompletedProcess[str]") -> Outcome:
    """Return what `--json` printed: one line, and nothing else."""
    assert done.stdout.count("\n") == 1, done.stderr
    return cast("Outcome", json.loads(done.stdout))


def error(result: Outcome) -> Outcome:
    return cast("Outcome", result["error"])


def recorded(here: Lineshaft) -> Outcome:
    """Return the last run as its record tells it."""
    return outcome(here("show", "--json"))


def test_a_value_is_printed_and_success_is_zero(lineshaft: Lineshaft, here: Lineshaft) -> None:
    done = lineshaft("run", "-", "--json", stdin="return 1+1")
    result = outcome(done)
    assert (done.returncode, result["status"], result["value"]) == (0, "success", 2)
    assert done.stderr == ""
    shown = recorded(here)
    assert (shown["run_id"], shown["status"], shown["value"]) == (result["run_id"], "success", 2)


def test_a_raising_script_ends_in_one_with_its_line_and_message(
    lineshaft: Lineshaft, here: Lineshaft
) -> None:
    done = lineshaft("run", "-", "--json", stdin="x = 1\nraise ValueError('odd')\n")
    result = outcome(done)
    assert (done.returncode, result["status"], error(result)["line"]) == (1, "error", 2)
    assert "odd" in str(error(result)["message"])
    assert error(recorded(here))["line"] == 2


@pytest.mark.parametrize(
    "script",
    [
        "while True: pass",
        "while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass",
    ],
)
def test_an_endless_script_ends_in_four(lineshaft: Lineshaft, here: Lineshaft, script: str) -> None:
    done = lineshaft("run", "-", "--json", "--timeout", "1", stdin=script)
    result = outcome(done)
    assert (done.returncode, result["status"]) == (4, "timeout")
    assert cast("float", result["duration_ms"]) < 3_000
    assert recorded(here)["status"] == "timeout"


OUTSIDE = "await write_file(path='../out.txt', content='x')"


def test_an_uncaught_write_outside_ends_in_one_with_its_code(
    lineshaft: Lineshaft, here: Lineshaft, workspace: Path
) -> None:
    done = lineshaft("run", "-", "--json", stdin=OUTSIDE)
    assert (done.returncode, error(outcome(done))["code"]) == (1, "E_SANDBOX_VIOLATION")
    assert not (workspace.parent / "out.txt").exists()
    (call,) = cast("list[Outcome]", recorded(here)["calls"])
    assert error(call)["code"] == "E_SANDBOX_VIOLATION"


def test_a_caught_write_outside_ends_in_zero_with_its_code_as_value(
    lineshaft: Lineshaft, here: Lineshaft
) -> None:
    script = f"try:\n    {OUTSIDE}\nexcept ToolError as e:\n    return e.code"
    done = lineshaft("run", "-", "--json", stdin=script)
    assert (done.returncode, outcome(done)["value"]) == (0, "E_SANDBOX_VIOLATION")
    (call,) = cast("list[Outcome]", recorded(here)["calls"])
    assert error(call)["code"] == "E_SANDBOX_VIOLATION"


def test_an_uncaught_refused_call_ends_in_three(
    lineshaft: Lineshaft, here: Lineshaft, workspace: Path
) -> None:
    script = "await write_file(path='a.txt', content='x')"
    done = lineshaft("run", "-", "--json", "--mode", "read", stdin=script)
    assert (done.returncode, error(outcome(done))["code"]) == (3, "E_DENIED")
    assert not (workspace / "a.txt").exists()
    (call,) = cast("list[Outcome]", recorded(here)["calls"])
    assert (call["status"], call["rule"]) == ("refused", "mode:read")


def test_what_asks_pauses_the_run_where_nobody_can_answer(lineshaft: Lineshaft) -> None:
    done = lineshaft("run", "-", "--json", stdin="await run_command(command='true')")
    assert (done.returncode, outcome(done)["status"]) == (5, "paused")
    (waiting,) = cast("list[Outcome]", outcome(done)["pending"])
    assert (waiting["tool"], waiting["arguments"]) == ("run_command", {"command": "true"})


@pytest.mark.parametrize(
    "words", [("run", "-c", "[await send('x'), await send('y')]"), ("call", "send", "text=x")]
)
def test_a_tool_that_asks_since_it_declares_no_effect_says_so(
    words: tuple[str, ...], lineshaft: Lineshaft, workspace: Path
) -> None:
    (workspace / "t.py").write_text(
        "from lineshaft import tool\n@tool\nasync def send(text: str) -> None:\n    'Send.'\n"
    )
    done = lineshaft(*words, "--tools", "t.py")
    assert done.returncode == 5, done.stderr
    assert done.stderr.count("hint: `send` declares no effect") == 1
    assert "say `@tool(effect=...)`" in done.stderr


def test_text_form_is_output_then_value_and_one_line_a_call(
    here: Lineshaft, workspace: Path
) -> None:
    (workspace / "a.txt").write_text("hello")
    script = workspace / "s.py"
    script.write_text(
        "print('first')\ngot = await read_file(path='a.txt')\nreturn [got['content'], word]\n"
    )
    done = here("run", "s.py", "--arg", "word=there")
    assert (done.returncode, done.stdout) == (0, 'first\n["hello","there"]\n')
    assert 'done      read_file path="a.txt"' in done.stderr
    assert "success in" in done.stderr
    assert "\x1b" not in done.stderr
    quiet = here("run", "s.py", "--arg", "word=there", "--quiet")
    assert quiet.stderr == ""


def test_what_a_script_logs_is_shown_where_it_succeeds(here: Lineshaft) -> None:
    logs = "import logging\nlogging.basicConfig(level=logging.INFO)\nlogging.info('so far')\n'done'"
    done = here("run", "--quiet", script=logs)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "INFO:root:so far\n")


def test_a_failure_shows_the_line_and_the_calls_that_took_effect(
    here: Lineshaft, workspace: Path
) -> None:
    (workspace / "s.py").write_text(
        "await write_file(path='a.txt', content='x')\nprint('so far')\n{}['gone']\n"
    )
    done = here("run", "s.py", "--no-atomic")
    assert (done.returncode, done.stdout) == (1, "so far\n")
    assert "KeyError" in done.stderr
    assert "> 3 | {}['gone']" in done.stderr
    effects = done.stderr.partition("had taken effect:\n")[2]
    assert 'write_file path="a.txt"' in effects
    assert str(workspace) not in done.stderr


def test_findings_that_block_are_shown_once_each_with_their_line(here: Lineshaft) -> None:
    done = here("run", script="x = 1\nreturn await write_file(pth='a', content='x')\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert "the script was not run: 2 findings [E_CHECK]" in done.stderr
    assert done.stderr.count("> 2 | return await write_file") == 2
    assert done.stderr.count("hint: ") == 1


def test_a_run_that_took_effect_in_part_says_so(here: Lineshaft) -> None:
    script = "await run_command(command='sleep 20')"
    done = here("run", "--mode", "open", "--timeout", "0.5", script=script)
    assert done.returncode == 4
    assert 'run_command command="sleep 20"  (cancelled: in part, or not at all)' in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("run gone.py", "'gone.py' cannot be read"),
        ("run latin.py", "not UTF-8 text (line 2)"),
        ("run s.py --timeout 601", "time-out of 601 s"),
        ("run s.py --limit cals=1", "did you mean 'limits.calls'"),
        ("run s.py --limit calls", "NAME=N"),
        ("run s.py --engine v8", "'wasm'"),
        ("run s.py --mode yolo", "'auto'"),
        ("run s.py --arg x", "name=text"),
        ("run s.py --arg 1x=2", "1x"),
        ("run s.py --workspace gone", "gone"),
        ("run s.py --tools gone.py", "gone.py"),
        ("run s.py --nonsense", "--nonsense"),
        ("run", "SCRIPT"),
        ("rnu", "rnu"),
        ("show gone", "'gone'"),
        ("show ../../x", "not the id of a run"),
        ("call", "TOOL"),
    ],
)
def test_what_cannot_be_meant_ends_in_two_with_one_message(
    here: Lineshaft, workspace: Path, words: str, says: str
) -> None:
    (workspace / "s.py").write_text("1")
    (workspace / "latin.py").write_bytes(b"\nreturn '\xff'")
    done = here(*words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_text_that_is_no_text_on_standard_input_is_refused(lineshaft: Lineshaft) -> None:
    done = lineshaft("run", "-", stdin=b"return '\xff'")
    assert (done.returncode, done.stdout) == (2, "")
    assert "'stdin' is not UTF-8 text (line 1)" in done.stderr


def test_own_tools_come_from_a_file_given_by_hand(here: Lineshaft, workspace: Path) -> None:
    (workspace / "own.py").write_text(
        "from lineshaft import tool\n\n@tool(effect='read')\ndef double(number: int) -> int:\n"
        '    """Return twice the number."""\n    return 2 * number\n'
    )
    done = here("run", "-q", "--tools", "own.py", script="return await double(number=4)")
    assert (done.returncode, done.stdout) == (0, "8\n")


def test_a_limit_given_by_hand_holds(here: Lineshaft) -> None:
    script = "await list_files()\nawait list_files()"
    done = here("run", "--json", "--limit", "calls=1", script=script)
    assert error(outcome(done))["code"] == "E_CALL_LIMIT"
    assert done.returncode == 4


def test_who_asks_counts_for_the_limits_and_the_policy_of_a_run(
    here: Lineshaft, workspace: Path
) -> None:
    script = "for _ in range(51):\n    await list_files()\nreturn 1"
    done = here("run", "--json", "--origin", "model", script=script)
    assert error(outcome(done))["code"] == "E_CALL_LIMIT"
    done = here("run", "--json", "--origin", "editor", script=script)
    assert outcome(done)["status"] == "success"
    rule = '{id = "no-clicks", tool = "run_script", origin = "editor", verdict = "deny"}'
    (workspace / "lineshaft.toml").write_text(f"[policy]\nrules = [{rule}]\n", encoding="utf-8")
    assert here("run", "--json", "--origin", "editor", script=script).returncode == 3
    assert here("run", "--json", script=script).returncode == 0
    assert here("run", "--json", "--origin", "somebody", script=script).returncode == 2


def test_scripts_can_be_switched_off(lineshaft: Lineshaft) -> None:
    done = lineshaft("run", "-", "--json", stdin="1", variables={"LINESHAFT_NO_SCRIPT": "1"})
    assert (done.returncode, outcome(done)["status"]) == (3, "refused")
    assert "LINESHAFT_NO_SCRIPT" in done.stderr


def test_the_record_lies_outside_the_workspace_for_its_owner_alone(
    here: Lineshaft, workspace: Path, tmp_path: Path
) -> None:
    here("run", "-q", script="1")
    assert list(workspace.iterdir()) == []
    state = tmp_path / "STATE" / "lineshaft"
    assert state.stat().st_mode & 0o777 == 0o700
    files = [path for path in state.rglob("*") if path.is_file()]
    assert state / "runs.db" in files
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_cancels_the_run_which_is_recorded(
    here: Lineshaft, workspace: Path, environ: dict[str, str], number: signal.Signals
) -> None:
    """The script says on the record that it has begun, then waits for what never comes."""
    with subprocess.Popen(
        [sys.executable, "-m", "lineshaft", "run", "-"],
        cwd=workspace,
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write("await list_files()\nwhile True: pass\n")
        process.stdin.close()
        assert "list_files" in process.stderr.readline()
        process.send_signal(number)
        assert process.wait(timeout=10) == 130
        rest = process.stderr.read()
    assert "cancelled" in rest
    assert "Traceback" not in rest
    assert recorded(here)["status"] == "cancelled"


def test_a_reader_that_goes_away_is_no_error(workspace: Path, environ: dict[str, str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "lineshaft", "run", "-", "-q"],
        cwd=workspace,
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write("return 'x' * 40_000")
        process.stdin.close()
        assert process.wait(timeout=20) == 0
        assert process.stderr.read() == ""


def test_a_tool_that_hangs_in_its_thread_does_not_keep_the_process(
    workspace: Path, environ: dict[str, str]
) -> None:
    (workspace / "own.py").write_text(
        "import time\nfrom lineshaft import tool\n\n@tool(effect='read')\n"
        'def nap() -> None:\n    """Sleep."""\n    time.sleep(3_600)\n'
    )
    (workspace / "s.py").write_text("await nap()")
    words = ["run", "s.py", "--tools", "own.py", "--timeout", "0.5"]
    done = subprocess.run(
        [sys.executable, "-m", "lineshaft", *words],
        cwd=workspace,
        env=environ,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 4
    assert "unknown   nap" in done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_are_no_error(
    workspace: Path, environ: dict[str, str], closed: str
) -> None:
    (workspace / "s.py").write_text("print('x')\nreturn 1")
    command = f"{quote(sys.executable)} -m lineshaft run s.py {closed}"
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=workspace, env=environ, capture_output=True, check=False
    )
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


def test_an_error_that_holds_a_secret_is_printed_without_it(
    workspace: Path, here: Lineshaft
) -> None:
    token = "ghp_" + "a1B2" * 9
    tools = "from lineshaft import tool\n@tool(effect='read')\ndef fails() -> str:\n"
    tools += f"    'Fail.'\n    raise RuntimeError('no access with {token}')\n"
    (workspace / "t.py").write_text(tools)
    script = "-c", "return await fails()"
    for words in ("run", *script), ("preview", *script), ("call", "fails"):
        for more in ((), ("--json",), ("--quiet",) if words[0] == "run" else ()):
            done = here(*words, "--tools", "t.py", *more)
            assert done.returncode == 1
            assert "no access with [redacted]" in done.stdout + done.stderr
            assert token not in done.stdout + done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a disk that is full")
def test_notes_that_cannot_be_written_end_no_run(workspace: Path, environ: dict[str, str]) -> None:
    (workspace / "s.py").write_text("await write_file('new.txt', '1')\nreturn 2")
    python = quote(sys.executable)
    done = subprocess.run(
        ["/bin/sh", "-c", f"{python} -m lineshaft run s.py 2>/dev/full"],
        cwd=workspace,
        env=environ,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"2\n")
    assert (workspace / "new.txt").read_text() == "1"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a disk that is full")
def test_output_that_cannot_be_written_is_a_clear_error(
    workspace: Path, environ: dict[str, str]
) -> None:
    python = quote(sys.executable)
    done = subprocess.run(
        ["/bin/sh", "-c", f"echo 'return 1' | {python} -m lineshaft run - -q >/dev/full"],
        cwd=workspace,
        env=environ,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(b"error: the output cannot be written: No space left")
    assert b"Traceback" not in done.stderr


def test_a_script_may_stand_on_the_command_line(here: Lineshaft) -> None:
    done = here("run", "-c", "return args", "a", "b", "--quiet")
    assert (done.returncode, done.stdout) == (0, '["a","b"]\n')
    seen = here("preview", "-c", "await write_file('a.txt', args[0])", "text")
    assert "+text" in seen.stdout
    wrong = here("check", "--code", "retur 1")
    assert (wrong.returncode, wrong.stdout[:8]) == (1, "code:1:7")
    none = here("run")
    assert none.returncode == 2
    assert "- for standard input, or -c TEXT" in none.stderr


def test_a_text_of_several_lines_may_be_indented_as_a_whole(here: Lineshaft) -> None:
    text = "\n    for n in (1, 2):\n        print(n)\n    return {}\n  "
    done = here("run", "-c", text.format("n"), "--quiet")
    assert (done.returncode, done.stdout) == (0, "1\n2\n2\n")
    wrong = here("check", "-c", text.format("m"))
    assert (wrong.returncode, wrong.stdout[:9]) == (1, "code:4:8:")
    whole = here("run", "-c", 'return len("""a\n   \nb""")', "--quiet")
    assert whole.stdout == "7\n"


def test_scripts_import_the_workspaces_modules_where_its_person_says_so(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    (workspace / "helpers.py").write_text("def double(n):\n    return 2 * n\n")
    words = ("run", "-c", "from helpers import double\nreturn double(21)")
    refused = lineshaft(*words)
    assert refused.returncode == 1
    assert "python.workspace_imports = true" in refused.stderr
    done = lineshaft(*words, variables={"LINESHAFT_PYTHON_WORKSPACE_IMPORTS": "true"})
    assert (done.returncode, done.stdout.strip()) == (0, "42"), done.stderr


@pytest.mark.long
def test_a_program_that_was_ended_is_not_told_as_if_it_took_effect(
    here: Lineshaft, workspace: Path
) -> None:
    code = "open('z.txt', 'w').write('x')\nwhile True: pass"
    script = f"await python_run(code={code!r})"
    done = here("run", "--timeout", "5", script=script)
    assert done.returncode == 4
    assert "had taken effect" not in done.stderr
    assert "(cancelled: its changes of files are not kept)" in done.stderr
    assert not (workspace / "z.txt").exists()


@pytest.mark.parametrize(
    ("pair", "hidden"),
    [
        ("args=2", "the words behind the script"),
        ("read_file=2", "the tool of this name"),
        ("agents=2", ""),
        ("json=2", "what every script has by this name"),
        ("__name__=z", "a name of Python's own"),
        ("id=2", ""),
    ],
)
def test_an_input_hides_nothing_that_a_script_has(here: Lineshaft, pair: str, hidden: str) -> None:
    for command in ("run", "check", "preview"):
        done = here(command, "-c", "print('ran')", "--arg", pair)
        assert done.returncode == (2 if hidden else 0), done.stderr
        assert "ran" not in done.stdout or not hidden
        assert f"would hide {hidden}" in done.stderr or not hidden


def test_an_input_hides_no_namespace(here: Lineshaft, workspace: Path) -> None:
    (workspace / "t.py").write_text(
        "from lineshaft import tool\n\n@tool(name='box-2.open', effect='read')\n"
        'def open_() -> int:\n    "Open."\n    return 1\n'
    )
    done = here("run", "-c", "1", "--tools", "t.py", "--arg", "box_2=1")
    assert done.returncode == 2
    assert "would hide the tools of this namespace" in done.stderr
