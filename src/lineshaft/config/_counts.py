"""The number of tools that each MCP server had when it was there last, by its name.

Kept in one file of the state folder, for what is told of servers that are not there yet. It is a
comfort: a file that cannot be read or written changes nothing else.
"""

import json
from collections.abc import Mapping
from contextlib import suppress

from lineshaft.config._files import read_bytes
from lineshaft.config._secrets import replace_file
from lineshaft.errors import ConfigError
from lineshaft.files import private_folder, state_folder
from lineshaft.values import DecodeError, decode

_FILE = "tool-counts.json"
_MOST = 500
"""Servers that are kept; the oldest go first."""


class ToolCounts:
    """The counts of the last time.

    Args:
        environ: Variables that say where they are kept; None: the process's own.
    """

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = environ
        self._known: dict[str, int] | None = None

    def known(self) -> Mapping[str, int]:
        """Return the number of tools by the name of a server."""
        if self._known is None:
            self._known = self._read()
        return self._known

    def keep(self, counts: Mapping[str, int]) -> None:
        """Keep the counts of servers that are there."""
        there = {name: count for name, count in counts.items() if name and count}
        known = self.known()
        if there.items() <= known.items():
            return
        others = {name: count for name, count in known.items() if name not in there}
        self._known = dict(list({**others, **there}.items())[-_MOST:])
        with suppress(ConfigError, OSError):
            folder = private_folder(state_folder(self._environ))
            replace_file(folder / _FILE, json.dumps(self._known))

    def _read(self) -> dict[str, int]:
        with suppress(ConfigError, OSError, ValueError, DecodeError):
            data = read_bytes(state_folder(self._environ) / _FILE)
            return decode(dict[str, int], json.loads(data))
        return {}
