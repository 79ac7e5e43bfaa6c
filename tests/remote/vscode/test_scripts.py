"""`run_agent_script`, as another extension of the editor calls it."""

import json
from pathlib import Path
from typing import Any

import pytest

from remote.vscode.editor import VsCode, until

DIALOG = ".monaco-dialog-box"


@pytest.fixture(autouse=True)
def connected(editor: VsCode) -> None:
    editor.conversation()


def begun(editor: VsCode, script: str, button: str) -> Path:
    """Have the other extension call the tool, and answer the dialog; return where it tells."""
    (editor.root / "script.py").write_text(script)
    editor.browser.command("Finder: Run the Script")
    editor.browser("wait", f'{DIALOG}:has-text("Run this script over Lineshaft")')
    editor.browser("click", f'{DIALOG} .monaco-button:text-is("{button}")')
    return editor.root / "result.txt"


def told(file: Path) -> str:
    until(file.exists)
    return file.read_text()


def result(editor: VsCode, script: str) -> dict[str, Any]:
    return json.loads(told(begun(editor, script, "Yes")))


def test_a_script_works_in_the_window_and_gives_its_result(editor: VsCode) -> None:
    (editor.root / "a.txt").write_text("one\n")
    done = result(
        editor,
        'await edit_file(path="a.txt", old="one", new="two")\n'
        'return (await list_files())["entries"]',
    )
    assert done["status"] == "success", done["error"]
    assert {"a.txt", "script.py"} <= {each["path"] for each in done["value"]}
    assert [change["path"] for change in done["changes"]] == ["a.txt"]
    assert (editor.root / "a.txt").read_text() == "two\n"


def test_no_file_of_the_folder_runs_as_a_module_of_lineshafts(editor: VsCode) -> None:
    for name in ("anyio", "click", "lineshaft"):
        (editor.root / f"{name}.py").write_text(f"open({str(editor.root / 'ran')!r}, 'w').close()")
    done = result(editor, "return 1")
    assert (done["status"], done["value"]) == ("success", 1), done
    assert not (editor.root / "ran").exists()


def test_a_scripts_error_is_told(editor: VsCode) -> None:
    done = result(editor, 'await read_file(path="none.txt")')
    assert (done["status"], done["error"]["code"]) == ("error", "E_FILE_NOT_FOUND")


def test_a_cancel_of_the_call_ends_the_run(editor: VsCode) -> None:
    script = 'await write_file(path="b.txt", content="")\nawait asyncio.sleep(600)'
    file = begun(editor, script, "Yes")
    (editor.root / "cancel").touch()
    assert told(file).startswith("Canceled")
    assert not (editor.root / "b.txt").exists()


def test_a_chats_script_is_a_models_and_has_fifty_calls(editor: VsCode) -> None:
    done = result(editor, "for _ in range(51):\n    await list_files()")
    assert (done["status"], done["error"]["code"]) == ("error", "E_CALL_LIMIT")


def test_a_script_that_a_person_runs_is_theirs(editor: VsCode) -> None:
    script = (
        "for _ in range(51):\n    await list_files()\n"
        'await write_file(path="ran.txt", content="here")\n'
    )
    (editor.root / "mine.py").write_text(script)
    editor.show("mine.py")
    editor.browser.command("Lineshaft: Run This Script")
    until((editor.root / "ran.txt").exists)
    assert (editor.root / "ran.txt").read_text() == "here"
