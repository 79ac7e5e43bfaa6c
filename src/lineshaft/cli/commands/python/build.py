"""`lineshaft python build`: the Python that programs get, made of one that is here."""

import json as json_module
from pathlib import Path
from typing import Annotated

import typer

from lineshaft.cli._options import Json
from lineshaft.cli._terminal import clean, result, say
from lineshaft.sandbox.bundle import Bundle, build


def command(
    *,
    interpreter: Annotated[
        Path | None,
        typer.Option("--from", help="Another interpreter to copy.", metavar="PYTHON"),
    ] = None,
    target: Annotated[
        Path | None,
        typer.Option("--to", help="A new folder, instead of the usual place.", metavar="DIR"),
    ] = None,
    json: Json = False,
) -> None:
    """Make a bundle and say where it is."""
    print_bundle(build(target and target.absolute(), interpreter=interpreter), json=json)


def print_bundle(bundle: Bundle, *, json: bool) -> None:
    """Say what a bundle is and where."""
    facts = {
        "root": str(bundle.root),
        "executable": str(bundle.executable),
        "version": bundle.manifest.version,
        "platform": bundle.manifest.platform,
    }
    if json:
        result(json_module.dumps(facts))
    else:
        say(clean(f"Python {facts['version']} for {facts['platform']} is in {facts['root']}"))
