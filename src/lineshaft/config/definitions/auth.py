"""Identification to a server at an address: the `auth` of Lineshaft's own files.

Above: what reads files, and what starts servers. Assertions hold for minutes or hours and are never
written out: they come from a variable, a file or a command, the latter two anew for each use.
"""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict, cast

from lineshaft.config.definitions.variables import Variables
from lineshaft.errors import ConfigError
from lineshaft.mcp import Assertion, Grant

KEYS = (
    *("client_id", "client_secret", "client_key", "key_algorithm", "grant", "issuer"),
    *("assertion", "assertion_file", "assertion_command"),
    *("exchange_url", "exchange_client_id", "exchange_client_secret"),
)
GRANTS = ("authorization_code", "client_credentials", "jwt_bearer")
_SOURCES = ("assertion", "assertion_file", "assertion_command")
_SECRETS = ("client_secret", "client_key", "assertion", "exchange_client_secret")
_VARIABLE = re.compile(r"\$\{[^{}]+\}")


class Access(TypedDict):
    """The fields of a `ServerSpec` that `auth` settles."""

    client_id: str
    client_secret: str
    client_key: str
    key_algorithm: str
    grant: Grant
    issuer: str
    assertion: Assertion | str


def auth_problem(table: Mapping[str, str]) -> str:
    """Return what is wrong with a table of `auth`, in words that follow its name; mostly nothing.

    Args:
        table: As it is written, its keys known.
    """
    given = [name for name in _SOURCES if table.get(name)]
    exchanges = [name for name in table if name.startswith("exchange_client")]
    problems = (
        (
            table.get("grant", GRANTS[0]) not in GRANTS,
            f"grant is one of {', '.join(map(repr, GRANTS))}",
        ),
        (len(given) > 1, f"give one of {' and '.join(given)}"),
        (
            not _VARIABLE.fullmatch(table.get("assertion", "${X}")),
            "assertion is a variable, such as ${TOKEN}: a token that is written out runs out",
        ),
        (
            bool(table.get("exchange_url")) and not given,
            f"exchange_url needs one of {', '.join(_SOURCES)}",
        ),
        (
            bool(exchanges) and not table.get("exchange_url"),
            f"{' and '.join(exchanges)} is for exchange_url; give that too",
        ),
    )
    return next((text for is_wrong, text in problems if is_wrong), "")


def access_of(table: Mapping[str, str], variables: Variables) -> Access:
    """Return how we name ourselves, all variables put in.

    Args:
        table: `auth`, as it is written.
        variables: What stands for what; takes note of what is secret.

    Raises:
        ConfigError: A variable has no value, or a command cannot be split.
    """
    said = {name: variables.fill(text) for name, text in table.items()}
    variables.told.update(said[name] for name in _SECRETS if said.get(name))
    return {
        "client_id": said.get("client_id", ""),
        "client_secret": said.get("client_secret", ""),
        "client_key": said.get("client_key", ""),
        "key_algorithm": said.get("key_algorithm", "RS256"),
        "grant": cast("Grant", said.get("grant", GRANTS[0])),
        "issuer": said.get("issuer", ""),
        "assertion": _assertion(said),
    }


def _assertion(said: Mapping[str, str]) -> Assertion | str:
    from lineshaft.mcp import client  # noqa: PLC0415  loads the SDK

    assertion: Assertion | str = said.get("assertion", "")
    if said.get("assertion_file"):
        path = Path(said["assertion_file"]).expanduser()
        if not path.is_absolute():
            raise ConfigError("its assertion_file is no whole path", hint="/... or ~/...")
        assertion = client.assertion_from_file(path)
    elif said.get("assertion_command"):
        try:
            words = shlex.split(said["assertion_command"])
        except ValueError as error:
            raise ConfigError(f"its assertion_command cannot be split: {error}") from error
        assertion = client.assertion_from_command(words)
    if not said.get("exchange_url"):
        return assertion
    return client.exchanged(
        assertion,
        url=said["exchange_url"],
        client_id=said.get("exchange_client_id", ""),
        client_secret=said.get("exchange_client_secret", ""),
    )
