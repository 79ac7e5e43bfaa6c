"""Approvals of modules, servers, agents and programs by a person, by the hash of their content.

A project's file comes with the project, written by the project's author. The modules and the
MCP servers it names run with the person's rights, outside policy; hence they start only once a
person has said so, and again after every change of their content.

Covered: of a file and what it imports from its own folder, the bytes that are executed are the
bytes that were hashed; of an importable module, its own file and those of its packages are hashed
before any of them runs; of a server, its whole definition as it is written, and the project's
programs that it names. Not covered: what an approved module or program imports from elsewhere or
reads in its turn, what `npx` and the like fetch, whether a server's program is changed between the
hash and the start, and an environment that others can write to.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Literal, TypeVar, cast

from lineshaft.config._files import changing, read_bytes
from lineshaft.config._places import repository_of
from lineshaft.config._secrets import replace_file
from lineshaft.errors import ConfigError
from lineshaft.files import private_folder, state_folder
from lineshaft.values import Struct

_FILE = "trusted.json"


class Approval(Struct, frozen=True, kw_only=True):
    """A module, server, agent or program of another's file, as a person approves it: as it is now.

    Whether it has been given, `is_approved` says.
    """

    project: Path
    """The file that names it."""

    name: str
    """As the file names it."""

    sha256: str
    """Of what the file says of it, and of what it names, now."""

    files: tuple[Path, ...]
    """What would be executed, as far as it lies in the project."""

    kind: Literal["module", "server", "agent", "program"] = "module"
    of_project: bool = True
    """Whether the file is a project's, and not a person's own of another program."""

    told: tuple[tuple[str, str], ...] = ()
    """Of an agent or a program: what a person has to know of it, label and text."""


Confirm = Callable[[Approval], bool]
"""Asks a person whether something is approved as it is now."""


def need_approval(
    asked: Approval, *, confirm: Confirm | None, environ: Mapping[str, str] | None
) -> None:
    """Pass what a person has approved, or approves now.

    Args:
        asked: A module or an agent.
        confirm: Asks a person; None: no person is there to be asked.
        environ: The environment; None: that of the process.

    Raises:
        ConfigError: It is not approved, or the approval cannot be kept.
    """
    if is_approved(asked, environ=environ):
        return
    if confirm is None or not confirm(asked):
        says = "declares" if asked.kind == "agent" else "names"
        raise ConfigError(
            f"{str(asked.project)!r} {says} the {asked.kind} {asked.name!r}, which is not approved"
            " yet",
            hint="read it, then run `lineshaft config trust`",
        )
    approve(asked, environ=environ)


def hash_with_files(said: str, files: Iterable[Path], *, each: int, all_of_them: int = 0) -> str:
    """Return one hash of what a file says of something, and of the files that it names.

    Args:
        said: What is said of it, in full.
        files: The files.
        each: The most bytes of one.
        all_of_them: The most bytes of all; 0: no more than `each` limits.

    Raises:
        ConfigError: One cannot be read, or has more bytes.
    """
    digest = hashlib.sha256(said.encode())
    left = all_of_them
    for path in files:
        content = read_bytes(path, limit=min(each, left) if all_of_them else each)
        left -= len(content)
        for part in (os.fsencode(path), content):
            digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


T = TypeVar("T")


def still_unapproved(
    given: Iterable[tuple[str, T]],
    asked_of: Callable[[T], Approval],
    *,
    faulty: Callable[[str, ConfigError], None] | None,
    environ: Mapping[str, str] | None,
) -> tuple[Approval, ...]:
    """Return what a person has not approved as it is now.

    Args:
        given: What is asked about, each with its name.
        asked_of: Makes what a person is asked; raises `ConfigError` where there is nothing to ask.
        faulty: Takes the name of each that raises, and why; None: the first one is raised.
        environ: The environment; None: that of the process.

    Raises:
        ConfigError: One cannot be asked about.
    """
    waiting: list[Approval] = []
    for name, each in given:
        try:
            asked = asked_of(each)
        except ConfigError as error:
            if faulty is None:
                raise
            faulty(name, error)
        else:
            waiting += () if is_approved(asked, environ=environ) else (asked,)
    return tuple(waiting)


def is_approved(asked: Approval, *, environ: Mapping[str, str] | None = None) -> bool:
    """Return whether a person has approved just this content for this file."""
    return _read(environ)[asked.kind].get(_key(asked)) == asked.sha256


def approve(asked: Approval, *, environ: Mapping[str, str] | None = None) -> None:
    """Remember that a person approved it as it is now.

    Raises:
        ConfigError: The state folder cannot be written, or the project's file lies elsewhere.
    """
    if asked.of_project:
        refuse_elsewhere(asked.project)
    path = private_folder(state_folder(environ)) / _FILE
    with changing(path):
        approved = _read(environ)
        approved[asked.kind][_key(asked)] = asked.sha256
        tables = {f"{kind}s": table for kind, table in approved.items()}
        text = json.dumps({"version": 1, **tables}, indent=2, sort_keys=True)
        replace_file(path, text + "\n")


def refuse_elsewhere(path: Path) -> None:
    """Refuse a project's file that is a link out of the project, such as to a person's own file.

    Args:
        path: The project's file; it need not exist.

    Raises:
        ConfigError: What it leads to lies outside.
    """
    real = Path(os.path.realpath(path))
    root = os.path.realpath(repository_of(Path(os.path.realpath(path.parent))))
    if not real.is_relative_to(root):
        raise ConfigError(
            f"{str(path)!r} is a link out of the project, to {str(real)!r}: nothing is written "
            "there or approved for it",
            hint="put a file of the project in its place",
        )


def _key(asked: Approval) -> str:
    return f"{os.path.realpath(asked.project)}::{asked.name}"


def _read(environ: Mapping[str, str] | None) -> dict[str, dict[str, str]]:
    """Return the hashes by kind, and then by file and name."""
    path = state_folder(environ) / _FILE
    if not os.path.lexists(path):
        return {"module": {}, "server": {}, "agent": {}, "program": {}}
    try:
        content = cast("object", json.loads(read_bytes(path)))
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"{str(path)!r} is not readable as JSON", hint="delete it and approve again"
        ) from error
    tables = cast("dict[str, object]", content) if _is_dict(content) else {}
    modules, servers = tables.get("modules"), tables.get("servers", {})
    agents, programs = tables.get("agents", {}), tables.get("programs", {})
    if not all(map(_is_dict, (modules, servers, agents, programs))):
        raise ConfigError(f"{str(path)!r} holds no approvals", hint="delete it and approve again")
    return {
        "module": _hashes(modules),
        "server": _hashes(servers),
        "agent": _hashes(agents),
        "program": _hashes(programs),
    }


def _hashes(table: object) -> dict[str, str]:
    return {name: str(sha256) for name, sha256 in cast("dict[str, object]", table).items()}


def _is_dict(value: object) -> bool:
    return isinstance(value, dict)
