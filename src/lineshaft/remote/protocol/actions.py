"""Actions that a host delegates to an editor, as values.

The names and arguments are those of OpenHands' events (V0); `run_python`, `get_errors`, `buffers`,
`prepare`, `review`, `land`, `approve` and `call_tool` are of our own. What a host sends beside
these arguments (`thought`, `security_risk`, ...) is taken and left alone.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import field

from lineshaft.values import Struct

EditCommand = Literal["view", "create", "str_replace", "insert", "undo_edit"]


class RunAction(Struct, frozen=True, kw_only=True):
    """A command for a shell, or input for a command that runs."""

    command: str
    """Text for `bash -c`; with `is_input` the text that the running command gets to read."""

    is_input: bool = False
    """Whether it is input for the command that was started last and still runs."""

    cwd: str | None = None
    """Working folder, inside the workspace; None: its root."""

    thought: str = ""
    """A line that says what the command is for; shown to the person."""

    hidden: bool = False
    """Whether the terminal stays in the background."""


class ReadAction(Struct, frozen=True, kw_only=True):
    """The reading of a text file, or of some of its lines."""

    path: str
    start: int = 0
    """First line, counted from 0."""

    end: int = -1
    """Line behind the last one; -1: to the end of the file."""

    view_range: Sequence[int] | None = None
    """First and last line, counted from 1; -1 as the last: to the end. Wins over `start`, `end`."""

    thought: str = ""


class WriteAction(Struct, frozen=True, kw_only=True):
    """The writing of a text file, whole or in place of some of its lines."""

    path: str
    content: str
    start: int = 0
    """First line that is replaced, counted from 0."""

    end: int = -1
    """Line behind the last replaced one; -1: to the end of the file."""

    thought: str = ""


class EditAction(Struct, frozen=True, kw_only=True):
    """One of five edits of a text file, after the rules of OpenHands' editor."""

    path: str
    command: EditCommand
    file_text: str | None = None
    """Of `create`: all of the new file."""

    old_str: str | None = None
    """Of `str_replace`: text that is in the file exactly once."""

    new_str: str | None = None
    """Of `str_replace` and `insert`: the new text; None: nothing."""

    insert_line: int | None = None
    """Of `insert`: the line after which the text goes; 0: before the first."""

    view_range: Sequence[int] | None = None
    """Of `view`: first and last line, counted from 1; -1 as the last: to the end."""

    thought: str = ""


class RunPythonAction(Struct, frozen=True, kw_only=True):
    """A Python program: text, or a file of the workspace."""

    code: str | None = None
    file: str | None = None
    args: Sequence[str] = ()
    thought: str = ""


class GetErrorsAction(Struct, frozen=True, kw_only=True):
    """A question for the diagnostics of files, which only an editor has."""

    paths: Sequence[str] | None = None
    """Files that are opened for it; None: all that the editor knows of."""

    thought: str = ""


class BuffersAction(Struct, frozen=True, kw_only=True):
    """A question for the files that the window shows with changes which are not saved."""

    known: Mapping[str, str] = field(default_factory=dict[str, str])
    """Versions whose content need not be sent again, by path."""

    nonce: str | None = None
    """A file of the host's machine that proves that the window is on the same one."""

    thought: str = ""


class PrepareAction(Struct, frozen=True, kw_only=True):
    """A question to the person about what they have not saved and is in the way.

    In the way of a landing, whose files it names, or of a process, which would not see it. Where
    nothing is, no person is asked.
    """

    paths: Sequence[str] = ()
    """Files that a landing changes: what is not saved there is saved with it, or it is refused."""

    process: str = ""
    """The process that is about to start, in words: it runs over every other file. Empty: none."""

    known: Mapping[str, str] = field(default_factory=dict[str, str])
    """Versions by path that the person has left unsaved before: they are not asked about again."""

    thought: str = ""


class ReviewedChange(Struct, frozen=True, kw_only=True):
    """A change of a run that has not landed, for a person to look at."""

    path: str
    kind: str
    """`created`, `modified`, `deleted` or `moved`."""

    moved_from: str = ""
    before: str | None = None
    """Content before, in Base64; None: there is none, or none to show."""

    after: str | None = None
    """Content that it is to have; as `before`."""

    note: str = ""
    """Why there is no content to show."""


class ReviewAction(Struct, frozen=True, kw_only=True):
    """A question to the person at the window: which of these changes land."""

    changes: Sequence[ReviewedChange]
    thought: str = ""


class FileEdit(Struct, frozen=True, kw_only=True):
    """The change of one file's content."""

    path: str
    data: str
    """All of the new content, in Base64."""

    before: str | None = None
    """Hash (SHA-256, hexadecimal) of the content that it has to have, as the window shows it; None:
    there has to be no file."""


class LandAction(Struct, frozen=True, kw_only=True):
    """Changes of files that are made together and saved: all of them are looked at first."""

    edits: Sequence[FileEdit]
    thought: str = ""


class WaitingCall(Struct, frozen=True, kw_only=True):
    """A call of a run that a person has to allow."""

    id: str
    tool: str
    text: str
    """Its arguments, a line for each: the name and the value, in JSON."""

    reason: str = ""
    """Why it asks."""

    diff: str = ""
    """The change that it would make; empty where that is not known before."""

    holds_for: str = ""
    """The addresses that a yes for the run is limited to; empty: all calls of the same tool that
    the same rule asks about."""


class ApproveAction(Struct, frozen=True, kw_only=True):
    """A question to the person at the window: which of these calls may be made."""

    calls: Sequence[WaitingCall]
    thought: str = ""


class CallToolAction(Struct, frozen=True, kw_only=True):
    """A call of a tool that the window has offered."""

    name: str
    """The tool, as the window calls it."""

    arguments: Mapping[str, object] = field(default_factory=dict[str, object])
    sha256: str = ""
    """Of the definition that the caller knows: another one is refused. Empty: any."""

    invocation: str = ""
    """What the window gave the program that calls, where the window started it: by this the call
    belongs to what a person asked for."""

    thought: str = ""


Action = (
    RunAction
    | ReadAction
    | WriteAction
    | EditAction
    | RunPythonAction
    | GetErrorsAction
    | BuffersAction
    | PrepareAction
    | ReviewAction
    | LandAction
    | ApproveAction
    | CallToolAction
)

ACTIONS: Mapping[str, type[Action]] = {
    "run": RunAction,
    "read": ReadAction,
    "write": WriteAction,
    "edit": EditAction,
    "run_python": RunPythonAction,
    "get_errors": GetErrorsAction,
    "buffers": BuffersAction,
    "prepare": PrepareAction,
    "review": ReviewAction,
    "land": LandAction,
    "approve": ApproveAction,
    "call_tool": CallToolAction,
}
"""Kinds of actions by their name on the wire."""
