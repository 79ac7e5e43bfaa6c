"""Tools that a second extension registers, in scripts of `run_agent_script` and of runs here."""

import json
from collections.abc import Generator
from typing import Any

import pytest

from lineshaft.remote.protocol import (
    CallToolAction,
    CallToolObservation,
    ErrorObservation,
)
from remote.vscode.editor import VsCode, until
from remote.vscode.test_scripts import begun, result, told


@pytest.fixture(autouse=True)
def offering(editor: VsCode) -> Generator[None]:
    """Wait until the window offers the tools; its policy asks about nothing."""
    own = editor.home / "config" / "lineshaft" / "lineshaft.toml"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text('[policy]\nmode = "open"\n')
    until(lambda: "finder_count" in offered(editor))
    yield
    own.unlink()


def offered(editor: VsCode) -> dict[str, Any]:
    at = f"/api/conversations/{editor.conversation()}/tools"
    with editor.http() as client:
        return {tool["name"]: tool for tool in client.get(at).json()["tools"]}


def test_a_script_calls_a_tool_and_is_given_its_structured_result(editor: VsCode) -> None:
    (editor.root / "a.txt").write_text("one two one\n")
    done = result(
        editor,
        'await write_file(path="b.txt", content="one")\n'  # lands before the tool looks
        'found = await window.finder_count(word="one")\n'
        'return [found["word"], found["count"]]',
    )
    assert (done["status"], done["value"]) == ("success", ["one", 3]), done["error"]


def test_a_tools_error_and_a_refusal_reach_the_script(editor: VsCode) -> None:
    done = result(
        editor,
        "found = []\n"
        "for call in (window.finder_count(word=''), window.finder_refuse()):\n"
        "    try:\n"
        "        await call\n"
        "    except ToolError as error:\n"
        "        found.append([error.code, error.message])\n"
        "return found",
    )
    assert done["status"] == "success", done["error"]
    (failed, refused) = done["value"]
    assert failed[0] == "E_TOOL_FAILED"
    assert "there is no word to count" in failed[1]
    assert refused[0] == "E_DENIED"


def test_arguments_that_do_not_fit_do_not_reach_the_tool(editor: VsCode) -> None:
    done = result(editor, "return await window.finder_count(word=7)")
    assert done["status"] == "error"
    assert done["error"]["code"] in {"E_CHECK", "E_INVALID_ARGS"}


def test_a_cancel_reaches_the_tool(editor: VsCode) -> None:
    file = begun(editor, "await window.finder_wait()", "Yes")
    until((editor.root / "waits").exists)
    (editor.root / "cancel").touch()
    assert told(file).startswith("Canceled")
    until((editor.root / "stopped").exists)


def test_neither_our_own_tool_nor_those_that_install_type_or_edit_are_offered(
    editor: VsCode,
) -> None:
    names = offered(editor)
    assert {"finder_count", "finder_wait", "finder_refuse"} <= set(names)
    strange = [
        name
        for name in names
        if any(word in name.lower() for word in ("agent", "terminal", "install", "edit", "insert"))
    ]
    assert strange == []
    assert json.dumps(names["finder_count"]["output_schema"]["required"]) == '["word", "count"]'


def test_a_tool_is_called_by_the_wire_and_one_that_is_not_offered_is_refused(
    editor: VsCode,
) -> None:
    done = editor.perform(CallToolAction(name="finder_count", arguments={"word": "x"}))
    assert isinstance(done, CallToolObservation)
    assert done.value == {"word": "x", "count": 0}
    refused = editor.perform(CallToolAction(name="run_agent_script", arguments={"code": "1"}))
    assert isinstance(refused, ErrorObservation)
    assert refused.error_id == "E_UNKNOWN_TOOL"
