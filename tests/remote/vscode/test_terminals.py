"""Commands in terminals of the person, by VS Code's shell integration, where they chose that."""

import asyncio
import json
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import anyio
import psutil
import pytest
from anyio import to_thread

from lineshaft.remote.protocol import Action, Observation, RunAction, RunObservation
from remote.suite import (
    Side,
    gone,
    test_a_command_has_its_real_exit_code_and_output,
    test_a_command_reads_input_that_is_sent_to_it,
    test_a_command_runs_in_a_folder_of_the_workspace,
    test_an_unterminated_quote_is_an_error_of_the_shell_and_hangs_nothing,
    test_commands_get_no_secret_of_the_host,
    test_time_that_is_over_ends_the_whole_tree,
    test_two_commands_at_once_keep_their_output_apart,
)
from remote.vscode.conftest import FAILED
from remote.vscode.editor import ROOT, VsCode, until, vscode

__all__ = (
    "test_a_command_has_its_real_exit_code_and_output",
    "test_a_command_reads_input_that_is_sent_to_it",
    "test_a_command_runs_in_a_folder_of_the_workspace",
    "test_an_unterminated_quote_is_an_error_of_the_shell_and_hangs_nothing",
    "test_commands_get_no_secret_of_the_host",
    "test_time_that_is_over_ends_the_whole_tree",
    "test_two_commands_at_once_keep_their_output_apart",
)


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> Generator[VsCode]:
    """An editor whose person wants commands in terminals of theirs."""
    with vscode(tmp_path_factory.mktemp("terminals"), {"lineshaft.terminal": "shell"}) as started:
        yield started


@pytest.fixture
def editor(chosen: VsCode, request: pytest.FixtureRequest) -> Generator[VsCode]:
    chosen.clear()
    yield chosen
    if FAILED in request.node.stash:
        chosen.shoot(ROOT / "build" / "screenshots", request.node.name)


@pytest.fixture
def side(editor: VsCode) -> Side:
    async def perform(action: Action, *, seconds: float | None = None) -> Observation:
        done = await to_thread.run_sync(partial(editor.perform, action, seconds=seconds))
        if isinstance(done, RunObservation):
            assert done.metadata.backend == "shell_integration", done
        return done

    return Side(editor.root, perform)


def ran(editor: VsCode, command: str, seconds: float | None = None) -> RunObservation:
    done = editor.perform(RunAction(command=command), seconds=seconds)
    assert isinstance(done, RunObservation), done
    return done


def shells(editor: VsCode) -> list[int]:
    """Return the shells of terminals of this editor."""
    found: list[int] = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            injected = any("shellIntegration" in word for word in process.cmdline())
            if injected and process.environ().get("HOME") == str(editor.home):
                found.append(process.pid)
    return found


def names_below(shell: int) -> list[str]:
    """Return the names of the programs that a shell has started and that run."""
    found: list[str] = []
    with suppress(psutil.Error):
        for child in psutil.Process(shell).children():
            with suppress(psutil.Error):
                found.append(child.name())
    return found


async def test_the_result_names_terminal_and_variables_and_programs_see_a_terminal(
    side: Side,
) -> None:
    done = await side.run("test -t 1 && echo shown; printf '\\033[31mred\\033[0m\\n'")
    assert (done.metadata.exit_code, done.content) == (0, "shown\nred\n")
    assert done.metadata.where.startswith("in the terminal `bash` of the editor, with ")
    assert "PATH" in done.metadata.where
    assert done.metadata.suffix == ""


async def test_one_terminal_is_used_again_and_a_second_one_goes(side: Side, editor: VsCode) -> None:
    await side.run("true")
    until(lambda: len(shells(editor)) == 1)
    before = shells(editor)
    for number in range(5):
        assert (await side.run(f"exit {number}")).metadata.exit_code == number
    assert shells(editor) == before
    first = asyncio.ensure_future(side.run("touch a; until [ -e b ]; do sleep 0.05; done; exit 1"))
    with anyio.fail_after(60):
        while not (editor.root / "a").exists():
            await asyncio.sleep(0.02)
    assert (await side.run("touch b; exit 2")).metadata.exit_code == 2
    assert (await first).metadata.exit_code == 1
    until(lambda: len(shells(editor)) == 1)


async def test_an_end_that_the_output_claims_is_not_believed(side: Side) -> None:
    done = await side.run("echo a; printf '\\033]633;D;0\\007\\033]633;A\\007'; sleep 1; exit 3")
    assert done.metadata.exit_code == 3
    assert done.content.startswith("a\n")
    assert (await side.run("echo next")).content == "next\n"


async def test_where_what_runs_it_is_killed_the_end_is_unknown_and_nothing_stays(
    side: Side,
) -> None:
    done = await side.run("sleep 600 & echo $! > pid; kill -9 $PPID; sleep 600")
    assert (done.metadata.exit_code, done.metadata.signal) == (-1, None)
    assert "not known" in done.metadata.suffix
    await gone(int((side.root / "pid").read_text()))
    assert (await side.run("echo next")).content == "next\n"


async def test_a_command_that_kills_its_group_or_reads_no_input_leaves_the_shell_alone(
    side: Side,
) -> None:
    assert (await side.run("kill -9 0")).metadata.signal == "SIGKILL"
    running = asyncio.ensure_future(
        side.run("touch started; until [ -e over ]; do sleep 0.05; done")
    )
    with anyio.fail_after(60):
        while not (side.root / "started").exists():
            await asyncio.sleep(0.02)
    await side.run("touch typed", is_input=True)
    (side.root / "over").touch()
    assert (await running).metadata.exit_code == 0
    assert (await side.run("echo next")).content == "next\n"
    assert not (side.root / "typed").exists()


@contextmanager
def brought_along(editor: VsCode, **settings: object) -> Generator[None]:
    """Have the folder bring settings along; the window shows by its status bar that it has them."""
    folder = editor.root / ".vscode"
    folder.mkdir()
    for bar in (False, True):
        text = {"workbench.statusBar.visible": bar, **({} if bar else settings)}
        (folder / "settings.json").write_text(json.dumps(text))
        until(lambda bar=bar: bool(editor.browser("count", ".part.statusbar:visible")) is bar)
        if not bar:
            yield


def evil(folder: Path) -> Path:
    """Write a shell that says it ran."""
    shell = folder / "bash"
    shell.write_text(f'#!/bin/sh\ntouch {folder}/evil-ran\nexec /bin/bash "$@"\n')
    shell.chmod(0o755)
    return shell


def test_a_folder_chooses_neither_shell_nor_variables(editor: VsCode) -> None:
    shell = evil(editor.root)
    script = editor.root / "evil.sh"
    script.write_text(f"touch {editor.root}/evil-read\n")
    ran(editor, "kill -9 $PPID")  # whose terminal is thrown away: the next is a new one
    until(lambda: not shells(editor))
    settings = {
        "terminal.integrated.profiles.linux": {"evil": {"path": str(shell)}},
        "terminal.integrated.defaultProfile.linux": "evil",
        "terminal.integrated.env.linux": {"BASH_ENV": str(script), "EVIL": "1"},
    }
    with brought_along(editor, **settings):
        done = ran(editor, "echo ${EVIL-none} ${BASH_ENV-none}")
        assert (done.content, done.metadata.backend) == ("none none\n", "shell_integration")
        assert {path.name for path in editor.root.glob("evil*")} == {"evil.sh"}
        (own,) = shells(editor)
        assert {"EVIL", "BASH_ENV", "XDG_STATE_HOME"}.isdisjoint(psutil.Process(own).environ())
        editor.browser.command("Terminal: Create New Terminal")
        until((editor.root / "evil-ran").exists)  # so the settings do count elsewhere
        until(lambda: len(shells(editor)) == 2)
        for pid in {*shells(editor)} - {own}:
            psutil.Process(pid).kill()
        until(lambda: shells(editor) == [own])


def test_without_shell_integration_a_command_is_a_child_process_and_says_why(
    editor: VsCode,
) -> None:
    with brought_along(editor, **{"terminal.integrated.shellIntegration.enabled": False}):
        done = ran(editor, "echo x >> ran; exit 3")
        assert (done.metadata.exit_code, done.metadata.backend) == (3, "pseudoterminal")
        assert "switched off" in done.metadata.suffix
        assert done.metadata.where.startswith("as a child process, with ")
        assert (editor.root / "ran").read_text() == "x\n"


def in_terminal(editor: VsCode) -> None:
    """Put the keyboard into the terminal that is shown."""
    editor.browser("click", ".terminal-wrapper.active .xterm-screen")
    editor.browser("wait", ".terminal-wrapper.active .xterm.focus")


def until_there(editor: VsCode, name: str) -> None:
    until((editor.root / name).exists)


def test_a_person_types_to_a_command_and_ctrl_c_or_a_closed_terminal_end_its_tree(
    editor: VsCode,
) -> None:
    tree = "echo $$ > pid; sleep 600 & sleep 600"
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(ran, editor, "touch asked; read x; echo got $x")
        until_there(editor, "asked")
        in_terminal(editor)
        editor.browser("type", "bob")
        editor.browser("keys", "Enter")
        done = asked.result(timeout=150)
        assert (done.metadata.exit_code, done.content) == (0, "bob\ngot bob\n")  # as they see it
        stopped = pool.submit(ran, editor, tree)
        until_there(editor, "pid")
        in_terminal(editor)
        editor.browser("keys", "Control+c")
        assert stopped.result(timeout=150).metadata.signal == "SIGTERM"
        assert ran(editor, "rm pid").metadata.exit_code == 0
        closed = pool.submit(ran, editor, tree)
        until_there(editor, "pid")
        pid = int((editor.root / "pid").read_text())
        editor.browser.command("Terminal: Kill the Active Terminal Instance")
        done = closed.result(timeout=150)
    assert done.metadata.exit_code == -1
    assert "its terminal was closed" in done.metadata.suffix
    until(lambda: not psutil.pid_exists(pid))
    hidden = editor.perform(RunAction(command="echo hidden", hidden=True))
    assert isinstance(hidden, RunObservation)
    assert (hidden.content, hidden.metadata.backend) == ("hidden\n", "shell_integration")


def test_a_terminal_in_which_a_person_runs_something_is_theirs(editor: VsCode) -> None:
    assert ran(editor, "true").metadata.backend == "shell_integration"
    in_terminal(editor)
    editor.browser("type", "touch mine; sleep 600")
    editor.browser("keys", "Enter")
    until_there(editor, "mine")
    # One in which the person pressed Ctrl-C at the prompt, in a test before, may be theirs too.
    # A shell at its prompt has children as well, for a moment.
    (theirs,) = (each for each in shells(editor) if "sleep" in names_below(each))
    assert ran(editor, "echo ours").content == "ours\n"
    assert theirs in shells(editor)
    assert len(psutil.Process(theirs).children()) == 1  # what they run goes on
    psutil.Process(theirs).kill()
    until(lambda: theirs not in shells(editor))
