"""The start of a run, for the commands that go on with it or show it: tools, settings, landing."""

import json
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import click
from msgspec import field
from msgspec.structs import asdict, replace

from lineshaft.cli._options import settings_for
from lineshaft.cli._records import find_run, look
from lineshaft.cli._terminal import note, one_line, paint
from lineshaft.config import Module, Settings, guard_modules, hashes_of_modules, pack_modules
from lineshaft.errors import ConfigError
from lineshaft.files import private_folder, state_folder, write_whole
from lineshaft.store import Store, workspace_name
from lineshaft.values import DecodeError, Struct, decode

_LEAST_DAYS = 2
"""Runs that wait do so for a day, whatever the settings say of those that are over."""

_DAY = 86_400


class Started(Struct, frozen=True, kw_only=True):
    """The tools and settings that a run began with."""

    workspace: str
    """The folder that it works in."""

    tools: dict[str, str]
    """Files of `--tools` by their whole path, and installed modules: the hash of each."""

    modules: dict[str, str]
    """The same of modules with tools and guards that a person's own settings name."""

    settings: dict[str, dict[str, str]]
    """The hash of each value, by settings file and key."""

    atomic: bool | None = None
    """What the command line said of landing; None: nothing."""

    packs: tuple[str, ...] = ()
    """Packs that the command line named."""

    models: dict[str, str] = field(default_factory=dict[str, str])
    """Models that the command line named, by the name of the microagent."""


class Changed(Struct, frozen=True, kw_only=True):
    """A file, or a module, that is not what it was when a run began."""

    name: str
    what: str = "changed"
    """That it changed, is new or is gone."""

    keys: tuple[str, ...] = ()
    """Of a settings file: the keys that differ."""

    @property
    def sentence(self) -> str:
        """Return the change as a person reads it."""
        keys = f" ({', '.join(self.keys)})" if self.keys else ""
        return f"{one_line(self.name, 1_000)} {self.what} since the run began{keys}"


def started_with(settings: Settings) -> Started:
    """Return what a run begins with.

    Raises:
        ConfigError: A module is missing.
    """
    atomic = settings.setting("workspace.atomic")
    return Started(
        workspace=workspace_name(settings.root),
        tools=hashes_of_modules(module for module in settings.modules if module.by_hand),
        modules=hashes_of_modules(_own_modules(settings)),
        settings=settings.hashes,
        atomic=bool(atomic.value) if atomic.giver == "flag" else None,
        packs=tuple(each.name for each in settings.modules_of("tools.packs") if each.by_hand),
        models=dict(settings.models),
    )


def _own_modules(settings: Settings) -> Iterator[Module]:
    """Yield the modules that no command line named, and no approval binds to their content."""
    for module in (*settings.modules, *guard_modules(settings), *pack_modules(settings)):
        if not module.by_hand and module.project is None:
            yield module


def remember(run_id: str, started: Started, settings: Settings) -> None:
    """Keep what a run began with, for as long as the run is kept."""
    with suppress(OSError, ConfigError):  # the person who resumes gives `--tools` again
        folder = private_folder(_folder())
        _forget_old(folder, days=max(settings.store[1], _LEAST_DAYS))
        write_whole(folder / f"{run_id}.json", json.dumps(asdict(started)).encode())


def recall(run_id: str) -> Started | None:
    """Return what a run began with; None where that is not kept."""
    try:
        return decode(Started, json.loads((_folder() / f"{run_id}.json").read_bytes()))
    except (OSError, RecursionError, ValueError, DecodeError):
        return None


def settings_again(
    run: str | None,
    workspace: Path | None,
    *,
    tools: Iterable[str] | None,
    accept_changed: bool = False,
    acts: bool = True,
) -> Settings:
    """Return the settings for a run that is taken up again, with what it was started with.

    Args:
        run: The run's id, or its beginning or end; None: the last one.
        workspace: What was said now.
        tools: What was said now; it counts instead of what was said then.
        accept_changed: Whether changes since then are meant.
        acts: Whether calls are made: what settings files say counts then.

    Raises:
        ConfigError: A file changed since, and no person is there to be asked, or said no.
    """
    plain = settings_for(workspace, tools=tools)

    async def find(store: Store) -> str:
        return await find_run(store, plain, run)

    run_id = look(plain, find)
    started = recall(run_id)
    if started is None or started.workspace != workspace_name(plain.root):
        return plain  # a run of another workspace is refused later on
    if tools:  # what is said now is meant
        settings = settings_for(workspace, tools=tools, packs=started.packs)
        started = replace(started, tools={})
    else:
        settings = settings_for(
            workspace, tools=started.tools, packs=started.packs, atomic=started.atomic
        )
    settings = replace(settings, models=started.models)
    changed = changes_since(started, settings)
    gone = [each.name for each in changed if each.what == "is gone" and not each.keys]
    if gone:
        raise ConfigError(
            f"{gone[0]!r} is gone since run {run_id} began with it",
            hint="give the file where it is now: --tools FILE",
        )
    if not acts:
        for each in (each for each in changed if each.keys):
            note(f"{paint('note', 'dim')}: {each.sentence}")
        changed = [each for each in changed if not each.keys]
    if changed and not accept_changed and not _goes_on(changed):
        first = changed[0]
        keys = f" ({', '.join(first.keys)})" if first.keys else ""
        raise ConfigError(
            f"{first.name!r} {first.what} since run {run_id} began with it{keys}",
            hint="read it, then say that it is meant: add --accept-changed",
        )
    return settings


def changes_since(started: Started, settings: Settings) -> list[Changed]:
    """Return what is not as it was when a run began.

    Args:
        started: What it began with.
        settings: What holds now, with the files of `--tools` that count now.
    """
    if started.workspace != workspace_name(settings.root):
        return []  # what holds in another folder says nothing of it
    found: list[Changed] = []
    for module in settings.modules:
        if module.by_hand:
            found += _compared(module, started.tools)
    for module in _own_modules(settings):
        found += _compared(module, started.modules)
    now = settings.hashes
    for file in {**started.settings, **now}:
        old, new = started.settings.get(file, {}), now.get(file, {})
        keys = tuple(key for key in {**old, **new} if old.get(key) != new.get(key))
        if keys:
            what = "changed" if old and new else "is new" if new else "is gone"
            found.append(Changed(name=file, what=what, keys=keys))
    return found


def _compared(module: Module, before: dict[str, str]) -> Iterator[Changed]:
    """Yield how a module differs from what it was; one that was not there differs in no way."""
    try:
        [(name, now)] = hashes_of_modules([module]).items()
    except ConfigError:
        if module.name in before:
            yield Changed(name=module.name, what="is gone")
        return
    if before.get(name, now) != now:
        yield Changed(name=name)


def _goes_on(changed: list[Changed]) -> bool:
    """Ask whether a run goes on with files that are not as they were."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    for each in changed:
        note(each.sentence)
    return click.confirm("Go on with it as it is now?", default=False, err=True)


def _forget_old(folder: Path, *, days: float) -> None:
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # another command writes there, or forgets, too
            if time.time() - path.stat().st_mtime > days * _DAY:
                path.unlink()


def _folder() -> Path:
    return state_folder() / "started"
