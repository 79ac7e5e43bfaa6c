"""Modules of the workspace, as the answers that a guest gets when it asks for one."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from lineshaft.values import ModuleText

_SOURCE_BYTES = 4_000_000
"""Of one module at most."""

_INSIDE = PurePosixPath("/workspace")

NONE: Mapping[str, object] = {"kind": "none"}
"""The answer where there is no such module."""


def found_source(found: ModuleText | None) -> Mapping[str, object]:
    """Return the answer that is a module of the workspace.

    Args:
        found: Its path and text; None: there is none.
    """
    if found is None:
        return NONE
    path, data = found
    if len(data) > _SOURCE_BYTES:
        return {"kind": "none", "error": f"{path} has more than {_SOURCE_BYTES:,} bytes"}
    inside = _INSIDE / path
    text = data.decode("utf-8-sig", "replace")  # a mark for what is no UTF-8; the compiler names it
    package = inside.name == "__init__.py"
    return {"kind": "source", "path": str(inside), "package": package, "source": text}
