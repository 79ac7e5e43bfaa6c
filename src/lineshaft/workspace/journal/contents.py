"""One file before a run and after it, as its journals keep it: for who looks before an undo."""

from lineshaft.errors import RunUnknown, StateError, StateExpired, TooLarge
from lineshaft.values import Struct
from lineshaft.workspace.disk import KEPT_BYTES, FileState
from lineshaft.workspace.journal.folder import Journals
from lineshaft.workspace.journal.storage import Journal


class LandedContents(Struct, frozen=True, kw_only=True):
    """A file before a run's landings, and after them."""

    before: bytes | None
    """None: there was none, or something else than a file."""

    after: bytes | None
    """None: there is none any longer."""


def landed_contents(
    journals: Journals, run_id: str, path: str, moved_from: str | None = None
) -> LandedContents:
    """Return what a run made of a file, all of its landings together.

    Args:
        journals: Keep what was.
        run_id: The run.
        path: The file, as the run's changes name it.
        moved_from: Where it was before, of a file that was moved.

    Raises:
        RunUnknown: The run is not known to have landed a change of it.
        StateExpired: The contents are not kept any longer, or the run was undone.
        StateError: A journal is damaged.
        TooLarge: It has more than 1,000,000 bytes.
    """
    known = journals.of(run_id)
    live = [kept for kept in known if kept.fate == "journal"]
    if known and not live:
        raise StateExpired(f"the contents of run {run_id!r} are not kept: it was undone, or is old")
    read = [journals.read(kept) for kept in live]
    landed = [journal for journal in read if journal is not None]
    if len(landed) < len(read):
        raise StateError(f"the contents of run {run_id!r} cannot be read: a journal is damaged")
    landed.sort(key=lambda journal: journal.header.stage)
    steps = [(journal, item) for journal in landed for item in journal.header.items]
    own = [step for step in steps if step[1].place.path == path]
    if not own:
        raise RunUnknown(f"run {run_id!r} has landed no change of {path!r} that is known here")
    first = next((step for step in steps if step[1].place.path == moved_from), own[0])
    return LandedContents(
        before=_content(first[0], first[1].before), after=_content(own[-1][0], own[-1][1].after)
    )


def _content(journal: Journal, thing: FileState) -> bytes | None:
    if thing.kind != "file" or thing.sha256 is None:
        return None
    if thing.size > KEPT_BYTES:
        raise TooLarge(f"the file has {thing.size:,} bytes: over {KEPT_BYTES:,} are not shown")
    return b"".join(journal.parts(thing.sha256))
