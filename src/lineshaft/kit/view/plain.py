"""Programs in views without a jail: processes like any other, over a private copy."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from msgspec.structs import replace

from lineshaft.errors import ProgramTimedOut
from lineshaft.kit.jailed import to_the_end
from lineshaft.kit.view.place import ViewPlace, without_place
from lineshaft.processes import start
from lineshaft.processes.programs import ProgramOptions, ProgramResult, run_program
from lineshaft.sandbox.jail import Changes, SandboxSpec, changes_of_copy, states
from lineshaft.values import Command, Context, Line, Process

_TEMPORARY = ("TMPDIR", "TEMP", "TMP")
"""The variables that name the folder for temporary files, on the systems that there are."""


@asynccontextmanager
async def plainly(
    call: Context, options: ProgramOptions, place: ViewPlace
) -> AsyncGenerator[tuple[ProgramResult, Changes]]:
    """Run a program without a jail; its changes are there as long as the block lasts.

    Its temporary files lie beside the copy, and are removed with it.
    """
    root = place.copy.root
    env = {**dict.fromkeys(_TEMPORARY, str(place.copy.temporary)), **place.env}
    before = await to_the_end(lambda _: states(root))
    seconds = place.time.left()

    async def starting(command: Command) -> Process:
        there = replace(command, argv=place.argv, env=env, seconds=seconds)
        return await start(there, cwd=root / place.folder, secrets=call.secrets)

    try:
        done = await run_program(
            options, on_line=place.coming.take, starting=starting, secrets=call.secrets
        )
    except ProgramTimedOut as error:
        raise ProgramTimedOut(
            error.message, output=without_place(root, error.output), hint=error.hint
        ) from error
    place.coming.must_be_taken()
    lines = [Line(stream=e.stream, text=without_place(root, e.text)) for e in done.lines]
    result = replace(
        done,
        argv=options.argv,
        lines=tuple(lines),
        stdout=without_place(root, done.stdout),
        stderr=without_place(root, done.stderr),
    )
    spec = SandboxSpec(readable=())
    yield result, await to_the_end(lambda _: changes_of_copy(root, root, before, spec))
