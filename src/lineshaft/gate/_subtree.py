"""Paths below a folder that a call moves, copies or deletes: policy judges all of them."""

from collections.abc import Sequence

from msgspec.structs import replace

from lineshaft.errors import FileMissing, ToolError
from lineshaft.policy import Policy, Subject, judge
from lineshaft.values import Verdict, Workspace, first_few

MOST_PATHS = 10_000
"""The most paths below the folders of one call."""

NAMED = 5


async def paths_below(view: Workspace, entries: Sequence[str]) -> tuple[str, ...]:
    """Return the paths below the folders among some entries, under the name of each entry.

    So a folder that is moved is judged as what it was and as what it becomes. Hidden and ignored
    files count; symlinks are not followed.

    Args:
        view: What the run sees.
        entries: Decided paths that the call takes as entries of their folders.

    Raises:
        ToolError: `E_TOO_LARGE` for more than 10,000 paths; `E_DENIED` where a folder cannot be
            looked into.
    """
    below: dict[str, None] = {}
    for entry in entries:
        try:
            found = await view.stat(entry)
        except FileMissing:
            continue
        if found.kind != "folder" or found.symlink:
            continue
        start = "" if entry == "." else f"{entry}/"
        async for inner in view.walk(entry, ignore=False):
            if inner.closed:
                raise ToolError("E_DENIED", f"{inner.path!r} cannot be looked into")
            rest = inner.path.removeprefix(start)
            below.update(dict.fromkeys(f"{name}/{rest}" for name in entries if name != "."))
            if len(below) > MOST_PATHS * len(entries):
                raise ToolError(
                    "E_TOO_LARGE",
                    f"there are more than {MOST_PATHS:,} paths below {entry!r}",
                    hint="Move or delete the folders in it one by one.",
                )
    return tuple(below)


def with_paths_told(policy: Policy, subject: Subject, verdict: Verdict, named: int) -> Verdict:
    """Return a verdict whose reason names the first paths below a folder that it comes from.

    Args:
        policy: The policy that gave it.
        subject: What was judged: the named paths first, then those below them.
        verdict: Its verdict, which does not allow.
        named: How many paths the call names itself.
    """
    own, below = subject.paths[:named], subject.paths[named:]
    if not below or judge(policy, replace(subject, paths=own)).kind == verdict.kind:
        return verdict
    closed = [
        path
        for path in below
        if judge(policy, replace(subject, paths=(path,))).kind == verdict.kind
    ]
    reason = ": ".join(
        text for text in (verdict.reason, first_few(closed, NAMED, quoted=True)) if text
    )
    return replace(verdict, reason=reason)
