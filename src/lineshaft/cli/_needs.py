"""Servers that a resumed run needs: no others are started."""

from lineshaft.cli._records import find_run, look
from lineshaft.config import Settings
from lineshaft.errors import StateError
from lineshaft.store import Store
from lineshaft.values import SavedRun


def words_of_run(settings: Settings, run: str | None, *, replayed: bool = False) -> str:
    """Return the text that names the servers which a run needs: those of its script and its calls.

    Args:
        settings: Name store and workspace.
        run: The run's id, or the beginning of it; None: the last one.
        replayed: It is only executed again: without calls it needs no server.

    Returns:
        The text; empty also where the run cannot be resumed, which the resume reports.

    Raises:
        ConfigError: There is no such run, or there are several.
    """

    async def read(store: Store) -> str:
        run_id = await find_run(store, settings, run)
        try:
            saved = await store.load(run_id)
        except StateError:
            return ""
        return _words(saved) if saved.finished or not replayed else ""

    return look(settings, read)


def _words(saved: SavedRun) -> str:
    called = [each.call.tool for each in saved.finished]
    called += [call.tool for call in saved.unknown]
    called += [each.tool for each in saved.pause.pending] if saved.pause else []
    document = saved.run.document
    return "\n".join(dict.fromkeys([str(document["script"]), str(document["tool"]), *called]))
