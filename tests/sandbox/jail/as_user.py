"""Attack every boundary, and keep a folder apart, as the user who starts this; a program.

It prints one JSON object. Given `without-mounts` it first forbids itself to leave its namespaces,
as container engines do.
"""

import ctypes
import json
import os
import struct
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from lineshaft.errors import NoBoundary
from lineshaft.sandbox.bundle import Interpreter, resolve
from lineshaft.sandbox.jail import Changes, Jail, SandboxSpec, probe
from lineshaft.sandbox.jail._choose import JAILS, unusable
from lineshaft.values import PythonOptions

_UNSHARE = {"x86_64": 272, "aarch64": 97}
_PROGRAM = """
import os, shutil
os.chmod("script", 0o755)
with open("made", "w") as file:
    file.write("made")
os.rename("a.txt", "b.txt")
shutil.move("d", "e")
try:
    os.rename("e", "f")
except OSError:
    pass
"""


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("program", ctypes.c_void_p))


def _forbid_namespaces() -> None:
    number = _UNSHARE[os.uname().machine]
    rows = ((0x20, 0, 0, 0), (0x15, 0, 1, number), (6, 0, 0, 0x50001), (6, 0, 0, 0x7FFF0000))
    code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *row) for row in rows))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)
    if libc.prctl(22, 2, ctypes.byref(_Filter(len(rows), ctypes.addressof(code))), 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def _apart(jail: Jail, interpreter: Interpreter) -> list[str] | str:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for name in ("script", "a.txt", "d/x"):
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(name)
        try:
            changes = _run(jail, interpreter, root)
        except NoBoundary as error:
            return error.message
        return sorted(f"{change.how} {change.path}" for change in changes.files)


def _run(jail: Jail, interpreter: Interpreter, root: Path) -> Changes:
    null = os.open(os.devnull, os.O_RDWR)
    argv = [str(interpreter.executable), "-I", "-S", "-c", _PROGRAM]
    spec = SandboxSpec(readable=interpreter.readable)
    jailed = jail.start(argv, spec=spec, stdin=null, stdout=null, stderr=2, apart=root)
    try:
        jailed.wait(20)
        return jailed.changes()
    finally:
        jailed.close()


def main(python: str, *words: str) -> None:
    """Print what holds."""
    if "without-mounts" in words:
        _forbid_namespaces()
    interpreter = resolve(PythonOptions(path=python))
    report = {
        "user": os.geteuid(),
        "boundaries": [asdict(boundary) for boundary in probe(interpreter)],
        "apart": {
            name: unusable(name) or _apart(make(), interpreter) for name, make in JAILS.items()
        },
    }
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    main(*sys.argv[1:])
