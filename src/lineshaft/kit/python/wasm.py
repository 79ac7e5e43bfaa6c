"""Programs of `python_run` in WebAssembly, where no jail works or the settings say so.

A session keeps one copy of its workspace for them. What a program did to it becomes changes of the
run, like those of a jailed one; a copy whose changes were not kept is dropped.
"""

import os
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event, Lock, Thread

from anyio import get_cancelled_exc_class

from lineshaft.engines import wasm_packages
from lineshaft.errors import NoBoundary, PythonNotFound, TooLarge
from lineshaft.kit.jailed import STDERR_BYTES, STDOUT_BYTES, closed, to_the_end, until_cancelled
from lineshaft.kit.python.answers import ProgramOutput, did_not_begin, failed, landed, timed_out
from lineshaft.kit.python.program import PythonProgram, time_of
from lineshaft.kit.python.results import PythonResult
from lineshaft.sandbox.jail import SandboxSpec
from lineshaft.sandbox.webassembly import native_code, native_code_ready
from lineshaft.sandbox.webassembly.program import (
    ProgramEnd,
    ProgramOrder,
    WorkspaceCopy,
    run_program,
)
from lineshaft.values import WASM_BOUNDARY, Context, StagedFile

_WORKSPACE = "/ws"


class Copies:
    """The private copies of a session, one for each workspace; a copy is lent to one program."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._idle: dict[Path, WorkspaceCopy] = {}
        self._is_closed = False

    def take(self, root: Path) -> WorkspaceCopy:
        """Return the copy of a folder; a new one where another program works on it."""
        with self._lock:
            return self._idle.pop(root, None) or WorkspaceCopy(root)

    def give_back(self, root: Path, copy: WorkspaceCopy) -> None:
        """Keep a copy for the next program."""
        with self._lock:
            if root not in self._idle and not self._is_closed:
                self._idle[root] = copy
                return
        copy.close()

    def close(self) -> None:
        """Remove all of them."""
        with self._lock:
            self._is_closed = True
            idle = list(self._idle.values())
            self._idle.clear()
        for copy in idle:
            copy.close()


async def run_in_wasm(call: Context, program: PythonProgram) -> PythonResult:
    """Run a program in WebAssembly.

    Raises:
        PythonNotFound: An interpreter is configured, which runs in a jail only.
        NoBoundary: Processes cannot be started and ended here as they must.
        LineshaftError: It cannot be run.
    """
    if call.python.path is not None:
        raise PythonNotFound(
            "the configured Python runs programs in a jail, not in WebAssembly",
            hint="leave out python.path for the Python in WebAssembly, or name another boundary",
        )
    if not hasattr(os, "posix_spawnp"):
        raise NoBoundary(
            f"programs cannot be run on {sys.platform}: nothing ends a process with all it started",
            hint="Scripts run there: use the file tools from one, or a POSIX system.",
        )
    if not native_code_ready():
        call.log("making Python's native code for this machine, once; some seconds")
    packages = await until_cancelled(lambda _: _made_ready(call.python.packages))
    # The time begins here: what is made once per machine or package set is not the program's.
    time = time_of(call)
    async with _lent(call, program.root) as copy:
        staged = await call.workspace.kept_back()
        spec, left_out = await until_cancelled(
            lambda left: _refreshed(call, program.root, copy, staged, left)
        )
        order = _order(program, packages, spec, seconds=time.left())
        ended = await run_program(copy, order, known=call.secrets)
        answer = await _answer(call, copy, ended, seconds=order.seconds, left_out=left_out)
        if not answer["ok"]:
            await to_the_end(lambda _: copy.reset())
        return answer


def _made_ready(requirements: Sequence[str]) -> Path | None:
    """Make what is made once; return the folder of the packages."""
    native_code()
    return wasm_packages(requirements)


@asynccontextmanager
async def _lent(call: Context, root: Path) -> AsyncGenerator[WorkspaceCopy]:
    """Give a copy to one program; where that is cancelled or fails, the copy is dropped.

    A cancelled call does not wait for that: the copy may still be brought up to date.
    """
    copies = call.belongings.hold(Copies, Copies)
    copy = copies.take(root)
    try:
        yield copy
    except get_cancelled_exc_class():
        Thread(target=copy.close, name="undo").start()
        raise
    except BaseException:
        await to_the_end(lambda _: copy.close())
        raise
    await to_the_end(lambda _: copies.give_back(root, copy))


def _refreshed(
    call: Context, root: Path, copy: WorkspaceCopy, staged: tuple[StagedFile, ...], left: Event
) -> tuple[SandboxSpec, tuple[str, ...]]:
    """Bring a copy up to date; return what is closed, and what is not in it."""
    shut = closed(root, call.reach, staged=staged, left=left)
    spec = SandboxSpec(
        readable=(), hidden=tuple(shut.hidden), readonly=tuple(shut.readonly), over=staged
    )
    return spec, copy.refresh(spec, left=left)


def _order(
    program: PythonProgram, packages: Path | None, spec: SandboxSpec, *, seconds: float
) -> ProgramOrder:
    root, file = program.root, program.file
    inside = None if file is None else file.relative_to(root)
    folders = [_WORKSPACE]
    if inside is not None and inside.parent != Path():
        folders.append(f"{_WORKSPACE}/{inside.parent.as_posix()}")
    return ProgramOrder(
        name=program.name,
        place=program.name if inside is None else f"{_WORKSPACE}/{inside.as_posix()}",
        source=program.source,
        args=program.args,
        folders=tuple(folders),
        packages=packages,
        closed=tuple(path.relative_to(root).as_posix() for path in spec.hidden),
        seconds=seconds,
        stdout_bytes=STDOUT_BYTES,
        stderr_bytes=STDERR_BYTES,
    )


async def _answer(
    call: Context,
    copy: WorkspaceCopy,
    ended: ProgramEnd,
    *,
    seconds: float,
    left_out: Sequence[str],
) -> PythonResult:
    """Land what a program did, and return what is said of it."""
    process = ended.exit
    printed = ProgramOutput(
        stdout=process.stdout,
        stderr=process.stderr,
        stdout_truncated=process.stdout_truncated,
        stderr_truncated=process.stderr_truncated,
        replaced_bytes=process.replaced_bytes,
    )
    if process.timed_out:
        text = f"the program was ended after {seconds:g} s; none of its changes were kept"
        return timed_out(text, printed)
    if not ended.began:
        return did_not_begin(process.exit_code, printed)
    if ended.refusal:
        return failed("E_TOO_LARGE", ended.refusal, details=printed.told())
    try:
        changes = await to_the_end(lambda _: copy.changes(ended.modes))
    except TooLarge as error:
        return failed(error.code, error.message, hint=error.hint, details=printed.told())
    return await landed(
        call,
        changes,
        code=process.exit_code,
        printed=printed,
        milliseconds=process.duration_ms,
        boundary=WASM_BOUNDARY,
        left_out=left_out,
    )
