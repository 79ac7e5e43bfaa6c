"""`lineshaft completion`: what makes a shell complete command lines."""

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from lineshaft.cli._terminal import result

_SHELLS: dict[str, type[ShellComplete]] = {
    "bash": BashComplete,
    "zsh": ZshComplete,
    "fish": FishComplete,
}


@click.pass_context
@click.argument("shell", type=click.Choice(list(_SHELLS)))
def command(context: click.Context, *, shell: str) -> None:
    """Print a script for a shell, which reads it at its start."""
    root = context.find_root().command
    result(_SHELLS[shell](root, {}, "lineshaft", "_LINESHAFT_COMPLETE").source())
