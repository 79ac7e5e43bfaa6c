"""ELF files: the libraries that one needs, and changing its run path.

Only the kinds in a bundle: 64-bit, little-endian programs and shared libraries.
"""

import struct
from pathlib import Path
from typing import NamedTuple

from lineshaft.values import Struct

_MAGIC = b"\x7fELF\x02\x01"
_PT_LOAD, _PT_DYNAMIC, _PT_INTERP, _PT_NOTE = 1, 2, 3, 4
_DT_NULL, _DT_NEEDED, _DT_STRTAB, _DT_STRSZ = 0, 1, 5, 10
_DT_RPATH, _DT_RUNPATH = 15, 29
_PF_R = 4
_PAGE = 0x10000
_LONGEST = 0x10000
"""Of a text at most: texts may lie in one another, and so be longer in all than their file."""

_MOST_ENTRIES = 4_096
"""Of a dynamic section at most."""


class _Segment(NamedTuple):
    """One program header."""

    kind: int
    flags: int
    offset: int
    address: int
    physical: int
    file_size: int
    memory_size: int
    align: int


_SEGMENT = struct.Struct("<IIQQQQQQ")
_ENTRY = struct.Struct("<qQ")


class NotElf(ValueError):
    """The file is no 64-bit, little-endian ELF file with a dynamic section."""


class Elf(Struct, frozen=True):
    """The parts of an ELF file that decide what is loaded with it."""

    needed: tuple[str, ...]
    """Names of libraries."""

    run_path: tuple[str, ...]
    """Folders searched for them first; may hold `$ORIGIN`."""

    interpreter: str | None
    """The dynamic loader that a program names."""

    machine: int
    """The processor that it is for, as ELF numbers them."""


def read_elf(path: Path) -> Elf:
    """Return the needs of a file.

    Raises:
        NotElf: The file is of another format, damaged, or statically linked.
    """
    try:
        return _needs_of(_Image(path.read_bytes()))
    except NotElf:
        raise
    except (KeyError, ValueError) as error:  # no table of texts, no end of a text, no UTF-8
        raise NotElf("a damaged ELF file") from error


def _needs_of(image: "_Image") -> Elf:
    entries = image.dynamic()
    strings = image.strings(entries)
    needed = tuple(strings.at(value) for tag, value in entries if tag == _DT_NEEDED)
    runs = [strings.at(value) for tag, value in entries if tag in (_DT_RPATH, _DT_RUNPATH)]
    run_path = tuple(":".join(runs).split(":")) if runs else ()
    return Elf(needed, run_path, image.interpreter(), image.machine)


def is_for(path: Path, machine: int) -> bool:
    """Return whether a file is for a processor; no other part of it is looked at."""
    head = _head(path)
    return head[:6] == _MAGIC and head[18:20] == machine.to_bytes(2, "little")


def is_elf(path: Path) -> bool:
    """Return whether a file begins as an ELF file does; no other part of it is looked at."""
    return _head(path)[:6] == _MAGIC


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(20)
    except OSError:
        return b""


def set_run_path(path: Path, run_path: str) -> None:
    """Change the run path of a file: the folders searched first for its libraries.

    The new string goes to the end of the file, in a copy of the string table; a note segment
    gives up its place in the table of segments to have it loaded.

    Raises:
        NotElf: The file is of another format, or has no room for the change.
    """
    image = _Image(path.read_bytes())
    path.write_bytes(image.with_run_path(run_path))


class _Strings:
    """A string table."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def at(self, offset: int) -> str:
        end = self.data.index(b"\0", offset, offset + _LONGEST)
        return self.data[offset:end].decode()


class _Image:
    """The bytes of an ELF file."""

    def __init__(self, data: bytes) -> None:
        if data[:6] != _MAGIC or len(data) < 64:
            raise NotElf("no 64-bit, little-endian ELF file")
        self.data = data
        (self.machine,) = struct.unpack_from("<H", data, 18)
        (self._table,) = struct.unpack_from("<Q", data, 32)
        size, count = struct.unpack_from("<HH", data, 54)
        if size != _SEGMENT.size or self._table + size * count > len(data):
            raise NotElf("a damaged ELF file")
        self.segments = [
            _Segment(*_SEGMENT.unpack_from(data, self._table + size * index))
            for index in range(count)
        ]

    def interpreter(self) -> str | None:
        for part in self.segments:
            if part.kind == _PT_INTERP:
                raw = self.data[part.offset : part.offset + part.file_size]
                return raw.rstrip(b"\0").decode()
        return None

    def dynamic(self) -> list[tuple[int, int]]:
        part = self._dynamic_segment()
        raw = self.data[part.offset : part.offset + part.file_size]
        entries = list(_ENTRY.iter_unpack(raw[: min(len(raw) // 16, _MOST_ENTRIES) * 16]))
        tags = [tag for tag, _ in entries]
        return entries[: tags.index(_DT_NULL)] if _DT_NULL in tags else entries

    def strings(self, entries: list[tuple[int, int]]) -> _Strings:
        values = dict(entries)
        start = self._offset(values[_DT_STRTAB])
        return _Strings(self.data[start : start + values[_DT_STRSZ]])

    def with_run_path(self, run_path: str) -> bytes:
        entries = self.dynamic()
        old = self.strings(entries).data
        data = bytearray(self.data)
        data += bytes(-len(data) % _PAGE)
        start = len(data)
        table = old + run_path.encode() + b"\0"
        address = self._free_address(start)
        data += table
        kept = [(t, v) for t, v in entries if t not in (_DT_RPATH, _DT_RUNPATH)]
        changed = {_DT_STRTAB: address, _DT_STRSZ: len(table)}
        fresh = [(_DT_RUNPATH, len(old)), *((t, changed.get(t, v)) for t, v in kept)]
        self._put_dynamic(data, fresh)
        self._put_segment(data, _Segment(
            _PT_LOAD, _PF_R, start, address, address, len(table), len(table), _PAGE
        ))  # fmt: skip  # one segment
        return bytes(data)

    def _put_dynamic(self, data: bytearray, entries: list[tuple[int, int]]) -> None:
        part = self._dynamic_segment()
        raw = b"".join(_ENTRY.pack(*entry) for entry in [*entries, (_DT_NULL, 0)])
        if len(raw) > part.file_size:
            raise NotElf("no room for a run path in the dynamic section")
        data[part.offset : part.offset + part.file_size] = raw.ljust(part.file_size, b"\0")

    def _put_segment(self, data: bytearray, new: _Segment) -> None:
        loads = [i for i, part in enumerate(self.segments) if part.kind == _PT_LOAD]
        notes = [i for i, part in enumerate(self.segments) if part.kind == _PT_NOTE]
        if not notes or notes[-1] < loads[-1]:
            # Segments to load must stand in the order of their addresses.
            raise NotElf("no segment that could give up its place")
        _SEGMENT.pack_into(data, self._table + _SEGMENT.size * notes[-1], *new)

    def _dynamic_segment(self) -> _Segment:
        for part in self.segments:
            if part.kind == _PT_DYNAMIC:
                return part
        raise NotElf("a statically linked file")

    def _offset(self, address: int) -> int:
        for part in self.segments:
            inside = part.address <= address < part.address + part.file_size
            if part.kind == _PT_LOAD and inside:
                return address - part.address + part.offset
        raise NotElf("an address outside of the file")

    def _free_address(self, offset: int) -> int:
        ends = [p.address + p.memory_size for p in self.segments if p.kind == _PT_LOAD]
        return max(ends) + (-max(ends) % _PAGE) + offset % _PAGE
