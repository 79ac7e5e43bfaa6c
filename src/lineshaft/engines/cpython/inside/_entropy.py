"""Random numbers and secrets of a script: all of them from the seed of its run.

They stand in place before the guest looks for them, and are the system's own until a run begins.
"""

import os
import random
import sys

from lineshaft.engines.cpython.inside._standins import Standins
from lineshaft.engines.host.readings import RandomStream

_SEED_BYTES = 64
_system = os.urandom


class Entropy:
    """Random bytes, the same for the same seed."""

    def __init__(self) -> None:
        self._stream: RandomStream | None = None

    def __call__(self, size: int, /) -> bytes:
        """Return the next bytes."""
        if self._stream is None or size < 0:
            return _system(size)
        return self._stream.take(size)

    def stand_in(self, standins: Standins) -> None:
        """Make all code draw from this source.

        Args:
            standins: The stand-ins to put in place.
        """
        standins.add(os, "urandom", self)
        standins.add(os, "getrandom", self._getrandom)
        original = random.Random.seed

        def seeded(generator: random.Random, a: object = None, version: int = 2) -> None:
            given = int.from_bytes(self(_SEED_BYTES), "big") if a is None else a
            original(generator, given, version)  # pyright: ignore[reportArgumentType]  as it is given

        setattr(random, "_urandom", self)  # noqa: B010  it has no public name
        random.Random.seed = seeded  # pyright: ignore[reportAttributeAccessIssue]  it does the same
        random.seed = vars(random)["_inst"].seed

    def begin(self, seed: str) -> None:
        """Draw from a seed from now on.

        Args:
            seed: Text.
        """
        self._stream = RandomStream(seed)
        random.seed()
        numbers = sys.modules.get("numpy.random")
        if numbers is not None:
            numbers.seed(int.from_bytes(self(4), "big"))

    def _getrandom(self, size: int, flags: int = 0) -> bytes:
        del flags
        return self(size)
