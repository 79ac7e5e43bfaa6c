"""The place of a program in its view: what is started there, over which copy, for how long."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from lineshaft.errors import ToolError
from lineshaft.kit.jailed import ProgramTime
from lineshaft.kit.view.copy import PrivateCopy
from lineshaft.kit.view.lines import ComingLines
from lineshaft.processes.programs import ProgramOptions
from lineshaft.values import Struct


class ViewPlace(Struct, frozen=True, kw_only=True):
    """The copy in which a program runs, and its command."""

    copy: PrivateCopy
    folder: str
    """In the copy."""

    argv: tuple[str, ...]
    """The program by its whole path, and its arguments."""

    env: Mapping[str, str]
    time: ProgramTime
    coming: ComingLines


def found_program(options: ProgramOptions) -> Path:
    """Return the program by its whole path.

    Raises:
        ToolError: There is none of that name.
    """
    name = options.argv[0]
    found = name if "/" in name else shutil.which(name)
    if found is None or not os.access(found, os.X_OK):
        hint = options.install or "Check its name."
        raise ToolError("E_FILE_NOT_FOUND", f"there is no program {name!r}", hint=hint)
    return Path(found).absolute()


def without_place(root: Path, text: str) -> str:
    """Return a text without the place of the copy, which says nothing to a reader."""
    return text.replace(f"{root}/", "").replace(str(root), ".")
