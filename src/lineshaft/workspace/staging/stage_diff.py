"""What a stage would change, as one unified diff."""

from collections.abc import Callable, Iterable
from functools import partial

from lineshaft.values import Change, Content
from lineshaft.workspace.disk import Decided, Mounts, Place
from lineshaft.workspace.staging.diff import Changed, unified
from lineshaft.workspace.staging.overlay import Overlay


def stage_diff(
    changes: Iterable[Change],
    overlay: Overlay,
    mounts: Mounts,
    before: Callable[[str], Content | None],
) -> str:
    """Return changes as a diff of a bounded size.

    Args:
        changes: What has not landed.
        overlay: Holds it.
        mounts: Where paths lead.
        before: Returns what a file was.
    """

    def at(path: str) -> Place:
        return mounts.place(Decided(path))

    def old(path: str) -> bytes:
        content = before(Decided(path))
        return b"" if content is None else content.data

    def new(path: str) -> bytes:
        return overlay.read(at(path))

    return unified(
        Changed(
            change=change,
            before=overlay.was(at(change.moved_from or change.path)),
            after=overlay.will_be(at(change.path)),
            old=partial(old, change.moved_from or change.path),
            new=partial(new, change.path),
        )
        for change in changes
    )
