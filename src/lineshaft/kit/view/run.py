"""One program in a view of its own."""

import os
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from time import monotonic

from msgspec.structs import replace

from lineshaft.errors import NoBoundary, ProgramTimedOut, ToolError
from lineshaft.kit.jailed import (
    JailedProgram,
    ProgramOutcome,
    ProgramTime,
    jailed_run,
    land,
    to_the_end,
    until_cancelled,
)
from lineshaft.kit.view.copy import is_apart, private_copy
from lineshaft.kit.view.lines import ComingLines
from lineshaft.kit.view.place import ViewPlace, found_program, without_place
from lineshaft.kit.view.plain import plainly
from lineshaft.processes.programs import KeptLines, ProgramOptions, ProgramResult
from lineshaft.sandbox.jail import Changes, Jail, SandboxSpec, best_jail
from lineshaft.tools import counts_as_unjailed
from lineshaft.values import NO_BOUNDARY, WASM_BOUNDARY, Context, Line, Struct

_SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/sbin", "/opt/java")
_SETTINGS = (
    *("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "maven"),
    *("nsswitch.conf", "passwd", "group", "ssl/openssl.cnf"),
)
_JAVA = "java*"
_MEMORY_MB = 4_096
_PROCESSES = 256
_OPEN_FILES = 4_096
_FILE_MB = 512


class ViewedProgram(Struct, frozen=True, kw_only=True):
    """How a program ended that worked in a view of its own."""

    result: ProgramResult
    """Its exit code and output; lines in the order in which they came."""

    changed: tuple[str, ...]
    """Paths of the workspace that it changed in its view, also where that was thrown away."""

    not_kept: tuple[str, ...] = ()
    """Of changes that were kept: those that could not be, such as symlinks that lead out."""

    boundary: str
    """What held it: a jail's name, or `none`, where it was asked about as a process without one."""


async def run_in_view(
    call: Context,
    options: ProgramOptions,
    *,
    folder: str = ".",
    readable: Sequence[Path] = (),
    packages: Path | None = None,
    extra: Mapping[str, bytes | None] | None = None,
    keep: bool = False,
    keep_below: str = ".",
    on_line: Callable[[Line], object] | None = None,
) -> ViewedProgram:
    """Run a program of the machine over a copy of the workspace, in a jail, without network.

    It sees changes of the run that have not landed, and no file that policy hides. It reads the
    system's programs and libraries, and what `readable` names.

    Where no jail works, or a person chose none, a tool that says `viewed=True` counts as a process
    without one, which policy asks about; then it has the rights of its user and the network, and
    works over the copy all the same.

    Args:
        call: The call, whose policy decides what is in the view.
        options: What to start; `cwd` does not count.
        folder: Working folder in the workspace.
        readable: More files and folders that the program needs.
        packages: A folder `node_modules`, for a workspace that has none at its root.
        extra: Contents by path that take the place of the workspace's in the view; None: no file
            is there. Not for a program whose changes are kept.
        keep: Whether its changes become changes of the run where it ends with 0.
        keep_below: A folder of the workspace; only changes below it are kept.
        on_line: Is told each line as it comes, with its stream.

    Raises:
        ToolError: No jail works here and the tool does not say `viewed=True`, the program is
            missing, the workspace is too large, or it changed what policy closes to it; nothing is
            changed.
        ProgramTimedOut: It took longer than its time.
        WorkspaceError: A file was changed from outside meanwhile; nothing is changed.
    """
    in_jail = not counts_as_unjailed()
    jail = (
        await until_cancelled(lambda _: jail_for_views(call.python.boundary)) if in_jail else None
    )
    program = found_program(options)
    kept_lines = KeptLines(options.stdout_bytes + options.stderr_bytes)
    async with private_copy(call, packages=packages, extra=extra) as copy:
        coming = ComingLines(kept_lines, on_line, partial(without_place, copy.root))
        place = ViewPlace(
            copy=copy,
            folder=folder,
            argv=(str(program), *options.argv[1:]),
            env={"PATH": os.pathsep.join(_path()), "LANG": "C.UTF-8", **options.env},
            time=ProgramTime(seconds=options.seconds, until=_until(call)),
            coming=coming,
        )
        if jail is None:
            running = plainly(call, options, place)
        else:
            running = _jailed(call, options, place, jail, (*_around(program), *readable))
        async with running as (result, changed):
            changes = _own(changed)
            kept = keep and result.exit_code == 0
            not_kept = await land(call, _below(changes, keep_below)) if kept else []
    boundary = NO_BOUNDARY if jail is None else jail.name
    call.log(f"[{options.label}] ran over a private copy, boundary: {boundary}")
    paths = tuple(sorted({*(file.path for file in changes.files), *changes.refused}))
    return ViewedProgram(result=result, changed=paths, not_kept=tuple(not_kept), boundary=boundary)


@asynccontextmanager
async def _jailed(
    call: Context,
    options: ProgramOptions,
    place: ViewPlace,
    jail: Jail,
    readable: Sequence[Path],
) -> AsyncGenerator[tuple[ProgramResult, Changes]]:
    """Run a program in a jail; its changes are there as long as the block lasts."""
    copy = place.copy
    spec = SandboxSpec(
        readable=(*_machine(), *readable, *copy.packages),
        hidden=copy.hidden,
        cwd=copy.root / place.folder,
        env=place.env,
        memory_mb=_MEMORY_MB,
        processes=_PROCESSES,
        open_files=_OPEN_FILES,
        file_mb=_FILE_MB,
    )
    order = JailedProgram(
        argv=place.argv,
        source=b"",
        spec=spec,
        apart=copy.root,
        time=place.time,
        secrets=call.secrets,
        on_line=place.coming.take,
    )
    async with jailed_run(jail, order) as ended:
        place.coming.must_be_taken()
        result = _result(options, ended, place.coming.kept, copy.root)
        yield result, await to_the_end(lambda _: ended.jailed.changes())


def jail_for_views(wanted: str | None) -> Jail:
    """Return the jail for programs in views of their own.

    Args:
        wanted: The boundary that the settings name; None: the best that works.

    Raises:
        ToolError: None works, or not that one.
    """
    try:
        return best_jail(None if wanted in (NO_BOUNDARY, WASM_BOUNDARY) else wanted)
    except NoBoundary as error:
        raise ToolError(
            "E_TOOL_FAILED",
            f"the program would run a project's code, and no jail can hold it: {error.message}",
            hint=error.hint or "`lineshaft doctor` says what this machine lacks",
        ) from error


def _machine() -> list[Path]:
    settings = Path("/etc")
    named = [settings / name for name in _SETTINGS]
    return [*map(Path, _SYSTEM), *named, *settings.glob(_JAVA)]


def _around(program: Path) -> list[Path]:
    """Return the program, what it leads to, and the packages that it is one of."""
    real = program.resolve()
    packages = [each for each in (*program.parents, *real.parents) if each.name == "node_modules"]
    return [program, real, *packages[:2]]


def _path() -> list[str]:
    beside = str(Path(sys.executable).parent)
    given = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return [each for each in given if each and each != beside]


def _until(call: Context) -> float:
    left = call.deadline - monotonic()
    return call.deadline - min(3.0, max(left / 10, min(0.5, left / 2)))


def _result(
    options: ProgramOptions, ended: ProgramOutcome, kept: KeptLines, root: Path
) -> ProgramResult:
    out, err = (without_place(root, stream.text()) for stream in (ended.stdout, ended.stderr))
    if ended.exit_code is None:
        raise ProgramTimedOut(
            f"{options.label!r} was ended after {ended.seconds:g} s, with all that it had started",
            output=f"{out}{err}",
            hint="Give it more time, or have it do less at once.",
        )
    return ProgramResult(
        argv=options.argv,
        exit_code=ended.exit_code,
        lines=kept.lines,
        lines_left_out=kept.left_out,
        stdout=out,
        stderr=err,
        stdout_truncated=ended.stdout.truncated,
        stderr_truncated=ended.stderr.truncated,
        duration_ms=ended.milliseconds,
    )


def _below(changes: Changes, folder: str) -> Changes:
    """Leave out what is not below a folder."""
    if folder == ".":
        return changes
    start = f"{folder}/"
    files = tuple(file for file in changes.files if file.path.startswith(start))
    refused = tuple(path for path in changes.refused if path.startswith(start))
    return replace(changes, files=files, refused=refused)


def _own(changes: Changes) -> Changes:
    """Leave out what is none of the workspace's files."""
    files = tuple(file for file in changes.files if not is_apart(file.path))
    refused = tuple(path for path in changes.refused if not is_apart(path))
    return replace(changes, files=files, refused=refused)
