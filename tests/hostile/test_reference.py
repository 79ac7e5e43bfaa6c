"""Every hostile script gets its way on plain Python; one that does not would prove nothing."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from hostile.cases import Case, cases, groups
from hostile.reference import shows
from hostile.target import Target

APART = frozenset({"cpu", "memory", "output", "parser"})
"""Groups whose cases may run beside each other."""


def _without_effect(some: list[Case]) -> list[str]:
    with Target() as target:
        return [case.name for case in some if not shows(case, target)]


@pytest.mark.parametrize("group", groups())
def test_every_case_shows_what_it_is_after_on_plain_python(group: str) -> None:
    found = cases(group)
    hands = 3 if group in APART else 1
    parts = [found[n::hands] for n in range(hands)]
    with ThreadPoolExecutor(hands) as pool:
        assert [name for names in pool.map(_without_effect, parts) for name in names] == []


def test_there_are_enough_cases_and_no_two_are_the_same() -> None:
    every = [case for group in groups() for case in cases(group)]
    assert len(every) >= 150
    assert len({case.id for case in every}) == len(every)
    assert len({case.script for case in every}) == len(every)
