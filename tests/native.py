"""The native code of the image, for tests that have folders of their own."""

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from lineshaft.files import cache_folder, made_private, state_folder, write_whole
from lineshaft.sandbox.webassembly import native_code

CACHE_HOME = cache_folder().parent
"""What `XDG_CACHE_HOME` has to be where a test has another `HOME`: making it anew takes seconds."""

_VOUCHING = state_folder() / "webassembly"


def vouch_for_native_code(state_home: Path) -> None:
    """Let programs with another `XDG_STATE_HOME` believe the native code that is there already."""
    if _VOUCHING.is_dir():
        made_private(state_home / "lineshaft")
        shutil.copytree(_VOUCHING, state_home / "lineshaft" / "webassembly", dirs_exist_ok=True)


def own_state(state_home: Path, patch: pytest.MonkeyPatch) -> Path:
    """Have a test keep its state in a folder of its own, without making native code anew.

    Returns:
        The state folder, which is there.
    """
    patch.setenv("XDG_STATE_HOME", str(state_home))
    vouch_for_native_code(state_home)
    return made_private(state_folder())


def lend_native_code(cache_home: Path) -> None:
    """Let programs with another `XDG_CACHE_HOME` find the native code that is there already."""
    folder = made_private(made_private(cache_home / "lineshaft") / "webassembly")
    for file in (CACHE_HOME / "lineshaft" / "webassembly").glob("*.native*"):
        try:
            (folder / file.name).hardlink_to(file)
        except OSError:
            shutil.copy2(file, folder / file.name)


def give_native_code(home: Path, user: int | None) -> None:
    """Put the native code into a home, as the user's own.

    Args:
        home: The folder, in which nothing is yet.
        user: Number of the user and group that programs run as; None: that of the tests.
    """
    code = Path(native_code().path).read_bytes()
    digest = hashlib.sha256(code).hexdigest()
    known = (state_folder() / "webassembly").iterdir()
    name = next(path.name for path in known if path.read_text(encoding="ascii") == digest)
    for place, content in ((".cache", code), (".local/state", digest.encode())):
        folder = made_private(home / place / "lineshaft" / "webassembly")
        write_whole(folder / name, content)
    if user is not None:
        for path in home.rglob("*"):
            os.chown(path, user, user)
