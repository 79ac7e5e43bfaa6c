"""What TypeScript's own server finds, by actions and in a script that mends it."""

from lineshaft.remote.protocol import EditorDiagnostic, GetErrorsAction, GetErrorsObservation
from remote.vscode.editor import VsCode
from remote.vscode.test_workspace import EXAMPLES, ran

BROKEN = """\
export const total: number = "seven";

export function double(count: number): number {
    return count.toUpperCase();
}
"""
MENDED = """\
export const total: number = 7;

export function double(count: number): number {
    return 2 * count;
}
"""
MEND = """line.replace('"seven"', "7").replace("count.toUpperCase()", "2 * count")"""


def test_both_type_errors_of_a_file_are_told_and_a_script_mends_them(editor: VsCode) -> None:
    source = editor.root / "src" / "app.ts"
    source.parent.mkdir()
    source.write_text(BROKEN)
    (editor.root / "notes.md").write_text("what a person looks at\n")
    editor.conversation()
    editor.show("notes.md")
    found = editor.perform(GetErrorsAction(paths=["src/app.ts"]), seconds=60)
    assert isinstance(found, GetErrorsObservation), found
    assert (found.count, found.settled, found.truncated) == (2, True, False)
    assert list(found.diagnostics) == [
        EditorDiagnostic(
            path="src/app.ts",
            range=[1, 14, 1, 19],
            severity="error",
            message="Type 'string' is not assignable to type 'number'.",
            code="2322",
            source="ts",
        ),
        EditorDiagnostic(
            path="src/app.ts",
            range=[4, 18, 4, 29],
            severity="error",
            message="Property 'toUpperCase' does not exist on type 'number'.",
            code="2339",
            source="ts",
        ),
    ]
    script = (EXAMPLES / "fix_and_look_again.py").read_text()
    example = 'line.replace("FIXME", "fixed")'
    assert example in script
    fixed = ran(editor, script.replace(example, MEND))
    assert (fixed["status"], fixed["value"]) == ("success", {"rounds": 2, "left": 0}), (
        fixed["error"],
        fixed["calls"],
    )
    assert source.read_text() == MENDED
    editor.browser("wait", '.tab.active:has-text("notes.md")')
    assert editor.browser("count", '.tab:has-text("app.ts")') == 0
