"""Conversion of a file's bytes to text and back, without loss.

A byte-order mark decides (UTF-8, UTF-16, UTF-32), otherwise a file with NUL bytes is no text,
otherwise it is UTF-8, and if it is not, Latin-1: that maps each byte to a character, so that a file
in any one-byte encoding survives an edit of its ASCII parts.
"""

import codecs

from lineshaft.values._struct import Struct

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_MARK = "\ufeff"


class DecodedText(Struct, frozen=True):
    """A file's text, and how it was written down."""

    text: str
    """The text, without the byte-order mark."""

    encoding: str = "utf-8"
    """The codec that it was decoded by."""

    mark: bytes = b""
    """The byte-order mark."""

    def encoded(self, text: str) -> bytes:
        """Return another text, written down the same way; a mark that it begins with is the file's.

        Raises:
            UnicodeEncodeError: The encoding lacks a character.
        """
        if self.mark and not self.text.startswith(_MARK):
            text = text.removeprefix(_MARK)
        return self.mark + text.encode(self.encoding)


def decoded_text(data: bytes) -> DecodedText | None:
    """Return the text of a file, or None where it is none."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return DecodedText(data[len(mark) :].decode(encoding), encoding, mark)
            except UnicodeDecodeError:
                continue
    if b"\0" in data:
        return None
    try:
        return DecodedText(data.decode())
    except UnicodeDecodeError:
        return DecodedText(data.decode("latin-1"), "latin-1")


def lines_of(text: str) -> list[str]:
    r"""Return the lines with their breaks; only `\n` ends a line, as editors count."""
    *whole, rest = text.split("\n")
    return [f"{line}\n" for line in whole] + ([rest] if rest else [])
