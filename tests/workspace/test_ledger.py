"""Changes are what differs between the tree before and after, whatever happened between."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from lineshaft.workspace._count import changed_lines
from lineshaft.workspace._ledger import Ledger
from lineshaft.workspace.disk import MISSING, State

PATHS = ("a", "b", "c")


def state(text: str | None) -> State:
    if text is None:
        return MISSING
    data = text.encode()
    return State("file", hashlib.sha256(data).hexdigest(), data)


texts = st.sampled_from(["", "x\n", "y\n", "x\ny\n"])
paths = st.sampled_from(PATHS)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), paths, texts),
        st.tuples(st.just("delete"), paths, st.none()),
        st.tuples(st.just("move"), paths, paths),
    ),
    max_size=14,
)


def take(ledger: Ledger, tree: dict[str, str], step: tuple[str, str, str | None]) -> None:
    """Do one step to the tree, if it can be done, and tell the ledger."""
    kind, path, other = step
    before = state(tree.get(path))
    if kind == "write" and other is not None:
        tree[path] = other
        ledger.changed(path, before, state(other))
    elif kind == "delete" and path in tree:
        del tree[path]
        ledger.changed(path, before, MISSING)
    elif kind == "move" and path in tree and other is not None and other not in tree:
        tree[other] = tree.pop(path)
        ledger.moved(path, other, before)


@given(first=st.dictionaries(paths, texts), steps=steps)
def test_changes_lead_from_the_first_tree_to_the_last(
    first: dict[str, str], steps: list[tuple[str, str, str | None]]
) -> None:
    ledger, tree = Ledger(), dict(first)
    for step in steps:
        take(ledger, tree, step)

    rebuilt = dict(first)
    for change in ledger.changes():
        if change.moved_from is not None:
            assert change.kind == "moved"
            del rebuilt[change.moved_from]
        if change.kind == "deleted":
            del rebuilt[change.path]
        else:
            assert (change.path in rebuilt) == (change.kind == "modified")
            rebuilt[change.path] = tree[change.path]
        was = first.get(change.moved_from or change.path)
        assert change.sha256 == state(tree.get(change.path)).sha256
        assert (change.added, change.removed) == changed_lines(
            state(was).data, state(tree.get(change.path)).data
        )
    assert rebuilt == tree
    named = [change.path for change in ledger.changes()]
    assert len(named) == len(set(named))


@given(first=st.dictionaries(paths, texts), steps=steps)
def test_own_changes_are_never_stale(
    first: dict[str, str], steps: list[tuple[str, str, str | None]]
) -> None:
    ledger, tree = Ledger(), dict(first)
    for path in PATHS:
        ledger.seen.saw(path, state(first.get(path)).sha256)
    for step in steps:
        take(ledger, tree, step)
        for path in PATHS:
            ledger.seen.check(path, state(tree.get(path)))


def test_lines_of_large_files_are_added_up_change_by_change() -> None:
    ledger = Ledger()
    large = State("file", "1", None)
    ledger.changed("f", large, State("file", "2", None))
    ledger.changed("f", state("x\n"), state("x\ny\n"))
    ledger.changed("f", state("x\ny\n"), state("y\n"))

    (change,) = ledger.changes()
    assert (change.kind, change.added, change.removed) == ("modified", 1, 1)
