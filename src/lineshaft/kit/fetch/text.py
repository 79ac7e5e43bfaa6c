"""The kind of a body: its media type, and its text where it has one."""

import codecs
import re

from lineshaft.values import Struct, lazy_pattern

_TEXTS = lazy_pattern(
    r"text/.*|application/(?:json|xml|javascript|ecmascript|yaml|x-yaml|toml|x-ndjson|sql|"
    r"x-www-form-urlencoded|x-sh|[\w.+-]+\+(?:json|xml|yaml))"
)
_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_SAFE = lazy_pattern(
    r"utf-?8|us-ascii|ascii|latin-?1|iso-?8859-\d{1,2}|windows-125\d|cp125\d|utf-?(?:16|32)(?:[bl]e)?"
    r"|shift_jis|euc-(?:jp|kr)|iso-2022-jp|gb2312|gbk|gb18030|big5|koi8-[ru]|macintosh"
)
"""Encodings of the web; Python knows more, and some of them take a long time or are no text."""

_SAID_INSIDE = lazy_pattern(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([\w-]{1,40})", re.IGNORECASE)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BEGINNING = 1_024


class BodyText(Struct, frozen=True):
    """A body as text."""

    text: str
    exact: bool
    """Whether each byte of it was text; otherwise U+FFFD stands for what was not."""


def media_type(content_type: str, body: bytes) -> str:
    """Return a media type in lower case; where the server says none, what the bytes look like."""
    said = content_type.partition(";")[0].strip().lower()
    if re.fullmatch(r"[\w.+-]+/[\w.+-]+", said):
        return said
    return "application/octet-stream" if b"\0" in body else "text/plain"


def is_text(kind: str) -> bool:
    """Return whether a media type is one of text."""
    return _TEXTS().fullmatch(kind) is not None


def is_page(kind: str) -> bool:
    """Return whether a media type is HTML's."""
    return kind in _PAGES


def text_of(content_type: str, body: bytes) -> BodyText:
    """Return a body as text: by its byte-order mark, what the server or the page says, or UTF-8."""
    for encoding in _encodings(content_type, body):
        try:
            return BodyText(body.decode(encoding), exact=True)
        except (UnicodeDecodeError, LookupError):
            continue
    return BodyText(body.decode("utf-8", "replace"), exact=False)


def _encodings(content_type: str, body: bytes) -> list[str]:
    marked = [encoding for mark, encoding in _MARKS if body.startswith(mark)][:1]
    from email.message import Message  # noqa: PLC0415  slow, and only pages need it

    header = Message()
    header["content-type"] = content_type[:1_000].replace("\r", " ").replace("\n", " ")
    said = [str(header.get_param("charset") or "")]
    inside = _SAID_INSIDE().search(body[:_BEGINNING])
    said += [inside[1].decode("ascii", "ignore")] if inside else []
    known = [each.lower() for each in said if _SAFE().fullmatch(each.lower())]
    return [*marked, *known, "utf-8"]
