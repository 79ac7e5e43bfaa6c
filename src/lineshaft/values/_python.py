"""Which Python runs scripts of the engine `cpython`, and what `python_run` starts."""

from dataclasses import dataclass

NO_BOUNDARY = "none"
"""What a person names as the boundary to have none: nothing counts as jailed then."""


WASM_BOUNDARY = "wasm"
"""What a person names as the boundary to have programs in WebAssembly, also where jails work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonOptions:
    """What the full Python of a session is, and what it may use."""

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
