"""A person's look at changes before they land: what is shown of them, what is told of the dropped.

Above: the staged view, which drops what the person drops. Below: its contents.
"""

from lineshaft.errors import WorkspaceError
from lineshaft.values import Change, Finding, Stage, Struct
from lineshaft.workspace.disk import EditorReview, FileState


class Reviewed(Struct, frozen=True):
    """A change as a person sees it: where any of this is another, they have not seen it."""

    change: Change
    state: FileState | None
    """The state that it gives its path, with mode and target; None: none of its own."""

    mode: int | None = None
    """Permission bits that it gives a file; None: those that the file has."""


async def to_review(waiting: Reviewed, view: Stage) -> EditorReview:
    """Return a change with its contents.

    Args:
        waiting: What is to land.
        view: Where it waits, and does not change.
    """
    change, state = waiting.change, waiting.state
    before = after = None
    note = ""
    if state is not None and state.kind == "symlink":
        note = f"a symlink to {state.target!r}, whose content is not shown"
    elif waiting.mode is not None:
        note = f"mode {waiting.mode & 0o7777:o}"
    try:
        if change.kind != "created":
            found = await view.before(change.moved_from or change.path)
            before = None if found is None else found.data
        if change.kind != "deleted" and (state is None or state.kind != "symlink"):
            after = (await view.read(change.path, noted=False)).data
    except WorkspaceError as error:  # a folder, a symlink, or what nobody may read
        note = f"no content to show: {error.message}"
    return EditorReview(
        path=change.path,
        kind=change.kind,
        moved_from=change.moved_from,
        before=before,
        after=after,
        note=note,
    )


def dropped_by_person(change: Change, reason: str) -> Finding:
    """Return what a run's result says of a change that a person dropped."""
    why = f": {reason}" if reason else ", without a reason"
    return Finding(
        code="dropped-in-review",
        path=change.path,
        message=f"a person dropped this change before it landed{why}",
        hint="Read the file again: it is as it was before the change.",
    )
