"""Programs, network, signals and questions, closed to a script."""

import builtins
import faulthandler
import hashlib
import hmac
import http.client
import os
import posix
import select
import selectors
import shutil
import signal
import site
import socket
import subprocess
import sys
import urllib.request
import uuid
from _sitebuiltins import Quitter
from typing import Any, NoReturn

from .changes import Changes
from .output import Nobody
from .refusals import (
    ASKING,
    LEAVING,
    NETWORK,
    PROGRAMS,
    SIGNALS,
    Refusing,
    refusal,
    refusing_method,
)

# pyright: reportPrivateUsage=false, reportAttributeAccessIssue=false

_NODE = 0x02_00_00_00_00_01
"""A made-up address of a network card, for `uuid1`."""

_PROGRAMS = ("system", "popen", "fork", "forkpty", "execv", "execve", "posix_spawn", "kill")
_LOOKUPS = (
    "getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr", "getnameinfo", "getfqdn",
    "create_connection", "create_server", "socketpair",
)  # fmt: skip  # words, not one a line
_WAKES = ("alarm", "setitimer", "pause", "sigwait", "sigtimedwait", "sigwaitinfo")


def close_off(changes: Changes, *, is_wasm: bool) -> None:
    """Replace functions that cannot work by errors that name a tool.

    Args:
        changes: Notes the originals.
        is_wasm: Whether asking the system itself would end the guest.
    """
    _close_programs(changes)
    _close_network(changes, is_wasm=is_wasm)
    for name in _WAKES:
        refusing = Refusing(f"signal.{name}", SIGNALS, RuntimeError)
        changes.attribute(signal, name, refusing)
    changes.attribute(builtins, "input", _input)
    changes.attribute(sys, "breakpointhook", Refusing("breakpoint", ASKING, RuntimeError))
    for name in ("exit", "quit"):
        changes.attribute(builtins, name, Quitter(name, "Ctrl-D"))
    _add_helpers(changes)
    changes.attribute(uuid, "_node", _NODE)
    changes.attribute(uuid, "_generate_time_safe", None)
    _close_ends(changes, is_wasm=is_wasm)
    if is_wasm:
        _add_missing(changes)


def _add_helpers(changes: Changes) -> None:
    """Add the builtins of `site`, which not every Python loads at its start."""
    if not hasattr(builtins, "help"):
        for name in ("help", "copyright", "credits", "license"):
            changes.attribute(builtins, name, None)  # noted as absent before
        site.sethelper()
        site.setcopyright()


def _close_programs(changes: Changes) -> None:
    refused = refusing_method("starting a program (subprocess)", PROGRAMS)
    changes.attribute(subprocess.Popen, "__init__", refused)
    changes.attribute(subprocess.Popen, "__del__", _nothing)
    changes.attribute(shutil, "which", Refusing("shutil.which", PROGRAMS))
    for name in _PROGRAMS:
        if hasattr(os, name) or name == "system":
            changes.attribute(os, name, Refusing(f"os.{name}", PROGRAMS))


def _close_network(changes: Changes, *, is_wasm: bool) -> None:
    changes.attribute(socket.socket, "__init__", refusing_method("socket.socket", NETWORK))
    changes.attribute(socket.socket, "__del__", _nothing)
    changes.attribute(socket.socket, "__repr__", object.__repr__)
    for name in _LOOKUPS:
        if hasattr(socket, name):
            changes.attribute(socket, name, Refusing(f"socket.{name}", NETWORK))
    opened = refusing_method("urllib.request.urlopen", NETWORK)
    changes.attribute(urllib.request, "urlopen", opened)
    changes.attribute(urllib.request.OpenerDirector, "open", opened)
    if is_wasm:
        if not hasattr(http.client, "HTTPSConnection"):
            changes.attribute(http.client, "HTTPSConnection", _HTTPSConnection)
        changes.attribute(
            http.client.HTTPConnection, "connect", refusing_method("http.client", NETWORK)
        )


class _HTTPSConnection:
    """Names that `http.client` has where there is `ssl`."""

    default_port = 443

    def __init__(self, *_args: Any, **_options: Any) -> None:
        raise refusal("http.client.HTTPSConnection", NETWORK)


_HTTPSConnection.__name__ = _HTTPSConnection.__qualname__ = "HTTPSConnection"


def _close_ends(changes: Changes, *, is_wasm: bool) -> None:
    """Close functions that end the process, or wait for descriptors."""
    for name in ("_exit", "abort"):
        refusing = Refusing(f"os.{name}", LEAVING, RuntimeError)
        changes.attribute(os, name, refusing)
        if is_wasm and hasattr(posix, name):
            changes.attribute(posix, name, refusing)
    for name in ("select", "poll", "epoll"):
        if hasattr(select, name):
            changes.attribute(select, name, Refusing(f"select.{name}", NETWORK))
    for name in ("SelectSelector", "PollSelector", "EpollSelector", "DefaultSelector"):
        if hasattr(selectors, name):
            changes.attribute(selectors, name, Refusing(f"selectors.{name}", NETWORK))


def _add_missing(changes: Changes) -> None:
    """Add functions that OpenSSL brings elsewhere, and debugging aids that scripts enable."""
    changes.attribute(faulthandler, "enable", _nothing)
    if not hasattr(hashlib, "pbkdf2_hmac"):
        changes.attribute(hashlib, "pbkdf2_hmac", _pbkdf2_hmac)
    if not hasattr(hashlib, "scrypt"):
        changes.attribute(hashlib, "scrypt", _no_scrypt)


def _input(prompt: object = "", /) -> str:
    """Read a line of the text that the script has put in the place of standard input."""
    if isinstance(sys.stdin, Nobody):
        raise refusal("input", ASKING, RuntimeError)
    sys.stdout.write(str(prompt))
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError("EOF when reading a line")
    return line.removesuffix("\n")


_input.__name__ = _input.__qualname__ = "input"


def _nothing(*_args: Any, **_options: Any) -> None:
    pass


def _pbkdf2_hmac(
    hash_name: str, password: bytes, salt: bytes, iterations: int, dklen: int | None = None
) -> bytes:
    """Derive a key from a password, as OpenSSL does where there is one."""
    if iterations < 1:
        raise ValueError("iteration value must be greater than 0.")
    if dklen is not None and dklen < 1:
        raise ValueError("key length must be greater than 0.")
    first = hmac.new(bytes(password), None, hash_name)
    size = dklen or first.digest_size
    derived = b""
    number = 1
    while len(derived) < size:
        mac = first.copy()
        mac.update(bytes(salt) + number.to_bytes(4, "big"))
        block = mac.digest()
        total = int.from_bytes(block, "big")
        for _ in range(iterations - 1):
            mac = first.copy()
            mac.update(block)
            block = mac.digest()
            total ^= int.from_bytes(block, "big")
        derived += total.to_bytes(first.digest_size, "big")
        number += 1
    return derived[:size]


_pbkdf2_hmac.__name__ = _pbkdf2_hmac.__qualname__ = "pbkdf2_hmac"


def _no_scrypt(*_args: object, **_options: object) -> NoReturn:
    raise NotImplementedError("hashlib.scrypt needs OpenSSL, which this engine does not have")
