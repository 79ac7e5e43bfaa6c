"""The first program in a jail, given to a bare interpreter as `-c`: takes the rest as text.

It reads packets from its standard input, a socket, up to one that says `go`; together they are a
JSON object, whose modules can be imported from then on.
"""

import importlib
import importlib.util
import json
import socket
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class Shipped(MetaPathFinder, Loader):
    """Imports what came as text."""

    def find_spec(
        self, fullname: str, path: object = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module of ours."""
        if fullname not in order["modules"]:
            return None
        package = fullname in order["packages"]
        return importlib.util.spec_from_loader(fullname, self, is_package=package)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Leave it to the default, unless it stands for another one."""
        alias = order["aliases"].get(spec.name)
        return importlib.import_module(alias) if alias else None

    def exec_module(self, module: ModuleType) -> None:
        """Execute a module's text; what stands for another has been executed."""
        name = module.__spec__.name if module.__spec__ else ""
        if name not in order["aliases"]:
            code = compile(order["modules"][name], f"<{name}>", "exec")
            exec(code, vars(module))  # noqa: S102  our own text, from our own host


control = socket.socket(fileno=0)
text = b""
while (packet := control.recv(1 << 17)) != b"go":
    if not packet:
        sys.exit(0)
    text += packet
order = json.loads(text)
sys.modules["ssl"] = None  # pyright: ignore[reportArgumentType]  a quarter of the memory, for nothing
importlib.import_module("asyncio")
del sys.modules["ssl"]
sys.meta_path.insert(0, Shipped())
importlib.import_module(order["main"]).serve(control, order)
