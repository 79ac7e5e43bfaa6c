"""Rehearsal of packages that were imported ahead.

What they bring only at their first use is there before the first script.
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
"""What scripts do with packages, each as `module`."""


def rehearse_packages() -> None:
    """Do a little of what scripts do with each package that is there."""
    for name, text in _REHEARSALS.items():
        module = sys.modules.get(name)
        if module is not None:
            with contextlib.suppress(Exception):  # of a version that has other ways
                exec(text, {"module": module})  # noqa: S102  our own text
