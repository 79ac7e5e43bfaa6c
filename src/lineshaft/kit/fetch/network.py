"""Which addresses of the network `fetch_url` connects to: global ones, and those a person allows.

The tables are our own: what `ipaddress` takes for global differs from one Python to the next.
"""

import ipaddress
import socket
from collections.abc import Awaitable, Callable, Collection, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

import anyio.to_thread

from lineshaft.errors import ToolError

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Return the addresses of a host; raises `OSError` where it has none."""

_V4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "168.63.129.16/32",  # a cloud's own services, at an address that looks like any other
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
    )
)
_GLOBAL_V6 = IPv6Network("2000::/3")
_V6 = tuple(IPv6Network(text) for text in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"))
_TRANSLATED = IPv6Network("64:ff9b::/96")
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)
_MOST_TRIED = 4


def is_global(text: str) -> bool:
    """Return whether an address is one of the public network.

    An IPv6 address that stands for one of IPv4 (mapped, NAT64) is judged as that.
    """
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return _is_global_v4(address) if isinstance(address, IPv4Address) else _is_global_v6(address)


def _is_global_v4(address: IPv4Address) -> bool:
    return not any(address in network for network in _V4)


def _is_global_v6(address: IPv6Address) -> bool:
    if address.scope_id is not None:
        return False
    if address.ipv4_mapped is not None:
        return _is_global_v4(address.ipv4_mapped)
    number = int(address)
    inner = IPv4Address(number & 0xFFFF_FFFF)
    if address in _TRANSLATED:
        return _is_global_v4(inner)
    if address not in _GLOBAL_V6 or any(address in network for network in _V6):
        return False
    tunnelled = (number >> 32) & 0xFFFF_FFFF in _ISATAP
    return not tunnelled or _is_global_v4(inner)


async def places(
    host: str, port: int, *, allowed: Collection[str], resolve: Resolve
) -> Sequence[str]:
    """Return the addresses to connect to, each one checked.

    Args:
        host: As `parts_of` gives it.
        port: The port.
        allowed: `host:port` of places that need not be global.
        resolve: Finds the addresses of a host.

    Raises:
        ToolError: `E_DENIED`, where one of them is not global; `E_TOOL_FAILED`, where there is
            none.
    """
    try:
        found = list(dict.fromkeys(await resolve(host, port)))
    except OSError as error:
        raise ToolError("E_TOOL_FAILED", f"{host} has no address: {error}") from error
    if not found:
        raise ToolError("E_TOOL_FAILED", f"{host} has no address")
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    closed = [each for each in found if not is_global(each)]
    if closed and place not in allowed:
        name = host if host == closed[0] else f"{host} ({closed[0]})"
        raise ToolError(
            "E_DENIED",
            f"{name} is no address of the public network, so it is not fetched",
            hint=f'A person can allow it in their own settings: [fetch] allow = ["{place}"].',
        )
    return found[:_MOST_TRIED]


async def system_resolve(host: str, port: int) -> Sequence[str]:
    """Return the addresses that this machine knows of a host."""

    def resolved() -> Sequence[str]:
        told = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return [str(each[4][0]) for each in told]

    try:
        return await anyio.to_thread.run_sync(resolved, abandon_on_cancel=True)
    except UnicodeError as error:
        raise OSError(str(error)) from error
