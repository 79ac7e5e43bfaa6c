"""Reading the script that a command names."""

import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent

import click
from msgspec.structs import replace

from lineshaft.cli import _completion
from lineshaft.errors import ConfigError
from lineshaft.values import Struct

MAX_BYTES = 16_000_000

script_argument = click.argument(
    "script",
    required=False,
    shell_complete=_completion.files,
    metavar="[SCRIPT]",
    help="A file, or - for standard input.",
)
code_option = click.option(
    "-c", "--code", metavar="TEXT", help="The script itself, in the place of SCRIPT."
)
args_argument = click.argument(
    "args",
    nargs=-1,
    shell_complete=_completion.files,
    help="Texts that the script finds in args and sys.argv[1:]; after -- whatever they begin with.",
)


class Script(Struct, frozen=True):
    """A script as the command line got it."""

    text: str
    name: str
    """As typed; `stdin` for standard input, `code` for the text of an option."""

    args: tuple[str, ...] = ()
    """The texts that it finds in `args`."""


def outdented(code: str) -> str:
    """Return a text without the blanks that all its lines begin with, as `python -c` takes it.

    A text whose first line begins with none stays as it is: no blank line in it is touched.
    """
    return dedent(code) if code.lstrip("\r\n")[:1] in (" ", "\t") else code


def script_of(word: str | None, code: str | None, args: Sequence[str] = ()) -> Script:
    """Return the script of a command line: a file's, or the text itself.

    Args:
        word: The first word; with a text, the first of its arguments.
        code: The text; blanks that all its lines begin with are left out, as by `python -c`.
        args: The other words.

    Raises:
        ConfigError: There is neither a file nor a text; or it cannot be read, is too large or is
            not UTF-8 text.
    """
    if code is not None:
        return Script(outdented(code), "code", (*(() if word is None else (word,)), *args))
    if word is None:
        raise ConfigError(
            "no script is named", hint="name a file as SCRIPT, - for standard input, or -c TEXT"
        )
    return replace(read_script(word), args=tuple(args))


def read_script(word: str) -> Script:
    """Return the script that a command line names.

    Args:
        word: A path, also of a pipe, or `-` for standard input.

    Raises:
        ConfigError: It cannot be read, is too large or is not UTF-8 text.
    """
    name = "stdin" if word == "-" else word
    try:
        if word == "-":
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with Path(word).open("rb") as file:
                data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"the script {word!r} cannot be read: {reason}") from error
    if len(data) > MAX_BYTES:
        raise ConfigError(f"the script {name!r} is larger than {MAX_BYTES:,} bytes")
    try:
        return Script(data.decode("utf-8-sig"), name)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"the script {name!r} is not UTF-8 text (line {line})") from error
