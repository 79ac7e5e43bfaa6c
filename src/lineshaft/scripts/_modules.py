"""Modules of the workspace that a script imports: read through the gate, and kept by their hash."""

import hashlib
from collections.abc import MutableMapping

from lineshaft.gate import CallPipeline
from lineshaft.values import ModuleText


class WorkspaceModules:
    """Finds the modules that one run imports.

    Args:
        pipeline: The run's way through the gate.
        hashes: Takes the sha256 of each text, by path.
    """

    def __init__(self, pipeline: CallPipeline, hashes: MutableMapping[str, str]) -> None:
        self._pipeline = pipeline
        self._hashes = hashes

    async def find(self, name: str) -> ModuleText | None:
        """Return a module by its dotted name; None: the workspace has no such module.

        Raises:
            ToolError: Policy refuses the read, or the file cannot be read.
        """
        stem = name.replace(".", "/")
        for path in (f"{stem}/__init__.py", f"{stem}.py"):
            data = await self._pipeline.read_module(path)
            if data is not None:
                self._hashes[path] = hashlib.sha256(data).hexdigest()
                return path, data
        return None
