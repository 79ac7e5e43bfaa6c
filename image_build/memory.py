"""The memory that an image begins with: read out of its component, and written back.

By the binary formats of the core specification of WebAssembly (section 5 of a module has its
memories, section 11 its data) and of the component model (section 1 is a core module).
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_PAGE = 65_536
_HEADER = 8
_MODULE, _MEMORIES, _DATA = 1, 5, 11
_PIECE = re.compile(rb"[^\0]+(?:\0{1,127}[^\0]+)*")
"""Content of one segment: short gaps are part of it, as wasmtime takes 100,000 segments at most."""


class _Section(NamedTuple):
    """One section of a component or a module: its kind, and where its content lies."""

    kind: int
    start: int
    end: int


class ImageMemory:
    """The memory of the one module of a component that has any of its own.

    Args:
        component: The component.

    Raises:
        ValueError: No module has a memory, or its data are not put at fixed places.
    """

    def __init__(self, component: bytes) -> None:
        self._component = component
        self._module, pages, data = _with_memory(component)
        self.data = bytearray(pages * _PAGE)
        """The whole memory; its length stays."""

        for at, piece in _segments(component, data):
            self.data[at : at + len(piece)] = piece

    def component(self) -> bytes:
        """Return the component with the memory as it is now."""
        given, module = self._component, self._module
        inner = [given[module.start : module.start + _HEADER]]
        for each in _sections(given, module.start + _HEADER, module.end):
            content = self._segments() if each.kind == _DATA else given[each.start : each.end]
            inner.append(_section(each.kind, content))
        outer = [given[:_HEADER]]
        for each in _sections(given, _HEADER, len(given)):
            content = b"".join(inner) if each == module else given[each.start : each.end]
            outer.append(_section(each.kind, content))
        return b"".join(outer)

    def _segments(self) -> bytes:
        """Return the content of the section of data: all that is not zero."""
        found = [(piece.start(), piece.group()) for piece in _PIECE.finditer(self.data)]
        each = (b"\0A%b\x0b%b%b" % (_signed(at), _unsigned(len(of)), of) for at, of in found)
        return _unsigned(len(found)) + b"".join(each)


def _with_memory(component: bytes) -> tuple[_Section, int, _Section]:
    """Return the module that has a memory, the pages of its memory, and its section of data."""
    for module in _sections(component, _HEADER, len(component)):
        if module.kind != _MODULE:
            continue
        inside = {s.kind: s for s in _sections(component, module.start + _HEADER, module.end)}
        if _MEMORIES in inside and _DATA in inside:
            _, at = _number(component, inside[_MEMORIES].start)
            pages, _ = _number(component, at + 1)
            return module, pages, inside[_DATA]
    raise ValueError("no module of the image has a memory with data")


def _segments(component: bytes, data: _Section) -> Iterator[tuple[int, bytes]]:
    """Yield the place and the content of each segment of data."""
    many, at = _number(component, data.start)
    for _ in range(many):
        if component[at : at + 2] != b"\0A":  # active, at a constant address
            raise ValueError("the image has data that are not put at a fixed place")
        place, at = _number(component, at + 2)
        size, at = _number(component, at + 1)
        yield place, component[at : at + size]
        at += size


def _sections(data: bytes, at: int, end: int) -> Iterator[_Section]:
    while at < end:
        size, start = _number(data, at + 1)
        yield _Section(data[at], start, start + size)
        at = start + size


def _section(kind: int, content: bytes) -> bytes:
    return bytes([kind]) + _unsigned(len(content)) + content


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of WebAssembly's, seven bits a byte, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def _unsigned(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])


def _signed(value: int) -> bytes:
    """Write a number that is not negative where a sign is read: the highest bit stays zero."""
    written = bytearray()
    while value > 0x3F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])
