"""The holes in the interpreter's memory, filled before the image is taken.

Memory freed during the import of the standard library leaves holes in thousands of pages. Every
instance would put its first objects into them, a page of its own for nearly each. With the holes
filled it begins in fresh memory, where its objects lie close together: a quarter less of its own.
"""

import gc
import sys

_LARGEST = 512  # beyond it Python asks the C library
_STEP = 8
_MOST = 5_000
_STRETCH = 16_384
_HEAD = 64  # what the allocator puts before the objects of a page


def filled() -> list[object]:
    """Return objects that fill the holes of each size; they are never let go of."""
    gc.collect()  # also lets go of what Python keeps to use again
    held: list[object] = []
    around = sys.getsizeof(b"")
    for size in range(around - around % _STEP + _STEP, _LARGEST + 1, _STEP):
        held += _small(size, size - around)
    held += [object() for _ in range(_MOST)]
    held += [float(number) for number in range(_MOST)]
    gc.freeze()
    return held


def _small(size: int, length: int) -> list[bytes]:
    """Allocate until a whole stretch lies in one piece: memory that nothing used before."""
    held: list[bytes] = []
    in_a_row = 0
    before = 0
    while in_a_row < _STRETCH // size and len(held) < _MOST:
        made = bytes(length)
        held.append(made)
        follows = 0 < id(made) - before <= 2 * size + _HEAD
        in_a_row = in_a_row + 1 if follows else 0
        before = id(made)
    return held
