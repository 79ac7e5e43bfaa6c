"""`runs`, `show` and `explain`: what the record tells afterwards."""

import asyncio
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import cast

import pytest

from lineshaft.store import Store, workspace_name
from lineshaft.trace import Recorder, Redactor, result_data
from lineshaft.values import (
    Change,
    KeptPause,
    Pending,
    RunClaim,
    RunError,
    RunResult,
    pause_data,
)

Lineshaft = Callable[..., "subprocess.CompletedProcess[str]"]
UNTIL = "2099-01-01T00:00:00Z"
WAITING = (Pending(id="c2", tool="deploy", arguments={"to": "prod"}, reason="mind the users"),)


def asked(record: Recorder, call_id: str, tool: str = "deploy", parent: str | None = None) -> None:
    facts = {"arguments": {"to": "prod"}, "origin": "script", "effect": "external"}
    record.note("call_asked", call_id, tool=tool, parent=parent, **facts)


def judged(record: Recorder, call_id: str, verdict: str, rule: str, source: str = "") -> None:
    record.note("verdict", call_id, verdict=verdict, rule=rule, reason="look twice", source=source)


def ended(record: Recorder, call_id: str, status: str = "done") -> None:
    record.note("call_started", call_id)
    record.note("call_finished", call_id, status=status, duration_ms=3, error=None, bytes=2)


def paused(record: Recorder) -> None:
    """Tell of a run that waits."""
    record.note("run_started", name="s.py", engine="auto", mode="ask", origin="shell")
    asked(record, "c1")
    judged(record, "c1", "allow", "mode:open")
    ended(record, "c1")
    asked(record, "c2")
    judged(record, "c2", "ask", "prod-asks", "/etc/lineshaft.toml:12")
    result = RunResult(
        run_id=record.run_id, status="paused", engine="wasm", pending=WAITING, expires_at=UNTIL
    )
    record.note("run_paused", None, **result_data(result))


def resumed(record: Recorder) -> None:
    """Tell how it went on."""
    record.note("run_resumed", None, by="shell", answers=1)
    asked(record, "c2")
    record.note("answer", "c2", allow=True, reason="go", scope="run")
    ended(record, "c2")
    changes = [
        Change(path="a.txt", kind="created", added=1, stage=1, undoable=True),
        Change(path="b.txt", kind="modified", stage=2),
    ]
    record.note("changes", changes=[asdict(each) for each in changes])
    error = RunError(code="E_SCRIPT", message="odd", line=3)
    result = RunResult(run_id=record.run_id, status="error", engine="wasm", error=error)
    record.note("run_finished", None, **result_data(result))


BEGUN: dict[str, object] = {"workspace": "/w", "document": dict[str, object]()}


@pytest.fixture
def tell(workspace: Path, tmp_path: Path) -> Callable[..., None]:
    """Return a function that records a run, as a session in another process did."""

    def record(*parts: Callable[[Recorder], None], run_id: str = "2030-r1") -> None:
        asyncio.run(_record(parts, run_id))

    async def _record(parts: tuple[Callable[[Recorder], None], ...], run_id: str) -> None:
        name = workspace_name(workspace)
        path = tmp_path / "STATE" / "lineshaft" / "runs.db"
        async with Store(path, key=b"k" * 32) as store:
            claim = RunClaim(run_id=run_id, workspace=name)
            recorder = Recorder(run_id, (), Redactor(), claim=claim, log=store)
            recorder.append(recorder.row("begin", exact=BEGUN))
            for part in parts:
                part(recorder)
            pause = pause_data(KeptPause(document={}, pending=WAITING, expires_at=UNTIL))
            if parts[-1] is paused:
                recorder.append(recorder.row("checkpoint", exact=pause))
            else:
                recorder.append(recorder.row("end", exact={"end": pause}))

    return record


def test_a_paused_run_is_listed_with_what_it_waits_for(
    here: Lineshaft, tell: Callable[..., None]
) -> None:
    tell(paused)
    (line,) = here("runs").stdout.splitlines()
    assert line.startswith("2030-r1  paused ")
    assert line.endswith(f"2 calls      s.py  waits for 1 answer (deploy), until {UNTIL}")
    (facts,) = json.loads(here("runs", "--json").stdout)
    assert (facts["status"], facts["pending"], facts["waiting"]) == ("paused", 1, ["deploy"])
    assert (facts["expires_at"], facts["calls"], facts["run_id"]) == (UNTIL, 2, "2030-r1")


def test_a_run_whose_process_was_killed_is_interrupted(
    here: Lineshaft, workspace: Path, environ: dict[str, str]
) -> None:
    (workspace / "own.py").write_text(
        "import os\nfrom lineshaft import tool\n\n@tool(effect='external')\n"
        'async def die() -> None:\n    """End."""\n    os.kill(os.getpid(), 9)\n'
    )
    (workspace / "s.py").write_text("await die()")
    words = ["run", "s.py", "--tools", "own.py", "--mode", "open"]
    done = subprocess.run(
        [sys.executable, "-m", "lineshaft", *words],
        cwd=workspace,
        env=environ,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == -9
    (facts,) = json.loads(here("runs", "--json").stdout)
    assert (facts["status"], facts["calls"]) == ("interrupted", 1)
    shown = here("show").stdout
    assert "the process that ran it died before its end [E_INTERRUPTED]" in shown
    assert f"hint: `lineshaft resume {facts['run_id']}`" in shown
    assert "? die" in shown
    result = json.loads(here("show", "--json").stdout)
    assert [call["status"] for call in result["calls"]] == ["unknown"]


def test_show_tells_when_a_run_stood_still_and_who_answered(
    here: Lineshaft, tell: Callable[..., None]
) -> None:
    tell(paused)
    waits = here("show").stdout
    assert f"  paused: 1 call waits until {UNTIL}" in waits
    assert '  waits: c2 deploy to="prod": mind the users' in waits
    tell(paused, resumed, run_id="2030-r2")
    lines = here("show", "2030-r2").stdout.splitlines()
    what = [line.split("  ", 2)[-1].strip() for line in lines]
    assert [each for each in what if "paused" in each or "resumed" in each] == [
        line for line in what if line.endswith(("paused: 1 call waited", "resumed with 1 answer"))
    ]
    first, second = (next(n for n, line in enumerate(lines) if c in line) for c in ("✓", "resumed"))
    assert first < second
    assert sum("✓ deploy" in line for line in lines) == 2
    assert any(line.strip() == "approved for the rest of the run: go" for line in lines)
    assert "  created a.txt  +1 -0  stage 1" in lines
    assert "  modified b.txt  +0 -0  stage 2, cannot be undone" in lines
    assert any("odd [E_SCRIPT]" in line for line in lines)


def test_events_are_printed_one_a_line_as_they_were_told(
    here: Lineshaft, tell: Callable[..., None]
) -> None:
    tell(paused, resumed)
    events = [json.loads(line) for line in here("show", "--events").stdout.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    keys = ("run_id", "seq", "at", "kind", "call_id", "data")
    assert {tuple(event) for event in events} == {keys}
    assert [event["kind"] for event in events if event["kind"].startswith("run_")] == [
        "run_started",
        "run_paused",
        "run_resumed",
        "run_finished",
    ]


def explained(here: Lineshaft, call: str) -> dict[str, object]:
    return cast("dict[str, object]", json.loads(here("explain", call, "--json").stdout))


def test_explain_names_rule_reason_file_line_and_answer(
    here: Lineshaft, tell: Callable[..., None]
) -> None:
    tell(paused, resumed)
    lines = here("explain", "2030-r1/c2").stdout.splitlines()
    assert lines[:5] == [
        'c2 deploy to="prod"',
        "verdict: ask",
        "rule:    prod-asks",
        "where:   /etc/lineshaft.toml:12",
        "reason:  look twice",
    ]
    assert lines[5].startswith("answer:  approved for the rest of the run: go  (")
    assert lines[6] == "ended:   done after 3 ms"
    facts = explained(here, "c2")
    assert (facts["run_id"], facts["source"]) == ("2030-r1", "/etc/lineshaft.toml:12")
    (answer,) = cast("list[dict[str, object]]", facts["answers"])
    assert (answer["allow"], answer["reason"], answer["scope"]) == (True, "go", "run")


@pytest.mark.parametrize(
    ("rule", "source", "where"),
    [
        ("mode:auto", "", "mode auto"),
        ("project:mode:plan", "", "mode plan"),
        ("builtin:git", "", "built in"),
        ("mine", "", "a rule made in code"),
        ("mine", "rules.toml:3", "rules.toml:3"),
    ],
)
def test_explain_says_where_a_rule_stands(
    here: Lineshaft, tell: Callable[..., None], rule: str, source: str, where: str
) -> None:
    def one(record: Recorder) -> None:
        record.note("run_started", name="s.py")
        asked(record, "c1")
        judged(record, "c1", "deny", rule, source)
        record.note("call_finished", "c1", status="refused", duration_ms=0, error=None)

    tell(one)
    assert f"where:   {where}" in here("explain", "c1").stdout.splitlines()
    assert explained(here, "c1")["where"] == where


def test_a_call_that_no_rule_saw_is_explained_too(here: Lineshaft) -> None:
    here("run", "-q", script="await read_file(path=1)")
    calls = json.loads(here("show", "--json").stdout)["calls"]
    if calls:
        text = here("explain", calls[0]["id"]).stdout
        assert "verdict:" in text
    here("call", "read_fil", "path=a")
    call = json.loads(here("show", "--json").stdout)["calls"][0]
    assert "E_UNKNOWN_TOOL" in here("explain", call["id"]).stdout


def test_a_real_verdict_is_explained(here: Lineshaft, workspace: Path) -> None:
    (workspace / "lineshaft.toml").write_text(
        '[[policy.rules]]\nid = "no-notes"\npath = "notes/**"\nverdict = "deny"\n'
        'reason = "notes are private"\n'
    )
    here("call", "read_file", "path=notes/a.txt")
    call = json.loads(here("show", "--json").stdout)["calls"][0]
    text = here("explain", call["id"]).stdout
    assert "no-notes" in text
    assert f"where:   {workspace / 'lineshaft.toml'}:1" in text
    assert "reason:  notes are private" in text
    here("call", "list_files")
    call = json.loads(here("show", "--json").stdout)["calls"][0]
    assert "mode auto" in here("explain", call["id"]).stdout


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("c9", "run 2030-r1 has no call 'c9'"),
        ("2030-r1/c9", "run 2030-r1 has no call 'c9'"),
        ("zz/c1", "no recorded run begins or ends with 'zz'"),
    ],
)
def test_a_call_that_is_not_there_is_named(
    here: Lineshaft, tell: Callable[..., None], call: str, says: str
) -> None:
    tell(paused)
    done = here("explain", call)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    if "c9" in call:
        assert "its calls: c1, c2" in done.stderr


def test_prune_forgets_what_is_old_enough(here: Lineshaft, tell: Callable[..., None]) -> None:
    tell(paused, resumed)
    tell(paused, run_id="2030-r2")
    none = {"records": 0, "states": 0, "landings": 0}
    assert json.loads(here("runs", "prune", "--json").stdout) == none
    done = here("runs", "prune", "--days", "0")
    assert done.stderr == "deleted: 1 record, 1 run state, 0 landings, of all workspaces\n"
    assert [run["run_id"] for run in json.loads(here("runs", "--json").stdout)] == ["2030-r2"]


def test_runs_of_other_workspaces_are_not_listed_but_found(
    here: Lineshaft, tell: Callable[..., None], tmp_path: Path
) -> None:
    tell(paused)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    place = ("--workspace", str(elsewhere))
    assert json.loads(here("runs", "--json", *place).stdout) == []
    assert "no run of this workspace" in here("show", *place).stderr
    assert json.loads(here("show", "2030", "--json", *place).stdout)["run_id"] == "2030-r1"


def test_only_so_many_runs_are_listed(here: Lineshaft, tell: Callable[..., None]) -> None:
    for n in range(3):
        tell(paused, resumed, run_id=f"2030-{n}")
    done = here("runs", "--last", "2")
    assert len(done.stdout.splitlines()) == 2
    assert "there are older ones" in done.stderr
    assert here("runs", "list", "--last", "3").stderr == ""


def test_the_store_can_lie_elsewhere_for_a_person_but_not_for_a_project(
    lineshaft: Lineshaft, workspace: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other" / "runs.db"
    variables = {"LINESHAFT_STORE_URL": str(other)}
    done = lineshaft("run", "-", "-q", stdin="return 1", variables=variables)
    assert (done.returncode, done.stdout) == (0, "1\n")
    assert other.exists()
    listed = json.loads(lineshaft("runs", "--json", variables=variables).stdout)
    assert [run["status"] for run in listed] == ["success"]
    assert json.loads(lineshaft("runs", "--json").stdout) == []
    (workspace / "lineshaft.toml").write_text('[store]\nurl = "runs.db"\n')
    done = lineshaft("run", "-", stdin="return 1")
    assert done.returncode == 2
    assert "store.url is not for a project's file" in done.stderr


def test_a_store_that_cannot_be_written_is_said_before_anything_runs(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    variables = {"XDG_STATE_HOME": "/dev/null/x"}
    done = lineshaft(
        "run", "-", stdin="await write_file(path='a', content='b')", variables=variables
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "/dev/null/x" in done.stderr
    assert "set XDG_STATE_HOME" in done.stderr
    assert list(workspace.iterdir()) == []


@pytest.mark.parametrize("words", [["runs"], ["show"], ["explain", "c1"], ["undo"], ["replay"]])
def test_a_state_folder_that_cannot_be_made_is_a_matter_of_settings(
    here: Lineshaft, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null/x")
    done = here(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "set XDG_STATE_HOME" in done.stderr


def test_a_run_whose_row_is_damaged_is_listed_beside_the_others(
    here: Lineshaft, tell: Callable[..., None], tmp_path: Path
) -> None:
    tell(paused, run_id="2030-good")
    tell(paused, run_id="2030-bad")
    path = tmp_path / "STATE" / "lineshaft" / "runs.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE runs SET duration_ms = 'x', name = x'ff' WHERE id = '2030-bad'")
    listed = json.loads(here("runs", "--json").stdout)
    told = {run["run_id"]: run["status"] for run in listed}
    assert told == {"2030-good": "paused", "2030-bad": "damaged"}
    assert "2030-bad  damaged" in here("runs").stdout
    for words in (["show"], ["show", "--json"], ["show", "--events"], ["resume"], ["replay"]):
        done = here(*words, "2030-bad")
        assert done.returncode == 1
        assert "run 2030-bad cannot be read" in done.stderr + done.stdout
    assert here("show", "2030-good").returncode == 0


def test_a_run_without_its_events_is_said(
    here: Lineshaft, tell: Callable[..., None], tmp_path: Path
) -> None:
    tell(paused)
    path = tmp_path / "STATE" / "lineshaft" / "runs.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE log SET shown = NULL")
    done = here("show")
    assert done.returncode == 1
    assert "the run has no events" in done.stderr


def test_a_damaged_store_is_a_clear_error(lineshaft: Lineshaft, tmp_path: Path) -> None:
    path = tmp_path / "STATE" / "lineshaft" / "runs.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("no database " * 100)
    for words in (("runs",), ("show",), ("run", "-")):
        done = lineshaft(*words, stdin="return 1")
        assert done.returncode == 1, words
        assert "the store 'runs.db' is damaged" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="a limit of Unix shells")
def test_a_run_that_meets_a_limit_of_file_size_says_how_to_raise_it(
    workspace: Path, environ: dict[str, str]
) -> None:
    command = 'ulimit -f 1000; exec "$0" -m lineshaft run -'
    done = subprocess.run(
        ["/bin/sh", "-c", command, sys.executable],
        input="return 1",
        cwd=workspace,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert "raise `ulimit -f`" in done.stderr
