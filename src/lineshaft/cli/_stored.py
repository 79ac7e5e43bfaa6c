"""Files that Lineshaft keeps outside the workspace: places, sizes and purposes."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from lineshaft.errors import ConfigError
from lineshaft.files import cache_folder, config_folder, data_folder, state_folder
from lineshaft.values import Struct

_FOLDERS: dict[str, Callable[[], Path]] = {
    "cache": cache_folder,
    "data": data_folder,
    "state": state_folder,
    "config": config_folder,
}

_KNOWN = {
    ("cache", "packages"): "package sets of scripts and programs",
    ("cache", "python"): "copies of this Python, for jails",
    ("cache", "seals"): "hashes of those copies",
    ("cache", "wasm-code"): "compiled modules of pure packages",
    ("cache", "webassembly"): "native code of Python in WebAssembly",
    ("data", "python"): "a Python that was built or installed on purpose",
    ("state", "key"): "the key that seals records and run states",
    ("state", "mcp"): "tokens of MCP servers",
    ("state", "runs.db"): "records of runs",
    ("state", "store.db"): "records of runs, by an earlier version",
    ("state", "started"): "files of `--tools` that runs were started with",
    ("state", "webassembly"): "hashes of the native code",
    ("state", "workspaces"): "what `undo` needs",
}


class Stored(Struct, frozen=True, kw_only=True):
    """A file or folder at the top of one of the four folders."""

    kind: str
    """`cache`, `data`, `state` or `config`."""

    name: str
    path: str
    bytes: int
    """On the disk, links not followed."""

    text: str
    """What it is; empty where this version does not know it."""


def stored() -> Iterator[Stored]:
    """Yield everything that is kept, folder by folder."""
    for kind, place in _FOLDERS.items():
        with suppress(ConfigError, OSError):
            for path in sorted(place().iterdir()):
                text = _KNOWN.get((kind, path.name), "")
                yield Stored(
                    kind=kind, name=path.name, path=str(path), bytes=size_of(path), text=text
                )


def size_of(path: Path) -> int:
    """Return how many bytes of the disk a file, or all in a folder, take."""
    files = [path] if path.is_symlink() or not path.is_dir() else list(_below(path))
    return sum(map(_blocks, files))


def _below(folder: Path) -> Iterator[Path]:
    for above, _, names in os.walk(folder):
        yield from (Path(above, name) for name in names)


def _blocks(path: Path) -> int:
    try:
        status = path.lstat()
    except OSError:
        return 0  # gone by now
    return getattr(status, "st_blocks", 0) * 512 or status.st_size


def shown(size: int) -> str:
    """Return a size for people."""
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{size / 1e3:,.1f} kB"
