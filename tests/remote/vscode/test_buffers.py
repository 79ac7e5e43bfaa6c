"""Files as a person has them in the editor: unsaved changes, and undo."""

from lineshaft.remote.protocol import (
    EditAction,
    EditObservation,
    ErrorObservation,
    ReadAction,
    ReadObservation,
    WriteAction,
    WriteObservation,
)
from remote.vscode.editor import VsCode, until


def refused(editor: VsCode, action: WriteAction | EditAction) -> str:
    done = editor.perform(action)
    assert isinstance(done, ErrorObservation), done
    return done.error_id


def test_unsaved_changes_are_read_and_never_overwritten_unread(editor: VsCode) -> None:
    file = editor.root / "unsaved.txt"
    file.write_text("one\n")
    editor.show("unsaved.txt")
    editor.browser("type", "typed")
    editor.browser("wait", '.tab.dirty:has-text("unsaved.txt")')
    assert refused(editor, WriteAction(path="unsaved.txt", content="x\n")) == "E_STALE"
    change = EditAction(path="unsaved.txt", command="str_replace", old_str="one", new_str="1")
    assert refused(editor, change) == "E_STALE"
    assert file.read_text() == "one\n"
    read = editor.perform(ReadAction(path="unsaved.txt"))
    assert isinstance(read, ReadObservation)
    assert read.content == "one\ntyped"
    done = editor.perform(change)
    assert isinstance(done, EditObservation), done
    assert file.read_text() == "1\ntyped"
    editor.browser("type", " more")
    editor.browser("wait", '.tab.dirty:has-text("unsaved.txt")')
    assert refused(editor, WriteAction(path="unsaved.txt", content="x\n")) == "E_STALE"
    editor.browser("keys", "Control+s")
    until(lambda: file.read_text() == "1\ntyped more")


def test_one_undo_of_the_person_takes_back_one_file(editor: VsCode) -> None:
    names = [f"file-{number}.txt" for number in range(8)]
    for name in names:
        (editor.root / name).write_text("before\n")
    for name in names:
        done = editor.perform(
            EditAction(path=name, command="str_replace", old_str="before", new_str="after")
        )
        assert isinstance(done, EditObservation), done
    editor.show(names[3])
    until(lambda: "after" in editor.browser("text", ".editor-group-container.active .view-lines"))
    editor.browser("keys", "Control+z")
    editor.browser("wait", f'.tab.dirty:has-text("{names[3]}")')
    editor.browser("keys", "Control+s")
    until(lambda: (editor.root / names[3]).read_text() == "before\n")
    rest = [(editor.root / name).read_text() for name in names if name != names[3]]
    assert rest == ["after\n"] * 7


def test_a_file_that_is_open_and_changed_on_the_disk_is_edited_as_it_is(editor: VsCode) -> None:
    file = editor.root / "open.txt"
    file.write_text("one\n")
    editor.show("open.txt")
    file.write_text("two\n")
    change = EditAction(path="open.txt", command="insert", insert_line=1, new_str="three")

    def edited() -> bool:
        done = editor.perform(change)
        if isinstance(done, EditObservation):
            return True
        # The window has not seen yet that the file changed: nothing is written meanwhile.
        assert isinstance(done, ErrorObservation), done
        assert (done.error_id, file.read_text()) == ("E_STALE", "two\n")
        return False

    until(edited)
    assert file.read_text() == "two\nthree\n"


def test_an_open_file_with_mixed_line_ends_is_written_to_the_byte(editor: VsCode) -> None:
    file = editor.root / "mixed.txt"
    file.write_bytes(b"a\r\nb\n")
    editor.show("mixed.txt")
    done = editor.perform(WriteAction(path="mixed.txt", content="1\r\n2\n3"))
    assert isinstance(done, WriteObservation), done
    assert file.read_bytes() == b"1\r\n2\n3"
    editor.browser("type", "x")
    editor.browser("wait", '.tab.dirty:has-text("mixed.txt")')
    editor.perform(ReadAction(path="mixed.txt"))
    assert refused(editor, WriteAction(path="mixed.txt", content="y\r\nz\n")) == "E_STALE"
    editor.browser("keys", "Control+z")
