"""Random numbers, uuids and secrets of a script whose run may be executed again: from one seed.

Other threads and forked processes are given what the system gives.
"""

import os
import sys
from itertools import count
from types import ModuleType

from lineshaft.engines._cpython._inside._clocks import Clock, Standins
from lineshaft.engines._cpython._inside._interpreter import digest, feed_random
from lineshaft.engines._cpython._inside._line import line

_SEED_BYTES = 64
_SINCE_1582 = 0x01B21DD213814000
_real = os.urandom


class Entropy:
    """An endless text of random bytes, the same for the same seed.

    Args:
        day: The time of day, of which uuids have some.
    """

    def __init__(self, day: Clock) -> None:
        self._key = b""
        self._blocks = count()
        self._rest = b""
        self._uuids = Uuids(day)
        digest(b"")  # a forked process is slow at what it does for the first time

    def __call__(self, size: int, /) -> bytes:
        """Return the next bytes."""
        if not line.is_here or size < 0:
            return _real(size)
        parts = [self._rest]
        have = len(self._rest)
        while have < size:
            parts.append(digest(self._key + next(self._blocks).to_bytes(8, "big")))
            have += len(parts[-1])
        text = b"".join(parts)
        self._rest = text[size:]
        return text[:size]

    def stand_in(self, standins: Standins) -> None:
        """Have everything draw from this.

        Args:
            standins: What is to take the place of something.
        """
        standins.add(os, "urandom", self)
        if hasattr(os, "getrandom"):
            standins.add(os, "getrandom", self._getrandom)

    def begin(self, seed: str) -> None:
        """Begin the text, and have generators of random numbers seeded from it.

        Args:
            seed: Text of hexadecimal digits.
        """
        self._key = bytes.fromhex(seed)
        feed_random(self, lambda: int.from_bytes(self(_SEED_BYTES), "big"))
        numbers = sys.modules.get("numpy.random")
        if numbers is not None:
            numbers.seed()
        self._uuids.begin(self)

    def _getrandom(self, size: int, flags: int = 0) -> bytes:
        del flags
        return self(size)


class Uuids:
    """Makes uuids of the first version, as the C library does.

    Args:
        day: The time of day.
    """

    def __init__(self, day: Clock) -> None:
        self._day = day
        self._node = self._sequence = self._last = 0
        self._module = ModuleType("_uuid")
        vars(self._module).update(
            generate_time_safe=self.make,
            has_uuid_generate_time_safe=True,
            has_stable_extractable_node=False,
            UuidCreate=None,
        )

    def begin(self, entropy: Entropy) -> None:
        """Have the module `uuid` use this, loaded already or not."""
        self._node = int.from_bytes(entropy(6), "big") | 1 << 40  # as one that is no machine's
        self._sequence = int.from_bytes(entropy(2), "big") & 0x3FFF | 0x8000
        known = sys.modules.get("uuid")
        if known is not None:
            vars(known).update(_generate_time_safe=self.make, _node=self._node)
        sys.modules["_uuid"] = self._module

    def make(self) -> tuple[bytes, None]:
        """Return the bytes of the next one, and that nobody knows whether it is safe."""
        last = self._last = max(self._day.read_ns() // 100 + _SINCE_1582, self._last + 1)
        low, middle, high = last & 0xFFFFFFFF, last >> 32 & 0xFFFF, last >> 48 & 0x0FFF | 0x1000
        number = low << 96 | middle << 80 | high << 64 | self._sequence << 48 | self._node
        return number.to_bytes(16, "big"), None
