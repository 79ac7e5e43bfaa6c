"""Choice of the Python for the engine `cpython` and for `python_run`."""

import re

from lineshaft.values._lazy_pattern import lazy_pattern
from lineshaft.values._struct import Struct

NO_BOUNDARY = "none"
"""Name of the boundary `none`: no boundary, and nothing counts as jailed."""


WASM_BOUNDARY = "wasm"
"""Name of the boundary that puts programs in WebAssembly, also where jails work."""


class PythonOptions(Struct, frozen=True, kw_only=True):
    """The full Python of a session, and its limits."""

    path: str | None = None
    """A bundle's folder, or an interpreter to make one of; None: the usual places, in order."""

    packages: tuple[str, ...] = ()
    """Requirements, such as `pandas`; locked and installed into a read-only folder."""

    preload: tuple[str, ...] = ()
    """Modules that are imported once, before the first script."""

    workspace_imports: bool = False
    """Scripts may import modules of the workspace; each is judged as a read of its file."""

    seconds: float = 60
    """Longest run of `python_run`."""

    boundary: str | None = None
    """Name of the boundary to use, `none` to do without; None: the best that works here, for
    programs of `python_run` WebAssembly where no jail does."""


_VERSION = r"(?:===?|[~!<>]=|[<>]) *+[\w.*+!-]++ *+"
_VERSIONS = rf"{_VERSION}(?:, *+{_VERSION})*+"
_REQUIREMENT = lazy_pattern(
    r"[A-Za-z0-9][\w.-]*+ *+(?:\[[\w., -]*+\] *+)?+"  # a name, and its extras
    rf"(?:{_VERSIONS}|\( *+{_VERSIONS}\) *+)?+"
    r"(?:;(?!.* -)[ ()\w.,*+!<>=~'\"-]*+)?+",  # where it is wanted
    re.ASCII,
)


def is_requirement(text: str) -> bool:
    """Return whether a text names a package, with extras, versions and a condition at most.

    No address and no path: pip builds what lies there outside of the jail, only wheels or not, and
    uv fills in variables of the environment. No option either, which a list of requirements has.
    """
    return _REQUIREMENT().fullmatch(text) is not None
