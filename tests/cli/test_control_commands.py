"""preview, resume, undo and replay: real processes, each of its own, over one store."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from cli.person import COLOUR, Sit

Done = subprocess.CompletedProcess[str]
Lineshaft = Callable[..., Done]
Facts = dict[str, object]

ASK_WRITES = (
    '[[policy.rules]]\nid = "ask-writes"\neffect = "write"\nverdict = "ask"\nreason = "look"'
)
GATHER = """
import asyncio
async def put(n):
    try:
        await write_file(path=f"out/{n}.txt", content=f"{n}\\n")
        return "done"
    except ToolError as error:
        return error.message
print("before")
came = await asyncio.gather(*[put(n) for n in range(4)])
print("after")
return came
"""


def facts(done: Done) -> Facts:
    return cast("Facts", json.loads(done.stdout))


def paused(lineshaft: Lineshaft, workspace: Path, script: str = GATHER) -> Facts:
    (workspace / "lineshaft.toml").write_text(ASK_WRITES)
    done = lineshaft("run", "-", "--json", stdin=script)
    assert done.returncode == 5, done.stderr
    return facts(done)


def ids(run: Facts) -> list[str]:
    return [str(each["id"]) for each in cast("list[Facts]", run["pending"])]


def files(workspace: Path) -> dict[str, str]:
    return {
        path.relative_to(workspace).as_posix(): path.read_text()
        for path in sorted(workspace.rglob("*"))
        if path.is_file()
    }


def test_a_preview_shows_calls_and_diff_and_run_then_lands_just_that(
    here: Lineshaft, workspace: Path
) -> None:
    (workspace / "a.txt").write_text("one\n")
    script = (
        "await edit_file(path='a.txt', old='one', new='two')\n"
        "await write_file(path='b/c.txt', content='new\\n')\nreturn 5\n"
    )
    before = files(workspace)
    done = here("preview", script=script)
    assert done.returncode == 0, done.stderr
    assert "2 calls would be made" in done.stdout
    assert "edit_file path=" in done.stdout
    assert files(workspace) == before
    patch = done.stdout[done.stdout.index("diff --git") :]
    copy = workspace.parent / "copy"
    copy.mkdir()
    (copy / "a.txt").write_text("one\n")
    subprocess.run(["git", "apply", "-"], cwd=copy, input=patch, text=True, check=True)
    assert here("run", script=script).returncode == 0
    assert files(workspace) == files(copy)


def test_a_preview_stops_before_what_acts_beyond_files(here: Lineshaft, workspace: Path) -> None:
    script = (
        "await write_file(path='a.txt', content='x')\n"
        "await run_command(command='touch ran')\nawait write_file(path='b.txt', content='x')\n"
    )
    done = here("preview", "--mode", "open", script=script)
    assert done.returncode == 5, done.stderr
    assert 'stops before run_command command="touch ran"' in done.stdout
    assert "1 file would change" in done.stdout
    assert files(workspace) == {}
    told = json.loads(here("preview", "--mode", "open", "--json", script=script).stdout)
    assert told["stopped_at"]["tool"] == "run_command"
    assert "a.txt" in told["diff"]


def test_a_preview_of_a_script_that_fails_says_so_and_where(here: Lineshaft) -> None:
    done = here("preview", script="print('hi')\nraise ValueError('no')\n")
    assert done.returncode == 1
    assert "ValueError: no" in done.stderr
    assert "the script prints:\nhi" in done.stderr


def test_a_paused_run_says_what_waits_and_how_to_answer(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    (workspace / "lineshaft.toml").write_text(ASK_WRITES)
    done = lineshaft("run", "-", stdin=GATHER)
    assert (done.returncode, done.stdout) == (5, "before\n")
    assert "paused: 4 calls for your approval until " in done.stderr
    assert "write_file  (look)" in done.stderr
    assert "path: out/3.txt" in done.stderr
    assert re.search(r"^ +\+3$", done.stderr, re.MULTILINE)
    assert re.search(r"lineshaft resume \S+ --approve all", done.stderr)
    assert "out/3.txt" not in files(workspace)


def test_one_answer_from_another_process_approves_some_and_denies_others(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    run = paused(lineshaft, workspace)
    first, second, *_ = ids(run)
    words = ("--approve", f"{first},{second}", "--deny", "all", "--reason", "not today")
    done = lineshaft("resume", str(run["run_id"]), "--json", *words)
    assert done.returncode == 0, done.stderr
    came = cast("list[str]", facts(done)["value"])
    assert came[:2] == ["done", "done"]
    assert all("not today" in text for text in came[2:])
    assert facts(done)["stdout"] == "before\nafter\n"
    assert {name for name in files(workspace) if name.startswith("out")} == {
        "out/0.txt",
        "out/1.txt",
    }


def test_answers_may_come_in_parts(lineshaft: Lineshaft, workspace: Path) -> None:
    run = paused(lineshaft, workspace)
    first, *others = ids(run)
    done = lineshaft("resume", "--json", "--deny", first)
    assert done.returncode == 5, done.stderr
    assert ids(facts(done)) == others
    assert {name for name in files(workspace) if name.startswith("out")} == set()
    done = lineshaft("resume", "--approve", "all", "--json")
    came = cast("list[str]", facts(done)["value"])
    assert [text == "done" for text in came] == [False, True, True, True]
    assert (workspace / "out/3.txt").read_text() == "3\n"


def test_an_answer_for_the_run_holds_for_later_calls(lineshaft: Lineshaft, workspace: Path) -> None:
    script = "for n in range(3):\n    await write_file(path=f'{n}.txt', content='x')\nreturn 'all'"
    paused(lineshaft, workspace, script)
    done = lineshaft("resume", "--approve", "all", "--for-run")
    assert (done.returncode, done.stdout) == (0, "all\n")


def test_without_answers_and_without_a_terminal_it_lists_what_waits(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    run = paused(lineshaft, workspace)
    done = lineshaft("resume", str(run["run_id"])[:12])
    assert done.returncode == 5
    assert "paused: 4 calls for your approval until" in done.stderr
    assert f"lineshaft resume {run['run_id']} --deny all" in done.stderr
    told = facts(lineshaft("resume", "--json"))
    assert (told["status"], ids(told)) == ("paused", ids(run))
    assert lineshaft("resume", "--approve", "all").returncode == 0


def test_a_paused_run_may_be_cancelled(lineshaft: Lineshaft, workspace: Path) -> None:
    run = paused(lineshaft, workspace)
    done = lineshaft("resume", "--cancel")
    assert (done.returncode, done.stderr) == (0, f"cancelled {run['run_id']}\n")
    again = lineshaft("resume", "--approve", "all")
    assert again.returncode == 1
    assert "is over: it ended as cancelled" in again.stderr
    assert {name for name in files(workspace) if name.startswith("out")} == set()
    assert "cancelled" in lineshaft("runs").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--approve", "nobody"), "no call 'nobody'"),
        (("--approve", "all", "--deny", "all"), "all calls cannot be approved and denied"),
        (("--approve", "a,b", "--deny", "b"), "call 'b' cannot be approved and denied"),
        (("--reason", "why"), "there is no answer"),
        (("--for-run",), "there is no answer"),
        (("--cancel", "--approve", "all"), "takes no answers"),
    ],
)
def test_an_answer_that_cannot_be_meant_is_refused_and_the_run_still_waits(
    here: Lineshaft, lineshaft: Lineshaft, workspace: Path, words: tuple[str, ...], said: str
) -> None:
    run = paused(lineshaft, workspace, "await write_file(path='x', content='x')")
    done = here("resume", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert facts(here("resume", "--json"))["run_id"] == run["run_id"]


def test_an_unknown_run_is_named(here: Lineshaft) -> None:
    for command in ("resume", "replay"):
        assert here(command, "nobody").returncode == 2
    done = here("undo", "nobody")
    assert done.returncode == 2
    assert "nobody" in done.stderr


def test_undo_gives_the_tree_back_and_refuses_what_somebody_changed(
    here: Lineshaft, workspace: Path
) -> None:
    (workspace / "a.txt").write_text("one\n")
    before = files(workspace)
    script = (
        "await write_file(path='a.txt', content='two\\n')\n"
        "await move_file(source='a.txt', target='b/c.txt')\n"
        "await write_file(path='d.txt', content='four\\n')\n"
    )
    assert here("run", script=script).returncode == 0
    run_id = str(json.loads(here("runs", "--json").stdout)[0]["run_id"])
    (workspace / "d.txt").write_text("mine\n")
    refused = here("undo", run_id)
    assert refused.returncode == 1
    assert "d.txt" in refused.stderr
    assert (workspace / "b/c.txt").read_text() == "two\n"
    (workspace / "d.txt").write_text("four\n")
    done = here("undo", run_id)
    assert done.returncode == 0, done.stderr
    assert "d.txt" in done.stdout
    assert files(workspace) == before
    assert here("undo", run_id).returncode == 1


def test_a_replay_says_that_all_is_as_recorded(here: Lineshaft, workspace: Path) -> None:
    (workspace / "a.txt").write_text("one\n")
    script = "got = await read_file(path='a.txt')\nprint(got['content'])\nreturn got['content']\n"
    assert here("run", script=script).returncode == 0
    (workspace / "a.txt").write_text("two\n")
    done = here("replay")
    assert (done.returncode, done.stdout) == (0, "same: 1 call, output and value as recorded\n")
    assert facts(here("replay", "--json"))["difference"] is None


def test_a_replay_names_the_first_call_that_differs(here: Lineshaft, workspace: Path) -> None:
    tool = "from lineshaft import tool\n\n@tool(effect='read')\ndef number(of: {kind}) -> int:\n"
    tool += "    '''Return a number.'''\n    return 5\n"
    (workspace / "own.py").write_text(tool.format(kind="str | int"))
    script = "await list_files()\nfive = await number(of=1)\nreturn five\n"
    assert here("run", "--tools", "own.py", script=script).returncode == 0
    (workspace / "own.py").write_text(tool.format(kind="str"))
    done = here("replay", "--tools", "own.py")
    assert (done.returncode, done.stdout.splitlines()[0][:8]) == (1, "differs:"), done.stderr
    assert re.search(r"recorded +2 number", done.stdout)


def test_two_processes_cannot_take_up_one_run(
    lineshaft: Lineshaft, workspace: Path, environ: dict[str, str]
) -> None:
    (workspace / "lineshaft.toml").write_text(ASK_WRITES)
    script = (
        "await write_file(path='x', content='x')\n"
        "await run_command(command='sh', args=['-c', 'touch started; sleep 60'])"
    )
    done = lineshaft("run", "-", "--json", "--mode", "open", stdin=script)
    assert done.returncode == 5
    holder = subprocess.Popen(
        [sys.executable, "-m", "lineshaft", "resume", "--approve", "all"],
        cwd=workspace,
        env=environ | {"LINESHAFT_POLICY_MODE": "open"},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _until(workspace / "started", holder)
        again = lineshaft("resume", "--approve", "all")
        assert again.returncode == 1
        assert "goes on in another process" in again.stderr
    finally:
        holder.send_signal(signal.SIGINT)
        said = holder.communicate(timeout=60)[1]
    assert holder.returncode == 130, said


def _until(path: Path, process: "subprocess.Popen[str]") -> None:
    """Wait until a file is there, as long as the process lives."""
    while not path.exists():
        try:
            process.wait(timeout=0.05)
        except subprocess.TimeoutExpired:
            continue
        raise AssertionError(process.communicate())


def test_ctrl_c_in_the_middle_of_a_resume_cancels_the_run_for_good(
    sit: Sit, lineshaft: Lineshaft, workspace: Path
) -> None:
    script = (
        "await write_file(path='x', content='x')\n"
        "try:\n    await run_command(command='sleep', args=['60'])\n"
        "finally:\n    await write_file(path='late', content='x')\n"
    )
    paused(lineshaft, workspace, script)
    with sit("resume", "--approve", "all", variables={"LINESHAFT_POLICY_MODE": "open"}) as person:
        person.read_until("sleep")
        person.type("\x03")
        shown = person.ends_with(130)
    assert "Traceback" not in shown
    assert not (workspace / "late").exists()
    assert lineshaft("resume", "--approve", "all").returncode == 1
    assert "cancelled" in lineshaft("runs").stdout


def test_a_person_at_a_terminal_is_asked_with_the_diff(
    sit: Sit, lineshaft: Lineshaft, workspace: Path
) -> None:
    (workspace / "out").mkdir()
    (workspace / "out/2.txt").write_text("old\n")
    paused(lineshaft, workspace)
    with sit("resume") as person:
        question = COLOUR.sub("", person.read_until("Allow 1 of 4"))
        assert "-old" in question
        assert "+2" in question
        person.type("n\r")
        person.read_until("Allow 2 of 4")
        person.type("y\r")
        person.read_until("Allow 3 of 4")
        person.type("d too many\r")
        shown = person.ends_with(0)
    assert "too many" in shown
    assert {name for name in files(workspace) if name.startswith("out")} == {
        "out/1.txt",
        "out/2.txt",
    }
    assert (workspace / "out/2.txt").read_text() == "old\n"


def test_whoever_says_later_or_leaves_leaves_the_run_waiting(
    sit: Sit, lineshaft: Lineshaft, workspace: Path
) -> None:
    run = paused(lineshaft, workspace)
    with sit("resume") as person:
        person.read_until("Allow 1 of 4")
        person.type("l\r")
        assert "resume" in person.ends_with(5)
    with sit("resume") as person:
        person.read_until("Allow 1 of 4")
        person.type("\x03")
        person.ends_with(130)
    assert ids(facts(lineshaft("resume", "--json"))) == ids(run)


def test_a_run_at_a_terminal_may_be_left_for_later(
    sit: Sit, lineshaft: Lineshaft, workspace: Path
) -> None:
    (workspace / "lineshaft.toml").write_text(ASK_WRITES)
    with sit("run", "-", script=GATHER) as person:
        person.read_until("Allow 1 of 4")
        person.type("l\r")
        assert "--approve all" in person.ends_with(5)
    assert lineshaft("resume", "--approve", "all").returncode == 0
    assert (workspace / "out/3.txt").read_text() == "3\n"


def test_a_guard_that_refuses_is_told_with_its_file(here: Lineshaft, workspace: Path) -> None:
    script = "await write_file(path='a.py', content='def f(:')\nreturn 5\n"
    done = here("run", script=script)
    assert done.returncode == 1
    assert "nothing landed: 1 finding [E_GUARD]" in done.stderr
    assert "a.py:1:7: error: not Python" in done.stderr
    assert "had taken effect" not in done.stderr
    assert files(workspace) == {}
    lowered = workspace.parent / "CONFIG/lineshaft/lineshaft.toml"
    lowered.parent.mkdir(parents=True)
    lowered.write_text('[guards]\nsyntax = "warning"')
    done = here("run", script=script)
    assert (done.returncode, done.stdout) == (0, "5\n")
    assert "a.py:1" in done.stderr
    assert (workspace / "a.py").exists()


def test_what_had_not_landed_had_no_effect(here: Lineshaft, workspace: Path) -> None:
    script = (
        "await write_file(path='a.txt', content='x')\n"
        "await run_command(command='true')\n"
        "await write_file(path='b.txt', content='x')\n"
        "raise ValueError('no')\n"
    )
    done = here("run", "--mode", "open", script=script)
    assert done.returncode == 1
    told = done.stderr[done.stderr.index("These calls had taken effect:") :]
    assert 'write_file path="a.txt"' in told
    assert 'run_command command="true"' in told
    assert "b.txt" not in told
    assert set(files(workspace)) == {"a.txt"}
    through = here("run", "--mode", "open", "--no-atomic", script=script)
    told = through.stderr[through.stderr.index("These calls had taken effect:") :]
    assert "b.txt" in told
    assert set(files(workspace)) == {"a.txt", "b.txt"}
