"""Reading of settings files, which may be hostile: bounded, regular files only, clear errors."""

import os
import stat
import sys
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import cast

from msgspec.structs import replace

from lineshaft.config._places import PROJECT_FILE, PYPROJECT
from lineshaft.errors import ConfigError
from lineshaft.files import only_writer
from lineshaft.policy import rule_sources
from lineshaft.values import Struct, toml_table

MAX_BYTES = 1_000_000


def read_bytes(path: Path, *, limit: int = MAX_BYTES) -> bytes:
    """Return the content of a regular file.

    Args:
        path: The file; a symlink to a regular file is followed.
        limit: More bytes than this are refused.

    Raises:
        ConfigError: It is missing, too large, not a regular file, or not readable.
    """
    try:
        # Without blocking, so that a named pipe cannot stall the start.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ConfigError(f"{str(path)!r} is not a regular file")
            data = file.read(limit + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{str(path)!r} cannot be read: {reason}") from error
    if len(data) > limit:
        raise ConfigError(f"{str(path)!r} is larger than {limit:,} bytes")
    return data


@contextmanager
def changing(path: Path) -> Generator[None]:
    """Keep other threads and processes from changing a file of ours inside the block.

    Args:
        path: The file, which is read, changed and written; its folder exists.

    Raises:
        ConfigError: It cannot be locked.
    """
    with ExitStack() as held:
        try:
            held.enter_context(only_writer(path))
        except OSError as error:
            raise ConfigError(
                f"{str(path)!r} cannot be locked: {error.strerror}",
                hint="see that its folder can be written",
            ) from error
        yield


class SettingsFile(Struct, frozen=True):
    """The settings of Lineshaft in one file."""

    path: Path
    table: Mapping[str, object]
    text: str
    within: tuple[str, ...] = ()
    """The keys of the table in the file."""

    def places(self, name: str) -> tuple[str, ...]:
        """Return where each table of a list of tables is written: `FILE:LINE`.

        Args:
            name: Dotted key of the list.
        """
        head, _, tail = name.partition(".")
        table = self.table.get(head)
        value = cast("dict[str, object]", table).get(tail) if isinstance(table, dict) else None
        return rule_sources(str(self.path), self.text, (*self.within, head, tail), value)


def read_toml(path: Path) -> SettingsFile:
    """Read a TOML file.

    Raises:
        ConfigError: It cannot be read, or is not TOML; says the line.
    """
    return parse_toml(path, read_bytes(path))


def parse_toml(path: Path, data: bytes) -> SettingsFile:
    """Read what is, or is to be, in a TOML file.

    Raises:
        ConfigError: It is not TOML; says the line.
    """
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
        return SettingsFile(path, toml_table(text), text)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{str(path)!r} is not UTF-8 text (line {line})") from error
    except ValueError as error:
        end = f"line {len(data.splitlines())}, the end"
        message = str(error).replace("end of document", end)
        raise ConfigError(f"{str(path)!r} is not TOML: {message}") from error


def project_file(start: Path) -> SettingsFile | None:
    """Find the settings of the project that a folder lies in.

    Args:
        start: Where the search begins; it goes up to the root of the file system.

    Returns:
        The nearest file that speaks of Lineshaft.

    Raises:
        ConfigError: A file is not readable, belongs to another user, or there are two.
    """
    for folder in (start, *start.parents):
        own, shared = folder / PROJECT_FILE, folder / PYPROJECT
        found = _in_pyproject(shared) if os.path.lexists(shared) else None
        if os.path.lexists(own):
            if found is not None:
                message = f"both {str(own)!r} and [tool.lineshaft] in {str(shared)!r} exist"
                raise ConfigError(message, hint="keep one of them")
            _refuse_strangers(own, start)
            return read_toml(own)
        if found is not None:
            _refuse_strangers(shared, start)
            return found
    return None


def project_folder(start: Path) -> Path:
    """Return the folder of the project that a folder lies in, whatever its settings file says.

    Args:
        start: Where the search begins; it is the answer where no such file is found, or where
            the nearest one is another user's.
    """
    for folder in (start, *start.parents):
        for path in (folder / PROJECT_FILE, folder / PYPROJECT):
            with suppress(ConfigError, OSError):
                if path.name == PROJECT_FILE and not os.path.lexists(path):
                    continue
                if path.name == PYPROJECT and b"[tool.lineshaft" not in read_bytes(path):
                    continue
                _refuse_strangers(path, start)
                return folder
    return start


def named_file(path: Path) -> SettingsFile:
    """Return what one given file says: `lineshaft.toml` or any other, or a `pyproject.toml`."""
    if path.name != PYPROJECT:
        return read_toml(path)
    found = _in_pyproject(path)
    if found is None:
        raise ConfigError(f"{str(path)!r} has no table [tool.lineshaft]")
    return found


def _in_pyproject(path: Path) -> SettingsFile | None:
    # A pyproject.toml of another user is ignored until it names Lineshaft.
    if b"lineshaft" not in read_bytes(path):
        return None
    return tool_table(read_toml(path))


def tool_table(file: SettingsFile) -> SettingsFile | None:
    """Return what a `pyproject.toml` says of Lineshaft; None where it is silent.

    Raises:
        ConfigError: What it says is no table.
    """
    tool = file.table.get("tool")
    if not isinstance(tool, dict):
        return None
    table = cast("dict[str, object]", tool).get("lineshaft")
    if table is None:
        return None
    if not isinstance(table, dict):
        raise ConfigError(f"{str(file.path)!r}: tool.lineshaft must be a table")
    return replace(file, table=cast("dict[str, object]", table), within=("tool", "lineshaft"))


def _refuse_strangers(path: Path, start: Path) -> None:
    """Refuse a file above the start that another user put there, as in a shared /tmp."""
    if sys.platform == "win32" or path.parent == start:
        return
    owner = path.lstat().st_uid
    if is_strangers(owner, os.geteuid()):
        raise ConfigError(
            f"{str(path)!r} belongs to another user (uid {owner})",
            hint="name the workspace with --workspace, or own the file",
        )


def is_strangers(owner: int, me: int) -> bool:
    """Return whether a file's owner is neither this user nor root.

    Root itself works on everybody's files, as in containers with mounted folders.
    """
    return me != 0 and owner not in (0, me)
