"""`lineshaft serve`, as the editor's agents find it."""

from pathlib import Path

from remote.vscode.editor import VsCode, until, vscode

SERVER = {"lineshaft.offer": "server", "chat.disableAIFeatures": False}
ROW = '.quick-input-list .monaco-list-row:has-text("Lineshaft")'
LIST = "MCP: List Servers"


def tools(editor: VsCode) -> list[str]:
    """Return the names of the tools that the editor has now."""
    file = editor.root / "result.txt"
    file.unlink(missing_ok=True)
    editor.browser.command("Finder: List the Tools")
    until(file.exists)
    return file.read_text().split("\n")


def test_the_server_is_found_and_started_by_the_editor_and_has_its_tools(tmp_path: Path) -> None:
    with vscode(tmp_path, SERVER) as editor:
        editor.browser.command(LIST)
        editor.browser("wait", ROW)
        editor.browser("click", ROW)
        start = '.quick-input-list .monaco-list-row:has-text("Start Server")'
        editor.browser("wait", start)
        editor.browser("click", start)

        def served() -> bool:
            return any(name.startswith("mcp_lineshaft") for name in tools(editor))

        until(served)


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
