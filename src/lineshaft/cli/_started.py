"""The start of a run, for the commands that go on with it: files of `--tools`, landing."""

import json
import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

import typer

from lineshaft.cli._options import settings_for
from lineshaft.cli._records import find_run, look
from lineshaft.cli._terminal import is_terminal, one_line
from lineshaft.config import Settings, modules_by_hand
from lineshaft.errors import ConfigError
from lineshaft.files import private_folder, state_folder
from lineshaft.store import Store

_LEAST_DAYS = 2
"""Runs that wait do so for a day, whatever the settings say of those that are over."""

_DAY = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """What was said on the command line."""

    tools: dict[str, str]
    """Files by their whole path, and installed modules: the hash of each."""

    atomic: bool | None = None


def remember(run_id: str, settings: Settings) -> None:
    """Keep what a run was started with, if there is anything, for as long as the run is kept.

    Raises:
        ConfigError: A file of `--tools` is gone by now.
    """
    atomic = settings.setting("workspace.atomic")
    started = Started(
        tools=modules_by_hand(settings),
        atomic=bool(atomic.value) if atomic.giver == "flag" else None,
    )
    if not started.tools and started.atomic is None:
        return
    with suppress(OSError, ConfigError):  # whoever goes on says `--tools` again
        folder = private_folder(_folder())
        _forget_old(folder, days=max(settings.store[1], _LEAST_DAYS))
        handle = os.open(folder / f"{run_id}.json", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(asdict(started), file)


def settings_again(
    run: str | None, workspace: Path | None, *, tools: Iterable[str] | None
) -> Settings:
    """Return the settings for a run that is taken up again, with what it was started with.

    Args:
        run: The run's id, or its beginning or end; None: the last one.
        workspace: What was said now.
        tools: What was said now; it counts instead of what was said then.

    Raises:
        ConfigError: A file changed since, and nobody is there to be asked, or said no.
    """
    plain = settings_for(workspace, tools=tools)
    if tools:
        return plain

    async def find(store: Store) -> str:
        return await find_run(store, plain, run)

    run_id = look(plain, find)
    started = _recall(run_id)
    if started is None:
        return plain
    settings = settings_for(workspace, tools=started.tools, atomic=started.atomic)
    try:
        now = modules_by_hand(settings)
    except ConfigError as error:
        hint = error.hint or "give the file where it is now: --tools FILE"
        raise ConfigError(error.message, hint=hint) from error
    changed = [name for name in now if now[name] != started.tools[name]]
    if changed and not _goes_on(changed):
        raise ConfigError(
            f"{changed[0]!r} changed since run {run_id} began with it",
            hint=f"read it, then say that it is meant: --tools {one_line(changed[0], 1_000)}",
        )
    return settings


def _goes_on(changed: list[str]) -> bool:
    """Ask whether a run goes on with files that are not as they were."""
    if not (sys.stdin.isatty() and is_terminal(sys.stderr)):
        return False
    names = ", ".join(one_line(name, 1_000) for name in changed)
    question = f"{names} changed since the run began. Go on with it as it is now?"
    return typer.confirm(question, default=False, err=True)


def _recall(run_id: str) -> Started | None:
    try:
        told = cast("object", json.loads((_folder() / f"{run_id}.json").read_bytes()))
    except (OSError, ValueError):
        return None
    if not isinstance(told, dict):
        return None
    said = cast("dict[str, object]", told)
    tools, atomic = said.get("tools"), said.get("atomic")
    if not isinstance(tools, dict):
        return None
    hashes = {name: str(sha256) for name, sha256 in cast("dict[str, object]", tools).items()}
    return Started(tools=hashes, atomic=atomic if isinstance(atomic, bool) else None)


def _forget_old(folder: Path, *, days: float) -> None:
    for path in folder.iterdir():
        if time.time() - path.stat().st_mtime > days * _DAY:
            path.unlink()


def _folder() -> Path:
    return state_folder() / "started"
