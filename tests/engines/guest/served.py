"""Scripts that are run by the guest in a plain Python: each line of input is a run, in a fork.

Run with the folder of the guest and of this file; the answer to a line is a line.
"""

import importlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

_read, _write, _exit, _fork, _pipe = os.read, os.write, os._exit, os.fork, os.pipe
_unlink, _rmdir = os.unlink, os.rmdir  # the guest closes those of `os`
_input, _print = sys.stdin, sys.stdout


def serve(guest: str, here: str) -> None:
    """Answer until there is no more input."""
    folder = tempfile.mkdtemp()
    link = Path(folder, "_lineshaft")
    link.symlink_to(guest)
    sys.path[:0] = [folder, here]
    kind: Any = importlib.import_module("canned").Canned

    for name in [name for name in sys.modules if name.partition(".")[0] == "json"]:
        del sys.modules[name]  # scripts get another than the host has
    clock: list[Any] = [kind()]
    time.monotonic = lambda: clock[0].monotonic() / 1e9
    entry: Any = importlib.import_module("_lineshaft.entry")
    platform: Any = importlib.import_module("_lineshaft.platform")

    entry.prepare(platform.Platform(is_wasm=False, readable=(str(Path(os.__file__).parent),)))
    entry.run('{"do": "rehearse"}', clock[0])
    sys.path[:] = [path for path in sys.path if path not in (folder, here)]
    for name in [name for name in sys.modules if name.startswith("_lineshaft")]:
        del sys.modules[name]
    sys.meta_path[:] = [f for f in sys.meta_path if type(f).__name__ != "OwnFinder"]
    for line in _input:
        order, files, modules = json.loads(line)
        came, told = _pipe()
        if not _fork():
            clock[0] = host = kind(files, modules)
            dump = json.dumps
            answer = entry.run(json.dumps(order), host)
            said = [answer, host.printed, host.writes, host.requests, host.turns]
            left = memoryview(dump(said).encode())
            while left:
                left = left[_write(told, left) :]
            _exit(0)
        os.close(told)
        data = bytearray()
        while piece := _read(came, 1_000_000):
            data += piece
        os.close(came)
        os.wait()
        _print.write(data.decode() + "\n")
        _print.flush()
    _unlink(link)
    _rmdir(folder)


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2])
