"""Names that say their value is a secret: of variables, arguments, keys, headers and options."""

import re
from functools import lru_cache

_WORDS = frozenset(
    {
        *("auth", "authorization", "bearer", "cookie", "credential", "credentials", "dsn", "key"),
        *("passphrase", "passwd", "password", "passwords", "pwd", "secret", "secrets"),
        *("token", "webhook"),
    }
)
_ENDINGS = (
    *("password", "passwd", "passphrase", "secret", "secrets", "credential", "credentials"),
    *("token", "dsn", "webhook", "apikey", "accesskey", "authkey", "encryptionkey", "licensekey"),
    *("masterkey", "privatekey", "secretkey", "signingkey"),
)
_QUALIFIERS = frozenset(
    {
        *("access", "account", "api", "auth", "client", "deploy", "encryption", "host", "license"),
        *("master", "private", "secret", "service", "shared", "signing", "ssh", "webhook"),
    }
)
_PLURALS = frozenset({"keys", "tokens"})
"""Secrets where a qualifier stands beside them: `max_tokens` is a number."""

_WORKING_FOLDER = "PWD"
"""A shell's variable for its folder, which is no password."""

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@lru_cache(maxsize=4096)
def looks_secret(name: str, *, in_result: bool = False) -> bool:
    """Return whether a name, by its parts, says that its value is a secret.

    `API_KEY`, `dbPassword` and `PGPASSWORD` do; `BYPASS`, `COMPASS`, `monkey`, `max_tokens` don't.

    Args:
        name: The name, in any case.
        in_result: Whether it is a key inside a result, where `key` and `keys` are mostly none.
    """
    parts = [part.lower() for part in _PARTS.findall(name)]
    telling = [part for part in parts if part in _WORDS or part.endswith(_ENDINGS)]
    is_qualified = not _QUALIFIERS.isdisjoint(parts)
    if not telling:
        return is_qualified and not in_result and not _PLURALS.isdisjoint(parts)
    if telling == ["key"]:
        return is_qualified or not in_result
    return name != _WORKING_FOLDER
