"""The module `os` as it was before the guest closed parts of it for scripts."""

import os
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os as system
else:
    system = ModuleType("os")
    vars(system).update(vars(os))

__all__ = ["exit_now", "system"]

exit_now = os._exit
