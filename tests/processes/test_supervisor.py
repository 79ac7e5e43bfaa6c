"""The parts of the supervisor that need no process."""

import os

from lineshaft.processes._supervisor import descendants, parents, parse_table


def test_descendants_are_children_and_their_children() -> None:
    table = [(2, 1), (3, 2), (4, 3), (5, 1), (6, 9)]

    assert descendants(2, table) == {3, 4}
    assert descendants(1, table) == {2, 3, 4, 5}
    assert descendants(7, table) == set()


def test_a_circle_in_the_table_ends() -> None:
    assert descendants(1, [(1, 2), (2, 1)]) == {1, 2}


def test_the_table_of_ps_is_understood() -> None:
    assert list(parse_table(["    1     0", "  812     1", "70001   812"])) == [
        (1, 0),
        (812, 1),
        (70001, 812),
    ]


def test_this_process_and_its_parent_are_in_the_table() -> None:
    assert (os.getpid(), os.getppid()) in set(parents())
