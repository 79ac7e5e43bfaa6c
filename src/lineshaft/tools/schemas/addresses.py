"""Arguments that are addresses of the web: their type, one spelling of each, and their origin."""

import ipaddress
import re
from typing import Annotated
from urllib.parse import quote, unquote_to_bytes

from lineshaft.errors import ConfigError
from lineshaft.tools.schemas.paths import Marked
from lineshaft.tools.schemas.pointers import Schema, as_list, as_schema, subschemas
from lineshaft.values import lazy_pattern

ADDRESS = "web-address"

WebAddress = Annotated[str, Marked(ADDRESS)]
"""An `http` or `https` address, brought into one spelling before policy sees it. An approval for
the run holds for its scheme, host and port alone."""

_MOST = 4_000
_PARTS = lazy_pattern(r"(?P<scheme>[a-z]+)://(?P<place>[^/?#]*)(?P<rest>.*)", re.IGNORECASE)
_PLACE = lazy_pattern(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::(?P<port>[0-9]{1,5}))?")
_LABEL = lazy_pattern(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = lazy_pattern(r"(?:0[xX][0-9A-Fa-f]*|[0-9]+)")
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
_PORTS = {"http": 80, "https": 443}
_ESCAPE = lazy_pattern(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
)  # fmt: skip  # a table
_IN_PATH = "%/:@!$&'()*+,;=~-._"


def address_names(schema: Schema) -> tuple[str, ...]:
    """Return the arguments that are addresses.

    Args:
        schema: JSON Schema of the arguments.

    Raises:
        ConfigError: An address stands where policy could not find it.
    """
    marked = sum(part.get("format") == ADDRESS for part in subschemas(schema))
    found = [
        name
        for name, part in as_schema(schema.get("properties")).items()
        if any(one.get("format") == ADDRESS for one in _either(as_schema(part)))
    ]
    if len(found) != marked:
        raise ConfigError(
            "a web address inside another type",
            hint="policy must find every address: make it a parameter of its own",
        )
    return tuple(found)


def web_address(text: str) -> str:
    """Return the one spelling of an address: host in lower case, no fragment, no needless port.

    An IPv6 address that stands for one of IPv4 is that one.

    Raises:
        ValueError: It is no address that may be fetched; the message says why.
    """
    if len(text) > _MOST:
        raise ValueError(f"the address has {len(text):,} characters; at most {_MOST:,} are taken")
    if not text.isprintable() or " " in text or "\\" in text:
        raise ValueError("the address has a space, a backslash or a character without a sign")
    parts = _PARTS().fullmatch(text)
    if parts is None:
        raise ValueError("the address is not whole: write http://... or https://...")
    scheme = parts["scheme"].lower()
    if scheme not in _PORTS:
        raise ValueError(f"the scheme {scheme!r} is not fetched; http and https are")
    if "@" in parts["place"]:
        raise ValueError("the address has a user or password in front of its host: leave it out")
    place = _PLACE().fullmatch(parts["place"])
    if place is None:
        raise ValueError("the address has no host, or its port is no number")
    host = _host(place["host"])
    port = int(place["port"] or _PORTS[scheme])
    if not 0 < port < 65_536:
        raise ValueError(f"there is no port {port}")
    end = "" if port == _PORTS[scheme] else f":{port}"
    return f"{scheme}://{host}{end}{_path(parts['rest'].partition('#')[0])}"


def origin(address: str) -> str:
    """Return scheme, host and port of an address that `web_address` returned."""
    scheme, host, port = parts_of(address)
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}:{port}"


def parts_of(address: str) -> tuple[str, str, int]:
    """Return scheme, host (without brackets) and port of an address that `web_address` returned."""
    scheme, _, rest = address.partition("://")
    place = re.split(r"[/?]", rest, maxsplit=1)[0]
    host, port = place, str(_PORTS[scheme])
    if not place.endswith("]") and ":" in place:
        host, _, port = place.rpartition(":")
    return scheme, host.strip("[]"), int(port)


def _host(text: str) -> str:
    if text.startswith("["):
        try:
            address = ipaddress.IPv6Address(text[1:-1])
        except ValueError:
            raise ValueError(f"{text} is no IPv6 address") from None
        return str(_inner(address) or f"[{address}]")
    name = _ascii(text).removesuffix(".")
    labels = name.split(".")
    if _NUMBER().fullmatch(labels[-1]):
        try:
            return str(ipaddress.IPv4Address(name))
        except ValueError:
            raise ValueError(
                f"{text!r} is no host: write an IPv4 address as four numbers with dots"
            ) from None
    if len(name) > 253 or not all(map(_LABEL().fullmatch, labels)):
        raise ValueError(f"{text!r} is no host name")
    return name


def _inner(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that one of IPv6 stands for (mapped, NAT64)."""
    if address in _TRANSLATED:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped


def _ascii(text: str) -> str:
    """Return a host name in lower case, other scripts in their ASCII form (IDNA 2008)."""
    if text.isascii():
        return text.lower()
    import idna  # noqa: PLC0415  its tables are large, and few names need them

    try:
        return idna.encode(text[:_LONGEST_NAME], uts46=True).decode("ascii").lower()
    except idna.IDNAError as error:
        raise ValueError(f"{text!r} is no host name: {error}") from None


_LONGEST_NAME = 253


def _path(text: str) -> str:
    """Return path and query, each character written one way, without `.` and `..`."""
    path, mark, query = text.partition("?")
    segments = _plain(path).split("/")[1:]
    kept: list[str] = []
    for segment in segments:
        if segment == "..":
            kept[-1:] = []
        elif segment != ".":
            kept.append(segment)
    if segments and segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept) + mark + _plain(query)


def _plain(text: str) -> str:
    def same(match: re.Match[str]) -> str:
        byte = unquote_to_bytes(match[0])
        return byte.decode() if byte[0] in _UNRESERVED else match[0].upper()

    return _ESCAPE().sub(same, quote(_STRAY().sub("%25", text), safe=_IN_PATH + "?"))


_STRAY = lazy_pattern(r"%(?![0-9A-Fa-f]{2})")


def _either(schema: Schema) -> list[Schema]:
    return [schema, *(as_schema(part) for part in as_list(schema.get("anyOf")))]
