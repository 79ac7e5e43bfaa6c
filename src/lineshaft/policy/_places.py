"""Addresses and paths among texts: many spellings lead to one place.

Rules that forbid take them all for it, since servers do: RFC 3986 (6.2.2, 6.2.3) for case, percent
signs, dots and ports, RFC 8089 for `file:`, and what the URL Standard of WHATWG forgives: slashes,
backslashes, blanks, a user before the host.
"""

import re
from collections.abc import Iterator
from urllib.parse import unquote

from lineshaft.values import lazy_pattern

_BLANK = lazy_pattern(r"[\t\n\r]")
_SCHEME = lazy_pattern(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):(?P<rest>.*)", re.DOTALL)
_DOTS = lazy_pattern(r"(?:^|/)\.{1,2}(?:/|$)")
_PORTS = {"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21"}
_HERE = ("", "localhost", "127.0.0.1", "[::1]")


def spellings_of_place(text: str) -> tuple[str, ...]:
    """Return the plain spellings of an address or a path.

    Each is without dots, doubled slashes and a slash at the end: with a query and without it, and
    with percent signs as they are and decoded. For any other text it is the text itself. It takes
    time in proportion to the text.
    """
    given = _BLANK().sub("", text.strip())
    found = _SCHEME().fullmatch(given)
    begins, path, query = "", given, ""
    if found is not None:
        begins, path, query = _parted(found["scheme"].lower(), found["rest"])
    plain = (_without_dots(each) for each in (path, unquote(path, errors="surrogateescape")))
    ends = ("", query) if query else ("",)
    return tuple(dict.fromkeys(f"{begins}{each}{end}" for each in plain for end in ends))


def climbs(text: str) -> bool:
    """Return whether a text has dots as parts of a path, which lead elsewhere than it seems."""
    return _DOTS().search(unquote(text).replace("\\", "/")) is not None


def _parted(scheme: str, rest: str) -> tuple[str, str, str]:
    """Return an address up to its path, its path, and its query with the sign before it."""
    body, sign, query = rest.partition("#")[0].partition("?")
    is_web, slashed = scheme in _PORTS, body.replace("\\", "/")
    bare = slashed.lstrip("/")
    slashes = len(slashed) - len(bare)
    place, path = "", slashed
    if is_web or slashes == 2:
        place, slash, path = bare.partition("/")
        path = slash + path
    elif scheme == "file":
        path = f"/{bare}"
    if is_web or place:
        place = _host(scheme, place)
    if scheme == "file" and place in _HERE:
        place = ""
    rooted = is_web or scheme == "file" or slashes >= 2
    return f"{scheme}:{'//' if rooted else ''}{place}", path, f"{sign}{query}"


def _host(scheme: str, place: str) -> str:
    name = unquote(place.rpartition("@")[2]).lower()
    name = name.removesuffix(f":{_PORTS.get(scheme, '')}").removesuffix(":")
    return name.removesuffix(".")


def _without_dots(path: str) -> str:
    """Return a path without `.`, `..` and empty parts; above its root there is nothing."""
    slashed = path.replace("\\", "/")
    root = "/" if slashed.startswith("/") else ""
    return f"{root}{'/'.join(_parts(slashed, rooted=bool(root)))}"


def _parts(path: str, *, rooted: bool) -> Iterator[str]:
    parts: list[str] = []
    above: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part == ".." and not rooted:
            above.append(part)
        elif part not in ("", ".", ".."):
            parts.append(part)
    yield from above
    yield from parts
