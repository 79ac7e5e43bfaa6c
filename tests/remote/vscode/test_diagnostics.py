"""What programs in the window find in files, and a fix that they then agree with."""

from lineshaft.remote.protocol import (
    EditAction,
    EditObservation,
    EditorDiagnostic,
    ErrorObservation,
    GetErrorsAction,
    GetErrorsObservation,
)
from remote.vscode.editor import VsCode


def errors(editor: VsCode, *paths: str) -> GetErrorsObservation:
    done = editor.perform(GetErrorsAction(paths=list(paths)), seconds=60)
    assert isinstance(done, GetErrorsObservation), done
    return done


def test_errors_have_positions_and_go_with_their_fix(editor: VsCode) -> None:
    (editor.root / "broken.txt").write_text("fine\n  FIXME one\nFIXME two\n")
    (editor.root / "other.txt").write_text("FIXME three\n")
    found = errors(editor, "broken.txt")
    assert found.settled
    assert found.count == 2
    assert found.diagnostics[0] == EditorDiagnostic(
        path="broken.txt",
        range=[2, 3, 2, 8],
        severity="error",
        message="something is to be mended",
        code="7",
        source="finder",
    )
    assert found.content.splitlines()[1] == "broken.txt:3:1: error: something is to be mended"
    rounds = 0
    while (found := errors(editor, "broken.txt")).count:  # as a script does: fix, and look again
        line = found.diagnostics[0].range[0]
        text = (editor.root / "broken.txt").read_text().splitlines()[line - 1]
        done = editor.perform(
            EditAction(
                path="broken.txt",
                command="str_replace",
                old_str=text,
                new_str=text.replace("FIXME", "mended"),
            )
        )
        assert isinstance(done, EditObservation), done
        rounds += 1
    assert rounds == 2
    assert errors(editor, "other.txt", "broken.txt").count == 1


def test_errors_of_a_file_that_is_not_there_are_refused(editor: VsCode) -> None:
    for path, code in (("none.txt", "E_FILE_NOT_FOUND"), ("../x", "E_SANDBOX_VIOLATION")):
        done = editor.perform(GetErrorsAction(paths=[path]))
        assert isinstance(done, ErrorObservation)
        assert done.error_id == code
