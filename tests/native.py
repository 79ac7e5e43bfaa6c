"""The native code of the image, for tests that have a state folder of their own."""

import shutil
from pathlib import Path

import pytest

from lineshaft.files import cache_folder, made_private, state_folder

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
