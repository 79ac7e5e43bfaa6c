"""A script's output, handed over line by line."""

import codecs
import io
import sys
from typing import TYPE_CHECKING, BinaryIO, NoReturn, cast

from .refusals import ASKING, refusal
from .wire import Wire

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_PIECE = 3_000_000
_UTF_8 = codecs.getincrementaldecoder("utf-8")


class Output:
    """Standard output and standard error of a run, which it sets.

    Args:
        wire: Takes the text.
    """

    def __init__(self, wire: Wire) -> None:
        self._out = _stream(wire, "stdout")
        self._err = _stream(wire, "stderr")
        sys.stdout = sys.__stdout__ = self._out  # pyright: ignore[reportAttributeAccessIssue]  as ever
        sys.stderr = sys.__stderr__ = self._err  # pyright: ignore[reportAttributeAccessIssue]  as ever
        sys.stdin = sys.__stdin__ = Nobody()  # pyright: ignore[reportAttributeAccessIssue]  as ever
        self._flush_out, self._flush_err = self._out.flush, self._err.flush

    def flush(self) -> None:
        """Hand over the output held back."""
        for flush in (self._flush_out, self._flush_err):
            try:
                flush()
            except (ValueError, OSError):  # the script closed it
                continue

    def write_bytes(self, descriptor: int, data: bytes) -> int:
        """Write to standard output (1) or standard error (2) past the text layer."""
        stream = self._out if descriptor == 1 else self._err
        stream.flush()
        stream.buffer.write(data)
        return len(data)


def _stream(wire: Wire, name: str) -> io.TextIOWrapper:
    raw = cast("BinaryIO", _Raw(wire, name))
    stream = io.TextIOWrapper(raw, "utf-8", "backslashreplace", line_buffering=True)
    stream.mode = "w"  # pyright: ignore[reportAttributeAccessIssue]  as CPython's own has it
    return stream


class _Raw(io.RawIOBase):
    """Takes bytes and hands over text."""

    def __init__(self, wire: Wire, name: str) -> None:
        self._write = wire.write
        self._name = name
        self._decode = _UTF_8("replace").decode

    @property
    def name(self) -> str:
        """Its name in CPython."""
        return f"<{self._name}>"

    def writable(self) -> bool:
        return True

    def write(self, data: "ReadableBuffer", /) -> int:
        """Hand over some bytes."""
        text = self._decode(bytes(data))
        for start in range(0, len(text), _PIECE):
            self._write(self._name, text[start : start + _PIECE])
        return len(memoryview(data))


class Nobody(io.TextIOBase):
    """Standard input: there is none."""

    name = "<stdin>"
    mode = "r"

    @property
    def buffer(self) -> "Nobody":
        """Its bytes, of which there are none either."""
        return self

    def readable(self) -> bool:
        """Return that it may be read, to be told why not."""
        return True

    def read(self, size: int | None = -1, /) -> NoReturn:
        """Refuse."""
        raise refusal("reading standard input", ASKING, RuntimeError)

    def readline(self, size: int = -1, /) -> NoReturn:  # pyright: ignore[reportIncompatibleMethodOverride]  it never returns
        """Refuse."""
        raise refusal("reading standard input", ASKING, RuntimeError)

    def readlines(self, hint: int = -1, /) -> NoReturn:
        """Refuse."""
        raise refusal("reading standard input", ASKING, RuntimeError)

    def close(self) -> None:
        """Leave it as it is."""
