"""Settings of `lineshaft serve`."""

import os
from collections.abc import Mapping
from typing import Literal, cast

from lineshaft.config._settings import Settings
from lineshaft.values import Struct


class ServeSettings(Struct, frozen=True, kw_only=True):
    """How a session is offered as a server."""

    __unshown__ = frozenset({"token"})

    direct: tuple[str, ...] = ()
    """Names and globs of the tools that may be called without a script."""

    approvals: Literal["person", "client"] = "person"
    host: str = "127.0.0.1"
    port: int = 8_765
    token_env: str = ""
    """The variable that holds the token."""

    token: str | None = None
    """What clients must show; None: the variable is not set."""


def serve_settings(
    settings: Settings, *, environ: Mapping[str, str] | None = None
) -> ServeSettings:
    """Return the settings of `lineshaft serve`.

    Args:
        settings: What `read_settings` settled.
        environ: Variables; those of the process where nothing is given.

    Raises:
        ConfigError: A project's file says what only a person may.
    """
    values = os.environ if environ is None else environ
    approvals, host, port, token_env = (
        settings.own(f"serve.{name}").value for name in ("approvals", "host", "port", "token_env")
    )
    return ServeSettings(
        direct=tuple(cast("list[str]", settings.setting("serve.direct").value)),
        approvals=cast('Literal["person", "client"]', approvals),
        host=str(host),
        port=cast("int", port),
        token_env=str(token_env),
        token=values.get(str(token_env)) or None,
    )
