"""The native code of the image, for tests that have a state folder of their own."""

import shutil
from pathlib import Path

from lineshaft.files import cache_folder, made_private, state_folder

CACHE_HOME = cache_folder().parent
"""What `XDG_CACHE_HOME` has to be where a test has another `HOME`: making it anew takes seconds."""

_VOUCHING = state_folder() / "webassembly"


def vouch_for_native_code(state_home: Path) -> None:
    """Let programs with another `XDG_STATE_HOME` believe the native code that is there already."""
    if _VOUCHING.is_dir():
        made_private(state_home / "lineshaft")
        shutil.copytree(_VOUCHING, state_home / "lineshaft" / "webassembly", dirs_exist_ok=True)
