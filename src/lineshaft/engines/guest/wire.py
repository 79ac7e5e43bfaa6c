"""The host as a guest sees it: three functions."""

from typing import Protocol


class Wire(Protocol):
    """The functions of the host; the module `wit_world` in WebAssembly, a socket in a jail."""

    def turn(self, seconds: float, requests: str) -> str:
        """Send requests and wait for one completion, or until the time has passed."""
        ...

    def write(self, name: str, text: str) -> None:
        """Hand over text printed to `stdout` or `stderr`."""
        ...

    def package(self, request: str) -> str:
        """Ask for a file of the packages or of the workspace."""
        ...
