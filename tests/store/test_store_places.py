"""Where things are kept, and which process works on a run."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lineshaft.errors import ConfigError
from lineshaft.files import private_folder, state_folder
from lineshaft.store import workspace_folder, workspace_name
from lineshaft.store._owner import Owner, this_process


def test_the_state_folder_is_named_by_the_environment() -> None:
    assert state_folder({"XDG_STATE_HOME": "/s"}) == Path("/s/lineshaft")
    assert state_folder({"HOME": "/h"}) == Path("/h/.local/state/lineshaft")
    assert state_folder({"HOME": "/h", "XDG_STATE_HOME": "rel"}) == Path(
        "/h/.local/state/lineshaft"
    )
    with pytest.raises(ConfigError, match="neither XDG_STATE_HOME nor HOME"):
        state_folder({"HOME": "rel"})


def test_each_workspace_has_a_folder_of_its_own(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": "/s"}
    (tmp_path / "a b").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a b")
    folder = workspace_folder(tmp_path / "a b", environ)
    assert folder.parent == Path("/s/lineshaft/workspaces")
    assert folder.name.startswith("a_b-")
    assert workspace_folder(tmp_path / "link", environ) == folder
    assert workspace_folder(tmp_path, environ) != folder
    assert workspace_folder("/", environ).name.startswith("root-")
    assert workspace_name(tmp_path / "link") == os.path.realpath(tmp_path / "a b")
    assert not Path("/s/lineshaft").exists()


def test_a_private_folder_is_private_and_so_are_those_above_that_were_missing(
    tmp_path: Path,
) -> None:
    tmp_path.chmod(0o755)
    assert private_folder(tmp_path / "a" / "b") == tmp_path / "a" / "b"
    modes = [path.stat().st_mode & 0o777 for path in (tmp_path, tmp_path / "a", tmp_path / "a/b")]
    assert modes == [0o755, 0o700, 0o700]
    private_folder(tmp_path / "a")
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"'.*file' cannot be made"):
        private_folder(tmp_path / "file")


def test_a_process_knows_itself_and_those_that_are_gone() -> None:
    assert not this_process().has_died
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        gone = replace(this_process(), pid=process.pid)
    assert gone.has_died


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="platform: needs /proc")
def test_a_process_is_told_apart_from_others_of_its_number() -> None:
    me = this_process()
    boot, space, start = me.mark.split("/")
    assert Owner(me.pid, f"{boot}/{space}/{int(start) - 1}").has_died


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="platform: needs /proc")
def test_of_a_process_that_cannot_be_looked_at_no_death_is_known() -> None:
    me = this_process()
    boot, space, start = me.mark.split("/")
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        gone = process.pid
    assert not Owner(gone, f"another/{space}/{start}").has_died  # another machine, or another boot
    assert not Owner(gone, f"{boot}/elsewhere/{start}").has_died  # another container
    assert not Owner(gone).has_died
