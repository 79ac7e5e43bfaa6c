"""An answer to a pending call says yes or no, and nothing that only looks like one."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from lineshaft import Answer, ConfigError, Pending, Session, tool

WRONG: list[dict[str, Any]] = [
    {"allow": "no"},
    {"allow": "false"},
    {"allow": 1},
    {"allow": None},
    {"allow": True, "reason": None},
    {"allow": True, "scope": "runs"},
]


@pytest.mark.parametrize("given", WRONG)
def test_what_is_no_answer_is_refused_where_it_is_made(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"Answer\("):
        Answer(**given)


async def test_an_approver_whose_answer_is_text_approves_nothing(tmp_path: Path) -> None:
    paid: list[int] = []

    @tool(effect="external")
    async def pay(amount: int) -> None:
        """Pay."""
        paid.append(amount)

    said: Any = "no"

    async def approver(pending: Sequence[Pending]) -> Mapping[str, Answer]:
        return {each.id: Answer(allow=said) for each in pending}

    async with Session([pay], workspace=tmp_path, approver=approver, store=False) as session:
        result = await session.run("return await pay(amount=1)")
    assert result.error is not None
    assert "the approver failed" in result.error.message
    assert paid == []
