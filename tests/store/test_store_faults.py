"""A store that cannot be used says why and what to do, and loses nothing."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from lineshaft.errors import ConfigError, RecordError, StateError
from lineshaft.store import Store
from lineshaft.values import Value
from store.samples import (
    KEY,
    Open,
    begin,
    call,
    environment,
    event,
    finished,
    pause,
    program,
    resume,
    run,
    sink,
    started,
)


async def keep(store: Store) -> None:
    """Keep a run and its record."""
    record = sink(store, "/w")
    record(started())
    state = await begin(store, run())
    await state.started(call(1))
    await state.finished(call(1), Value("x" * 9_000))
    record(finished(2))
    await state.over(replayable=True)
    await store.aclose()


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        ("half", "is damaged: the file was truncated"),
        ("head", "is damaged"),
        ("empty", "is damaged: the file is empty"),
        ("text", "is damaged: the file is no database"),
        ("noise", "is damaged"),
    ],
)
async def test_a_damaged_file_is_said_and_left_as_it_is(
    store: Store, open_store: Open, path: Path, damage: str, says: str
) -> None:
    await keep(store)
    data = path.read_bytes()
    before = {
        "half": data[: len(data) // 2],
        "head": data[:100],
        "empty": b"",
        "text": b"no database " * 1_000,
        "noise": data[:4096] + os.urandom(len(data) - 4096),
    }[damage]
    path.write_bytes(before)
    other = open_store()
    for step in (begin(other, run("q")), resume(other, "r"), other.runs(), other.events("r")):
        with pytest.raises(StateError, match=says) as caught:
            await step
        assert "move the file away" in caught.value.hint or "delete it" in caught.value.hint
        assert str(path.parent) not in str(caught.value)
    await other.aclose()
    assert path.read_bytes() == before


@pytest.mark.parametrize("table", ["log", "runs", "blobs", "shapes"])
async def test_a_store_that_lacks_a_table_is_damaged_and_left_as_it_is(
    store: Store, open_store: Open, path: Path, table: str
) -> None:
    await keep(store)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"DROP TABLE {table}")
    before = path.read_bytes()
    other = open_store()
    says = f"'store.db' is damaged: it lacks '{table}' of its tables"
    for step in (begin(other, run("q")), resume(other, "r"), other.runs(), other.events("r")):
        with pytest.raises(StateError, match=says) as caught:
            await step
        assert "move the file away" in caught.value.hint
    await other.aclose()
    assert path.read_bytes() == before


async def test_a_log_that_was_cut_short_costs_no_more_than_what_it_held(
    store: Store, path: Path, tmp_path: Path
) -> None:
    await keep(store)
    other = Store(path, key=KEY)
    state = await begin(other, run("q"))
    await state.started(call(1))
    for suffix in ("", "-wal"):
        shutil.copy(f"{path}{suffix}", tmp_path / f"cut.db{suffix}")
    await other.aclose()
    log = tmp_path / "cut.db-wal"
    log.write_bytes(log.read_bytes()[: log.stat().st_size // 2])
    async with Store(tmp_path / "cut.db", key=KEY) as cut:
        assert len(await cut.events("r")) == 2
        assert len((await cut.load("r")).finished) == 1


async def test_a_database_of_somebody_else_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE notes (text)")
    before = path.read_bytes()
    async with Store(path, key=KEY) as store:
        with pytest.raises(
            StateError, match=r"'store.db' is a database, but no store of Lineshaft"
        ):
            await begin(store, run())
    assert path.read_bytes() == before


async def test_a_folder_in_the_place_of_the_file_is_said(path: Path) -> None:
    path.mkdir(parents=True)
    async with Store(path, key=KEY) as store:
        with pytest.raises(StateError, match=r"'store.db' cannot be opened"):
            await store.runs()


async def test_a_file_in_the_place_of_the_folder_is_said_before_anything_runs(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file" / "store.db", key=KEY)
    with pytest.raises(ConfigError, match="cannot be made"):
        store.ready()
    with pytest.raises(StateError, match="cannot be made"):
        await store.runs()
    await store.aclose()


async def test_a_newer_schema_is_a_clear_error(store: Store, open_store: Open, path: Path) -> None:
    await keep(store)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE meta SET version = 99")
    with pytest.raises(StateError, match=r"made by a newer version of Lineshaft .*version 99"):
        await open_store().runs()


async def test_a_store_that_is_locked_for_long_is_said_and_nothing_is_lost(
    store: Store, open_store: Open, path: Path
) -> None:
    state = await begin(store, run())
    record = sink(store, "/w")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        record(started())
        await state.finished(call("r", "read"), Value(1))
        with pytest.raises(StateError, match=r"'store.db' is locked by another process") as caught:
            await state.started(call(1))
        assert "try again" in caught.value.hint
        with pytest.raises(RecordError, match="is locked by another process"):
            record(event(2))
        other.execute("COMMIT")
    await state.started(call(2))
    record(event(2))
    await state.paused(pause("c3"))
    assert [each.seq for each in await store.events("r")] == [1, 2]
    saved = await open_store().load("r")
    assert [each.call.id for each in saved.finished] == ["cr"]
    assert [each.id for each in saved.unknown] == ["c2"]


async def test_the_end_of_a_run_is_kept_for_a_store_that_can_be_written_again(
    store: Store, path: Path
) -> None:
    """Else it went on in the record, for as long as the process lives that serves others."""
    record = sink(store, "/w")
    record(started())
    state = await begin(store, run())
    await store.flush()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StateError, match="is locked by another process"):
            await state.started(call(1))
        with pytest.raises(RecordError, match="is locked by another process"):
            record(finished(2, status="error"))
        with pytest.raises(StateError, match="is locked by another process"):
            await state.over(replayable=True, end={"status": "error"})
        other.execute("COMMIT")
    await store.flush()
    assert [each.status for each in await store.runs()] == ["error"]
    assert [each.kind for each in await store.events("r")] == ["run_started", "run_finished"]
    with pytest.raises(StateError):
        await store.load("r")


async def test_what_waits_when_a_locked_store_is_closed_is_said(store: Store, path: Path) -> None:
    await begin(store, run())
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        sink(store, "/w")(started())
        with pytest.raises(RecordError, match="is locked by another process"):
            await store.aclose()
    await store.flush()
    assert len(await store.events("r")) == 1


async def test_a_short_lock_of_another_process_is_waited_for(path: Path) -> None:
    """The other one lets go only after this one is seen to wait, or is done without waiting."""
    async with Store(path, key=KEY, patience=20) as store:
        await begin(store, run("q"))
        code = (
            "import sqlite3, sys\n"
            "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
            "c.execute('BEGIN IMMEDIATE'); print('held', flush=True)\n"
            "sys.stdin.readline(); c.execute('COMMIT')"
        )
        with subprocess.Popen(  # noqa: ASYNC220  the test is the only one in its loop
            [sys.executable, "-c", code, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            assert process.stdin is not None
            assert process.stdout.readline() == "held\n"
            sink(store, "/w")(finished(1))
            process.stdin.write("go\n")
            process.stdin.flush()
            await begin(store, run())


FULL = """
record = sink(store, "/w")
record(event(1, "run_started"))
state = await begin(store, run())
kept = 0
try:
    for n in range(1_000):
        await state.finished(call(n), Value(os.urandom(40_000).hex()))
        kept += 1
except Exception as error:
    print(type(error).__name__, error)
{room}
record = sink(store, "/w")
try:
    record(event(2, "log"))
except Exception as error:
    print(type(error).__name__)
await state.finished(call("last"), Value(1))
saved = await store.load("r")
print(len(saved.finished) - kept, kept > 0, [e.seq for e in await store.events("r")])
await store.aclose()
print(sorted(p.name for p in Path(sys.argv[1]).parent.iterdir()))
"""


def test_a_full_disk_is_said_and_what_was_kept_stays(tmp_path: Path) -> None:
    room = "(Path(sys.argv[1]).parent.parent / 'ballast').unlink()"
    setting = (
        "mount -t tmpfs -o size=4m,mode=700 tmpfs {0} && mkdir {0}/state"
        " && head -c 2000000 /dev/zero > {0}/ballast"
    )
    done = apart(setting, FULL.format(room=room), tmp_path)
    lines = done.stdout.splitlines()
    assert lines[0] == "StateError the store 'store.db' cannot be written: the disk is full"
    assert lines[-2] == "1 True [1]" or lines[-2] == "1 True [1, 2]"
    assert lines[-1] == "['store.db']"


NEARLY_FULL = """
state = Path(sys.argv[1]).parent
ballast = state.parent / "ballast"
for free in range(4_096, 200_000, 4_096):
    ballast.write_bytes(bytes(2_000_000 - free))
    for attempt in ("nearly full", "with room"):
        store = Store(state / f"{free}.db", key=KEY)
        try:
            print(attempt, await store.runs())
        except Exception as error:
            print(attempt, type(error).__name__, error)
        await store.aclose()
        ballast.write_bytes(b"")
    for each in state.iterdir():
        each.unlink()
"""


def test_a_store_that_is_begun_on_a_nearly_full_disk_is_whole_or_not_there(tmp_path: Path) -> None:
    setting = "mount -t tmpfs -o size=2000000,mode=700 tmpfs {0} && mkdir {0}/state"
    lines = apart(setting, NEARLY_FULL, tmp_path).stdout.splitlines()
    assert {line for line in lines if line.startswith("with room")} == {"with room []"}
    nearly_full = {line for line in lines if line.startswith("nearly full")}
    assert "nearly full []" in nearly_full
    assert [line for line in nearly_full if "the disk is full" in line]
    assert not [line for line in nearly_full if "damaged" in line]


def test_a_limit_of_file_size_is_said_and_what_was_kept_stays(tmp_path: Path) -> None:
    limit = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
"""
    room = "resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))"
    done = subprocess.run(
        [
            *(sys.executable, "-c"),
            limit + program(FULL.format(room=room)),
            str(tmp_path / "store.db"),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env=environment(),
    )
    lines = done.stdout.splitlines()
    assert lines[0].startswith("StateError the store 'store.db' cannot be ")
    assert lines[-2].startswith("1 True [1")


READ_ONLY = """
from lineshaft.errors import ConfigError
for step in (store.runs, lambda: begin(store, run("q")), lambda: resume(store, "r")):
    try:
        await step()
    except Exception as error:
        print(type(error).__name__, error)
try:
    store.ready()
except ConfigError as error:
    print(type(error).__name__, str(error).partition(": ")[0])
"""


@pytest.mark.parametrize("missing", [False, True])
async def test_a_read_only_file_system_is_said(tmp_path: Path, *, missing: bool) -> None:
    if not missing:
        await keep(Store(tmp_path / "state" / "store.db", key=KEY))
    (tmp_path / "state").mkdir(exist_ok=True)
    before = sorted(each.name for each in (tmp_path / "state").iterdir())
    setting = "mount --bind {0} {0} && mount -o remount,ro,bind {0}"
    done = apart(setting, READ_ONLY, tmp_path)
    lines = done.stdout.splitlines()
    assert len(lines) == 4, done.stdout + done.stderr
    for line in lines[:3]:
        assert line.startswith("StateError the store 'store.db' cannot be "), line
    assert lines[3] == "ConfigError the store 'store.db' cannot be written"
    assert sorted(each.name for each in (tmp_path / "state").iterdir()) == before


def apart(setting: str, body: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run a program where file systems can be mounted that nobody else sees.

    Args:
        setting: Shell commands that mount; `{0}` is the folder.
        body: The body of an async function; the store lies in `state` below the folder.
        folder: Where the store lies.
    """
    path = folder / "state" / "store.db"
    inside = ["unshare", "--user", "--map-root-user", "--mount", "/bin/sh", "-ec"]
    mounts = setting.format(folder)
    if shutil.which("unshare") is None or subprocess.run([*inside, mounts], check=False).returncode:
        pytest.skip("needs file systems that a user may mount, in a namespace of their own")
    shell = f'{mounts}\nexec "$0" "$@"'
    done = subprocess.run(
        [*inside, shell, sys.executable, "-c", program(body), str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment(),
    )
    assert done.returncode == 0, done.stderr
    return done


async def test_files_are_for_their_owner_alone_whatever_the_umask(path: Path) -> None:
    before = os.umask(0)
    try:
        store = Store(path, key=KEY)
        state = await begin(store, run())
        await state.started(call(1))
        modes = {each.name: each.stat().st_mode & 0o777 for each in path.parent.iterdir()}
        assert modes == {"store.db": 0o600, "store.db-wal": 0o600, "store.db-shm": 0o600}
        assert path.parent.stat().st_mode & 0o777 == 0o700
        await store.aclose()
    finally:
        os.umask(before)


async def test_a_file_that_others_could_read_is_closed_to_them(store: Store, path: Path) -> None:
    await keep(store)
    path.chmod(0o644)
    await store.runs()
    assert path.stat().st_mode & 0o777 == 0o600
    for suffix in ("-wal", "-shm"):
        assert path.with_name(path.name + suffix).stat().st_mode & 0o777 == 0o600


async def test_what_is_kept_of_a_run_is_in_no_record_and_no_error(store: Store, path: Path) -> None:
    secret = "hunter2-s3cret"  # noqa: S105  planted
    begun = run(x=secret)
    sink(store, "/w")(started())
    state = await begin(store, begun)
    await state.finished(call(1), Value(secret))
    errors: list[str] = []
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for step in (
            state.finished(call(secret), Value(secret)),
            begin(store, run("q", x=secret)),
            state.paused(pause(secret, snapshot=secret.encode())),
        ):
            with pytest.raises(StateError) as caught:
                await step
            errors += [repr(caught.value), caught.value.hint, repr(caught.value.__context__)]
        other.execute("COMMIT")
    with pytest.raises(StateError) as caught:
        await state.finished(call(2), Value({secret: object()}))
    errors += [repr(caught.value), repr(caught.value.__context__)]
    shown = [repr(each) for each in (await store.runs(), await store.events("r"), store, state)]
    assert [text for text in (*errors, *shown) if secret in text] == []
    assert secret in repr((await store.load("r")).run.document)


async def test_what_may_be_left_out_waits_for_a_store_within_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lineshaft.store._writer._MOST_BYTES", 1_000_000)
    monkeypatch.setattr("lineshaft.store._writer._AGAIN", 0.001)
    (tmp_path / "file").touch()
    store = Store(tmp_path / "file" / "runs.db", key=KEY)
    handles = [f"result-{number}" for number in range(200)]
    for handle in handles:
        store.keep_result(handle, handle + "x" * 100_000)
        with pytest.raises(StateError):
            await store.flush()

    (tmp_path / "file").unlink()
    await store.flush()

    kept = [handle for handle in handles if await store.result_text(handle)]
    assert kept == handles[:4]
    store.keep_result("later", "text")
    assert await store.result_text("later") == "text"
    await store.aclose()
