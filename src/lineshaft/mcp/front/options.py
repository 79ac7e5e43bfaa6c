"""Where a front listens, and who may come. Imports nothing of the MCP SDK."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from lineshaft.errors import ConfigError

_SHORTEST_TOKEN = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    """Where a front listens, and who may come."""

    host: str = "127.0.0.1"
    port: int = 8_765
    """0: any that is free."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    """What clients must show."""

    hosts: Sequence[str] = ()
    """Names by which clients may call it, beside those of this machine and `host`."""

    def __post_init__(self) -> None:
        if len(self.token) < _SHORTEST_TOKEN or not self.token.isascii():
            raise ConfigError(
                f"the token needs at least {_SHORTEST_TOKEN} ASCII characters",
                hint='make one: python -c "import secrets; print(secrets.token_urlsafe())"',
            )
