"""Approvals: whatever becomes of the one who is asked, no call runs without a yes."""

import asyncio
from collections.abc import Callable, Mapping
from typing import cast

import pytest

from lineshaft import Answer, Pending, Policy
from lineshaft.values import Approver
from support import Make, Outside

ASK = {"id": "ask-poke", "tool": "poke", "verdict": "ask", "reason": "it pokes"}
ASKING = Policy.from_dict({"mode": "open", "rules": [ASK]})

Asked = tuple[Pending, ...]


def approver(give: Callable[[Asked], object]) -> Approver:
    """Return an approver that gives what it should not."""

    async def answer(pending: Asked) -> Mapping[str, Answer]:
        return cast("Mapping[str, Answer]", give(pending))

    return answer


def nothing(_: Asked) -> object:
    return None


def a_list(_: Asked) -> object:
    return ["yes"]


def truth(pending: Asked) -> object:
    return {call.id: True for call in pending}


def for_another(_: Asked) -> object:
    return {"another": Answer(allow=True)}


def leave(_: Asked) -> object:
    raise GeneratorExit


def disconnect(_: Asked) -> object:
    raise asyncio.CancelledError


@pytest.mark.behaviour("C12")
@pytest.mark.parametrize(
    ("give", "reason"),
    [
        (nothing, "it gave None, not answers by id"),
        (a_list, "it gave ['yes'], not answers by id"),
        (truth, "it gave True, not an Answer"),
        (for_another, "none was given"),
        (leave, "GeneratorExit"),
        (disconnect, "cancelled itself"),
    ],
)
async def test_an_approver_that_gives_no_answer_has_not_approved(
    make: Make, outside: Outside, give: Callable[[Asked], object], reason: str
) -> None:
    async with make(policy=ASKING, approver=approver(give)) as session:
        result = await session.run("await poke()")
        direct = await session.call("poke")
    for error in (result.error, direct.error):
        assert error is not None
        assert error.code == "E_DENIED"
        assert reason in error.message
    assert outside.total == 0
