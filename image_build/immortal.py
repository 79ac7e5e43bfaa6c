"""Objects of the image become immortal (PEP 683): nothing counts references to them.

A count is written whenever an object is used, and what is written has to be copied, a page of 4 KB
at a time, for each instance. The objects of the library are never let go of, so their counts say
nothing. CPython has no function for it; the build writes the counts into the image's memory.
"""

import struct

_IMMORTAL = 5 << 28
"""What CPython 3.14 gives an object on 32 bits (`_Py_IMMORTAL_INITIAL_REFCNT`)."""

_LEAST_IMMORTAL = 1 << 30
_MOST_REFERENCES = 1_000_000
"""More than any object of the image has, and less than any address: memory that was freed begins
with one."""

_SHARE = 0.99
"""The least part of the objects that are as the table says."""

_HEAD = struct.Struct("<II")
"""How an object begins: the count of references to it, and the address of its type."""


def make_immortal(memory: bytearray, table: int, numbers: int) -> int:
    """Make the objects of a memory immortal, and erase the table that names them.

    An object that has gone since the table was made, or is another one now, is left as it is.

    Args:
        memory: The memory.
        table: The address of the table: numbers of 32 bits, in twos, the address of an object and
            that of its type. Zeros follow the last one.
        numbers: The number of numbers in it.

    Returns:
        How many objects have become immortal.

    Raises:
        ValueError: The table is empty, or says of too many objects what is not so.
    """
    size = numbers * 4
    rows = [row for row in _HEAD.iter_unpack(memory[table : table + size]) if row[0]]
    memory[table : table + size] = bytes(size)
    made = ready = 0
    for address, kind in rows:
        if address + _HEAD.size > len(memory):
            continue
        count, now = _HEAD.unpack_from(memory, address)
        if now != kind:
            continue
        if count >= _LEAST_IMMORTAL:
            ready += 1
        elif 0 < count < _MOST_REFERENCES:
            _HEAD.pack_into(memory, address, _IMMORTAL, kind)
            made += 1
    if not rows or made + ready < _SHARE * len(rows):
        raise ValueError(f"{made + ready} of {len(rows)} objects of the image are where it says")
    return made
