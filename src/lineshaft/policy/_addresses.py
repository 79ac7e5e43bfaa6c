"""Addresses and paths among texts: several spellings lead to one place.

RFC 3986 (6.2.2 and 6.2.3) has the case of scheme and host, percent-encoding, dot segments and empty
paths; RFC 8089 the forms of `file:`. Servers take them for the same, so rules that forbid do, too.
"""

import re
from urllib.parse import unquote

_BLANK = re.compile(r"[\t\n\r]")
_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?P<rest>.*)", re.DOTALL)
_HOSTS_OF_FILES = ("", "localhost", "127.0.0.1", "[::1]")
_PORTS = {"http": ":80", "https": ":443", "ws": ":80", "wss": ":443"}


def plain_spellings(text: str) -> tuple[str, ...]:
    """Return the plainest spelling of an address or a path, and the same as a folder.

    Nothing is returned for a text that is neither. Time in proportion to the text.
    """
    if "/" not in text and "\\" not in text and "%" not in text:
        return ()
    given = unquote(_BLANK.sub("", text.strip()), errors="surrogateescape").replace("\\", "/")
    found = _SCHEME.fullmatch(given)
    if found is None:
        plain = _path(given)
    else:
        scheme, rest = found["scheme"].lower(), found["rest"].partition("#")[0]
        place, path = "", rest
        if rest.startswith("//"):
            place, slash, path = rest[2:].partition("/")
            place, path = place.lower().removesuffix(_PORTS.get(scheme, "")), slash + path
        if scheme == "file" and place in _HOSTS_OF_FILES:
            place = ""
        rooted = bool(place) or rest.startswith("//") or scheme == "file"
        plain = f"{scheme}:{'//' if rooted else ''}{place}{_path(path)}"
    return (plain, f"{plain.removesuffix('/')}/")


def _path(path: str) -> str:
    """Return a path without `.`, `..` and empty parts; `..` leads nowhere above the first one."""
    root = "/" if path.startswith("/") else ""
    parts: list[str] = []
    above: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part == ".." and not root:
            above.append(part)
        elif part not in ("", ".", ".."):
            parts.append(part)
    end = "/" if path.endswith("/") and parts else ""
    return f"{root}{'/'.join([*above, *parts])}{end}"
