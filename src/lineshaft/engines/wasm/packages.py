"""Packages of a session, for WebAssembly: resolved for its Python, tried out, compiled."""

import hashlib
import json
import queue
import sys
import sysconfig
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from lineshaft.engines.host.protocol import read_result
from lineshaft.engines.wasm.compiled import Compiled
from lineshaft.engines.wasm.library import GuestAnswer, Library
from lineshaft.errors import PythonNotFound
from lineshaft.files import cache_folder, private_folder, write_whole
from lineshaft.sandbox.webassembly import image
from lineshaft.values import Raised, Returned

if TYPE_CHECKING:
    from lineshaft.sandbox.bundle import PackageTarget  # takes time to import
    from lineshaft.sandbox.webassembly import Instance

_SECONDS = 60.0
"""For the import of a package that is tried out."""

_MEMORY_MB = 1_000


class PackageSet:
    """The packages that scripts of one session may import.

    Its methods block; they are for threads beside the event loop.

    Args:
        requirements: Such as `jinja2>=3`.
        take: Returns an instance to try a package out in.
    """

    def __init__(self, requirements: Sequence[str], take: "Callable[[], Instance]") -> None:
        self._requirements = tuple(requirements)
        self._take = take
        self._guard = threading.Lock()
        self._compiled: Compiled | None = None
        self._library: Library | None = None
        self._absent: dict[str, str] = {}
        """Requirements that cannot be had for this Python, and why."""

        self._root: Path | None = None
        self._tried: dict[str, str | None] = {}

    def __bool__(self) -> bool:
        return bool(self._requirements)

    @property
    def digest(self) -> str:
        """The digest of this set's lock, where there is one."""
        if not self._requirements:
            return ""
        from lineshaft.sandbox import bundle  # noqa: PLC0415  where packages are used

        try:
            text = bundle.lock_of(_python(), self._requirements).read_text(encoding="utf-8")
        except (OSError, PythonNotFound):
            text = "\0".join(sorted(self._requirements))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def installed(self) -> Path | None:
        """The folder of the packages, once it is there."""
        return self._root

    def library(self) -> Library:
        """Return the modules and files, installed now if they are not there.

        Raises:
            PythonNotFound: They cannot be had.
        """
        with self._guard:
            if self._library is None:
                self._root = self._root or self._install()
                self._compiled = Compiled()
                self._library = Library(self._root, self._compiled)
            return self._library

    def folder(self) -> Path:
        """Return the folder of the packages, installed now if they are not there.

        Raises:
            PythonNotFound: They cannot be had.
        """
        with self._guard:
            self._root = self._root or self._install()
            return self._root

    def impure(self, name: str) -> str:
        """Return why a module of the set does not run here; empty: it runs, or is not there.

        Modules that it imports for the first time are compiled, so that a script need not.

        Args:
            name: Its dotted name.

        Raises:
            PythonNotFound: The packages cannot be installed.
        """
        library = self.library()
        if not library.has(name):
            missing = self._absent_of(name)
            return "" if missing is None else f"{name} is not there for this Python: {missing}"
        if name not in self._tried:
            kept = self._kept(name)
            self._tried[name] = self._try(name, library) if kept is None else kept
        return self._tried[name] or ""

    def close(self) -> None:
        """End the compiling instance."""
        with self._guard:
            if self._compiled is not None:
                self._compiled.close()

    def _absent_of(self, name: str) -> str | None:
        top = name.partition(".")[0].replace("_", "-").lower()
        return next((why for word, why in self._absent.items() if _project(word) == top), None)

    def _install(self) -> Path:
        from lineshaft.sandbox import bundle  # noqa: PLC0415  where packages are used

        python = _python()
        try:
            root = bundle.packages_for(python, self._requirements)
        except PythonNotFound:
            wanted = [word for word in self._requirements if not self._unfit(python, word)]
            if len(wanted) == len(self._requirements) or not wanted:
                raise
            root = bundle.packages_for(python, wanted)
        if root is None:
            raise PythonNotFound("there are no packages")
        return root

    def _unfit(self, python: "PackageTarget", word: str) -> bool:
        """Return whether there is no wheel of a requirement, and note it."""
        from lineshaft.sandbox import bundle  # noqa: PLC0415  where packages are used

        try:
            bundle.packages_for(python, [word])
        except PythonNotFound as error:
            self._absent[word] = error.message.strip().splitlines()[-1]
            return True
        return False

    def _try(self, name: str, library: Library) -> str | None:
        """Import a module in an instance of its own that has no tools; return the error."""
        ended: queue.SimpleQueue[str | BaseException] = queue.SimpleQueue()
        host = _TrialHost(library)
        order = {
            "do": "script",
            "source": f"import {name}",
            "packages": True,
            "memory_mb": _MEMORY_MB,
        }
        instance = self._take()
        instance.start(json.dumps(order), host, memory_mb=_MEMORY_MB, done=ended.put)
        try:
            word = ended.get(timeout=_SECONDS)
        except queue.Empty:
            word = TimeoutError()
        finally:
            instance.stop()
        outcome = read_result(word) if isinstance(word, str) else None
        match outcome:
            case Returned():
                reason = ""
            case Raised() if host.native is not None:
                reason = f"{name} needs {host.native}, which is native code"
            case Raised(kind="ModuleNotFoundError" | "ImportError", message=message):
                reason = f"{name} cannot be imported here: {message}"
            case _:
                return None  # it is the script's to find out
        self._keep(name, reason)
        return reason

    def _kept(self, name: str) -> str | None:
        try:
            return str(json.loads(self._trial(name).read_bytes())["reason"])
        except (OSError, ValueError, KeyError):
            return None

    def _keep(self, name: str, reason: str) -> None:
        file = self._trial(name)
        try:
            private_folder(file.parent)
            write_whole(file, json.dumps({"module": name, "reason": reason}).encode())
        except Exception:  # noqa: BLE001  it can be tried again
            return

    def _trial(self, name: str) -> Path:
        words = f"{image().digest}\0{self._root}\0{name}"
        digest = hashlib.sha256(words.encode()).hexdigest()
        return cache_folder() / "wasm-code" / "trials" / f"{digest[:40]}.json"


class _TrialHost:
    """The host of a module that is tried out: it has packages only."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._time = 1_000_000_000
        self.native: str | None = None
        """The last module in native code that was asked for."""

    def turn(self, seconds: float, requests: str) -> str:
        """End the guest: an import does not wait."""
        raise RuntimeError("an import has nothing to wait for")

    def write(self, name: str, text: str) -> None:
        """Take output that is not read."""

    def package(self, request: str) -> str:
        """Answer from the library; modules without code are compiled."""
        asked: object = json.loads(request)
        match asked:
            case {"find": str() as name}:
                answer = self._library.find(name, compile_now=True)
                if answer["kind"] == "native":
                    self.native = name
            case dict():
                answer = self._library.answer(cast("GuestAnswer", asked))
            case _:
                answer = {"kind": "none"}
        return json.dumps(answer)

    def monotonic(self) -> int:
        """Return a clock of its own."""
        self._time += 1_000_000
        return self._time

    def wall(self) -> int:
        """Return the same moments each time."""
        return 1_767_225_600_000_000_000 + self.monotonic()

    def random(self, count: int) -> bytes:
        """Return bytes that are no secret."""
        return bytes(count)


def _python() -> "PackageTarget":
    from lineshaft.sandbox import bundle  # noqa: PLC0415  where packages are used

    version = image().python
    minor = "".join(version.split(".")[:2])
    platform = sysconfig.get_platform() if sys.platform != "win32" else "windows"
    return bundle.PackageTarget(tag=f"wasm-{minor}", platform=platform, version=version)


def _project(requirement: str) -> str:
    """Return the name of the project that a requirement names, as modules are mostly named."""
    name = ""
    for character in requirement:
        if not (character.isalnum() or character in "-_."):
            break
        name += character
    return name.replace("_", "-").lower()
