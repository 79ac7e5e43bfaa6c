"""Budgets: what is refused at once, and when one is used up."""

from typing import Any

import pytest

from lineshaft.agents import AgentUsage, Budget
from lineshaft.errors import ConfigError
from lineshaft.models import TokenUsage


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"turns": 0}, "turns must be a whole number above 0, not 0"),
        ({"calls": -1}, "calls"),
        ({"tokens": 1.5}, "tokens must be a whole number"),
        ({"failed_exits": True}, "failed_exits"),
        ({"seconds": 0}, "seconds must be a number above 0"),
        ({"cost": -0.1}, "cost"),
        ({"cost": "1"}, "cost"),
    ],
)
def test_a_budget_that_allows_nothing_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Budget(**given)


def test_a_budget_is_used_up_by_whichever_is_first() -> None:
    budget = Budget(turns=3, tokens=100, cost=0.5)
    usage = AgentUsage(turns=2)
    usage.take(TokenUsage(input_tokens=40, output_tokens=59))
    assert (usage.spent(budget), usage.cost, usage.estimated) == ("", None, False)
    usage.take(TokenUsage(input_tokens=1, cached_tokens=1, estimated=True, cost=0.1))
    assert (usage.spent(budget), usage.cost) == ("all 100 tokens", 0.1)
    assert (usage.cached_tokens, usage.estimated) == (1, True)
    usage.take(TokenUsage(cost=0.4))
    assert usage.spent(Budget(cost=0.5)) == "all of its 0.5 dollars"
    usage.turns = 3
    assert usage.spent(budget) == "all 3 turns"
