"""Display of a server for its approval: whole, with no part cut off."""

import re
from collections.abc import Iterator

from lineshaft.cli._terminal import one_line
from lineshaft.config import (
    Approval,
    ServerSetting,
    changes_what_is_loaded,
    references,
    told_table,
    told_value,
    told_words,
)
from lineshaft.errors import ConfigError
from lineshaft.values import visible

_MOST = 20_000
"""Characters that a person can be expected to look through."""


def told_lines(server: ServerSetting, asked: Approval | None = None) -> list[str]:
    """Return all that a person approves of a server, each argument and variable on its own line.

    Args:
        server: Its definition.
        asked: Which of its files were found.

    Raises:
        ConfigError: It is longer than a person reads.
    """
    told = [f"  {label}: {_visible(text)}" for label, text in _told(server)]
    if sum(map(len, told)) > _MOST:
        raise ConfigError(
            f"the definition of {server.name!r} in {str(server.source)!r} is longer than "
            f"{_MOST:,} characters: too long to be looked through, so it cannot be approved",
            hint="put what is long there into a file of the project, which is then hashed",
        )
    if asked is None:
        return told
    told += [f"  file, approved as it is now: {one_line(str(path), 4_096)}" for path in asked.files]
    if server.transport == "stdio" and not asked.files:
        told.append("  no file of the project was found in these words: they alone are approved,")
        told.append("  and what they start can change without a question")
    return told


def _told(server: ServerSetting) -> Iterator[tuple[str, str]]:
    if server.transport == "stdio":
        yield "command", server.command
    else:
        yield "address", told_value("", server.url)
    for number, word in enumerate(told_words(server.args), 1):
        yield f"argument {number}", word
    for name, value in told_table(server.env):
        loads = " (changes what is loaded!)" if changes_what_is_loaded(name) else ""
        yield f"variable {_visible(name)}{loads}", value
    for name, value in told_table(server.headers):
        yield f"header {_visible(name)}", value
    if isinstance(server.auth, str):
        yield from [("auth", server.auth)] if server.auth else []
    else:
        yield from ((f"auth {_visible(name)}", text) for name, text in told_table(server.auth))
    if server.env_file:
        yield "variables of the file", server.env_file
    if server.cwd:
        yield "runs in", server.cwd
    for what, globs in (("only the tools", server.include), ("without the tools", server.exclude)):
        if globs:
            yield what, ", ".join(globs)
    yield from _given(server)


def _given(server: ServerSetting) -> Iterator[tuple[str, str]]:
    """Yield what it gets of the person's: variables, and answers."""
    taken = dict.fromkeys(references(server.texts()))
    for name in taken:
        wanted = server.inputs.get(name.removeprefix("input:"))
        if not name.startswith("input:"):
            yield "it is given yours", name
        elif wanted is None or (wanted.default is None and not wanted.options):
            yield "asked for when it starts", name
        else:
            options = f", one of {', '.join(wanted.options)}" if wanted.options else ""
            yield "asked for when it starts", f"{name} (else {wanted.default!r}{options})"


def _visible(text: str) -> str:
    """Return a text on one line, uncut; long gaps, which push text out of sight, as a count."""
    flat = visible(text.replace("\r", "\\r").replace("\n", "\\n").replace("\t", "\\t"))
    return re.sub(r"\s{9,}", lambda gap: f"[{len(gap[0])} spaces]", flat)
