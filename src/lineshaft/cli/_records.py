"""The store of the command line, and the runs in it."""

import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from lineshaft.cli._carry import carry
from lineshaft.config import Settings, kept_secrets, store_of
from lineshaft.errors import ConfigError, LineshaftError, RecordError, RunUnknown, StateError
from lineshaft.store import Store, workspace_name
from lineshaft.trace import Redactor, secret_values, summarise
from lineshaft.values import Event, RunResult

T = TypeVar("T")


def store_for(settings: Settings) -> Store:
    """Return the store for runs that are about to begin.

    Raises:
        ConfigError: It cannot be written; nothing should run then.
    """
    store = store_of(settings)
    store.ready()
    return store


def look(settings: Settings, work: Callable[[Store], Awaitable[T]]) -> T:
    """Open the store, do something with it, and close it.

    Raises:
        LineshaftError: What the work raised, or the store cannot be used.
    """
    return carry(partial(_opened, store_of(settings), work))


async def _opened(store: Store, work: Callable[[Store], Awaitable[T]]) -> T:
    async with store:
        return await work(store)


async def find_run(store: Store, settings: Settings, run: str | None) -> str:
    """Return the id of a run.

    Args:
        store: Where it is looked for.
        settings: Say which workspace comes first.
        run: Its id, or the beginning of it; None: the last one.

    Raises:
        ConfigError: There is none, or there are several.
    """
    try:
        return await store.find(run, workspace=workspace_name(settings.root))
    except RunUnknown as error:
        raise ConfigError(error.message, hint=error.hint) from error


def recorded(settings: Settings, run: str | None) -> tuple[list[Event], RunResult]:
    """Return the events of a run, and the result they add up to.

    Args:
        settings: Name store and workspace.
        run: The run's id, or the beginning of it; None: the last one.

    Raises:
        ConfigError: There is none, or there are several.
    """

    async def read(store: Store) -> list[Event]:
        return await store.events(await find_run(store, settings, run))

    events = look(settings, read)
    if not events:
        raise RecordError(
            "the run has no events: another program changed the store",
            hint="`lineshaft runs` lists the runs; other ones can be read",
        )
    return events, summarise(events)


def source_of(settings: Settings, run: RunResult) -> tuple[str, str]:
    """Return the name of a run's script, and its text without known secrets.

    The text is empty where it is not kept, and where nothing of the result speaks of a line.

    Args:
        settings: Name the store.
        run: How the run went.
    """

    async def read(store: Store) -> tuple[str, str]:
        begun = (await store.events(run.run_id))[0].data
        with suppress(StateError):  # a run that was refused before it began, or was pruned
            document = (await store.load(run.run_id)).run.document
            return str(begun["name"]), str(document["script"])
        return str(begun["name"]), ""

    name, text = "script.py", ""
    if run.findings or (run.error is not None and run.error.line is not None):
        with suppress(LineshaftError, LookupError):  # how the run went is told all the same
            name, text = look(settings, read)
    if not text:
        return name, ""
    redactor = Redactor([*secret_values(os.environ), *kept_secrets().values()])
    return name, redactor.acting.text(text)
