"""Rehearsal of packages that were imported ahead.

Modules that they load at their first use are there before the first script.
"""

import contextlib
import sys

_REHEARSALS = {
    "numpy": """
a = module.arange(12, dtype=float).reshape(3, 4)
(a * 2 + 1).sum(axis=0).tolist()
""",
    "pandas": """
f = module.DataFrame({"a": [1, 2, 1], "b": [1.5, 2.5, 3.5]})
f.groupby("a")["b"].sum()
""",
}
"""Typical uses of packages, each as `module`."""


def rehearse_packages() -> None:
    """Run a typical use of each package that is there."""
    for name, text in _REHEARSALS.items():
        module = sys.modules.get(name)
        if module is not None:
            with contextlib.suppress(Exception):  # of a version that has other ways
                exec(text, {"module": module})  # noqa: S102  our own text
