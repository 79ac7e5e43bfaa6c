"""The action `land`: all files or none, also where a save formats what was edited."""

import base64
import hashlib
from pathlib import Path

from lineshaft.remote.protocol import ErrorObservation, FileEdit, LandAction
from remote.vscode.editor import vscode


def edit(path: str, text: str, *, before: str | None = None) -> FileEdit:
    known = None if before is None else hashlib.sha256(before.encode()).hexdigest()
    return FileEdit(path=path, data=base64.b64encode(text.encode()).decode(), before=known)


def test_what_was_saved_and_formatted_is_taken_back_where_a_later_file_fails(
    tmp_path: Path,
) -> None:
    with vscode(tmp_path, {"files.trimTrailingWhitespace": True}) as editor:
        file = editor.root / "a.txt"
        file.write_text("one\n")
        first = edit("a.txt", "two  \n", before="one\n")
        failing = [first, edit("b.txt", "b\n"), edit("b.txt/inner.txt", "no folder\n")]
        done = editor.perform(LandAction(edits=failing))
        assert isinstance(done, ErrorObservation)
        assert "nothing landed" in done.content
        assert "stay changed" not in done.content
        assert [(each.name, each.read_text()) for each in editor.root.iterdir()] == [
            ("a.txt", "one\n")
        ]
        editor.perform(LandAction(edits=[first]))
        assert file.read_text() == "two\n"
