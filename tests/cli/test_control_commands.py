"""preview, undo and replay: what a run would do, did, and would do again."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from cli.paused import Lineshaft, facts, files


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


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ('[policy]\nmode = "autoo"\n', "policy.mode is 'autoo'"),
        ('[policy]\nmode = "auto\n', "is not TOML"),
        ('[store]\nurl = "elsewhere.db"\n', "store.url is not for a project's file"),
        ('[workspace]\nroot = "/"\n', "workspace.root leads out of the project"),
        ('[[policy.rules]]\nverdict = "maybe"\n', "lineshaft.toml"),
    ],
)
def test_a_run_that_broke_the_settings_is_shown_and_undone(
    here: Lineshaft,
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
    broken: str,
    said: str,
) -> None:
    monkeypatch.setenv("LINESHAFT_GUARDS_SYNTAX", "off")
    (workspace / "lineshaft.toml").write_text('[policy]\nmode = "auto"\n')
    before = files(workspace)
    script = f"await write_file(path='lineshaft.toml', content={broken!r})"
    assert here("run", "--mode", "open", script=script).returncode == 0
    assert here("run", "-c", "1").returncode == 2
    call = json.loads(here("show", "--json").stdout)["calls"][0]["id"]
    for words in (("runs",), ("show",), ("explain", call), ("runs", "prune"), ("undo",)):
        done = here(*words)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("settings are left out") == 1
        assert said in done.stderr
    assert files(workspace) == before
    assert "settings" not in here("show").stderr


@pytest.mark.parametrize("own", ["[store]\nkeep_days = -1\n", "[store\n", "store = 1\n"])
def test_nothing_is_pruned_where_it_is_not_known_how_long_it_is_kept(
    here: Lineshaft, environ: dict[str, str], own: str
) -> None:
    file = Path(environ["XDG_CONFIG_HOME"]) / "lineshaft" / "lineshaft.toml"
    file.parent.mkdir(parents=True)
    file.write_text(own)
    done = here("runs", "prune")
    assert done.returncode == 2
    assert "deleted" not in done.stderr
    assert f"error: {str(file)!r}"[:-1] in done.stderr or f"error: {file}" in done.stderr


def test_a_run_that_is_forgotten_leaves_nothing_that_could_undo_it(
    here: Lineshaft, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "a.txt").write_text("what was there before\n")
    assert here("run", script="await write_file(path='a.txt', content='a')").returncode == 0
    assert here("run", script="await write_file(path='b.txt', content='b')").returncode == 0
    assert json.loads(here("runs", "prune", "--json").stdout)["landings"] == 0
    assert _kept(tmp_path)
    assert "2 landings" in here("runs", "prune", "--days", "0").stderr
    assert not _kept(tmp_path)


def test_prune_goes_on_past_what_is_no_folder_of_journals_and_what_it_cannot_use(
    here: Lineshaft, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "a.txt").write_text("what was there before\n")
    assert here("run", script="await write_file(path='a.txt', content='a')").returncode == 0
    (kept,) = _kept(tmp_path)
    workspaces = next(above for above in kept.parents if above.name == "workspaces")
    (workspaces / ".DS_Store").touch()
    (workspaces / "0").mkdir()
    (workspaces / "0" / "done").touch()

    done = here("runs", "prune", "--days", "0")

    assert done.returncode == 0
    assert f"landings in {workspaces / '0'} are not deleted: Not a directory" in done.stderr
    assert "nothing was changed" not in done.stderr
    assert ".DS_Store" not in done.stderr
    assert "1 landing," in done.stderr
    assert not _kept(tmp_path)


def _kept(folder: Path) -> list[Path]:
    """Return the files, outside of the workspace, that hold what was there."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in found if b"what was there before" in path.read_bytes()]


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


def test_undo_says_that_a_run_that_waited_is_cancelled(here: Lineshaft, workspace: Path) -> None:
    script = "await write_file('n.txt', 'x')\n" + "await run_command('true')\n" * 2
    assert here("run", "--quiet", script=script).returncode == 5
    assert here("resume", "--approve", "all").returncode == 5
    assert (workspace / "n.txt").exists()
    done = here("undo")
    assert done.returncode == 0
    assert "the run had not ended; it is cancelled now" in done.stderr
    assert not (workspace / "n.txt").exists()
    assert json.loads(here("runs", "--json").stdout)[0]["status"] == "cancelled"
    ended = "await write_file('n.txt', 'x')"
    assert here("run", "--quiet", script=ended).returncode == 0
    assert json.loads(here("undo", "--json").stdout)["cancelled"] is False


def test_a_replay_of_a_single_call_says_that_it_has_no_script(here: Lineshaft) -> None:
    assert here("call", "list_files", "path=.").returncode == 0
    done = here("replay")
    assert done.returncode == 1
    assert "is a single call: it has no script to replay" in done.stderr
    assert "only read" not in done.stderr
