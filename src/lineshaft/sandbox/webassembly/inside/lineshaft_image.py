"""The program of the image: the guest, behind the one function that its host may call.

It runs once, while the image is built; every instance begins with the memory that it left.
"""

import json
import platform
import sys
from pathlib import Path

import componentize_py_types  # noqa: F401  modules not imported now cannot be imported later
import wit_world
from _lineshaft import entry
from compaction import filled
from objects import Objects

_licence = Path(json.__file__).parents[1] / "LICENSE.txt"  # no file can be read after `prepare`
_licences = {"cpython-LICENSE": _licence.read_text(encoding="utf-8")}
_found = entry.prepare() or {}
for _name in ("compaction", "objects"):
    sys.modules.pop(_name, None)

HELD = filled()
OBJECTS = Objects()
_known = {"python": platform.python_version(), "modules": [], "missing": {}, "licences": _licences}
_facts = {**_known, **_found, "objects": OBJECTS.table.buffer_info()}
FACTS = f"lineshaft facts {json.dumps(_facts)} end of facts"
"""Facts that the build reads out of the finished image, its only source."""


class WitWorld(wit_world.WitWorld):
    """The world's one export."""

    def run(self, order: str) -> str:
        """Carry out one order."""
        sys.modules.pop(__name__, None)  # no script's to import; the build needs it
        return entry.run(order, wit_world)
