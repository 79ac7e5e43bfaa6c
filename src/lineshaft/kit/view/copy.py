"""The private copy of a workspace, as a call sees it: changes of the run that have not landed too.

Hidden files are not in it. Ignored files are not in it either but for `node_modules`, to which a
symlink leads. In place of `.git` there is a stub with the address of `origin` alone, which programs
ask git for.
"""

import configparser
import errno
import os
import stat
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from lineshaft.errors import ToolError, WorkspaceError
from lineshaft.kit.jailed import closed, to_the_end
from lineshaft.sandbox.jail import Scratch, make_scratch
from lineshaft.values import Context, Entry, Struct

MOST_FILES = 20_000
MOST_BYTES = 500_000_000
_MOST_OF_GIT = 1_000_000
_PACKAGES = "node_modules"
_GIT = ".git"


class PrivateCopy(Struct, frozen=True, kw_only=True):
    """A private copy."""

    root: Path

    temporary: Path
    """A folder for temporary files of the program, beside the copy; removed with it."""

    packages: tuple[Path, ...]
    """Real folders to which symlinks of the copy lead."""

    hidden: tuple[Path, ...] = ()
    """What policy closes in these folders."""


@asynccontextmanager
async def private_copy(
    call: Context, *, packages: Path | None = None, extra: Mapping[str, bytes | None] | None = None
) -> AsyncGenerator[PrivateCopy]:
    """Make a copy of a call's workspace, and remove it at the end.

    What a killed process leaves is removed by the next jail or copy that is made.

    Args:
        call: The call.
        packages: `node_modules` for a workspace that has none at its root.
        extra: Contents by path that take the place of the workspace's; None: no file is there.

    Raises:
        NoBoundary: There is no place for it.
        ToolError: `E_TOO_LARGE`, where it is too large to be copied for each program;
            `E_INVALID_ARGS`, where `extra` names what is none of the workspace's files.
    """
    if strange := [path for path in extra or {} if _leads_elsewhere(path)]:
        message = f"{strange[0]!r} is none of the workspace's files: no content can take its place"
        raise ToolError("E_INVALID_ARGS", message)
    real = Path((await call.workspace.resolve(".")).real)
    scratch = await to_the_end(lambda _: make_scratch(), Scratch.discard)
    try:
        root, temporary = scratch.path / "workspace", scratch.path / "temporary"
        root.mkdir()
        temporary.mkdir()
        folders = ["."]
        files = size = 0
        async for entry in call.workspace.walk("."):
            if _is_apart(entry) or call.reach(entry.path) == "hidden":
                continue
            if entry.kind == "folder":
                if not entry.symlink:
                    (root / entry.path).mkdir(parents=True, exist_ok=True)
                    folders.append(entry.path)
                continue
            if entry.kind != "file":
                continue
            files, size = files + 1, size + entry.size
            if files > MOST_FILES or size > MOST_BYTES:
                raise ToolError(
                    "E_TOO_LARGE",
                    f"the workspace is too large to be copied for a program: over {MOST_FILES:,}"
                    f" files or {MOST_BYTES // 1_000_000:,} MB",
                    hint="work in a smaller one: --workspace FOLDER",
                )
            await _copy_file(call, entry.path, root / entry.path, real / entry.path)
        linked, hidden = await to_the_end(lambda _: _linked(call, root, real, folders))
        if packages is not None and not (root / _PACKAGES).exists():
            (root / _PACKAGES).symlink_to(packages)
            linked.append(packages)
        await to_the_end(lambda _: _add(root, real, extra or {}))
        yield PrivateCopy(
            root=root, temporary=temporary, packages=tuple(linked), hidden=tuple(hidden)
        )
    finally:
        await to_the_end(lambda _: scratch.discard())


async def _copy_file(call: Context, path: str, target: Path, source: Path) -> None:
    try:
        content = await call.workspace.read(path)
    except (ToolError, WorkspaceError):
        return  # policy hides it from this call, or it is gone by now
    data = content.data
    await to_the_end(lambda _: _put(target, data, is_program=os.access(source, os.X_OK)))


def _add(root: Path, real: Path, extra: Mapping[str, bytes | None]) -> None:
    for path, data in extra.items():
        _replace(root / path, data)
    _write_git_stub(root, real)


def _replace(target: Path, data: bytes | None) -> None:
    if data is None:
        target.unlink(missing_ok=True)
    else:
        _put(target, data, is_program=False)


def _put(target: Path, data: bytes, *, is_program: bool) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    if is_program:
        target.chmod(0o755)


def _is_apart(entry: Entry) -> bool:
    return entry.path.startswith("@") or is_apart(entry.path)


def _leads_elsewhere(path: str) -> bool:
    """Return whether a path is other than one of a file of the workspace, written from its root.

    Absolute paths, drives and signs that some system reads as separators are others; so are
    packages and `.git` in any case, as a file system may read them.
    """
    steps = any(part in ("", ".", "..") for part in path.split("/"))
    return steps or any(sign in path for sign in "\\:\0") or is_apart(path.casefold())


def is_apart(path: str) -> bool:
    """Return whether a path of a copy is none of the workspace's files."""
    return any(part in (_PACKAGES, _GIT) for part in path.split("/"))


def _linked(
    call: Context, root: Path, real: Path, folders: Sequence[str]
) -> tuple[list[Path], list[Path]]:
    """Link the packages of folders; return them, and what is closed in them.

    Only real folders of the workspace: a symlink could lead to any place of the machine.
    """
    found: list[Path] = []
    hidden: list[Path] = []
    for folder in folders:
        packages = real / folder / _PACKAGES
        name = _PACKAGES if folder == "." else f"{folder}/{_PACKAGES}"
        if packages.is_symlink() or not packages.is_dir() or packages.resolve() != packages:
            continue
        if call.reach(name) == "hidden":
            continue
        (root / folder / _PACKAGES).symlink_to(packages)
        found.append(packages)
        hidden += closed(packages, lambda path, above=name: call.reach(f"{above}/{path}")).hidden
    return found, hidden


def _write_git_stub(root: Path, real: Path) -> None:
    if not (real / _GIT).exists():
        return
    stub = root / _GIT
    for name in ("objects", "refs"):
        (stub / name).mkdir(parents=True)
    (stub / "HEAD").write_text("ref: refs/heads/main\n")
    url = origin_of(real)
    remote = f'[remote "origin"]\n\turl = {url}\n' if url else ""
    (stub / "config").write_text(f"[core]\n\trepositoryformatversion = 0\n{remote}")


def origin_of(root: Path) -> str:
    """Return the address of a repository's `origin`, or nothing.

    It is without the user or, for SSH, without the password.

    Args:
        root: The repository's folder; also one of several working trees.
    """
    config = _git_folder(root) / "config"
    parser = configparser.ConfigParser(strict=False, interpolation=None, allow_no_value=True)
    try:
        parser.read_string(_text_of(config))
    except (OSError, configparser.Error):
        return ""
    url = parser.get('remote "origin"', "url", fallback="") or ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    user, at, host = parts.netloc.rpartition("@")
    if parts.scheme and at:
        # To log in over SSH a name is needed; a password is needed nowhere.
        kept = f"{user.partition(':')[0]}@" if "ssh" in parts.scheme else ""
        url = urlunsplit(parts._replace(netloc=f"{kept}{host}"))
    return url if url.isprintable() and '"' not in url else ""


def _text_of(path: Path) -> str:
    """Return the beginning of a file of git; a pipe or a device is none, and would not end.

    Raises:
        OSError: It cannot be read, or is no file.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        return file.read(_MOST_OF_GIT).decode("utf-8", "replace")


def _git_folder(root: Path) -> Path:
    """Return the folder with the configuration, also of one of several working trees."""
    place = root / _GIT
    try:
        if place.is_file():
            named = root / _text_of(place).removeprefix("gitdir:").strip()
            common = named / "commondir"
            return named / _text_of(common).strip() if common.is_file() else named
    except (OSError, ValueError):
        return place
    return place
