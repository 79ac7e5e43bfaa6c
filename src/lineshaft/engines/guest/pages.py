"""Web pages as text: HTML to Markdown, in a kept instance that never runs a script.

The parser works on what a stranger sent. It has no files and no sockets here, and the host ends it
when its time or memory is used up.
"""

import sys
import warnings
from typing import Any
from urllib.parse import urljoin

from bs4 import BeautifulSoup, Tag
from markdownify import ATX, MarkdownConverter

_LEFT_OUT = ("head", "script", "style", "template", "noscript", "iframe", "object", "svg", "canvas")
_ADDRESSES = (("a", "href"), ("img", "src"))
_SCHEMES = ("http://", "https://", "mailto:")
_LONGEST_ADDRESS = 2_000
_MODULES = {name: found for name, found in sys.modules.items() if name.startswith("bs4")}
"""The parser's own modules, which it imports again as it works; hidden from scripts."""


def run(order: dict[str, Any], wire: object) -> dict[str, Any]:
    """Carry out an order to turn a page into Markdown.

    Args:
        order: `html`, the page; `base`, the address that relative links start from.
        wire: The host; nothing is asked of it.

    Returns:
        `text`, the Markdown, and `title`; or `error`, why there is none.
    """
    del wire
    sys.modules.update(_MODULES)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _converted(order["html"], order["base"])
    except Exception as error:  # noqa: BLE001  what a page makes of the parser is told
        return {"error": f"{type(error).__name__}: {error}"}


def _converted(html: str, base: str) -> dict[str, Any]:
    soup = BeautifulSoup(html, "html.parser")
    title = soup.title.get_text(" ", strip=True) if soup.title is not None else ""
    for found in soup.find_all(_LEFT_OUT):
        found.decompose()
    for tag, attribute in _ADDRESSES:
        for found in soup.find_all(tag):
            if not found.decomposed:
                _make_absolute(found, attribute, base)
    text = MarkdownConverter(heading_style=ATX, bullets="-").convert_soup(soup)
    return {"text": text.strip() + "\n", "title": title}


def _make_absolute(tag: Tag, attribute: str, base: str) -> None:
    """Give a link its whole address; one that leads to no page is left with its text alone."""
    given = tag.get(attribute)
    whole = ""
    if isinstance(given, str) and len(given) <= _LONGEST_ADDRESS:
        try:
            whole = urljoin(base, given.strip())
        except ValueError:
            whole = ""
    if whole.lower().startswith(_SCHEMES):
        tag[attribute] = whole
    else:
        del tag[attribute]
