"""`lineshaft completion`: what makes a shell complete command lines."""

import click
from click.shell_completion import (
    BashComplete,
    FishComplete,
    PowerShellComplete,
    ShellComplete,
    ZshComplete,
)

from lineshaft.cli._terminal import result

_SHELLS: dict[str, type[ShellComplete]] = {
    "bash": BashComplete,
    "zsh": ZshComplete,
    "fish": FishComplete,
    "powershell": PowerShellComplete,
}


@click.pass_context
@click.argument(
    "shell",
    type=click.Choice(list(_SHELLS)),
    metavar="SHELL",
    help="bash, zsh, fish or powershell.",
)
def command(context: click.Context, *, shell: str) -> None:
    """Print a script for a shell, which reads it at its start."""
    root = context.find_root().command
    asked = _SHELLS[shell](root, {}, "lineshaft", "_LINESHAFT_COMPLETE")
    # Not `asked.source()`: it starts a bash to ask for its version, and that one may ask for this.
    result(asked.source_template % asked.source_vars())
