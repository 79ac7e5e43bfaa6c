"""An environment for each peer, made once: its requirements clash with those of others."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from lineshaft.files import cache_folder

HERE = Path(__file__).parent
MINUTES = 5


class NotInstalled(Exception):
    """A peer cannot be installed here."""


def python_of(requirements: str) -> Path:
    """Return the Python of an environment, which is made where it is missing.

    Args:
        requirements: The name of a file in `requirements`; empty: this environment.

    Raises:
        NotInstalled: It cannot be made; the message says why.
    """
    if not requirements:
        return Path(sys.executable)
    listed = HERE / "requirements" / f"{requirements}.txt"
    digest = hashlib.sha256(listed.read_bytes() + sys.version.encode()).hexdigest()[:12]
    place = cache_folder().with_name("lineshaft-peers") / f"{requirements}-{digest}"
    python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    done = place / "installed"
    if not done.exists():
        uv = Path(sys.executable).with_name("uv")
        if not uv.exists():
            raise NotInstalled("uv is missing: `./dev lock` installs it")
        _carried_out(uv, "venv", "--quiet", "--clear", "--python", sys.executable, place)
        words = ("pip", "install", "--quiet", "--only-binary", ":all:", "--python", python)
        _carried_out(uv, *words, "--requirement", listed)
        done.touch()
    return python


def _carried_out(*words: str | Path) -> None:
    try:
        ended = subprocess.run(
            words, capture_output=True, text=True, check=False, timeout=MINUTES * 60
        )
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"the installation did not end in {MINUTES} minutes") from None
    if ended.returncode:
        told = " ".join(ended.stderr.split())
        raise NotInstalled(told[:300] or "uv failed and said nothing")
