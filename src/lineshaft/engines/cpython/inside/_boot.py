"""The first program in a jail, given to a bare interpreter as `-c`: takes the rest as text.

It reads packets from its standard input, a socket, up to one with the socket for orders; together
they are a JSON object, whose modules can be imported from then on.
"""

import ctypes
import importlib
import importlib.util
import json
import os
import socket
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class Shipped(MetaPathFinder, Loader):
    """Imports the modules that came as text."""

    def find_spec(
        self, fullname: str, path: object = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module that came as text."""
        if fullname not in order["modules"]:
            return None
        package = fullname in order["packages"]
        place = _place(fullname)
        spec = importlib.util.spec_from_loader(fullname, self, origin=place, is_package=package)
        if spec is not None:
            spec.has_location = True
            if package:
                spec.submodule_search_locations = [place.rpartition("/")[0]]
        return spec

    def get_data(self, path: str) -> bytes:
        """Return the text of a module by the place that it says it has."""
        if path not in texts:
            raise FileNotFoundError(path)
        return texts[path].encode()

    def exec_module(self, module: ModuleType) -> None:
        """Execute a module's text."""
        place = str(module.__file__)
        exec(compile(texts[place], place, "exec"), vars(module))  # noqa: S102  our own text, from our own host


def _place(name: str) -> str:
    """Return the place that a module says it has; there is no such file."""
    end = "/__init__.py" if name in order["packages"] else ".py"
    return "/" + name.replace(".", "/") + end


def _fix_addresses() -> None:
    """Start again where memory would have other addresses than in every parent.

    A boundary that changes the user loses that setting of the kernel; another one passes on the
    variables in any order.
    """
    personality = ctypes.CDLL(None).personality
    fixed = personality(_ASK) == 0 and personality(_FIXED) == 0
    variables = dict(sorted(os.environ.items()))
    if fixed or list(variables) != list(os.environ):
        os.execve(sys.executable, sys.orig_argv, variables)  # noqa: S606  no shell


def _received(control: socket.socket) -> tuple[bytes, list[int]]:
    """Return a packet, and the descriptor that came with it, if one did."""
    assert sys.platform == "linux"  # noqa: S101  it runs in a jail
    packet, given, _, _ = socket.recv_fds(control, 1 << 17, 1, socket.MSG_CMSG_CLOEXEC)
    return packet, given


_ASK, _FIXED = 0xFFFFFFFF, 0x40000

_fix_addresses()
control = socket.socket(fileno=0)
text = b""
while True:
    packet, given = _received(control)
    if given:
        break
    if not packet:
        sys.exit(0)
    text += packet
order = json.loads(text)
texts = {_place(name): source for name, source in order["modules"].items()}
sys.meta_path.insert(0, Shipped())
importlib.import_module(order["main"]).serve(control, socket.socket(fileno=given[0]), order)
