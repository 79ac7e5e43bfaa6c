"""Work that a first script waits for: native code of Python in WebAssembly, and packages."""

import logging
import time
from contextlib import suppress

from lineshaft.cli._diagnosis import Diagnosis
from lineshaft.cli._terminal import note, paint
from lineshaft.errors import LineshaftError
from lineshaft.sandbox.webassembly import image, native_code, native_code_ready
from lineshaft.values import visible


class _Shown(logging.Handler):
    """Shows each line on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        note(paint(visible(record.getMessage()), "dim"))


def announce() -> None:
    """Say what the first script waits for: native code that is made, packages as they come."""
    packages = logging.getLogger("lineshaft.packages")
    packages.setLevel(logging.INFO)
    packages.propagate = False
    packages.handlers = [_Shown()]
    with suppress(LineshaftError):  # what is wrong is said by what needs it
        if not native_code_ready():
            note(paint("making the native code of Python, once for this machine ...", "dim"))


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
