"""What every editor over a folder does alike: the fake of the workspace's tests, and real windows.

Imported by the tests of each, which give the fixtures `root` and `editor_over` (what a workspace
asks).
"""

import hashlib
from functools import partial
from pathlib import Path

import pytest
from anyio import to_thread

from lineshaft.errors import StaleFile
from lineshaft.workspace import Editor, EditorEdit


def edit(root: Path, path: str, before: bytes | None, after: bytes) -> EditorEdit:
    sha256 = None if before is None else hashlib.sha256(before).hexdigest()
    return EditorEdit(path=path, real=str(root / path), before=sha256, after=after)


async def test_files_are_changed_and_made_together(root: Path, editor_over: Editor) -> None:
    (root / "a.txt").write_bytes(b"one\n")
    edits = [edit(root, "a.txt", b"one\n", b"two\n"), edit(root, "new/b.bin", None, b"\0b")]
    done = await to_thread.run_sync(partial(editor_over.edit, edits))
    assert {real: saved.data for real, saved in done.items()} == {
        str(root / "a.txt"): b"two\n",
        str(root / "new" / "b.bin"): b"\0b",
    }
    assert (root / "a.txt").read_bytes() == b"two\n"
    assert (root / "new" / "b.bin").read_bytes() == b"\0b"
    assert await to_thread.run_sync(editor_over.unsaved) == {}


@pytest.mark.parametrize(("before", "there"), [(b"one", b"theirs"), (None, b""), (b"one", None)])
async def test_a_file_that_is_another_keeps_all_of_them_as_they_are(
    root: Path, editor_over: Editor, before: bytes | None, there: bytes | None
) -> None:
    (root / "a.txt").write_bytes(b"a")
    if there is not None:
        (root / "b.txt").write_bytes(there)
    edits = [edit(root, "a.txt", b"a", b"A"), edit(root, "b.txt", before, b"B")]
    with pytest.raises(StaleFile, match=r"b\.txt"):
        await to_thread.run_sync(partial(editor_over.edit, edits))
    assert (root / "a.txt").read_bytes() == b"a"
    assert ((root / "b.txt").read_bytes() if there is not None else None) == there
