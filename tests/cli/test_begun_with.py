"""Runs that are taken up again keep to the tools and the settings that they began with."""

import re
from pathlib import Path

import pytest

from cli.paused import ASK_WRITES, Lineshaft, files, paused
from cli.person import Sit
from cli.test_resume_command import SEND

WRITE = "await write_file(path='a', content='x')"
OWN_FILE = "lineshaft/lineshaft.toml"


def own_settings(tmp_path: Path, text: str) -> Path:
    """Write a person's own settings file."""
    file = tmp_path / "CONFIG" / OWN_FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_a_run_does_not_go_on_under_changed_settings_unasked(
    lineshaft: Lineshaft, sit: Sit, workspace: Path
) -> None:
    paused(lineshaft, workspace, WRITE)
    own = workspace / "lineshaft.toml"
    own.write_text(f"# a remark changes nothing\n{ASK_WRITES}")
    assert lineshaft("resume").returncode == 5
    own.write_text(f'{ASK_WRITES}\n[guards]\nsecrets = "off"\n[serve]\nhost = "127.0.0.1"')
    refused = lineshaft("resume", "--approve", "all")
    assert refused.returncode == 2
    assert re.search(r"lineshaft.toml' changed since run .* \(guards.secrets\)\n", refused.stderr)
    assert "--accept-changed" in refused.stderr
    with sit("resume", "--approve", "all") as person:
        asked = person.read_until("Go on with it as it is now?")
        assert "lineshaft.toml changed since the run began (guards.secrets)" in asked
        person.type("n\r")
        person.ends_with(2)
    assert files(workspace).keys() == {"lineshaft.toml"}
    with sit("resume", "--approve", "all") as person:
        person.read_until("Go on with it as it is now?")
        person.type("y\r")
        person.ends_with(0)
    assert files(workspace)["a"] == "x"


def test_changed_settings_may_be_meant(lineshaft: Lineshaft, workspace: Path) -> None:
    paused(lineshaft, workspace, WRITE)
    (workspace / "lineshaft.toml").unlink()
    gone = lineshaft("resume", "--approve", "all")
    assert gone.returncode == 2
    assert "lineshaft.toml' is gone since run" in gone.stderr
    meant = lineshaft("resume", "--approve", "all", "--accept-changed")
    assert meant.returncode == 0, meant.stderr


def test_new_settings_and_changed_tools_of_ones_own_are_asked_about(
    lineshaft: Lineshaft, workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text(SEND)
    own_settings(tmp_path, f"[tools]\nmodules = ['{tmp_path}/own.py']")
    assert lineshaft("run", "-", stdin="return await send('a')").returncode == 5
    (tmp_path / "own.py").write_text(f"{SEND}\n# other")
    changed = lineshaft("resume", "--approve", "all")
    assert (changed.returncode, "own.py' changed since" in changed.stderr) == (2, True)
    (tmp_path / "own.py").write_text(SEND)
    (workspace / "lineshaft.toml").write_text(ASK_WRITES)
    new = lineshaft("resume", "--approve", "all")
    assert (new.returncode, "lineshaft.toml' is new since" in new.stderr) == (2, True)
    (workspace / "lineshaft.toml").unlink()
    assert lineshaft("resume", "--approve", "all").stdout == "sent to a\n"


def test_a_replay_tells_of_changed_settings_and_an_undo_needs_none(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    (workspace / "own.py").write_text(SEND)
    done = lineshaft("run", "-", "--mode", "open", "--tools", "own.py", stdin=WRITE)
    assert done.returncode == 0, done.stderr
    (workspace / "lineshaft.toml").write_text(ASK_WRITES)
    replayed = lineshaft("replay")
    assert replayed.returncode == 0, replayed.stderr
    assert "lineshaft.toml is new since the run began (policy.rules)" in replayed.stderr
    (workspace / "own.py").write_text("raise SystemExit")
    refused = lineshaft("replay")
    assert (refused.returncode, "own.py' changed since run" in refused.stderr) == (2, True)
    assert lineshaft("undo").returncode == 0
    assert "a" not in files(workspace)


def test_a_record_names_the_tools_and_settings_and_what_changed_of_them(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    (workspace / "own.py").write_text(SEND)
    (workspace / "lineshaft.toml").write_text(ASK_WRITES)
    assert lineshaft("run", "-", "--tools", "own.py", stdin="return 1").returncode == 0
    shown = lineshaft("show").stdout
    assert f"tools {workspace}/own.py\n" in shown
    assert f"settings {workspace}/lineshaft.toml\n" in shown
    (workspace / "own.py").unlink()
    (workspace / "lineshaft.toml").write_text("")
    shown = lineshaft("show").stdout
    assert f"tools {workspace}/own.py (is gone since)\n" in shown
    assert f"settings {workspace}/lineshaft.toml (is gone since)\n" in shown


@pytest.mark.parametrize("words", [(), ("--approve", "all")])
def test_nobody_is_asked_where_a_tool_of_the_script_is_not_there(
    lineshaft: Lineshaft, sit: Sit, workspace: Path, words: tuple[str, ...]
) -> None:
    (workspace / "own.py").write_text(SEND.replace("external", "read"))
    (workspace / "other.py").write_text(SEND.replace("send(", "sell("))
    (workspace / "lineshaft.toml").write_text(ASK_WRITES)
    script = f"{WRITE}\nreturn await send('a')"
    assert lineshaft("run", "-", "--tools", "own.py", stdin=script).returncode == 5
    with sit("resume", "--tools", "other.py", *words) as person:
        shown = person.ends_with(2)
    assert "cannot go on: `send` is not defined" in shown
    assert "Allow?" not in shown
    assert lineshaft("resume", "--tools", "other.py").returncode == 2
    assert lineshaft("resume", "--approve", "all").stdout == "sent to a\n"


def test_the_record_of_a_call_names_its_tools(lineshaft: Lineshaft, workspace: Path) -> None:
    (workspace / "own.py").write_text(SEND)
    called = lineshaft("call", "send", "to=a", "--tools", "own.py", "--mode", "open")
    assert called.returncode == 0, called.stderr
    assert f"tools {workspace}/own.py\n" in lineshaft("show").stdout
