"""`lineshaft python install`: the Python that programs get, from an archive."""

import click

from lineshaft.cli import _completion
from lineshaft.cli._options import json_option
from lineshaft.cli.commands.python.build import print_bundle
from lineshaft.sandbox.bundle import install


@click.argument(
    "archive",
    shell_complete=_completion.files,
    help="A .tar.gz with a Python: a path, or an https address.",
)
@click.option(
    "--sha256",
    metavar="HASH",
    help="What its hash must be; else what the file beside it says, named .sha256.",
)
@json_option
def command(
    *,
    archive: str,
    sha256: str | None,
    json: bool,
) -> None:
    """Install a Python and say where it is."""
    print_bundle(install(archive, sha256=sha256), json=json)
