"""A folder that a real VS Code shows, beside the same folder alone: what the editor costs.

The editor is that of the tests: code-server, a page in a headless Chromium, the packaged extension
and its host. Each side has a folder of its own, so that the editor does not read again what the
other has written. Where a part of the editor is missing, that is said and nothing is measured.
"""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from wire import HostedFolder, fill, measured, print_table

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from remote.vscode.editor import lacking, vscode


def show(turns: int) -> None:
    """Print the table, or what is missing."""
    if missing := lacking():
        print(f"\nThe real editor was not measured: it {missing}")
        return
    with tempfile.TemporaryDirectory() as base, vscode(Path(base).resolve() / "editor") as editor:
        alone = Path(base).resolve() / "alone"
        os.environ["XDG_STATE_HOME"] = str(editor.home / "state")
        for root in (alone, editor.root):
            fill(root)
        shown = HostedFolder(editor.root, editor.address, editor.conversation())
        rows = measured(alone, shown, Path(base) / "journals", turns)
        try:
            asyncio.run(print_table("a folder, and VS Code over it", "VS Code", rows))
        except RuntimeError as error:  # a tool ran out of its time: rows that follow are missing
            print(f"\nNot all was measured: {error}")


if __name__ == "__main__":
    show(1 if "--quick" in sys.argv else 5)
