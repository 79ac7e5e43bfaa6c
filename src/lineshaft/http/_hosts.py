"""Whom an HTTP request is for and which page sent it: against pages that reach for local servers.

A page of another site may send requests to this machine, under a name of its own that leads here
(DNS rebinding) or with its own origin. Both headers are parsed and compared whole: a comparison of
beginnings lets `localhost:evil.example` pass.
"""

import re
from collections.abc import Iterable, Sequence

LOCAL = ("127.0.0.1", "localhost", "[::1]")
"""Names of this machine."""

_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::(?P<port>[0-9]{1,5}))?")
_ORIGIN = re.compile(r"https?://(?P<host>[^/?#@]*)")
_MOST_PORT = 65_535


class Hosts:
    """The names under which clients come.

    Args:
        names: Each a name or an address, in brackets where it has colons; with a port (`name:443`)
            only that port is let in, without one any.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(name.lower() for name in names)

    def knows_host(self, given: Sequence[bytes]) -> bool:
        """Return whether the `Host` headers of a request name this server: there must be one."""
        return len(given) == 1 and self._knows(_text(given[0]))

    def knows_origin(self, given: Sequence[bytes]) -> bool:
        """Return whether the `Origin` headers of a request name this server; there may be none."""
        if len(given) > 1:
            return False
        parts = [_ORIGIN.fullmatch(_text(each)) for each in given]
        return all(part is not None and self._knows(part["host"]) for part in parts)

    def _knows(self, text: str) -> bool:
        parts = _HOST.fullmatch(text)
        if parts is None or int(parts["port"] or 0) > _MOST_PORT:
            return False
        return parts["name"] in self._names or (parts["port"] is not None and text in self._names)


def _text(header: bytes) -> str:
    return header.decode("latin-1").strip(" \t").lower()
