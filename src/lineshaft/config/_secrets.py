"""Secrets that a person gave into our keeping: one file of their own, mode 0600.

They stand in for variables that the environment lacks, when a server is started. They are neither
shown nor written anywhere else.
"""

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import cast

from lineshaft.config._files import changing, read_bytes
from lineshaft.config._places import user_file
from lineshaft.errors import ConfigError
from lineshaft.files import private_folder, write_whole
from lineshaft.values import TOKEN_FORMS, looks_secret

_FILE = "secrets.json"
_WORDS = ("true", "false", "yes", "no", "none", "auto", "oauth", "oauth2", "basic", "bearer")
_ABOUT = re.compile(r"(?:file|path|dir|type|mode|env|timeout|method|host|port)$", re.IGNORECASE)
"""How names end that speak of a secret and do not hold one."""


def secrets_file(environ: Mapping[str, str] | None = None) -> Path:
    """Return where they are kept; it need not exist."""
    return user_file(environ).parent / _FILE


def kept_secrets(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the secrets by the name of the variable that they stand in for.

    Raises:
        ConfigError: The file cannot be read; shows nothing of it.
    """
    path = secrets_file(environ)
    if not os.path.lexists(path):
        return {}
    try:
        content = cast("object", json.loads(read_bytes(path)))
    except (ValueError, RecursionError):
        content = None
    table = cast("dict[str, object]", content) if isinstance(content, dict) else {None: None}
    if not all(isinstance(value, str) for value in table.values()):
        raise ConfigError(f"{str(path)!r} is not a JSON object of texts by name")
    return cast("dict[str, str]", table)


def keep_secrets(new: Mapping[str, str], *, environ: Mapping[str, str] | None = None) -> None:
    """Keep more secrets, beside those that are kept.

    Raises:
        ConfigError: The file cannot be written.
    """
    if not new:
        return
    path = secrets_file(environ)
    private_folder(path.parent)
    with changing(path):
        text = json.dumps({**kept_secrets(environ), **new}, indent=2, sort_keys=True)
        replace_file(path, text + "\n")


def replace_file(path: Path, text: str, *, mode: int = 0o600) -> None:
    """Put a text in the place of a file, whole or not at all.

    Args:
        path: The file; its folder exists.
        text: Its new content.
        mode: What its owner and others may do with it.

    Raises:
        ConfigError: It cannot be written.
    """
    try:
        write_whole(path, text.encode(), mode, sync=True)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{str(path)!r} cannot be written: {reason}") from error


def holds_secret(name: str, value: str) -> bool:
    """Return whether a value looks like a secret that is written out.

    Args:
        name: What it is the value of: a variable, a header, an option.
        value: As it is written, with variables in it.
    """
    plain = without_variables(value)
    if plain.casefold() in ("", "bearer", "basic", "token"):
        return False
    named = looks_secret(name) and not _ABOUT.search(name) and plain == value.strip()
    return (named and not _is_plain(plain)) or is_token(plain)


def without_variables(text: str) -> str:
    """Return a text without the variables in it."""
    return re.sub(r"\$\{[^{}]*\}", "", text).strip()


def is_token(text: str) -> bool:
    """Return whether a text holds a token of a well-known form."""
    return any(pattern.search(text) for pattern in _forms())


def without_tokens(text: str, mask: str) -> str:
    """Return a text with something else in the place of tokens of well-known forms."""
    for pattern in _forms():
        text = pattern.sub(mask, text)
    return text


def _is_plain(value: str) -> bool:
    """Return whether a value is a switch, a number or a path, under any name."""
    return value.casefold() in _WORDS or bool(re.fullmatch(r"\d{1,3}|[~.]?/.*", value))


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(form.pattern, re.ASCII) for form in TOKEN_FORMS)
