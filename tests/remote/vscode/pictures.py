"""Take the pictures of `docs/editor.md` in the real editor, with the packaged extension.

Run by `PYTHONPATH=tests .venv/bin/python tests/remote/vscode/pictures.py`, after `./dev vsix`.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from remote.vscode.editor import ROOT, VsCode, until, vscode

DOCS = ROOT / "docs"
SCRIPT = """
await edit_file(path="prices.py", old="0.19", new="0.20")
await edit_file(path="README.md", old="19 %", new="20 %")
"""


def settings(editor: VsCode) -> None:
    """Show the page of the extension's settings."""
    editor.browser.command("Preferences: Open Settings (UI)")
    editor.browser("wait", ".settings-editor .suggest-input-container")
    editor.browser("type", "@ext:lineshaft.lineshaft")
    editor.browser("click", '.settings-tabs-widget .action-label:has-text("Remote")')
    editor.browser(
        "wait",
        '.settings-editor .setting-item-contents:has-text("may do anything")',
    )
    editor.shoot(DOCS, "editor-settings")


def review(editor: VsCode) -> None:
    """Show the review of what a run is about to land."""
    lines = "".join(f"    {number * 7 % 90 + 10},\n" for number in range(24))
    names = f"NET = [\n{lines}]\n"  # the list of the review covers the top of the editor
    (editor.root / "prices.py").write_text(f"{names}TAX = 0.19\nprint(sum(NET) * (1 + TAX))\n")
    (editor.root / "README.md").write_text("# Prices\n\nAll prices are with 19 % tax.\n")
    command = [sys.executable, "-m", "lineshaft", "run", "-c", SCRIPT, "--workspace", "vscode:"]
    env = {**os.environ, "XDG_STATE_HOME": str(editor.home / "state")}
    with subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, cwd=editor.home) as run:
        editor.browser("wait", '.quick-input-widget:visible:has-text("which changes land?")')
        until(lambda: "0.20" in editor.browser("text", ".monaco-diff-editor .modified"))
        editor.shoot(DOCS, "editor-review")
        editor.browser("click", ".quick-input-widget:visible .action-label.codicon-check-all")
        run.wait(timeout=120)


def main() -> None:
    """Take all of them."""
    with (
        tempfile.TemporaryDirectory() as home,
        vscode(Path(home), {"lineshaft.review": "ask"}) as editor,
    ):
        editor.conversation()
        review(editor)
        settings(editor)


if __name__ == "__main__":
    main()
