"""Programs that a project names and a pack starts: which of them a person has approved."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lineshaft.config._trust import Approval, hash_with_files, is_approved, still_unapproved
from lineshaft.errors import ConfigError

if TYPE_CHECKING:
    from lineshaft.packs import ProjectProgram

_MOST_BYTES = 10_000_000


def program_approved(
    program: "ProjectProgram", *, environ: Mapping[str, str] | None = None
) -> bool:
    """Return whether a person has approved a program as it is now, the files it names included.

    Raises:
        ConfigError: A file cannot be read, or is too large.
    """
    return is_approved(_approval_of(program), environ=environ)


def unapproved_programs(
    pack: str,
    workspace: Path,
    *,
    environ: Mapping[str, str] | None = None,
    faulty: Callable[[str, ConfigError], None] | None = None,
) -> tuple[Approval, ...]:
    """Return the programs that a workspace names for a pack and that are not approved yet.

    Args:
        pack: The name of the pack, which is imported.
        workspace: The folder.
        environ: Variables that say where approvals are kept.
        faulty: Takes the name of each program that cannot be approved, or of the pack where what
            names them all is malformed, and why; None: the first one is raised.

    Raises:
        ConfigError: There is no such pack, or what names programs is malformed.
    """
    from lineshaft.packs import load_pack  # noqa: PLC0415  brings agents and models along

    named = load_pack(pack).programs
    try:
        found = () if named is None else named(workspace)
    except ConfigError as error:
        if faulty is None:
            raise
        faulty(pack, error)
        return ()
    named_programs = ((each.name, each) for each in found)
    return still_unapproved(named_programs, _approval_of, faulty=faulty, environ=environ)


def _approval_of(program: "ProjectProgram") -> Approval:
    if program.refused is not None:
        raise program.refused
    said = json.dumps([program.name, program.command])
    return Approval(
        project=program.place,
        name=program.name,
        sha256=hash_with_files(said, program.files, each=_MOST_BYTES),
        files=tuple(program.files),
        kind="program",
        told=(
            ("command", program.command),
            *(("not in this approval: files of", word) for word in program.unknown),
        ),
    )
