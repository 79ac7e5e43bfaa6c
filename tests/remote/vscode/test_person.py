"""What the person decides: consent in one list, and trust in the folder."""

import os
import subprocess
import sys
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from lineshaft.remote.host import addresses
from lineshaft.remote.protocol import (
    Action,
    EditAction,
    ErrorObservation,
    Observation,
    ReadAction,
    ReadObservation,
    RunAction,
    RunObservation,
    RunPythonAction,
    WriteAction,
    WriteObservation,
)
from remote.far import TOKEN
from remote.vscode.editor import VsCode, until, vscode

LIST = '.quick-input-widget:visible:has-text("allow these actions")'
ROW = ".quick-input-list .monaco-list-row"


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Generator[VsCode]:
    with vscode(tmp_path_factory.mktemp("asking"), {"lineshaft.consent": "everything"}) as started:
        yield started


@pytest.fixture
def pool() -> Generator[ThreadPoolExecutor]:
    with ThreadPoolExecutor() as made:
        yield made


def asked(pool: ThreadPoolExecutor, editor: VsCode, *actions: Action) -> list[Future[Observation]]:
    """Begin actions one after the other, and wait until the list shows them all."""
    futures: list[Future[Observation]] = []
    for action in actions:
        futures.append(pool.submit(editor.perform, action))
        until(lambda: editor.browser("count", ROW) == len(futures))
    return futures


def code(done: Observation) -> str:
    assert isinstance(done, ErrorObservation), done
    return done.error_id


def test_what_is_allowed_is_done_and_what_is_refused_is_an_error(
    asking: VsCode, pool: ThreadPoolExecutor
) -> None:
    run, write = asked(
        pool, asking, RunAction(command="echo ran"), WriteAction(path="a.txt", content="x\n")
    )
    assert "run: echo ran" in asking.browser("text", LIST)
    asking.browser("click", f'{ROW}:has-text("run: echo ran")')
    asking.browser("keys", "Enter")
    ran = run.result(timeout=150)
    assert isinstance(ran, RunObservation), ran
    assert ran.content == "ran\n"
    assert code(write.result(timeout=150)) == "E_DENIED"
    assert not (asking.root / "a.txt").exists()


def test_escape_leaves_actions_waiting_and_the_list_comes_again(
    asking: VsCode, pool: ThreadPoolExecutor
) -> None:
    (write,) = asked(pool, asking, WriteAction(path="b.txt", content="x\n"))
    asking.browser("keys", "Escape")
    until(lambda: asking.browser("count", LIST) == 0)
    assert not write.done()
    asking.browser.command("Lineshaft: Review Waiting Actions")
    asking.browser("wait", LIST)
    asking.browser("click", f'{ROW}:has-text("write: b.txt")')
    asking.browser("keys", "Enter")
    assert isinstance(write.result(timeout=150), WriteObservation)
    assert (asking.root / "b.txt").read_text() == "x\n"


def test_reading_asks_nobody_and_one_button_refuses_all(
    asking: VsCode, pool: ThreadPoolExecutor
) -> None:
    (asking.root / "c.txt").write_text("c\n")
    assert isinstance(asking.perform(ReadAction(path="c.txt")), ReadObservation)
    first, second = asked(
        pool, asking, RunAction(command="touch d.txt"), RunPythonAction(code="print(1)")
    )
    asking.browser("click", f"{LIST} .action-label.codicon-close")
    assert code(first.result(timeout=150)) == "E_DENIED"
    assert code(second.result(timeout=150)) == "E_DENIED"
    assert not (asking.root / "d.txt").exists()


UNTRUSTED = {
    "security.workspace.trust.enabled": True,
    "security.workspace.trust.startupPrompt": "never",
}


def test_nothing_is_done_in_a_folder_that_is_not_trusted(tmp_path: Path) -> None:
    state, root = tmp_path / "state", tmp_path / "ws"
    root.mkdir()
    host = subprocess.Popen(
        [sys.executable, "-m", "lineshaft", "editor", str(root)],
        env={**os.environ, "XDG_STATE_HOME": str(state)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with host:
        assert host.stdin is not None
        assert host.stdout is not None
        host.stdin.write(f"{TOKEN}\n")
        host.stdin.flush()
        host.stdout.readline()
        file = next((state / "lineshaft" / "editors").glob("*.json"))
        with vscode(tmp_path, {**UNTRUSTED, "lineshaft.addressFile": str(file)}) as editor:
            (editor.root / "a.txt").write_text("one\n")
            for action in (
                RunAction(command="touch ran"),
                RunPythonAction(code="open('ran', 'w')"),
                ReadAction(path="a.txt"),
                WriteAction(path="a.txt", content="x"),
                WriteAction(path="b.txt", content="x"),
                EditAction(path="a.txt", command="str_replace", old_str="one", new_str="two"),
            ):
                done = editor.perform(action)
                assert code(done) == "E_DENIED"
                assert "not trusted" in done.content
            assert [(each.name, each.read_text()) for each in editor.root.iterdir()] == [
                ("a.txt", "one\n")
            ]
        host.stdin.close()


def test_no_host_is_started_for_a_folder_that_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with vscode(tmp_path, UNTRUSTED) as editor:
        editor.browser.command("Lineshaft: Start")
        editor.browser("wait", '.notifications-toasts:has-text("trust the folder first")')
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        assert addresses() == ()
