"""The native code of the image, made once per machine and kept in the cache.

It is code of the host: it runs with all its rights, and wasmtime does not check it. So the file is
trusted only if its user alone can write it and if its hash is the one in the state folder, which no
tool reaches; or if root made both and the user cannot write either. The hashed bytes are the ones
that run: on Linux a sealed copy in memory, since a file changed in its place changes running code.
"""

import hashlib
import importlib
import logging
import os
import platform
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lineshaft import files
from lineshaft.errors import ConfigError
from lineshaft.sandbox.webassembly._forks import in_each_child
from lineshaft.sandbox.webassembly._image import image
from lineshaft.values import Struct

if TYPE_CHECKING:
    from wasmtime import Engine
    from wasmtime.component import Component

WASMTIME = "50.0.1"
"""The version of wasmtime whose native code this is: the one that is pinned."""

SETTINGS = "speed nan-canonical epoch cow"
"""The compiler's settings; wasmtime itself would accept code made with others."""

_log = logging.getLogger("lineshaft.native")

Place = Literal["cache", "root's cache", "memory"]
_UNUSED = 60 * 86_400.0
_PIECE = 1 << 22
_NEW = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


class NativeCode(Struct, frozen=True):
    """Native code that may be loaded."""

    place: Place
    """Its place; `memory` where no folder can be written: each process then makes it."""

    folder: Path | None
    """The folder of the cache that was used."""

    made: bool
    """Whether it was made just now."""

    handle: int | bytes
    """A descriptor of the code, or the code itself."""

    path: str
    """The name that wasmtime opens it by; empty where it is in `handle`."""

    def load(self, engine: "Engine") -> "Component":
        """Return the component of an engine with the settings that the code was made with."""
        from wasmtime.component import Component  # noqa: PLC0415  only when a script runs

        if isinstance(self.handle, bytes):
            return Component.deserialize(engine, self.handle)
        return Component.deserialize_file(engine, self.path)


class NativeCache(Struct, frozen=True):
    """The place of one piece of native code, and of the hash that vouches for it."""

    name: str
    """The file's name: one hash of everything that the code depends on."""

    make: Callable[[], bytes]
    """Makes the code."""

    cache: Path | None
    """The folder of the code; None where there is none."""

    state: Path | None
    """The folder of its hash; None where there is none."""

    def get(self) -> NativeCode:
        """Return the code: the kept one where it can be trusted, else one made now.

        Of several processes without it, one makes it and the others wait.
        """
        found = self._kept()
        if found is not None:
            return found
        if self.cache is None:
            return self.in_memory()
        code = None
        try:
            files.made_private(self.cache, 0o755 if _is_root() else 0o700)
            with files.locked(self.cache / ".lock"):
                found = self._kept()
                if found is not None:
                    return found
                code = self.make()
                self._keep(self.cache, code)
        except OSError:
            return self.in_memory() if code is None else _held(code)
        return self._kept(made=True) or _held(code)

    def is_there(self) -> bool:
        """Return whether there is code, and a hash that vouches for it; it is not hashed."""
        if self.cache is None:
            return False
        path = self.cache / self.name
        try:
            fd = _opened(path)
        except OSError:
            return False
        try:
            return self._vouched(path, fd)[0] is not None
        finally:
            os.close(fd)

    def in_memory(self) -> NativeCode:
        """Return code that is made now and kept nowhere but in this process."""
        return _held(self.make())

    def _keep(self, cache: Path, code: bytes) -> None:
        """Put code into the cache, its hash into the state, and beside it where root makes it."""
        digest = hashlib.sha256(code).hexdigest().encode()
        if self.state is not None:
            with suppress(OSError):
                files.write_whole(files.made_private(self.state) / self.name, digest)
        if _is_root():
            files.write_whole(cache / f"{self.name}.sha256", digest, 0o644)
        files.write_whole(cache / self.name, code, 0o644 if _is_root() else 0o600)
        _remove_unused(cache)

    def _kept(self, *, made: bool = False) -> NativeCode | None:
        """Return the code that the cache holds, if it can be believed."""
        if self.cache is None:
            return None
        path = self.cache / self.name
        try:
            fd = _opened(path)
        except OSError:
            return None
        place, digest = self._vouched(path, fd)
        held = _sealed_copy(fd) if place is not None else None
        if place is None or held is None:
            os.close(fd)
            return None
        if held.handle != fd:
            os.close(fd)
        if held.digest != digest:
            os.close(held.handle)
            return None
        with suppress(OSError):
            os.utime(path)  # the time of its last use, by which old ones are recognised
        name = f"/proc/self/fd/{held.handle}" if sys.platform == "linux" else str(path)
        return NativeCode(place, self.cache, made=made, handle=held.handle, path=name)

    def _vouched(self, path: Path, fd: int) -> tuple[Place | None, str]:
        """Return the place of trusted code and its expected hash; None where there is none."""
        owner = files.trusted(os.fstat(fd))
        if owner == "own" and self.state is not None:
            digest = _small_text(self.state / self.name, "own")
            if digest and files.trusted(path.parent.stat()) == "own":
                return "cache", digest
        if owner == "root" and files.others_cannot_write(path) and not _can_write(path):
            digest = _small_text(path.with_name(f"{path.name}.sha256"), "root")
            if digest:
                return "root's cache", digest
        return None, ""


def _opened(path: Path) -> int:
    return os.open(path, _NEW | getattr(os, "O_BINARY", 0))


class _InUse:
    """The code that this process has read: a copy of 55 MB, which one is enough of."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.codes: dict[NativeCache, NativeCode] = {}

    def renew(self) -> None:
        """Forget a thread that held the lock in the process that this one was forked from."""
        self.lock = threading.Lock()


_IN_USE = _InUse()

in_each_child(_IN_USE.renew)


def native_code() -> NativeCode:
    """Return the native code of the image; it is made where it is not there, in 4 to 8 seconds.

    Raises:
        WasmUnavailable: There is no image, or wasmtime does not work here.
    """
    cache = _of_image()
    with _IN_USE.lock:
        found = _IN_USE.codes.get(cache)
        if found is None:
            found = _IN_USE.codes[cache] = cache.get()
        return found


def native_code_of_this_process() -> NativeCode:
    """Return native code made now, where the kept one is for another processor."""
    cache = _of_image()
    with _IN_USE.lock:
        found = _IN_USE.codes[cache] = cache.in_memory()
        return found


def native_code_ready() -> bool:
    """Return whether trusted native code lies there already; it is not hashed."""
    return _of_image().is_there()


def remove_native_code() -> int:
    """Remove all native code in the cache, of other versions too.

    Returns:
        Bytes freed.
    """
    freed = 0
    for folder in (_folder(files.cache_folder), _folder(files.state_folder)):
        for path in folder.iterdir() if folder is not None and folder.is_dir() else ():
            with suppress(OSError):
                size = path.stat().st_size
                path.unlink()
                freed += size
    return freed


def _of_image() -> NativeCache:
    machine = f"{sys.platform} {platform.machine()}"
    parts = repr((image().digest, WASMTIME, SETTINGS, machine))
    name = f"{hashlib.sha256(parts.encode()).hexdigest()[:32]}.native"
    return NativeCache(name, _make, _folder(files.cache_folder), _folder(files.state_folder))


def _make() -> bytes:
    from lineshaft.sandbox.webassembly import _settings  # noqa: PLC0415  wasmtime is slow to import

    _log.info("making the native code of Python, once for this machine ...")
    return _settings.compile_component(image().component())


def _folder(place: Callable[[], Path]) -> Path | None:
    try:
        return place() / "webassembly"
    except ConfigError:
        return None


def _is_root() -> bool:
    if sys.platform == "win32":
        return False
    return os.geteuid() == 0


def _can_write(path: Path) -> bool:
    return any(os.access(each, os.W_OK) for each in (path, path.parent))


def _held(code: bytes) -> NativeCode:
    """Return code that is kept nowhere but in this process."""
    fd = _memory()
    if fd is None:
        return NativeCode("memory", None, made=True, handle=code, path="")
    with open(fd, "wb", closefd=False) as file:
        file.write(code)
    _seal(fd)
    return NativeCode("memory", None, made=True, handle=fd, path=f"/proc/self/fd/{fd}")


def _small_text(path: Path, owner: files.Trusted) -> str:
    """Return a small file that has this owner and that no other user can write; else empty."""
    try:
        with os.fdopen(os.open(path, _NEW), "rb") as file:
            if files.trusted(os.fstat(file.fileno())) != owner:
                return ""
            return file.read(128).decode("ascii")
    except (OSError, ValueError):
        return ""


class _Hashed(Struct, frozen=True):
    """An open file whose content was hashed."""

    handle: int
    digest: str


def _sealed_copy(fd: int) -> _Hashed | None:
    """Return a sealed copy of a file in memory, or itself where there is none.

    The bytes are hashed on their way: to map all of them for the hash takes as long as to copy.
    """
    copy = _memory()
    digest = hashlib.sha256()
    piece = memoryview(bytearray(_PIECE))
    try:
        with ExitStack() as stack:
            read = stack.enter_context(open(fd, "rb", buffering=0, closefd=False))
            into = None if copy is None else stack.enter_context(open(copy, "wb", closefd=False))
            while size := read.readinto(piece):
                digest.update(piece[:size])
                if into is not None:
                    into.write(piece[:size])
        if copy is not None:
            _seal(copy)
    except OSError:
        if copy is not None:
            os.close(copy)
        return None
    return _Hashed(fd if copy is None else copy, digest.hexdigest())


def _memory() -> int | None:
    """Return a new file in memory that can be sealed; None where there is none."""
    if sys.platform != "linux":
        return None
    try:
        importlib.import_module("fcntl")
        return os.memfd_create("lineshaft-native", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    except (AttributeError, ImportError, OSError):
        return None


def _seal(fd: int) -> None:
    """Seal a file in memory against changes."""
    fcntl = importlib.import_module("fcntl")
    seals = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)


def _remove_unused(cache: Path) -> None:
    """Remove code of versions that were not used for two months."""
    for path in cache.glob("*.native"):
        with suppress(OSError):
            if path.stat().st_mtime < time.time() - _UNUSED:
                path.unlink()
