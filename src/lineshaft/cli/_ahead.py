"""Work that a first script waits for: native code of Python in WebAssembly, and packages."""

import logging
import time

from lineshaft.cli._diagnosis import Diagnosis
from lineshaft.cli._terminal import note, paint
from lineshaft.errors import LineshaftError
from lineshaft.sandbox.webassembly import image, native_code
from lineshaft.values import visible


class _Shown(logging.Handler):
    """Shows each line on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        note(paint(visible(record.getMessage()), "dim"))


def announce() -> None:
    """Say from now on what a first script waits for, as it begins: native code, packages."""
    for name in ("lineshaft.native", "lineshaft.packages"):
        log = logging.getLogger(name)
        log.setLevel(logging.INFO)
        log.propagate = False
        log.handlers = [_Shown()]


def make_ahead() -> Diagnosis:
    """Make the native code where it is missing, with a line of progress; say where it is."""
    started = time.monotonic()
    announce()
    try:
        code = native_code()
        version = image().python
    except LineshaftError as error:
        return Diagnosis(name="native", state="fail", text=error.message, hint=error.hint)
    made = f", made in {time.monotonic() - started:.0f} s" if code.made else ""
    about = f"native code of Python {version}{made}"
    if code.place == "memory":
        return Diagnosis(
            name="native",
            state="note",
            text=f"{about}: it is kept nowhere, and made for each process",
            hint="let the cache and state folders be written, or set XDG_CACHE_HOME and"
            " XDG_STATE_HOME to folders that can be",
        )
    owner = ", which root made" if code.place == "root's cache" else ""
    return Diagnosis(name="native", state="ok", text=f"{about}, in {code.folder}{owner}")
