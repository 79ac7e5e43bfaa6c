# What a bare interpreter is given as `-c`: it takes the rest as text from its standard input.
import importlib.util
import json
import socket
import sys

control = socket.socket(fileno=0)
text = b""
while (packet := control.recv(1 << 17)) != b"go":
    if not packet:
        sys.exit(0)
    text += packet
order = json.loads(text)


class Shipped:
    """Imports what came as text."""

    def find_spec(self, name, _path=None, _target=None):
        """Find a module of ours."""
        if name not in order["modules"]:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=name in order["packages"])

    def create_module(self, spec):
        """Leave it to the default, unless it stands for another one."""
        alias = order["aliases"].get(spec.name)
        return importlib.import_module(alias) if alias else None

    def exec_module(self, module):
        """Execute a module's text."""
        name = module.__spec__.name
        if name not in order["aliases"]:
            exec(compile(order["modules"][name], f"<{name}>", "exec"), module.__dict__)


sys.meta_path.insert(0, Shipped())
importlib.import_module(order["main"]).serve(control, order)
