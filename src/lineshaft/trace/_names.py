"""Names that say their value is a secret."""

import re
from collections.abc import Mapping
from functools import lru_cache

_WORDS = frozenset(
    {
        *("auth", "authorization", "bearer", "cookie", "credential", "credentials", "dsn", "key"),
        *("passphrase", "passwd", "password", "passwords", "pwd", "secret", "secrets"),
        *("token", "webhook"),
    }
)
_ENDINGS = ("password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "dsn")
_QUALIFIERS = frozenset(
    {
        *("access", "account", "api", "auth", "client", "deploy", "encryption", "host", "license"),
        *("master", "private", "secret", "service", "shared", "signing", "ssh", "webhook"),
    }
)
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SHORTEST = 8


@lru_cache(maxsize=4096)
def looks_secret(name: str) -> bool:
    """Return whether a name, by its parts, says that its value is a secret.

    `API_KEY`, `dbPassword` and `PGPASSWORD` do; `BYPASS`, `COMPASS`, `monkey`, `max_tokens` don't.
    """
    return any(part in _WORDS or part.endswith(_ENDINGS) for part in _parts(name))


@lru_cache(maxsize=4096)
def holds_secret(name: str) -> bool:
    """Return the same for a key inside a result, where a plain `key` is mostly none."""
    parts = _parts(name)
    secret = [part for part in parts if part in _WORDS or part.endswith(_ENDINGS)]
    if secret == ["key"]:
        return not _QUALIFIERS.isdisjoint(parts)
    return bool(secret)


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of an environment that are secrets by their names.

    Args:
        environment: Such as `os.environ`; values under 8 characters are left out, they would
            hide ordinary words.
    """
    return tuple(
        value
        for name, value in environment.items()
        if len(value) >= _SHORTEST and looks_secret(name)
    )


def _parts(name: str) -> list[str]:
    return [part.lower() for part in _PARTS.findall(name)]
