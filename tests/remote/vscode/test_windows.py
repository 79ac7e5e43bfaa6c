"""Two windows of one editor at once: each does what it is meant to do, and no other."""

from collections.abc import Generator
from pathlib import Path

import pytest

from lineshaft.remote.protocol import ReadAction, ReadObservation, RunAction, RunObservation
from remote.vscode.editor import VsCode, until, vscode
from remote.vscode.test_workspace import ended, lineshaft, ran

READ = 'return (await read_file(path="same.txt"))["content"]'
CHANGE = 'await write_file(path="made.txt", content="by a run\\n")'


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Generator[VsCode]:
    with vscode(tmp_path_factory.mktemp("windows")) as window:
        window.conversation()
        yield window


@pytest.fixture
def other(first: VsCode, tmp_path: Path) -> Generator[VsCode]:
    """A second window, over a folder of its own; its host ends with the test."""
    first.clear()
    root = tmp_path.resolve() / "other"
    root.mkdir()
    with first.another(root) as window:
        window.conversation()
        yield window
        stop(window)


def stop(window: VsCode) -> None:
    """Stop Lineshaft in a window: the editor keeps what a page that is closed had begun."""
    host = window.address.pid
    window.browser.command("Lineshaft: Stop")
    until(lambda: not Path(f"/proc/{host}").exists())


def where(window: VsCode) -> Path:
    done = window.perform(RunAction(command="pwd -P"))
    assert isinstance(done, RunObservation), done
    return Path(done.content.strip())


def test_an_action_reaches_the_window_that_it_is_meant_for(first: VsCode, other: VsCode) -> None:
    assert first.address.pid != other.address.pid
    for window in (first, other):
        (window.root / "same.txt").write_text("on the disk\n")
    assert (where(first), where(other)) == (first.root.resolve(), other.root.resolve())
    other.show("same.txt")
    other.browser("type", "typed")
    other.browser("wait", '.tab.dirty:has-text("same.txt")')
    for window, text in ((first, "on the disk\n"), (other, "on the disk\ntyped")):
        done = window.perform(ReadAction(path="same.txt"))
        assert isinstance(done, ReadObservation), done
        assert done.content == text
        assert ran(window, READ, workspace=f"vscode:{window.root}")["value"] == text
    assert first.browser("count", ".tab.dirty") == 0


def test_several_windows_are_named_and_one_is_chosen(first: VsCode, other: VsCode) -> None:
    status, _, err = ended(lineshaft(first, "run", "-c", CHANGE))
    assert status == 2
    assert "several windows of VS Code are there" in err
    for window in (first, other):
        assert f"vscode:{window.root}" in err
        assert not (window.root / "made.txt").exists()
    run = ran(first, CHANGE, workspace=f"vscode:{other.root}")
    assert run["status"] == "success", run
    assert (other.root / "made.txt").read_text() == "by a run\n"
    assert not (first.root / "made.txt").exists()


def test_two_windows_over_one_folder_are_no_choice(first: VsCode) -> None:
    with first.another(first.root) as same:

        def hosts() -> set[int]:
            said = [file.name for file in (first.home / "state/lineshaft/editors").glob("*.json")]
            return {int(name.partition("-")[0]) for name in said}

        before = hosts()
        same.browser.command("Lineshaft: Start")
        until(lambda: hosts() - before)
        workspace = f"vscode:{first.root}"
        status, _, err = until(lambda: _refused(first, workspace))
        assert status == 2
        assert "several windows of VS Code show" in err
        assert "Lineshaft: Stop" in err
        same.browser.command("Lineshaft: Stop")
        until(lambda: hosts() == before)
        assert ran(first, "return 1", workspace=workspace)["value"] == 1


def test_one_window_works_on_where_the_other_stops_and_is_closed(
    first: VsCode, tmp_path: Path
) -> None:
    first.clear()
    with first.another(tmp_path.resolve()) as closed:
        closed.conversation()
        stop(closed)
        assert ran(first, "return 1")["value"] == 1  # the only one that there is
        closed.browser.command("Lineshaft: Start")
        closed.conversation()
        assert ended(lineshaft(first, "run", "-c", "1"))[0] == 2
    assert where(first) == first.root.resolve()
    run = ran(first, CHANGE, workspace=f"vscode:{first.root}")
    assert run["status"] == "success", run
    assert (first.root / "made.txt").read_text() == "by a run\n"


def _refused(window: VsCode, workspace: str) -> "tuple[int, str, str] | None":
    """Run a script until the second window is connected too."""
    status, out, err = ended(lineshaft(window, "run", "-c", "1", workspace=workspace))
    return (status, out, err) if status else None
