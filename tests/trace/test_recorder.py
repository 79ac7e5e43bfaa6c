"""Events: numbered, dated, redacted, handed out, written and read again."""

import json
import os
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.errors import LineshaftError, RecordError
from lineshaft.store import MemoryLog
from lineshaft.trace import HIDDEN, Recorder, Redactor, jsonl_sink, read_events
from lineshaft.values import Event, Shown


def recorder(*sinks: list[Event]) -> Recorder:
    return Recorder("run-1", [sink.append for sink in sinks], Redactor(["s3cr3t-value"]))


def test_events_are_numbered_from_one_and_dated() -> None:
    seen: list[Event] = []
    record = recorder(seen)
    first = record.note("call_asked", "c1", tool="a", arguments={})
    second = record.note("log", call_id="c1", text="hello")
    assert seen == [first, second]
    assert (first.run_id, first.seq, first.kind, first.call_id) == ("run-1", 1, "call_asked", "c1")
    assert (second.seq, second.data) == (2, {"text": "hello"})
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", first.at)


def test_nothing_reaches_a_sink_before_it_is_redacted() -> None:
    seen: list[Event] = []
    arguments = {"a": ["password=hunter2"], "b": {"c": "s3cr3t-value"}}
    recorder(seen).note("call_asked", "c1", tool="a", arguments=arguments)
    assert seen[0].data["arguments"] == {"a": [f"password={HIDDEN}"], "b": {"c": HIDDEN}}


def test_counters_are_no_secrets_whatever_they_count() -> None:
    usage = {"calls": {"get_token": 3}, "refused": 0}
    event = recorder().note("run_finished", status="success", usage=usage)
    assert event.data["usage"] == usage


def test_what_the_caller_changes_later_is_not_in_the_record() -> None:
    arguments = {"a": [1]}
    event = recorder().note("call_asked", "c1", arguments=arguments)
    arguments["a"].append(2)
    assert event.data["arguments"] == {"a": [1]}


def test_a_sink_that_fails_keeps_no_other_from_the_event() -> None:
    def broken(event: Event) -> None:
        raise OSError(f"no room for {event.kind}")

    seen: list[Event] = []
    record = Recorder("r", [broken, seen.append, broken], Redactor())
    with pytest.raises(OSError, match="no room for log"):
        record.note("log", text="x")
    assert [event.seq for event in seen] == [1]


def test_threads_get_numbers_without_gaps_in_the_order_of_the_sink() -> None:
    seen: list[Event] = []
    record = recorder(seen)

    def note() -> None:
        for _ in range(200):
            record.note("log", text="x")

    threads = [threading.Thread(target=note) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [event.seq for event in seen] == list(range(1, 1_601))


def test_a_record_is_one_line_of_json_an_event_and_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "run.jsonl"
    seen: list[Event] = []
    with jsonl_sink(path) as sink:
        record = Recorder("run-1", [sink, seen.append], Redactor())
        record.note("run_started", name="ä\n\u2028", limits={"calls": 1})
        assert len(path.read_text().splitlines()) >= 1  # it is there before the next
        record.note("output", stream="stdout", text="\udc80\x00")
    lines = path.read_bytes().split(b"\n")
    assert [json.loads(line)["seq"] for line in lines[:-1]] == [1, 2]
    assert read_events(path) == seen


def test_only_its_owner_can_read_a_record(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "run.jsonl"
    jsonl_sink(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for folder in (path.parent, path.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_record_is_never_written_over_another(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("mine")
    with pytest.raises(RecordError, match=r"'run.jsonl' cannot be created: File exists"):
        jsonl_sink(path)
    assert path.read_text() == "mine"


def test_a_record_is_not_created_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RecordError, match="cannot be created"):
        jsonl_sink(tmp_path / "run.jsonl")
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match=r"'run.jsonl' cannot be created: it is not a folder"):
        jsonl_sink(tmp_path / "file" / "run.jsonl")


def test_a_closed_record_takes_no_event(tmp_path: Path) -> None:
    sink = jsonl_sink(tmp_path / "run.jsonl")
    sink.close()
    sink.close()
    with pytest.raises(RecordError, match=r"'run.jsonl' is closed"):
        Recorder("r", [sink], Redactor()).note("log", text="x")


FULL = """
import resource, signal, sys
from pathlib import Path
from lineshaft.errors import LineshaftError
from lineshaft.trace import Recorder, Redactor, jsonl_sink, read_events
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
path = Path(sys.argv[1])
record = Recorder("r", [jsonl_sink(path)], Redactor())
record.note("log", text="x" * 200)
try:
    record.note("log", text="x" * 2_000)
except LineshaftError as error:
    print(error.code, error)
record.note("log", text="y")
print([len(event.data["text"]) for event in read_events(path)], path.read_bytes()[-1:])
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
"""


def test_a_disk_that_is_full_is_said_and_leaves_no_half_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "run.jsonl")],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "E_RECORD the record 'run.jsonl' cannot be written: File too large",
        "[200, 1] b'\\n'",
    ]


def written(tmp_path: Path, events: int = 3) -> Path:
    path = tmp_path / "run.jsonl"
    with jsonl_sink(path) as sink:
        record = Recorder("r", [sink], Redactor())
        for at in range(events):
            record.note("log", text=f"event {at}")
    return path


def test_a_last_line_that_a_crash_tore_is_left_out(tmp_path: Path) -> None:
    path = written(tmp_path)
    whole = read_events(path)
    data = path.read_bytes()
    start = data.rindex(b"\n", 0, -1) + 1
    for end in range(start, len(data) - 1):
        path.write_bytes(data[:end])
        assert read_events(path) == whole[:2]
    path.write_bytes(data[:-1])
    assert read_events(path) == whole


@pytest.mark.parametrize(
    "line",
    [
        *(b"garbage", b"\xff\xfe", b"7", b"{}", b'{"seq": 1}', b"[" * 100_000),
        b'{"run_id":"r","seq":1,"at":"","kind":"party","call_id":null,"data":{}}',
    ],
)
def test_any_other_line_that_is_no_event_is_named(tmp_path: Path, line: bytes) -> None:
    path = written(tmp_path)
    first, second, *rest = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([first, line, second, *rest]))
    with pytest.raises(RecordError, match=r"line 2 of the record 'run.jsonl'"):
        read_events(path)


def test_a_record_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(LineshaftError, match=r"'no.jsonl' cannot be read: No such file"):
        read_events(tmp_path / "no.jsonl")


def test_an_empty_record_has_no_events(tmp_path: Path) -> None:
    assert read_events(written(tmp_path, events=0)) == []


@given(st.binary(max_size=300))
def test_bytes_of_any_kind_give_events_or_a_clear_error(data: bytes) -> None:
    read, write = os.pipe()
    os.write(write, data)
    os.close(write)
    said: list[object] = []
    try:
        said = [*read_events(f"/dev/fd/{read}")]
    except RecordError as error:
        said = [error.message[:5]]
    finally:
        os.close(read)
    assert said in ([], ["line "])


def test_steps_made_beside_each_other_are_numbered_when_they_are_appended() -> None:
    log = MemoryLog()
    record = Recorder("r", [], Redactor(), log=log)
    event: Shown = ("log", {"text": "x"})
    made = [record.row("log", shown=(event, event)) for _ in range(2)]
    for row in reversed(made):  # each by a tool in a thread of its own
        record.append(row)
    assert [row.event_seq for row in log.rows("r")] == [1, 3]
