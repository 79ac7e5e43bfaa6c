"""`lineshaft python build`: the Python that programs get, made of one that is here."""

import json as json_module
from pathlib import Path

import click

from lineshaft.cli._options import json_option
from lineshaft.cli._terminal import clean, result, say
from lineshaft.sandbox.bundle import Bundle, build


@click.option(
    "--from",
    "interpreter",
    type=click.Path(path_type=Path),
    metavar="PYTHON",
    help="Another interpreter to copy.",
)
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="A new folder, instead of the usual place.",
)
@json_option
def command(
    *,
    interpreter: Path | None,
    target: Path | None,
    json: bool,
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
