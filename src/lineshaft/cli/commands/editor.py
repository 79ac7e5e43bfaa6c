"""`lineshaft editor`: the host of an editor's window."""

import asyncio
import json
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio
import click

from lineshaft import __version__
from lineshaft.cli._agent_program import run_agent
from lineshaft.cli._carry import carry
from lineshaft.cli._kept_runs import kept_runs
from lineshaft.cli._terminal import note, result
from lineshaft.errors import ConfigError
from lineshaft.http import token_of
from lineshaft.remote.host import EditorHost, HostAddress, addresses, published, serve_editors
from lineshaft.remote.protocol import PROTOCOL

_LONGEST_LINE = 1_000


@click.argument(
    "folder",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="[FOLDER]",
    help="The folder that is open in the window; this one if left out.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    show_default=True,
    metavar="N",
    help="0: any that is free.",
)
def command(*, folder: Path, port: int) -> None:
    """Serve a window of VS Code, which starts this by itself, until standard input ends.

    The first line of standard input is the token that clients must show.
    """
    root = folder.resolve()
    if not root.is_dir():
        raise ConfigError(f"there is no folder {str(folder)!r}", hint="name the one that is open")
    token = _token()
    with suppress(KeyboardInterrupt):  # to be told to end is how it ends
        carry(lambda: _serve(root, token, port))


def _token() -> str:
    """Return the first line of standard input; on a terminal, a new token."""
    if sys.stdin.isatty():
        note("serving a window until Ctrl-C; the token is in the address file")
        return token_of()
    return token_of(sys.stdin.buffer.readline(_LONGEST_LINE).decode("ascii", "replace").strip())


async def _serve(root: Path, token: str, port: int) -> None:
    host = EditorHost(
        version=__version__,
        open_runs=partial(kept_runs, root),
        start_agent=partial(run_agent, root),
    )
    async with anyio.create_task_group() as group:

        def ready(url: str) -> None:
            group.start_soon(_publish, _address(url, token, root))

        group.start_soon(lambda: serve_editors(host, token=token, port=port, ready=ready))
        await _standard_input_ends()
        group.cancel_scope.cancel()


def _address(url: str, token: str, root: Path) -> HostAddress:
    return HostAddress(url=url, token=token, pid=os.getpid(), root=str(root), version=__version__)


async def _publish(address: HostAddress) -> None:
    """Keep the address file, and tell who started this where to connect."""
    addresses()  # which deletes the files of hosts that were killed
    with published(address) as file:
        told = {"url": address.url, "pid": address.pid, "version": address.version}
        result(json.dumps({**told, "protocol": PROTOCOL, "address_file": str(file)}))
        await anyio.sleep_forever()


async def _standard_input_ends() -> None:
    """Wait until who started this is gone; on a terminal, for ever."""
    if sys.stdin.isatty():
        await anyio.sleep_forever()
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def tell(call: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(call)

    def read() -> None:
        with suppress(OSError, ValueError):
            while os.read(sys.stdin.fileno(), 4_096):
                pass
        tell(ended.set)

    threading.Thread(target=read, daemon=True).start()
    await ended.wait()
