"""Attacks over the network and its likes.

The first line of each describes it; its result is the leak that it achieved.
"""

import socket
import sys

from lineshaft.sandbox.jail._attacks._frame import Targets, attack

assert sys.platform == "linux"  # noqa: S101  it runs in a jail


@attack("connect to the machine's loopback")
def loopback(t: Targets) -> object:
    with socket.create_connection(("127.0.0.1", int(t["tcp"])), 2):
        return "connected"


@attack("connect to the machine's loopback over IPv6")
def loopback6(t: Targets) -> object:
    with socket.create_connection(("::1", int(t["tcp6"])), 2):
        return "connected"


@attack("exchange datagrams with the machine's loopback")
def datagram(t: Targets) -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(1)
        sock.sendto(b"x", ("127.0.0.1", int(t["udp"])))
        return sock.recv(10)


@attack("connect to a Unix socket by its path")
def unix_path(t: Targets) -> object:
    with socket.socket(socket.AF_UNIX) as sock:
        return sock.connect(t["unix"])


@attack("connect to an abstract Unix socket")
def unix_abstract(t: Targets) -> object:
    with socket.socket(socket.AF_UNIX) as sock:
        return sock.connect("\0" + t["abstract"])


@attack("send to an abstract Unix socket")
def unix_datagram(t: Targets) -> object:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        return sock.sendto(b"x", "\0" + t["abstract"] + "d")


@attack("open a raw socket")
def raw_socket(_: Targets) -> object:
    return socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)


@attack("capture packets")
def packets(_: Targets) -> object:
    return socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3)
