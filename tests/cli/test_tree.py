"""The tree of calls that grows with a run's events."""

from lineshaft.cli._tree import Tree
from lineshaft.values import Event, EventKind


def event(kind: EventKind, call_id: str | None, **data: object) -> Event:
    return Event(
        run_id="r", seq=1, at="2026-01-01T00:00:00.000Z", kind=kind, call_id=call_id, data=data
    )


def asked(call_id: str, *, parent: str | None = None, **arguments: object) -> Event:
    return event("call_asked", call_id, tool="read", arguments=arguments, parent=parent)


def finished(call_id: str, status: str = "done", error: object = None) -> Event:
    return event("call_finished", call_id, status=status, duration_ms=5, error=error)


def shown(tree: Tree, limit: int = 50) -> list[str]:
    rows, hidden = tree.rows(limit)
    texts = [f"{'  ' * depth}{node.id} {node.status}" for depth, node in rows]
    return [f"+{hidden}", *texts] if hidden else texts


def test_calls_stand_under_the_call_that_made_them() -> None:
    tree = Tree()
    for step in (asked("a"), asked("b", parent="a"), asked("c"), asked("d", parent="b")):
        tree.take(step)
    assert shown(tree) == ["a asked", "  b asked", "    d asked", "c asked"]


def test_a_call_goes_through_its_states() -> None:
    tree = Tree()
    steps = (
        (asked("a"), "asked"),
        (event("verdict", "a", verdict="ask", rule="mode:auto"), "waiting"),
        (event("call_started", "a"), "running"),
        (event("progress", "a", done=3, total=4, text="files"), "running"),
        (finished("a", "failed", {"code": "E_X", "message": "no"}), "failed"),
    )
    notes: list[str] = []
    for step, state in steps:
        node = tree.take(step)
        assert node is not None
        assert node.status == state
        notes.append(node.note)
    assert notes[-2:] == ["3/4 files", "E_X: no"]
    assert tree.counts == {"failed": 1}


def test_what_a_tool_logs_stays_beside_its_call() -> None:
    tree = Tree()
    notes: list[str] = []
    for step in (asked("a"), event("call_started", "a"), event("log", "a", text="3 rows")):
        tree.take(step)
    for step in (event("progress", "a", done=1, total=2, text=""), finished("a")):
        node = tree.take(step)
        assert node is not None
        notes.append(node.note)
    assert notes[-1] == "3 rows"


def test_finished_calls_make_room_for_those_under_way() -> None:
    tree = Tree()
    tree.take(asked("slow"))
    for number in range(10):
        tree.take(asked(str(number)))
        tree.take(finished(str(number)))
    assert shown(tree, 3) == ["+8", "slow asked", "8 done", "9 done"]


def test_calls_that_failed_stay_longer_than_those_that_went_well() -> None:
    tree = Tree()
    for number in range(10):
        tree.take(asked(str(number)))
        tree.take(finished(str(number), "refused" if number == 2 else "done"))
    assert shown(tree, 3) == ["+7", "2 refused", "8 done", "9 done"]


def test_more_calls_under_way_than_fit_are_counted() -> None:
    tree = Tree()
    for number in range(10):
        tree.take(asked(str(number)))
    assert shown(tree, 2) == ["+8", "0 asked", "1 asked"]


def test_ten_thousand_calls_leave_only_the_last_ones_in_memory() -> None:
    tree = Tree()
    for number in range(10_000):
        tree.take(asked(str(number)))
        tree.take(finished(str(number)))
    rows, hidden = tree.rows(10_000)
    assert len(rows) + hidden == 10_000
    assert len(rows) < 300
    assert tree.counts == {"done": 10_000}


def test_events_of_no_known_call_change_nothing() -> None:
    tree = Tree()
    assert tree.take(event("output", None, stream="stdout", text="x")) is None
    assert tree.take(finished("gone")) is None
    assert shown(tree) == []
