"""The objects that the image holds, for its build: it makes them immortal (`image_build`)."""

import gc
from array import array
from types import CodeType

_MOST_OBJECTS = 400_000
_LARGEST_MEMORY = 1 << 26
_ALIGNED = 8  # addresses of objects are multiples of it
_BITS = 8


class Objects:
    """All objects that can be reached, noted in memory that is taken once.

    What its search would free is part of the image, and of what a script may use.
    """

    def __init__(self) -> None:
        self.table = array("I", bytes(4 * 2 * _MOST_OBJECTS))
        """Two numbers for each object: its address, and that of its type; zeros at the end."""

        self._numbers = 0
        self._seen = bytearray(_LARGEST_MEMORY // _ALIGNED // _BITS)
        gc.unfreeze()
        left = gc.get_objects()
        while left:
            one = left.pop()
            if self._is_new(id(one)):
                self.table[self._numbers] = id(one)
                self.table[self._numbers + 1] = id(type(one))
                self._numbers += 2
                left += gc.get_referents(one)
                if isinstance(one, CodeType):  # it does not tell the collector
                    left += (one.co_consts, one.co_names, one.co_name, one.co_qualname)
        self._seen[:] = bytes(len(self._seen))
        gc.freeze()

    def _is_new(self, address: int) -> bool:
        """Note an address; return whether it was not noted before."""
        at, bit = address // _ALIGNED // _BITS, 1 << address // _ALIGNED % _BITS
        new = not self._seen[at] & bit
        self._seen[at] |= bit
        return new
