"""A run in the folder that a window shows: it reads what is not saved, and lands in the editor."""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from remote.vscode.editor import ROOT, VsCode, until, vscode

EIGHT = """
for number in range(8):
    await edit_file(path=f"eight-{number}.txt", old="before", new="after")
"""
EXAMPLES = ROOT / "examples" / "scripts"
TEXT = ".editor-group-container.active .view-lines"


def lineshaft(editor: VsCode, *words: str, workspace: str = "vscode:") -> "subprocess.Popen[str]":
    """Run a command of Lineshaft, with the state of the window's host."""
    command = [sys.executable, "-m", "lineshaft", *words, "--workspace", workspace]
    env = {**os.environ, "XDG_STATE_HOME": str(editor.home / "state")}
    return subprocess.Popen(
        command,
        env=env,
        cwd=editor.home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def ran(editor: VsCode, script: str, *words: str, workspace: str = "vscode:") -> dict[str, Any]:
    _, out, err = ended(
        lineshaft(editor, "run", "-c", script, "--json", *words, workspace=workspace)
    )
    assert out, err
    said: dict[str, Any] = json.loads(out)
    assert "value" in said, said
    return said


def chosen(editor: VsCode, label: str) -> str:
    """Choose an answer to the question that comes, and return what it says."""
    row = f'.quick-input-list .monaco-list-row:has-text("{label}")'
    editor.browser("wait", row)
    said: str = editor.browser("text", ".quick-input-widget:visible")
    editor.browser("click", row)
    return said


def typed(editor: VsCode, name: str) -> Path:
    """Have a person type in a file, and not save it."""
    file = editor.root / name
    file.write_text("one\n")
    editor.show(name)
    editor.browser("type", "typed")
    editor.browser("wait", f'.tab.dirty:has-text("{name}")')
    return file


@pytest.fixture(autouse=True)
def connected(editor: VsCode) -> None:
    editor.conversation()


def test_a_script_edits_eight_files_which_the_editor_shows_and_a_person_undoes_one(
    editor: VsCode,
) -> None:
    files = [editor.root / f"eight-{number}.txt" for number in range(8)]
    for file in files:
        file.write_text("before\n")
    (editor.root / "front.txt").write_text("looked at\n")
    editor.show("front.txt")
    run = ran(editor, EIGHT)
    assert run["status"] == "success", run
    assert [file.read_text() for file in files] == ["after\n"] * 8
    assert sorted(change["path"] for change in run["changes"]) == [file.name for file in files]
    # Nothing comes to the front; on a busy machine VS Code itself lists what is dirty for 800 ms.
    assert editor.browser("count", '.tab.active:has-text("front.txt")') == 1
    editor.show("eight-3.txt")
    until(lambda: "after" in editor.browser("text", TEXT))
    editor.browser("keys", "Control+z")
    editor.browser("wait", '.tab.dirty:has-text("eight-3.txt")')
    assert "before" in editor.browser("text", TEXT)
    assert editor.browser("count", ".tab.dirty") == 1
    assert [file.read_text() for file in files] == ["after\n"] * 8
    undoing = lineshaft(editor, "undo", run["run_id"], "--json")
    chosen(editor, "Save with the run")  # the person's undo is not saved
    status, out, err = ended(undoing)
    assert status == 0, err
    undone = json.loads(out)
    assert undone["already"] == ["eight-3.txt"]
    assert len(undone["changes"]) == 7
    assert [file.read_text() for file in files] == ["before\n"] * 8
    until(lambda: editor.browser("count", ".tab.dirty") == 0)


def test_a_run_reads_what_is_not_saved_and_writes_over_what_it_has_read_alone(
    editor: VsCode,
) -> None:
    file = editor.root / "unsaved.txt"
    file.write_text("one\n")
    editor.show("unsaved.txt")
    editor.browser("type", "typed")
    editor.browser("wait", '.tab.dirty:has-text("unsaved.txt")')
    blind = ran(editor, 'await write_file(path="unsaved.txt", content="mine")')
    assert (blind["status"], blind["error"]["code"]) == ("error", "E_STALE")
    found = ran(editor, 'return (await search_text(pattern="typed"))["matches"][0]["line"]')
    assert found["value"] == 2
    with ThreadPoolExecutor() as pool:
        running = pool.submit(
            ran,
            editor,
            """
read = (await read_file(path="unsaved.txt"))["content"]
await write_file(path="unsaved.txt", content=read + "\\nand more\\n")
await write_file(path="new/inner.txt", content="new\\n")
return read
""",
        )
        assert "unsaved.txt" in chosen(editor, "Save with the run")
        seen = running.result(timeout=150)
    assert (seen["status"], seen["value"]) == ("success", "one\ntyped"), seen
    assert file.read_text() == "one\ntyped\nand more\n"
    assert (editor.root / "new" / "inner.txt").read_text() == "new\n"
    assert editor.browser("count", ".tab.dirty") == 0
    assert ended(lineshaft(editor, "undo", seen["run_id"]))[0] == 0
    assert file.read_text() == "one\ntyped"
    assert not (editor.root / "new").exists()


def test_bytes_that_no_editor_keeps_are_written_to_the_disk_and_marked(editor: VsCode) -> None:
    (editor.root / "latin.txt").write_bytes("caf\xe9 one\n".encode("latin-1"))
    (editor.root / "mixed.txt").write_bytes(b"one\r\ntwo\n")
    (editor.root / "windows.txt").write_bytes(b"one\r\ntwo")
    run = ran(
        editor,
        """
for path in ("latin.txt", "mixed.txt", "windows.txt"):
    await edit_file(path=path, old="one", new="1")
""",
    )
    assert run["status"] == "success", run
    assert (editor.root / "latin.txt").read_bytes() == "caf\xe9 1\n".encode("latin-1")
    assert (editor.root / "mixed.txt").read_bytes() == b"1\r\ntwo\n"
    assert (editor.root / "windows.txt").read_bytes() == b"1\r\ntwo"
    marked = {each["path"] for each in run["findings"] if each["code"] == "no-undo-in-editor"}
    assert marked == {"latin.txt", "mixed.txt"}


def test_a_landing_that_meets_a_write_protected_file_lands_nothing(editor: VsCode) -> None:
    (editor.root / "a.txt").write_text("one\n")
    locked = editor.root / "locked.txt"
    locked.write_text("one\n")
    locked.chmod(0o444)
    run = ran(
        editor,
        """
await edit_file(path="a.txt", old="one", new="1")
await edit_file(path="locked.txt", old="one", new="1")
""",
    )
    assert run["status"] == "error", run
    assert "write-protected" in run["error"]["message"]
    assert ((editor.root / "a.txt").read_text(), locked.read_text()) == ("one\n", "one\n")
    assert editor.browser("count", ".tab.dirty") == 0


def test_a_run_finds_its_window_or_says_what_to_do(editor: VsCode, tmp_path: Path) -> None:
    named = ran(editor, "return 1", workspace=f"vscode:{editor.root}")
    assert named["value"] == 1
    status, _, err = ended(lineshaft(editor, "run", "-c", "1", workspace=f"vscode:{tmp_path}"))
    assert status == 2
    assert f"there are windows over {editor.root}" in err
    status, _, err = ended(lineshaft(editor, "run", "-c", "1", "--no-atomic"))
    assert status == 2
    assert "land together" in err


def test_a_script_fixes_what_the_editor_finds_until_nothing_is_left(editor: VsCode) -> None:
    (editor.root / "broken.txt").write_text("fine\n  FIXME one\nFIXME two\n")
    found = ran(editor, 'return await editor.get_errors(paths=["broken.txt"])')["value"]
    assert (found["count"], found["settled"], found["truncated"]) == (2, True, False)
    assert found["diagnostics"][0] == {
        "path": "broken.txt",
        "range": [2, 3, 2, 8],
        "severity": "error",
        "message": "something is to be mended",
        "code": "7",
        "source": "finder",
    }
    script = (EXAMPLES / "fix_and_look_again.py").read_text()
    fixed = ran(editor, script.replace("src/app.ts", "broken.txt"))
    assert (fixed["status"], fixed["value"]) == ("success", {"rounds": 2, "left": 0}), (
        fixed["error"],
        fixed["calls"],
    )
    assert (editor.root / "broken.txt").read_text() == "fine\n  fixed one\nfixed two\n"
    assert {change["stage"] for change in fixed["changes"]} == {1, 2}
    none = ran(editor, 'await editor.get_errors(paths=["none.txt"])')
    assert (none["status"], none["error"]["code"]) == ("error", "E_FILE_NOT_FOUND")
    plain = ran(editor, "await editor.get_errors()", workspace=str(editor.root))
    assert plain["status"] == "error"


@pytest.fixture
def asking(tmp_path: Path) -> Generator[VsCode]:
    with vscode(tmp_path, {"lineshaft.consent": "everything"}) as started:
        yield started


def test_a_person_who_refuses_a_landing_keeps_the_files(asking: VsCode) -> None:
    asking.conversation()
    (asking.root / "a.txt").write_text("one\n")
    listed = '.quick-input-widget:visible:has-text("change: a.txt")'
    with ThreadPoolExecutor() as pool:
        script = 'await edit_file(path="a.txt", old="one", new="1")'
        run = pool.submit(ran, asking, script)
        asking.browser("wait", listed)
        asking.browser("click", ".quick-input-widget:visible .action-label.codicon-close")
        done = run.result(timeout=150)
    assert (done["status"], done["error"]["code"]) == ("error", "E_DENIED")
    assert (asking.root / "a.txt").read_text() == "one\n"


def test_a_person_at_the_window_allows_calls_of_a_run_and_refuses_others(
    editor: VsCode,
) -> None:
    row = ".quick-input-list .monaco-list-row"
    script = """
first, second = await asyncio.gather(
    run_command(command="touch allowed"), run_command(command="touch refused"),
    return_exceptions=True,
)
return [first["exit_code"], second.code]
"""
    with ThreadPoolExecutor() as pool:
        run = pool.submit(ran, editor, script)
        until(lambda: editor.browser("count", row) == 2)
        listed = editor.browser("text", ".quick-input-widget:visible")
        assert 'run_command: "command": "touch allowed"' in listed
        assert "later calls of run_command in this run" in listed
        editor.browser("click", f'{row}:has-text("touch allowed")')
        editor.browser("keys", "Enter")
        done = run.result(timeout=150)
    assert (done["status"], done["value"]) == ("success", [0, "E_DENIED"]), done
    assert sorted(path.name for path in editor.root.iterdir()) == ["allowed"]


def test_a_person_sees_all_of_a_call_and_allows_none_by_a_key_alone(editor: VsCode) -> None:
    row = ".quick-input-list .monaco-list-row"
    command = f"true {'x' * 2_000} $(touch hidden)"
    script = f"""
first, second = await asyncio.gather(
    run_command(command={command!r}), run_command(command="touch later"), return_exceptions=True,
)
return [first.code, second.code]
"""
    with ThreadPoolExecutor() as pool:
        run = pool.submit(ran, editor, script)
        until(lambda: editor.browser("count", row) == 2)
        assert "more characters (the eye shows all)" in editor.browser(
            "text", ".quick-input-widget:visible"
        )
        editor.browser("hover", f'{row}:has-text("true xxx")')  # which shows its buttons
        editor.browser("click", f'{row}:has-text("true xxx") .codicon-eye')
        editor.browser("wait", f'{TEXT}:has-text("(touch")')
        assert editor.browser("count", ".tab.dirty") == 0  # nobody's document
        editor.browser("click", ".quick-input-widget:visible input[type=text]")
        editor.browser("keys", "Enter")
        done = run.result(timeout=150)
    assert done["value"] == ["E_DENIED", "E_DENIED"], done
    assert list(editor.root.iterdir()) == []


def test_a_run_that_ends_takes_its_question_away(editor: VsCode) -> None:
    process = lineshaft(editor, "run", "-c", 'await run_command(command="touch ran")')
    listed = '.quick-input-widget:visible:has-text("touch ran")'
    until(lambda: editor.browser("count", listed) == 1)
    process.terminate()
    ended(process)
    until(lambda: editor.browser("count", listed) == 0)
    assert list(editor.root.iterdir()) == []


def test_a_command_asks_about_what_is_not_saved_and_each_answer_counts(editor: VsCode) -> None:
    file = typed(editor, "typed.txt")
    script = """
try:
    return (await run_command(command="cat typed.txt"))["stdout"]
except ToolError as error:
    return [error.code, error.message]
"""
    with ThreadPoolExecutor() as pool:
        running = pool.submit(ran, editor, script, "--mode", "open")
        said = chosen(editor, "Refuse")
        code, message = running.result(timeout=150)["value"]
        assert "run_command" in said
        assert "typed.txt" in said
        assert (code, "'typed.txt'" in message) == ("E_DENIED", True)
        running = pool.submit(ran, editor, script, "--mode", "open")
        chosen(editor, "Run without saving")
        assert running.result(timeout=150)["value"] == "one\n"
        assert (file.read_text(), editor.browser("count", ".tab.dirty")) == ("one\n", 1)
        running = pool.submit(ran, editor, script, "--mode", "open")
        chosen(editor, "Save and run")
        assert running.result(timeout=150)["value"] == "one\ntyped"
    assert (file.read_text(), editor.browser("count", ".tab.dirty")) == ("one\ntyped", 0)


def test_a_key_alone_saves_nothing_and_escape_leaves_the_question(editor: VsCode) -> None:
    file = typed(editor, "key.txt")
    listed = '.quick-input-widget:visible:has-text("Save and run")'
    with ThreadPoolExecutor() as pool:
        running = pool.submit(
            ran, editor, 'await run_command(command="touch ran")', "--mode", "open"
        )
        editor.browser("wait", listed)
        editor.browser("keys", "Escape")
        until(lambda: editor.browser("count", listed) == 0)
        assert not running.done()
        editor.browser.command("Lineshaft: Review Waiting Actions")
        editor.browser("wait", listed)
        editor.browser("keys", "Enter")
        assert running.result(timeout=150)["error"]["code"] == "E_DENIED"
    assert (file.read_text(), (editor.root / "ran").exists()) == ("one\n", False)
    editor.show("key.txt")
    editor.browser("keys", "Control+s")
    until(lambda: editor.browser("count", ".tab.dirty") == 0)


def test_a_reason_for_no_reaches_the_script(editor: VsCode) -> None:
    row = '.quick-input-list .monaco-list-row:has-text("touch refused")'
    script = """
try:
    await run_command(command="touch refused")
except ToolError as error:
    return [error.code, error.message]
"""
    with ThreadPoolExecutor() as pool:
        running = pool.submit(ran, editor, script)
        editor.browser("hover", row)
        editor.browser("click", f"{row} .codicon-comment")
        editor.browser("wait", '.quick-input-widget:visible:has-text("why not?")')
        editor.browser("type", "use `make` instead")
        editor.browser("keys", "Enter")
        until(lambda: "use `make` instead" in editor.browser("text", row))
        editor.browser("click", ".quick-input-widget:visible .action-label.codicon-close")
        code, message = running.result(timeout=150)["value"]
    assert (code, "use `make` instead" in message) == ("E_DENIED", True), message
    assert not (editor.root / "refused").exists()


@pytest.fixture
def reviewing(tmp_path: Path) -> Generator[VsCode]:
    with vscode(tmp_path, {"lineshaft.review": "ask"}) as started:
        yield started


def test_a_person_looks_at_each_change_and_keeps_some(reviewing: VsCode) -> None:
    editor = reviewing
    editor.conversation()
    for name in ("keep.txt", "drop.txt"):
        (editor.root / name).write_text("before\n")
    row = '.quick-input-list .monaco-list-row:has-text("{}")'
    listed = '.quick-input-widget:visible:has-text("which changes land?")'
    script = """
for name in ("keep.txt", "drop.txt"):
    await edit_file(path=name, old="before", new="after")
await write_file(path="new/made.txt", content="made\\n")
"""
    with ThreadPoolExecutor() as pool:
        running = pool.submit(ran, editor, script)
        editor.browser("wait", listed)
        editor.browser("wait", '.tab:has-text("Keep?")')
        editor.browser(
            "wait", '.monaco-diff-editor .modified-in-monaco-diff-editor:has-text("after")'
        )
        editor.browser("keys", "Escape")
        until(lambda: editor.browser("count", listed) == 0)
        assert not running.done()
        editor.browser.command("Lineshaft: Review Waiting Actions")
        editor.browser("wait", listed)
        editor.browser("hover", row.format("drop.txt"))
        editor.browser("click", f"{row.format('drop.txt')} .codicon-comment")
        editor.browser("wait", '.quick-input-widget:visible:has-text("why not?")')
        editor.browser("type", "it is generated")
        editor.browser("keys", "Enter")
        editor.browser("wait", listed)
        editor.browser("click", row.format("keep.txt"))
        editor.browser("keys", "Enter")
        run = running.result(timeout=150)
    assert run["status"] == "success", run
    dropped = {
        each["path"]: each["message"]
        for each in run["findings"]
        if each["code"] == "dropped-in-review"
    }
    assert set(dropped) == {"drop.txt", "new/made.txt"}
    assert "it is generated" in dropped["drop.txt"]
    assert [change["path"] for change in run["changes"]] == ["keep.txt"]
    assert (editor.root / "keep.txt").read_text() == "after\n"
    assert (editor.root / "drop.txt").read_text() == "before\n"
    assert not (editor.root / "new").exists()
    until(lambda: editor.browser("count", '.tab:has-text("Keep?")') == 0)
