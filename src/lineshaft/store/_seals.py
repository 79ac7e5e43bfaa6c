"""Signing and checking of a run's log: HMAC-SHA256 over each row, its place and its predecessor.

Not covered: the log of a whole run replaced by an earlier copy, by a program that can write the
store and kept the copy.
"""

import hashlib
import hmac
import struct
import zlib

from lineshaft.errors import StateError, UntrustedState

FORMAT = 2
"""Version of the rows and of their contents; 1 is that of stores before the run log."""

_LARGE = 10_000
_HEAD = struct.Struct("!BB")
_PLAIN, _PACKED = 0, 1

Field = str | int | bytes


class Seals:
    """Signs with one key, which it does not show."""

    __slots__ = ("_key", "id")

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.id = hmac.new(key, b"lineshaft key", hashlib.sha256).hexdigest()[:16]
        """Distinguishes keys, and reveals no part of the key."""

    def sign(self, *fields: Field) -> bytes:
        """Return the signature of some values in their order."""
        parts = [b"lineshaft state"]
        for field in fields:
            if isinstance(field, bytes):
                parts += (struct.pack("!cQ", b"b", len(field)), field)
            else:
                data = str(field).encode("utf-8", "surrogatepass")
                kind = b"i" if isinstance(field, int) else b"s"
                parts += (struct.pack("!cQ", kind, len(data)), data)
        return hmac.digest(self._key, b"".join(parts), "sha256")


def pack(data: bytes) -> bytes:
    """Return exact data as a row holds it: a byte for the format, one for the packing, the rest."""
    if len(data) > _LARGE:
        return _HEAD.pack(FORMAT, _PACKED) + zlib.compress(data, 1)
    return _HEAD.pack(FORMAT, _PLAIN) + data


def unpack(packed: bytes) -> bytes:
    """Return the value that `pack` was given.

    Raises:
        UntrustedState: The signature does not fit.
        StateError: Another version packed it.
    """
    if len(packed) < _HEAD.size:
        raise changed()
    version, packing = _HEAD.unpack_from(packed)
    check_format(version)
    data = packed[_HEAD.size :]
    return zlib.decompress(data) if packing == _PACKED else data


def check_format(version: int) -> None:
    """Refuse a state of another version.

    Raises:
        StateError: The version is another one.
    """
    if version != FORMAT:
        raise StateError(
            f"the state of this run has format {version}, which another version of Lineshaft keeps;"
            f" this one reads format {FORMAT}",
            hint="go on with the version that began the run, or run the script anew",
        )


def changed() -> UntrustedState:
    """Return the error for a state whose signature does not fit."""
    return UntrustedState(
        "the state of this run is not what was kept: another program changed it",
        hint="run the script anew; `lineshaft show` lists the calls made so far",
    )
