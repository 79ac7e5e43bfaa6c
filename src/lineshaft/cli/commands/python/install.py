"""`lineshaft python install`: the Python that programs get, from an archive."""

from typing import Annotated

import typer

from lineshaft.cli._options import Json
from lineshaft.cli.commands.python.build import print_bundle
from lineshaft.sandbox.bundle import install


def command(
    *,
    archive: Annotated[
        str,
        typer.Argument(help="A .tar.gz with a Python: a path, or an https address."),
    ],
    sha256: Annotated[
        str | None,
        typer.Option(
            "--sha256",
            help="What its hash must be; else what the file beside it says, named .sha256.",
            metavar="HASH",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Install a Python and say where it is."""
    print_bundle(install(archive, sha256=sha256), json=json)
