"""Modules that cannot be imported here, with the reason."""

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from ..missing import STUBBED, reason

_COMPILED = (".so", ".pyd", ".dylib")


class Explainer:
    """The last one to be asked for a module: raises an error that says why it is not there."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find nothing.

        Raises:
            ModuleNotFoundError: The reason is known.
        """
        del target
        why = reason(name) or STUBBED.get(name)
        if why is None and _is_compiled(name.rpartition(".")[2], path):
            why = (
                "it is compiled code, which does not run in WebAssembly; `python_run` runs it where"
                " a jail works"
            )
        if why is None:
            return None
        raise ModuleNotFoundError(f"No module named {name!r} ({why})", name=name)


def _is_compiled(name: str, path: Sequence[str] | None) -> bool:
    for folder in sys.path if path is None else path:
        try:
            names = os.listdir(folder)
        except (OSError, TypeError, ValueError):
            continue
        if any(each.startswith(f"{name}.") and each.endswith(_COMPILED) for each in names):
            return True
    return False
