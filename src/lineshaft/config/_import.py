"""Copies a server out of a client's file into one of our own, as if it had been written there.

Variables stay variables; secrets that are written out go into our keeping and never into a file of
the project. What is in our file stays as it is, to the letter: text is added at its end, looked at
as a whole before it takes the old one's place, and taken back to nothing where it would not do.
Importing a server by hand approves it.
"""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from lineshaft.config._files import SettingsFile, changing, parse_toml, read_bytes, tool_table
from lineshaft.config._found import approval_of, own_settings_servers
from lineshaft.config._keys import SERVERS, flatten
from lineshaft.config._places import PROJECT_FILE, PYPROJECT, user_file
from lineshaft.config._secrets import keep_secrets, kept_secrets, replace_file
from lineshaft.config._settings import Settings
from lineshaft.config._trust import approve, refuse_elsewhere
from lineshaft.config.definitions import Literals, ServerSetting, is_reserved, own_servers, written
from lineshaft.errors import ConfigError
from lineshaft.files import private_folder, state_folder
from lineshaft.tools import script_name
from lineshaft.values import Struct

Target = Literal["project", "user"]

_IMPORTS = "imports"
"""What is locked while a server is brought into a file of ours; no such file is written."""


class Imported(Struct, frozen=True, kw_only=True):
    """A server that is in one of our own files now."""

    server: ServerSetting
    """As it stands there."""

    is_new: bool
    """Whether it was not there before."""

    secrets: tuple[str, ...] = ()
    """Variables that stand where a secret was written out; their values are in our keeping."""


def import_server(
    server: ServerSetting,
    settings: Settings,
    *,
    target: Target | None = None,
    name: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Imported:
    """Copy a server into our own file, and approve it.

    Args:
        server: What a client's file says.
        settings: What holds now; read them again afterwards.
        target: Whose file; where nothing is given the project's for what lies in the project,
            and the person's for the rest.
        name: Its name there; its own where nothing is given.
        environ: Variables that say where files and approvals are kept.

    Raises:
        ConfigError: It cannot be started, another of its name is there, or the file would not do.
    """
    name = name or server.name
    _refuse(server, name)
    # One lock for all files, away from them: a project's folder stays as it is.
    with changing(private_folder(state_folder(environ)) / _IMPORTS):
        return _brought(server, settings, target=target, name=name, environ=environ)


def _brought(
    server: ServerSetting,
    settings: Settings,
    *,
    target: Target | None,
    name: str,
    environ: Mapping[str, str] | None,
) -> Imported:
    """Copy a server, while nobody else does; see `import_server`."""
    target = target or ("project" if server.of_project else "user")
    path = _target_file(settings, target, environ)
    if target == "project":
        refuse_elsewhere(path)
    moved = _moved(replace(server, name=name, label=""), path.parent, target)
    kept = kept_secrets(environ)
    there = _there(name, settings, path)
    if there is not None:
        if not _same(there, moved, kept):
            raise ConfigError(
                f"{str(there.source)!r} has another server {there.name!r} already",
                hint="give this one another name with --as NAME, or take the other one out",
            )
        if there.source == path:
            _approve(there, environ)
        return Imported(server=there, is_new=False)
    literals = Literals(
        server=name,
        project=(server.base.name or "project") if server.of_project else "",
        environ=os.environ if environ is None else environ,
        kept=kept,
    )
    plain = literals.out_of(moved)
    # First the secrets: a definition without them would be of no use.
    keep_secrets(literals.taken, environ=environ)
    _append(path, plain, target)
    (done,) = (each for each in _servers_in(path, target) if each.name == name)
    _approve(done, environ)
    return Imported(server=done, is_new=True, secrets=tuple(literals.taken))


def standing(
    server: ServerSetting, settings: Settings, *, environ: Mapping[str, str] | None = None
) -> Literal["new", "same", "other"]:
    """Return whether our own files have a server of a client already, or another of its name.

    Args:
        server: What a client's file says.
        settings: What holds now.
        environ: Variables that say where files are kept.
    """
    target: Target = "project" if server.of_project else "user"
    path = _target_file(settings, target, environ)
    there = _there(server.name, settings, path)
    if there is None:
        return "new"
    moved = _moved(server, path.parent, target)
    return "same" if _same(there, moved, kept_secrets(environ)) else "other"


def _refuse(server: ServerSetting, name: str) -> None:
    if server.problem:
        raise ConfigError(f"{name!r} in {str(server.source)!r} cannot be used: {server.problem}")
    if is_reserved(name):
        raise ConfigError(f"the name {name!r} means something else in scripts", hint="use --as")


def _target_file(settings: Settings, target: Target, environ: Mapping[str, str] | None) -> Path:
    if target == "user":
        return user_file(environ)
    return settings.project or settings.start / PROJECT_FILE


def _there(name: str, settings: Settings, path: Path) -> ServerSetting | None:
    """Return the server of a name in our own files as they are now, first in the given one."""
    now = [each for each in own_settings_servers(settings) if not each.problem]
    found = [each for each in now if script_name(each.name) == script_name(name)]
    return next(iter(sorted(found, key=lambda each: each.source != path)), None)


def _moved(server: ServerSetting, folder: Path, target: Target) -> ServerSetting:
    """Return a server of one folder as it has to be written in a file of another."""
    if server.transport != "stdio" or not server.of_project or server.base == folder:
        return server
    if target == "user":
        return replace(server, cwd=server.cwd or str(server.base))
    inside = os.path.relpath(server.base, folder)
    here = f"${{workspaceFolder}}/{Path(inside).as_posix()}"

    def fill(text: str) -> str:
        return text.replace("${workspaceFolder}", here)

    return replace(
        server,
        command=fill(server.command),
        args=tuple(fill(arg) for arg in server.args),
        env={name: fill(text) for name, text in server.env.items()},
        env_file=fill(server.env_file),
        cwd=fill(server.cwd)
        if "${workspaceFolder}" in server.cwd
        else str(Path(inside, server.cwd)),
    )


def _same(there: ServerSetting, here: ServerSetting, kept: Mapping[str, str]) -> bool:
    """Return whether two servers are one, be a secret written out or in our keeping."""
    return _spelt_out(there, kept) == _spelt_out(here, kept)


def _spelt_out(server: ServerSetting, kept: Mapping[str, str]) -> str:
    text = repr(server.definition)
    for name, secret in kept.items():
        text = text.replace(f"${{{name}}}", repr(secret)[1:-1])
    return text


def _append(path: Path, server: ServerSetting, target: Target) -> None:
    """Add a server to the end of a file."""
    real = Path(os.path.realpath(path))  # a link to it stays a link
    exists = real.exists()
    data = read_bytes(real) if exists else b""
    within = ("tool", "lineshaft") if path.name == PYPROJECT else ()
    text = written(server, within=within)
    start = "" if not data or data.endswith(b"\n") else "\n"
    added = f"{start}\n{text}" if data.strip() else f"{start}{text}"
    new = data + (added.replace("\n", "\r\n") if b"\r\n" in data else added).encode()
    _check(path, new, server, text)
    private = target == "user"
    if private:
        private_folder(real.parent)
    mode = 0o600 if private else stat.S_IMODE(real.stat().st_mode) if exists else _usual_mode()
    replace_file(real, new.decode(), mode=mode)


def _check(path: Path, data: bytes, server: ServerSetting, text: str) -> None:
    """See that a text would say of the server what it should."""
    reason = "the server would not be what it is"
    try:
        servers = _parsed(path, parse_toml(path, data))
        if any(
            each.name == server.name and each.definition == server.definition for each in servers
        ):
            return
    except ConfigError as error:
        reason = error.message
    raise ConfigError(
        f"{str(path)!r} does not take a further table: {reason}",
        hint=f"put it in by hand:\n{text}",
    )


def _servers_in(path: Path, target: Target) -> tuple[ServerSetting, ...]:
    return _parsed(path, parse_toml(path, read_bytes(path)), target)


def _parsed(
    path: Path, file: SettingsFile, target: Target = "project"
) -> tuple[ServerSetting, ...]:
    ours = tool_table(file) if path.name == PYPROJECT else file
    table = flatten(ours.table, source=str(path)) if ours else {}
    return own_servers(table.get(SERVERS, {}), source=path, giver=target, base=path.parent)


def _approve(server: ServerSetting, environ: Mapping[str, str] | None) -> None:
    if server.giver != "user":
        approve(approval_of(server), environ=environ)


def _usual_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
