"""`lineshaft serve`, as the editor's agents find it."""

from pathlib import Path

from remote.vscode.editor import until, vscode

SERVER = {"lineshaft.offer": "server", "chat.disableAIFeatures": False}
ROW = '.quick-input-list .monaco-list-row:has-text("Lineshaft")'
LIST = "MCP: List Servers"


def test_the_server_is_found_and_started_by_the_editor_and_has_its_tools(tmp_path: Path) -> None:
    with vscode(tmp_path, SERVER) as editor:
        editor.browser.command(LIST)
        editor.browser("wait", ROW)
        editor.browser("click", ROW)
        start = '.quick-input-list .monaco-list-row:has-text("Start Server")'
        editor.browser("wait", start)
        editor.browser("click", start)

        (editor.root / "list-tools").touch()
        listed = editor.root / "result.txt"
        until(lambda: listed.exists() and "\nmcp_lineshaft" in listed.read_text())


def test_no_server_is_offered_in_a_folder_that_is_not_trusted(tmp_path: Path) -> None:
    untrusted = {
        "security.workspace.trust.enabled": True,
        "security.workspace.trust.startupPrompt": "never",
    }
    with vscode(tmp_path, {**SERVER, **untrusted}) as editor:
        editor.browser.command("Lineshaft: Start")
        editor.browser("wait", '.notifications-toasts:has-text("trust the folder first")')
        editor.browser.command(LIST)
        editor.browser("wait", ".quick-input-widget:visible")
        assert not editor.browser("appears", ROW)
