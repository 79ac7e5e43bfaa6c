"""The actions of the protocol on a folder."""

import hashlib
import re
from pathlib import Path

from anyio import to_thread

from lineshaft.errors import LineshaftError, PythonNotFound, WorkspaceError
from lineshaft.remote.protocol import (
    UNTIMED_SECONDS,
    Action,
    ApproveAction,
    BuffersAction,
    BuffersObservation,
    CallToolAction,
    EditAction,
    ErrorObservation,
    GetErrorsAction,
    LandAction,
    Observation,
    PrepareAction,
    PrepareObservation,
    ReadAction,
    ReviewAction,
    RunAction,
    RunObservation,
    RunPythonAction,
    RunPythonObservation,
    WriteAction,
)
from lineshaft.workspace import Folder
from remote.local.commands import Commands
from remote.local.files import FileActions
from remote.local.landing import land

_NONCE = re.compile(r"lineshaft-[0-9a-f]{32}\.nonce")
_MOST_NONCE_BYTES = 100


class LocalRuntime:
    """Does actions in a folder; cancelling `perform` ends the whole tree of its command.

    Args:
        root: The folder.
        python: The Python that runs programs; None: `run_python` is refused.
    """

    def __init__(self, root: str | Path, *, python: str | None = None) -> None:
        self._folder = Folder(root)
        self._files = FileActions(self._folder)
        self._commands = Commands()
        self._python = python

    async def perform(self, action: Action, *, seconds: float | None = None) -> Observation:
        """Do an action; what is wrong with it is an `ErrorObservation`.

        Args:
            action: The action.
            seconds: That a command may take; None: 120.
        """
        try:
            return await self._done(action, UNTIMED_SECONDS if seconds is None else seconds)
        except LineshaftError as error:
            said = f"{error.message}: {error.hint}" if error.hint else error.message
            return ErrorObservation(content=said, error_id=error.code)

    async def _done(self, action: Action, seconds: float) -> Observation:
        match action:
            case ReadAction():
                return await self._files.read(action)
            case WriteAction():
                return await self._files.write(action)
            case EditAction():
                return await self._files.edit(action)
            case GetErrorsAction():
                said = "diagnostics need an editor: this is a folder alone"
                return ErrorObservation(content=said, error_id="E_UNSUPPORTED")
            case BuffersAction():
                proof = (
                    None
                    if action.nonce is None
                    else await to_thread.run_sync(proof_of, action.nonce)
                )
                return BuffersObservation(content="", nonce=proof)
            case LandAction():
                return await land(self._folder, action, self._files.path)
            case PrepareAction():
                return PrepareObservation(content="nothing is unsaved in a folder")
            case ReviewAction() | ApproveAction() | CallToolAction():
                said = "that needs an editor: this is a folder alone"
                return ErrorObservation(content=said, error_id="E_UNSUPPORTED")
            case RunPythonAction():
                return await self._program(action, seconds)
            case RunAction():
                return await self._run(action, seconds)

    async def _run(self, action: RunAction, seconds: float) -> RunObservation:
        if action.is_input:
            return await self._commands.type(action.command)
        path = await self._files.path(action.cwd or ".")
        folder = Path((await self._folder.resolve(path)).real)
        return await self._commands.shell(
            action.command, folder=folder, shown=path, seconds=seconds
        )

    async def _program(self, action: RunPythonAction, seconds: float) -> RunPythonObservation:
        if self._python is None:
            raise PythonNotFound("no Python is set that programs may run in")
        if (action.code is None) == (action.file is None):
            raise WorkspaceError("`run_python` takes `code` or `file`, one of them")
        if action.file is not None:
            file = await self._folder.resolve(await self._files.path(action.file))
            await self._folder.stat(file.path)
            program: tuple[str, ...] = (file.real,)
        else:
            program = ("-c", action.code or "")
        argv = (self._python, "-E", "-s", "-B", "-X", "utf8", *program, *action.args)
        ended = await self._commands.program(argv, folder=Path(self._folder.root), seconds=seconds)
        if ended.timed_out:
            raise WorkspaceError(f"the program was ended after its {seconds:g} s")
        return RunPythonObservation(
            content=ended.stdout, stderr=ended.stderr, exit_code=max(-1, ended.exit_code)
        )


def proof_of(file: str) -> str | None:
    """Return the hash of a file by which a host knows that this is its machine; None: no such."""
    if not Path(file).is_absolute() or not _NONCE.fullmatch(Path(file).name):
        return None
    try:
        with Path(file).open("rb") as opened:
            data = opened.read(_MOST_NONCE_BYTES + 1)
    except OSError:
        return None
    return None if len(data) > _MOST_NONCE_BYTES else hashlib.sha256(data).hexdigest()
