"""The process of one program: it opens the folders of the private copy to a guest, and runs it.

Above: `program/_run.py` in the host, which started it and reads its report. Below: the image. The
wall is wasmtime's: the guest has the functions of WASI, on the folders that are opened here and no
others, and no sockets. This process has nothing else that a guest could use: its input is empty,
and it ends with the program. Started as `python -I -S -B`, with the path and the hash of its order.
"""

import hashlib
import json
import os
import sys
import threading
import time
from typing import Any

_LOOK_SECONDS = 0.1
_MEASURE_SECONDS = 2.0
_REST = 20
"""Measuring may take one part in so many of the time."""


def main(place: str, digest: str) -> None:
    """Carry out an order and end this process.

    Args:
        place: The file that it stands in.
        digest: The SHA-256 of the file, which names the modules to import and the folders to open.
    """
    with open(place, "rb") as file:  # noqa: PTH123  pathlib is imported with the rest
        data = file.read()
    if hashlib.sha256(data).hexdigest() != digest:
        sys.exit("the order was changed from outside")
    order = json.loads(data)
    sys.path[:] = order["path"]
    from lineshaft.sandbox.webassembly.child._guest import ProgramInstance  # noqa: PLC0415  by that path

    report = Report(order["report"])
    program = ProgramInstance(order, report.leave)
    threading.Thread(target=watch, args=(order["disk"], report), daemon=True).start()
    limit(order["disk"]["file"], order["open_files"])
    report.write({"began": True})
    report.leave(**program.run())


class Report:
    """The report to the host, in a file beside the copy that no program reaches.

    Args:
        place: The file.
    """

    def __init__(self, place: str) -> None:
        self._place = place
        self._lock = threading.Lock()

    def write(self, report: dict[str, object]) -> None:
        """Say how far it is."""
        with open(f"{self._place}.new", "w", encoding="utf-8") as file:  # noqa: PTH123  as above
            json.dump(report, file)
        os.replace(f"{self._place}.new", self._place)  # noqa: PTH105  as above

    def leave(self, code: int, **report: object) -> None:
        """Say the last, and end this process at once."""
        with self._lock:
            self.write({"began": True, **report})
            os._exit(code)


def watch(disk: dict[str, Any], report: Report) -> None:
    """End the program once it holds more of the disk than it may."""
    from lineshaft.sandbox.webassembly.child._disk import Gauge  # noqa: PLC0415  as above

    gauge = Gauge(disk["folders"], files=disk["files"], size=disk["size"])
    next_measure = time.monotonic() + _MEASURE_SECONDS
    while True:
        time.sleep(_LOOK_SECONDS)
        if not gauge.is_suspicious() and time.monotonic() < next_measure:
            continue
        begun = time.monotonic()
        if gauge.is_over():
            report.leave(1, ended="disk")
        took = time.monotonic() - begun
        next_measure = time.monotonic() + max(_MEASURE_SECONDS, _REST * took)


def limit(file_bytes: int, open_files: int) -> None:
    """Bound what the process may use, where the system can."""
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415  not everywhere

    for name, most in (
        ("RLIMIT_FSIZE", file_bytes),
        ("RLIMIT_NOFILE", open_files),
        ("RLIMIT_CORE", 0),
    ):
        number = getattr(resource, name)
        hard = resource.getrlimit(number)[1]
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(number, (bound, bound))


if __name__ == "__main__":
    main(*sys.argv[1:])
