"""Conversion of bytes to text and back, without loss.

A byte-order mark decides (UTF-8, UTF-16, UTF-32), otherwise a file with NUL bytes is no text,
otherwise it is UTF-8, and if it is not, Latin-1: that maps each byte to a character, so that a file
in any one-byte encoding survives an edit of its ASCII parts.
"""

import codecs
from dataclasses import dataclass

from lineshaft.errors import ToolError
from lineshaft.kit._failures import invalid

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class Text:
    """A file's text, and how it was written down."""

    text: str
    encoding: str
    mark: bytes = b""

    def encoded(self, text: str, path: str) -> bytes:
        """Return another text, written down the same way.

        Raises:
            ToolError: The encoding lacks a character.
        """
        try:
            return self.mark + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            lacking = error.object[error.start]
            raise invalid(
                f"{path!r} is written in {self.encoding}, which has no {lacking!r}",
                "To change its encoding, delete it and write it anew: a new file is UTF-8.",
            ) from error


def decoded(data: bytes, path: str) -> Text:
    """Return the text of a file.

    Raises:
        ToolError: It is none.
    """
    text = text_or_none(data)
    if text is None:
        raise ToolError(
            "E_TOOL_FAILED",
            f"{path!r} is not a text file: it has NUL bytes, or its byte-order mark is wrong",
            hint="Use a command that knows its format.",
        )
    return text


def text_or_none(data: bytes) -> Text | None:
    """Return the text of a file, or None where it is none."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return Text(data[len(mark) :].decode(encoding), encoding, mark)
            except UnicodeDecodeError:
                continue
    if b"\0" in data:
        return None
    try:
        return Text(data.decode(), "utf-8")
    except UnicodeDecodeError:
        return Text(data.decode("latin-1"), "latin-1")


def lines_of(text: str) -> list[str]:
    r"""Return the lines with their breaks; only `\n` ends a line, as editors count."""
    *whole, rest = text.split("\n")
    return [f"{line}\n" for line in whole] + ([rest] if rest else [])
