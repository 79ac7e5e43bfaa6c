"""Invisible characters: one table for terminals, forms and descriptions.

They hide words of a text that a person approves, reorder it, or push it out of sight. Most are told
by their category in Unicode (controls, formats, unassigned ones, separators but the plain space);
the others are letters and marks of no width, by `Default_Ignorable_Code_Point` of Unicode 16, and
those that are drawn as a blank: of Braille, music, Khitan and hieroglyphs, and for an object.
"""

_RANGES = (
    *((0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2800, 0x2800)),
    *((0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xFFFC, 0xFFFC), (0x13441, 0x13442)),
    *((0x16FE4, 0x16FE4), (0x1D159, 0x1D159), (0xE0000, 0xE0FFF)),
)
_BLANK = frozenset(chr(code) for first, last in _RANGES for code in range(first, last + 1))


def visible(text: str, *, keep: str = "") -> str:
    """Return a text in which each character that cannot be seen is written as its escape.

    Args:
        text: Any text, broken surrogates too.
        keep: Characters that stay as they are.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(char) if is_unseen(char) and char not in keep else char for char in text)


def one_line(text: str, width: int = 200) -> str:
    """Return a text on one line in which all is to be seen, cut to a width.

    Args:
        text: Any text.
        width: The most characters.
    """
    flat = visible(text.replace("\n", "\\n").replace("\t", " "))
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def without_unseen(text: str, *, keep: str = "") -> str:
    """Return a text without the characters that cannot be seen; odd spaces become plain ones.

    Args:
        text: Any text, broken surrogates too.
        keep: Characters that stay as they are.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char in keep or not is_unseen(char) else " " if char.isspace() else ""
        for char in text
    )


def is_unseen(char: str) -> bool:
    """Return whether a character cannot be seen; the plain space can."""
    return not char.isprintable() or char in _BLANK


def _escape(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
