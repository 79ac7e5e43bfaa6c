"""Sources of assertions: a text, a file, a command, or a function of the caller."""

import os
from collections.abc import Sequence
from pathlib import Path

import anyio

from lineshaft.errors import ConfigError
from lineshaft.mcp._spec import Assertion
from lineshaft.mcp._text import clean
from lineshaft.processes import start
from lineshaft.trace import Redactor
from lineshaft.values import Command

_MOST_BYTES = 64_000
_SECONDS = 30.0
_LONGEST = 200


async def asserted(source: Assertion | str, issuer: str, resource: str) -> str:
    """Return an assertion.

    Args:
        source: What gives it, or the assertion itself.
        issuer: Whom it is for.
        resource: The server that the token is to open.

    Raises:
        ConfigError: What came is no token.
    """
    text = (source if isinstance(source, str) else await source(issuer, resource)).strip()
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise ConfigError("what is given as its assertion is no token: it is not one word")
    return text


def assertion_from_file(path: Path) -> Assertion:
    """Return assertions that lie in a file, which is read anew for each.

    Args:
        path: The file, such as the one that a cluster keeps a workload's token in.
    """

    async def assertion(issuer: str, resource: str) -> str:
        del issuer, resource
        try:
            async with await anyio.open_file(path, "rb") as file:
                data = await file.read(_MOST_BYTES + 1)
        except OSError as error:
            text = f"the file of its assertion, {str(path)!r}, cannot be read: {error.strerror}"
            raise ConfigError(text) from error
        if len(data) > _MOST_BYTES:
            raise ConfigError(f"the file of its assertion, {str(path)!r}, is too large for a token")
        return data.decode("utf-8", "replace")

    return assertion


def assertion_from_command(command: Sequence[str]) -> Assertion:
    """Return assertions that a command prints, which is run anew for each, as you would run it.

    Args:
        command: The program and its arguments; it gets 30 seconds, and your environment.
    """
    words = tuple(command)

    async def assertion(issuer: str, resource: str) -> str:
        del issuer, resource
        asked = Command(argv=words, seconds=_SECONDS, stdout_bytes=_MOST_BYTES)
        process = await start(asked, cwd=Path.home(), allow_env=tuple(os.environ))
        done = await process.wait()
        if done.exit_code != 0 or done.timed_out:
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            how = "took too long" if done.timed_out else f"ended with {done.exit_code}"
            said = clean(Redactor().text(last), _LONGEST)
            raise ConfigError(
                f"the command of its assertion, {words[0]!r}, {how}: {said}",
                hint="run it by hand",
            )
        return done.stdout

    return assertion
