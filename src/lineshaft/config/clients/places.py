"""Places where other programs keep the servers that a person gave them.

Only places: nothing is opened. A project's files count in the folder where we are and above it,
as far as the project reaches; a person's own files lie where each program keeps them on this
system.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from lineshaft.config._files import is_strangers
from lineshaft.config._places import PROJECT_FILE
from lineshaft.values import Struct

_OF_PROJECTS = (
    ("Claude Code", ".mcp.json"),
    ("Cursor", ".cursor/mcp.json"),
    ("VS Code", ".vscode/mcp.json"),
    ("Codex", ".codex/config.toml"),
)
_MOST_FOLDERS = 50


class ClientFile(Struct, frozen=True, kw_only=True):
    """A file in which another program looks for servers; it need not exist."""

    client: str
    path: Path
    project: Path | None = None
    """The folder of the project that it lies in; None: it is a person's own."""

    limit: int = 1_000_000
    """More bytes than this are refused."""


def client_files(
    start: Path, *, environ: Mapping[str, str] | None = None, platform: str = sys.platform
) -> tuple[ClientFile, ...]:
    """Return the files that exist: the project's, the nearest first, then the person's.

    Args:
        start: The folder where we are.
        environ: Variables that say where the person's own are; those of the process if none.
        platform: As `sys.platform` names it.
    """
    values = os.environ if environ is None else environ
    found: dict[str, ClientFile] = {}
    for file in (*_of_project(start), *_of_person(values, platform)):
        if os.path.lexists(file.path):
            found.setdefault(os.path.realpath(file.path), file)
    return tuple(found.values())


def _of_project(start: Path) -> Iterator[ClientFile]:
    for folder in _reach(start):
        for client, name in _OF_PROJECTS:
            path = folder / name
            if folder == start or not _is_foreign(path):
                yield ClientFile(client=client, path=path, project=folder)


def _reach(start: Path) -> tuple[Path, ...]:
    """Return the folders of the project, from here up to its root; just this where none shows."""
    folders = (start, *start.parents)[:_MOST_FOLDERS]
    for count, folder in enumerate(folders, 1):
        if any(os.path.lexists(folder / mark) for mark in (".git", PROJECT_FILE)):
            return folders[:count]
    return folders[:1]


def _is_foreign(path: Path) -> bool:
    if sys.platform == "win32":
        return False
    try:
        return is_strangers(path.lstat().st_uid, os.geteuid())
    except OSError:
        return False


def _of_person(environ: Mapping[str, str], platform: str) -> Iterator[ClientFile]:
    home_text = environ.get("USERPROFILE" if platform == "win32" else "HOME", "")
    home = Path(home_text)
    if not home_text or not (home.is_absolute() or platform == "win32"):
        return

    def own(variable: str, fallback: str) -> Path:
        given = environ.get(variable, "")
        return Path(given) if given else home / fallback

    claude = own("CLAUDE_CONFIG_DIR", "") / ".claude.json"
    # It also holds what was said; people have had it grow to many megabytes.
    yield ClientFile(client="Claude Code", path=claude, limit=50_000_000)
    programs = _programs(environ, home, platform)
    yield ClientFile(
        client="Claude Desktop", path=programs / "Claude" / "claude_desktop_config.json"
    )
    yield ClientFile(client="Cursor", path=home / ".cursor" / "mcp.json")
    for edition in ("Code", "Code - Insiders"):
        user = programs / edition / "User"
        yield ClientFile(client="VS Code", path=user / "mcp.json")
        for profile in _inside(user / "profiles"):
            yield ClientFile(client="VS Code", path=profile / "mcp.json")
    copilot = own("COPILOT_HOME", ".copilot")
    yield ClientFile(client="Copilot CLI", path=copilot / "mcp-config.json")
    windsurf = home / ".codeium"
    for folder in (windsurf, *_inside(windsurf)):
        yield ClientFile(client="Windsurf", path=folder / "mcp_config.json")
    yield ClientFile(client="Codex", path=own("CODEX_HOME", ".codex") / "config.toml")


def _programs(environ: Mapping[str, str], home: Path, platform: str) -> Path:
    """Return the folder in which programs keep their settings on this system."""
    match platform:
        case "darwin":
            return home / "Library" / "Application Support"
        case "win32":
            given = environ.get("APPDATA", "")
            return Path(given) if given else home / "AppData" / "Roaming"
        case _:
            given = environ.get("XDG_CONFIG_HOME", "")
            return Path(given) if Path(given).is_absolute() else home / ".config"


def _inside(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir())[:_MOST_FOLDERS]
    except OSError:
        return []
