"""Random numbers, uuids and secrets of a script whose run may be executed again: from one seed.

Other threads and forked processes are given what the system gives.
"""

import os
import random
import sys
from collections.abc import Callable
from itertools import count
from types import ModuleType

from lineshaft.engines._cpython._inside._clocks import Clock, replace
from lineshaft.engines._cpython._inside._interpreter import keyed_digest, seeds_of_random
from lineshaft.engines._cpython._inside._line import line

_SEED_BYTES = 64
_SINCE_1582 = 0x01B21DD213814000
_real = os.urandom


class Entropy:
    """An endless text of random bytes, the same for the same seed.

    Args:
        seed: Text of hexadecimal digits.
    """

    def __init__(self, seed: str) -> None:
        self._digest = keyed_digest(bytes.fromhex(seed))
        self._blocks = count()
        self._rest = b""

    def __call__(self, size: int, /) -> bytes:
        """Return the next bytes."""
        if not line.is_here or size < 0:
            return _real(size)
        parts = [self._rest]
        have = len(self._rest)
        while have < size:
            parts.append(self._digest(next(self._blocks).to_bytes(8, "big")))
            have += len(parts[-1])
        text = b"".join(parts)
        self._rest = text[size:]
        return text[:size]

    def install(self, day: Clock) -> None:
        """Have everything draw from this from now on.

        Args:
            day: The time of day, of which uuids have some.
        """
        replace(os, "urandom", self)
        if hasattr(os, "getrandom"):
            replace(os, "getrandom", self._getrandom)
        seeds_of_random(self, lambda: int.from_bytes(self(_SEED_BYTES), "big"))
        numbers = sys.modules.get("numpy.random")
        if numbers is not None:
            numbers.seed()
        self._install_uuid(day)

    def _getrandom(self, size: int, flags: int = 0) -> bytes:
        del flags
        return self(size)

    def _install_uuid(self, day: Clock) -> None:
        node = int.from_bytes(self(6), "big") | 1 << 40  # as one that is no machine's
        made = _uuids(day, node, random.getrandbits(14))
        known = sys.modules.get("uuid")
        if known is not None:
            vars(known).update(_generate_time_safe=made, _node=node)
            return
        stub = ModuleType("_uuid")
        vars(stub).update(
            generate_time_safe=made,
            has_uuid_generate_time_safe=True,
            has_stable_extractable_node=False,
            UuidCreate=None,
        )
        sys.modules["_uuid"] = stub


def _uuids(day: Clock, node: int, sequence: int) -> Callable[[], tuple[bytes, int | None]]:
    """Return what makes uuids of the first version, as the C library does."""
    last = 0

    def made() -> tuple[bytes, int | None]:
        nonlocal last
        last = max(day.read_ns() // 100 + _SINCE_1582, last + 1)
        low, middle, high = last & 0xFFFFFFFF, last >> 32 & 0xFFFF, last >> 48 & 0x0FFF | 0x1000
        number = low << 96 | middle << 80 | high << 64 | (sequence | 0x8000) << 48 | node
        return number.to_bytes(16, "big"), None

    return made
