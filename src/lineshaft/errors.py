"""The errors that Lineshaft raises, in one tree.

LineshaftError
├─ ConfigError            wrong before anything ran; the only one that `run`, `call`, `handle` raise
├─ ToolError              what a call can raise, in scripts and in tools: code, tool, message
│  ├─ AgentPaused         a microagent that runs by itself waits for answers
│  └─ Declined            a person would not answer what a tool asked
├─ EngineError
│  ├─ ScriptFailed        the script raised; has its line and traceback
│  ├─ LimitExceeded       the script used too much time, memory, recursion or output
│  ├─ EngineCrashed       the engine's worker died
│  ├─ PythonNotFound      there is no Python that scripts may use
│  │  └─ PythonNotStarted  the system does not start it
│  ├─ NoBoundary          nothing on this machine can hold a full Python
│  └─ WasmUnavailable     Python in WebAssembly does not run on this machine
├─ WorkspaceError
│  ├─ OutsideWorkspace    a path that leads out, or an unknown alias
│  ├─ FileMissing         there is no such file
│  ├─ PreconditionFailed  the file differs from what the caller expects
│  ├─ StaleFile           another program changed the file since this run read it
│  ├─ Guarded             a guard found an error in the changes
│  ├─ WindowRefused       a person, or the trust of a window, refused it
│  ├─ TooLarge            more bytes than the limit
│  └─ ProgramTimedOut     a program took longer than its time, and was ended
├─ RemoteError            the far side of a connection
│  ├─ ConnectFailed
│  ├─ LocalProtocolError
│  └─ RemoteProtocolError
├─ ModelError
│  ├─ ModelRefused
│  └─ ModelUnavailable
├─ AgentError             a microagent ended without a result
├─ EvalError
│  └─ TaskFailed
├─ RecordError            the record of a run cannot be written or read
└─ StateError             what a run needs to go on cannot be kept, found or trusted
   ├─ RunUnknown          there is no such run
   ├─ RunBusy             another process works on the run, or it is over
   ├─ StateExpired        the time for which it was kept is over
   └─ UntrustedState      it was changed from outside, or its key is missing

Each class has a stable `code`. A message says what happened, to what, and what to do.
"""

from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:  # the code that catches an error goes on with what it carries, without a cast
    from lineshaft.agents import AgentUsage
    from lineshaft.models import Message
    from lineshaft.values import Pending

CallCode = Literal[
    "E_UNKNOWN_TOOL",
    "E_INVALID_ARGS",
    "E_INVALID_RESULT",
    "E_TOOL_FAILED",
    "E_TOOL_TIMEOUT",
    "E_DENIED",
    "E_CALL_LIMIT",
    "E_SANDBOX_VIOLATION",
    "E_FILE_NOT_FOUND",
    "E_PRECONDITION_FAILED",
    "E_STALE",
    "E_GUARD",
    "E_TOO_LARGE",
    "E_NO_PAUSE",
    "PYTHON_NOT_FOUND",
    "PYTHON_EXEC_FAILED",
    "PYTHON_TIMEOUT",
]
"""The codes that a call can raise."""

CALL_CODES: frozenset[str] = frozenset(get_args(CallCode))


class LineshaftError(Exception):
    """Anything that Lineshaft raises on purpose."""

    code: str = "E_LINESHAFT"
    """Stable name of the kind of failure."""

    hint: str = ""
    """One line that says what to do next; empty where there is nothing to add."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        if hint:
            self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        """Return what a copy is made of, in another process too: all errors take other words."""
        return _remade, (type(self), self.args), self.__dict__.copy()


def _remade(kind: type[LineshaftError], words: tuple[object, ...]) -> LineshaftError:
    """Return an error without its fields, which come after it."""
    return kind.__new__(kind, *words)


class ConfigError(LineshaftError):
    """Settings, tools, policy or arguments were wrong before anything ran."""

    code = "E_CONFIG"


class ToolError(LineshaftError):
    """A call failed; raised by tools, and at the call in a script.

    Args:
        code: One of `CallCode`, such as `E_FILE_NOT_FOUND`.
        message: What happened, to what, and what to do.
        tool: Canonical name of the tool; filled in by the gate where empty.
        hint: One more line of advice.
        unknown: Whether it is not known if the tool did what it was to do: the call's status.
    """

    def __init__(
        self, code: str, message: str, *, tool: str = "", hint: str = "", unknown: bool = False
    ) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.tool = tool
        self.unknown = unknown

    @staticmethod
    def of(error: LineshaftError) -> "ToolError":
        """Return another error as one of a call: its code, message and hint."""
        # Own errors of tools may have anything for them.
        return ToolError(str(error.code), str(error.message), hint=str(error.hint))


class AgentPaused(ToolError):
    """A microagent that runs by itself waits for answers; `session.resume(run_id)` goes on with it.

    Args:
        message: What waits.
        run_id: The run that waits.
        pending: The calls that wait.
        hint: One more line of advice.
    """

    code = "E_PAUSED"

    def __init__(
        self, message: str, *, run_id: str = "", pending: tuple["Pending", ...] = (), hint: str = ""
    ) -> None:
        super().__init__(self.code, message, hint=hint)
        self.run_id = run_id
        self.pending = pending


class Declined(ToolError):
    """A person would not answer what a tool asked."""

    code = "E_DENIED"

    def __init__(self, message: str = "the person declined to answer", *, hint: str = "") -> None:
        super().__init__(self.code, message, hint=hint)


class EngineError(LineshaftError):
    """An engine could not finish a script."""

    code = "E_ENGINE"


class ScriptFailed(EngineError):
    """The script raised an exception that it did not catch."""

    code = "E_SCRIPT"


class LimitExceeded(EngineError):
    """The script used more than it was given."""

    code = "E_LIMIT"


class EngineCrashed(EngineError):
    """The process that ran the script died."""

    code = "E_ENGINE_CRASHED"


class PythonNotFound(EngineError):
    """There is no Python that scripts may use, or the one that was asked for is unfit."""

    code = "PYTHON_NOT_FOUND"


class PythonNotStarted(PythonNotFound):
    """The Python that was asked for is there, and the system does not start it."""

    code = "PYTHON_EXEC_FAILED"


class NoBoundary(EngineError):
    """No boundary that holds full Python works on this machine, or the one asked for does not."""

    code = "E_NO_BOUNDARY"


class WasmUnavailable(EngineError):
    """This machine or this installation cannot run Python in WebAssembly."""

    code = "E_NO_WASM"


class WorkspaceError(LineshaftError):
    """A file operation that the workspace refuses; a call reports its code."""

    code = "E_TOOL_FAILED"


class OutsideWorkspace(WorkspaceError):
    """The path leads out of the workspace, or names an alias that is not mounted."""

    code = "E_SANDBOX_VIOLATION"


class FileMissing(WorkspaceError):
    """There is no file or folder at the path."""

    code = "E_FILE_NOT_FOUND"


class PreconditionFailed(WorkspaceError):
    """The file is not in the state that the caller asked for."""

    code = "E_PRECONDITION_FAILED"


class StaleFile(WorkspaceError):
    """Another program changed the file since this run read it.

    Args:
        message: What happened, to what, and what to do.
        hint: One more line of advice.
        paths: The files, where a whole stage was looked at.
    """

    code = "E_STALE"

    def __init__(self, message: str, *, hint: str = "", paths: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint=hint)
        self.paths = paths


class Guarded(WorkspaceError):
    """A guard found an error in a set of changes, so none of them landed.

    Args:
        message: What was found, the worst first.
        findings: The findings of all guards, as `values.Finding`.
        hint: One more line of advice.
    """

    code = "E_GUARD"

    def __init__(self, message: str, *, findings: tuple[object, ...] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.findings = findings


class WindowRefused(WorkspaceError):
    """A person, or the trust of an editor's window in its folder, refused it."""

    code = "E_DENIED"


class TooLarge(WorkspaceError):
    """The content is larger than the limit."""

    code = "E_TOO_LARGE"


class ProgramTimedOut(WorkspaceError):
    """A program took longer than its time, and its whole process tree was ended.

    Where the wait for a program is cancelled, the cancellation itself is raised.

    Args:
        message: What took how long.
        output: What the program had written by then, both streams, of bounded length.
        hint: What to do.
    """

    code = "E_TOOL_TIMEOUT"

    def __init__(self, message: str, *, output: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.output = output


class RemoteError(LineshaftError):
    """The far side of a connection failed."""

    code = "E_REMOTE"


class ConnectFailed(RemoteError):
    """There is no answer."""

    code = "E_CONNECT"


class LocalProtocolError(RemoteError):
    """This side would have broken the protocol."""

    code = "E_LOCAL_PROTOCOL"


class RemoteProtocolError(RemoteError):
    """The far side broke the protocol."""

    code = "E_REMOTE_PROTOCOL"


class ModelError(LineshaftError):
    """A model gave no usable answer."""

    code = "E_MODEL"


class ModelRefused(ModelError):
    """The model or its provider refused the request."""

    code = "E_MODEL_REFUSED"


class ModelUnavailable(ModelError):
    """The provider cannot answer now.

    Args:
        message: What the provider said.
        retry_after: Seconds to wait before another try, where the provider said so.
    """

    code = "E_MODEL_UNAVAILABLE"

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class AgentError(LineshaftError):
    """A microagent ended without a result.

    Args:
        code: `E_AGENT_BUDGET` (a budget is used up), `E_AGENT_INVALID` (its results did not pass
            validation), `E_AGENT_MODEL` (its model cannot be asked, or repeats itself),
            `E_AGENT_GAVE_UP` (its model said that it cannot finish), `E_AGENT_VALIDATOR` (its
            validator is at fault).
        message: What happened.
        history: The conversation, which a later run takes as `history=`.
        usage: What it had used.
        reason: Why the last result was refused, or why the model gave up.
        hint: One more line of advice.
    """

    code = "E_AGENT"

    def __init__(
        self,
        code: str,
        message: str,
        *,
        history: tuple["Message", ...] = (),
        usage: "AgentUsage | None" = None,
        reason: str = "",
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.history = history
        self.usage = usage
        self.reason = reason


class EvalError(LineshaftError):
    """An evaluation could not be carried out."""

    code = "E_EVAL"


class TaskFailed(EvalError):
    """One task of an evaluation could not be set up or judged."""

    code = "E_TASK"


class RecordError(LineshaftError):
    """The record of a run cannot be written or read."""

    code = "E_RECORD"


class StateError(LineshaftError):
    """The state from which a run goes on or is undone cannot be kept, read or used."""

    code = "E_STORE"


class RunUnknown(StateError):
    """There is no such run, or no state of it was kept."""

    code = "E_UNKNOWN_RUN"


class RunBusy(StateError):
    """Another process works on this run, or the run is not in a state to go on.

    It is over, or a person has to decide about a call whose end is not known.
    """

    code = "E_RUN_BUSY"


class StateExpired(StateError):
    """The state was kept for a time, and that time is over."""

    code = "E_EXPIRED"


class UntrustedState(StateError):
    """The state is not what was stored, or cannot be verified because its key is missing."""

    code = "E_UNTRUSTED_STATE"
