"""Reading of the `.env` files that clients let servers have: `NAME=value`, a line each."""

import re
from pathlib import Path

from lineshaft.config._files import read_bytes
from lineshaft.errors import ConfigError
from lineshaft.values import lazy_pattern

_LINE = lazy_pattern(
    r"""\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=\s*
    (?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\n]*?))\s*(?:(?<=\s)\#[^\n]*)?""",
    re.VERBOSE,
)
_ESCAPED = lazy_pattern(r"\\(.)")


def env_file(path: Path) -> dict[str, str]:
    """Return the variables of a file.

    Args:
        path: The file.

    Raises:
        ConfigError: It cannot be read; shows nothing of it.
    """
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{str(path)!r} is not UTF-8 text") from error
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE().fullmatch(line)
        if match is None or "\0" in line:
            raise ConfigError(f"{str(path)!r}: line {number} is not NAME=value")
        name, quoted, plain, bare = match.groups()
        if quoted is not None:
            found[name] = _ESCAPED().sub(lambda each: "\n" if each[1] == "n" else each[1], quoted)
        else:
            found[name] = plain if plain is not None else (bare or "")
    return found
