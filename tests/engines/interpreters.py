"""The Pythons that this machine has."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13", "3.14")


@cache
def found(version: str) -> str | None:
    """Return the path of an interpreter of a version; None: this machine has none."""
    managed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    on_path = shutil.which(f"python{version}")
    places = [*sorted(managed.glob(f"{version}.*/bin/python")), on_path]
    for place in places:
        if place is not None and _says(str(place)) == version:
            return str(place)
    return None


def _says(place: str) -> str:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run(
            [place, "-I", "-c", code], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
