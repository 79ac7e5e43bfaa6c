"""Compiled code of pure packages, made by an instance that runs no script."""

import base64
import binascii
import hashlib
import json
import threading
from pathlib import Path

from lineshaft.files import cache_folder, private_folder, write_whole
from lineshaft.sandbox.webassembly import Asker, GuestStopped, GuestTrapped, image

_SECONDS = 60.0


class Compiled:
    """Code of modules by the image that made it, their path and their text.

    It is code of guests and not of the host: it runs only inside the walls.
    """

    def __init__(self) -> None:
        self._folder = cache_folder() / "wasm-code" / image().digest[:16]
        self._asker: Asker | None = None
        self._guard = threading.Lock()

    def get(self, path: str, source: bytes) -> bytes | None:
        """Return the code of a module; None: it was not made.

        Args:
            path: The module's path for guests.
            source: Its text.
        """
        try:
            return self._file(path, source).read_bytes()
        except OSError:
            return None

    def make(self, name: str, path: str, source: bytes) -> bytes | None:
        """Make and keep the code of a module; None: it does not compile.

        Args:
            name: Its dotted name.
            path: Its path for guests.
            source: Its text.
        """
        module = {"name": name, "path": path, "source": source.decode("utf-8-sig", "replace")}
        with self._guard:
            asker = self._asker = self._asker or Asker(seconds=_SECONDS)
            try:
                order = json.dumps({"do": "compile", "modules": [module]})
                code = _code(json.loads(asker.ask(order)))
            except (GuestStopped, GuestTrapped, ValueError):
                return None
        if code is not None:
            self._keep(self._file(path, source), code)
        return code

    def close(self) -> None:
        """End the instance that compiles."""
        with self._guard:
            if self._asker is not None:
                self._asker.close()
                self._asker = None

    def _file(self, path: str, source: bytes) -> Path:
        digest = hashlib.sha256(path.encode() + b"\0" + source).hexdigest()
        return self._folder / digest[:2] / digest[2:]

    def _keep(self, file: Path, code: bytes) -> None:
        try:
            private_folder(file.parent)
            write_whole(file, code)
        except Exception:  # noqa: BLE001  it can be made again
            return


def _code(answer: object) -> bytes | None:
    match answer:
        case {"modules": [{"code": str() as text}]}:
            try:
                return base64.b64decode(text, validate=True)
            except binascii.Error:
                return None
        case _:
            return None
