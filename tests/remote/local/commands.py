"""Commands and Python programs of a folder: shells with real exit codes, and input for them."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from lineshaft.errors import PreconditionFailed
from lineshaft.processes import start
from lineshaft.remote.protocol import UNKNOWN_EXIT, RunMetadata, RunObservation
from lineshaft.values import Command, Exit

OUTPUT_BYTES = 10_000_000
"""Of a command's output that is kept; of more, head and tail."""

_MERGED = 'exec bash -c "$1" 2>&1'
"""One pipe for both streams, so that their order is kept."""


class Commands:
    """Runs commands; text may be sent to the one that was started last and still runs."""

    def __init__(self) -> None:
        self._inputs: list[int] = []

    async def shell(
        self, command: str, *, folder: Path, shown: str, seconds: float
    ) -> RunObservation:
        """Run a command in `bash`, in its own process each time.

        Args:
            command: The text for `bash -c`.
            folder: Its working folder.
            shown: That folder as the workspace knows it.
            seconds: Then its whole tree ends.
        """
        read, write = os.pipe()
        self._inputs.append(write)
        try:
            argv = ("bash", "-c", _MERGED, "bash", command)
            ended = await self._ended(argv, folder, seconds, stdin=read)
        finally:
            os.close(read)
            self._inputs.remove(write)
            os.close(write)
        code, name = _code(ended)
        return RunObservation(
            content=ended.stdout,
            command=command,
            metadata=RunMetadata(
                exit_code=code,
                working_dir=shown,
                signal=name,
                timed_out=ended.timed_out,
                backend="process",
                suffix=_said(ended, name, seconds),
            ),
        )

    async def program(self, argv: Sequence[str], *, folder: Path, seconds: float) -> Exit:
        """Run a program without a shell, its standard input closed."""
        return await self._ended(tuple(argv), folder, seconds, stdin=None)

    async def _ended(
        self, argv: tuple[str, ...], folder: Path, seconds: float, *, stdin: int | None
    ) -> Exit:
        command = Command(
            argv=argv, seconds=seconds, stdout_bytes=OUTPUT_BYTES, stderr_bytes=OUTPUT_BYTES
        )
        process = await start(command, cwd=folder, stdin=stdin)
        return await process.wait()

    async def type(self, text: str) -> RunObservation:
        """Send a line to the command that was started last and still runs.

        Raises:
            PreconditionFailed: None runs, or it takes no input any more.
        """
        if not self._inputs:
            raise PreconditionFailed("no command runs that input could go to")
        line = text if text.endswith("\n") else f"{text}\n"
        with suppress(BlockingIOError):
            if sys.platform != "win32":
                os.set_blocking(self._inputs[-1], False)
            written = os.write(self._inputs[-1], line.encode())
            if written == len(line.encode()):
                await asyncio.sleep(0)
                return RunObservation(
                    content="",
                    command=text,
                    metadata=RunMetadata(suffix="[the input was sent]", backend="process"),
                )
        raise PreconditionFailed("the command takes no more input: what was sent before waits")


def _code(ended: Exit) -> tuple[int, str | None]:
    """Return the exit code, and the signal that ended a command, which leaves none."""
    if ended.exit_code >= 0 and not ended.timed_out:
        return ended.exit_code, None
    if ended.exit_code >= 0:
        return UNKNOWN_EXIT, None
    with suppress(ValueError):
        return UNKNOWN_EXIT, signal.Signals(-ended.exit_code).name
    return UNKNOWN_EXIT, str(-ended.exit_code)


def _said(ended: Exit, name: str | None, seconds: float) -> str:
    if ended.timed_out:
        return f"[the command was ended after its {seconds:g} s]"
    return f"[the command was ended by {name}]" if name else ""
