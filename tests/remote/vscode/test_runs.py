"""The view of runs: what it shows of them, and what a person does there."""

import json
from collections.abc import Generator

import pytest

from remote.vscode.editor import VsCode, until
from remote.vscode.test_workspace import ended, lineshaft, ran

VIEW = '.pane:has(.pane-header[aria-label^="Runs Section"])'
ROW = f"{VIEW} .monaco-list-row"
TOAST = ".notifications-toasts"
LIST = '.quick-input-widget:visible:has-text("allow these actions")'
EDIT = 'await edit_file(path="a.txt", old="one", new="two")'
FAILS = 'await read_file(path="none \u202e.txt")'
WAITS = 'await write_file(path="b.txt", content="here\\n")\nreturn 1'


@pytest.fixture(autouse=True)
def view(editor: VsCode) -> Generator[None]:
    """Open the view over a store without a run."""
    editor.conversation()
    for file in (editor.home / "state" / "lineshaft").glob("runs.db*"):
        file.unlink()
    editor.browser("keys", "Escape")
    if not editor.browser("count", VIEW):
        editor.browser("click", '.activitybar .action-label[aria-label="Lineshaft"]')
    editor.browser("wait", VIEW)
    until(lambda: editor.browser("count", ROW) == 0)
    yield
    editor.browser.command("Notifications: Clear All Notifications")


def row(*texts: str) -> str:
    return ROW + "".join(f':has-text("{text}")' for text in texts)


def act(editor: VsCode, where: str, title: str) -> None:
    """Click a button of a row, as a person does who points at it."""
    editor.browser("hover", where)
    editor.browser("click", f'{where} .action-label[aria-label="{title}"]')


def paused(editor: VsCode) -> str:
    """Run a script that waits for an answer, at a terminal; return its id."""
    run = ran(editor, WAITS, "--mode", "ask", workspace=str(editor.root))
    assert run["status"] == "paused", run
    return str(run["run_id"])


def test_without_a_run_the_view_says_what_to_do(editor: VsCode) -> None:
    welcome = f"{VIEW} .welcome-view-content"
    until(lambda: "No run of this folder is recorded yet" in editor.browser("text", welcome))
    assert "Run This Script" in editor.browser("text", welcome)


def test_a_run_is_shown_with_its_calls_and_its_files_and_a_diff(editor: VsCode) -> None:
    (editor.root / "a.txt").write_text("one\n")
    script = f"{EDIT}\ntry:\n    {FAILS}\nexcept ToolError:\n    pass"
    run = ran(editor, script)
    assert run["status"] == "success", run
    editor.browser("wait", row("success"))
    editor.browser("click", row("success"))
    editor.browser("wait", row("edit_file", "done"))
    failed = editor.browser("text", row("read_file", "failed"))
    assert "E_FILE_NOT_FOUND" in failed
    assert "\u202e" not in failed
    editor.browser("click", row("a.txt", "modified +1 -1"))
    editor.browser("wait", f'.tab.active:has-text("{run["run_id"]}")')
    until(lambda: {"one", "two"} <= set(editor.browser("text", ".monaco-diff-editor").split()))
    act(editor, row("success"), "Show Run")
    editor.browser("wait", f'.tab.active:has-text("{run["run_id"]}.txt")')


def test_an_undo_says_what_the_person_had_undone(editor: VsCode) -> None:
    for name in ("a.txt", "c.txt"):
        (editor.root / name).write_text("one\n")
    run = ran(editor, f"{EDIT}\n{EDIT.replace('a.txt', 'c.txt')}")
    assert run["status"] == "success", run
    (editor.root / "c.txt").write_text("one\n")
    editor.browser("wait", row("success"))
    act(editor, row("success"), "Undo Run")
    editor.browser("wait", f'{TOAST}:has-text("{run["run_id"]} is undone")')
    told = editor.browser("text", TOAST)
    assert "1 file as before" in told
    assert "undone here: c.txt" in told
    assert (editor.root / "a.txt").read_text() == "one\n"


def test_an_undo_that_is_refused_says_why(editor: VsCode) -> None:
    (editor.root / "a.txt").write_text("one\n")
    ran(editor, EDIT)
    (editor.root / "a.txt").write_text("another\n")
    editor.browser("wait", row("success"))
    act(editor, row("success"), "Undo Run")
    editor.browser("wait", f'{TOAST}:has-text("changed since run")')
    assert (editor.root / "a.txt").read_text() == "another\n"


def test_a_run_is_shown_while_it_goes_on_and_stopped_after_a_question(editor: VsCode) -> None:
    script = "await list_files()\nimport asyncio\nawait asyncio.sleep(600)"
    running = lineshaft(editor, "run", "-c", script, "--json")
    try:
        editor.browser("wait", row("running"))
        editor.browser("click", row("running"))
        editor.browser("wait", row("list_files", "done"))
        act(editor, row("running"), "Stop Run")
        dialog = ".monaco-dialog-box"
        editor.browser("wait", f'{dialog}:has-text("process {running.pid}")')
        editor.browser("click", f'{dialog} .monaco-button:text-is("End That Process")')
        _, out, err = ended(running)
        assert json.loads(out)["status"] == "cancelled", err
        editor.browser("wait", row("cancelled"))
    finally:
        running.kill()


def test_a_script_that_this_window_started_is_stopped_without_a_question(
    editor: VsCode,
) -> None:
    (editor.root / "long.py").write_text(
        'await write_file(path="began.txt", content="")\n'
        "await list_files()\nimport asyncio\nawait asyncio.sleep(600)\n"
    )
    editor.show("long.py")
    editor.browser.command("Lineshaft: Run This Script")
    editor.browser("wait", row("running"))
    act(editor, row("running"), "Stop Run")
    editor.browser("wait", row("cancelled"))
    assert not (editor.root / "began.txt").exists()


def test_a_run_that_waits_is_approved_in_the_list_and_goes_on(editor: VsCode) -> None:
    run = paused(editor)
    editor.browser("wait", row("waits for 1 answer"))
    act(editor, row("waits for 1 answer"), "Approve…")
    editor.browser("click", f'{LIST} .monaco-list-row:has-text("write_file")')
    editor.browser("keys", "Enter")
    editor.browser("wait", row("success"))
    assert (editor.root / "b.txt").read_text() == "here\n"
    editor.browser("wait", f'{TOAST}:has-text("run {run}: success")')


def test_a_run_that_waits_is_ended_by_stop(editor: VsCode) -> None:
    run = paused(editor)
    editor.browser("wait", row("waits for 1 answer"))
    act(editor, row("waits for 1 answer"), "Stop Run")
    editor.browser("wait", f'{TOAST}:has-text("run {run} is ended")')
    editor.browser("wait", row("cancelled"))
    assert not (editor.root / "b.txt").exists()
