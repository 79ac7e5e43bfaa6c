"""Signs what is kept of a run, and checks it: HMAC-SHA256 over a row, its place and what precedes.

A row is one byte for the format, one that says how it is packed, the signature, then the data.
Not covered: the state of a whole run put back to what it was earlier, by somebody who can write
the store and had kept a copy.
"""

import hashlib
import hmac
import struct
import zlib

from lineshaft.errors import StateError, UntrustedState

FORMAT = 1
"""Version of the rows and of what stands in them."""

_LARGE = 10_000
_HEAD = struct.Struct("!BB32s")
_PLAIN, _PACKED = 0, 1

Field = str | int | bytes


class Seals:
    """Signs with one key, which it does not show."""

    __slots__ = ("_key", "id")

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.id = hmac.new(key, b"lineshaft key", hashlib.sha256).hexdigest()[:16]
        """Tells keys apart, and nothing of the key."""

    def sign(self, *fields: Field) -> bytes:
        """Return the signature of some values in their order."""
        mac = hmac.new(self._key, b"lineshaft state", hashlib.sha256)
        for field in fields:
            data = (
                field if isinstance(field, bytes) else str(field).encode("utf-8", "surrogatepass")
            )
            mac.update(struct.pack("!cQ", type(field).__name__[0].encode(), len(data)))
            mac.update(data)
        return mac.digest()

    def wrap(self, data: bytes, *place: Field) -> tuple[bytes, bytes]:
        """Return a row for data at a place, and its signature."""
        packing = _PLAIN
        if len(data) > _LARGE:
            packing, data = _PACKED, zlib.compress(data, 1)
        mac = self.sign(FORMAT, packing, data, *place)
        return _HEAD.pack(FORMAT, packing, mac) + data, mac

    def unwrap(self, row: bytes, *place: Field) -> tuple[bytes, bytes]:
        """Return the data of a row, and its signature.

        Raises:
            UntrustedState: It is not what was kept at this place.
            StateError: Another version kept it.
        """
        if len(row) < _HEAD.size:
            raise changed()
        version, packing, mac = _HEAD.unpack_from(row)
        data = row[_HEAD.size :]
        check_format(version)
        if not hmac.compare_digest(mac, self.sign(FORMAT, packing, data, *place)):
            raise changed()
        return (zlib.decompress(data) if packing == _PACKED else data), mac


def check_format(version: int) -> None:
    """Refuse what another version keeps.

    Raises:
        StateError: It does.
    """
    if version != FORMAT:
        raise StateError(
            f"the state of this run has format {version}, which another version of Lineshaft keeps;"
            f" this one reads format {FORMAT}",
            hint="go on with the version that began the run, or run the script anew",
        )


def changed() -> UntrustedState:
    """Return the error for what does not bear its signature."""
    return UntrustedState(
        "the state of this run is not what was kept: something else changed it",
        hint="run the script anew; `lineshaft show` tells what had been done",
    )
