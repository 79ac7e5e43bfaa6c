"""Scripted policies: fixed plans that act in a model's place, so that no key is needed.

They test the harness, the count of tokens and the checkers. They say nothing about models.
"""

import json
import random
import re
from collections.abc import Generator, Mapping, Sequence
from types import ModuleType
from typing import cast

from lineshaft.errors import TaskFailed
from lineshaft.models import CallAnswer, ModelReply, ModelRequest, OnText, RequestedCall
from lineshaft.scripts import RUN_SCRIPT
from lineshaft.values import Struct

SCRIPTED = "scripted"
"""The name of the scripted policies as a model."""

_REMARK = re.compile(r"\n?\[\d+ files? changed: [^\n]*\]\n?$")
"""The line about changed files, which stands after a script's value."""

Plan = Generator[Sequence[tuple[str, Mapping[str, object]]], Sequence[str], object]
"""A plan yields the calls of one turn, gets their answers as texts, and returns the result."""


class SlipRule(Struct, frozen=True, kw_only=True):
    """How often a policy fails, as models do: it gives up after its first turn."""

    rate: float = 0.1
    """Share of the runs."""

    seed: int = 0

    def slips(self, *place: object) -> bool:
        """Return whether the run at a place (task, repeat) fails; always the same."""
        drawn = random.Random(f"{self.seed}/{place}")  # noqa: S311  no secret
        return drawn.random() < self.rate


class PlannedModel:
    """A model that follows a task's plan.

    It writes scripts where it is offered the script tool, and goes step by step where it is not.
    One that prefers direct calls goes step by step with both, and writes a script once a step
    needs a tool that it is not offered.

    Args:
        module: The task's `plan.py`: `steps()` goes step by step; `SCRIPT` is the script of one
            that writes scripts, or `scripts()` its plan.
        answer: JSON Schema of the result.
        slips: Whether this run fails.
        directly: Whether it prefers direct calls.
    """

    def __init__(
        self,
        module: ModuleType,
        *,
        answer: Mapping[str, object],
        slips: bool = False,
        directly: bool = False,
    ) -> None:
        self._module = module
        self._directly = directly
        self._is_text = answer.get("type") == "string"
        self._slips = slips
        self._plan: Plan | None = None
        self._turns = 0
        self._exited = False

    @property
    def name(self) -> str:
        """As `Model.name`."""
        return SCRIPTED

    @property
    def priced(self) -> bool:
        """As `Model.priced`; nothing is paid for a plan."""
        return False

    async def complete(self, request: ModelRequest, *, on_text: OnText | None = None) -> ModelReply:
        """As `Model.complete`."""
        del on_text
        self._turns += 1
        if self._slips and self._turns > 1:
            return _reply(("GiveUp", {"reason": "a slip, as declared"}))
        offered = {tool.name for tool in request.tools}
        scripts = RUN_SCRIPT.name in offered
        try:
            if self._plan is None:
                self._plan = self._begun(scripts and not self._directly)
                wanted = next(self._plan)
            else:
                wanted = self._plan.send(_answers(request))
            if scripts and self._directly and not offered.issuperset(name for name, _ in wanted):
                self._directly = False
                self._plan = self._begun(scripts)
                wanted = next(self._plan)
        except StopIteration as ended:
            return self._ended(ended.value)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            why = f"the plan does not fit what came back: {type(error).__name__}: {error}"
            return _reply(("GiveUp", {"reason": why}))
        return _reply(*wanted)

    def _ended(self, result: object) -> ModelReply:
        """Exit once; a result that was refused is the end."""
        if self._exited:
            return _reply(("GiveUp", {"reason": "the result of the plan was refused"}))
        self._exited = True
        return _reply(("Exit", {"result": result}))

    def _begun(self, scripts: bool) -> Plan:  # noqa: FBT001  private
        if not scripts:
            return cast("Plan", self._module.steps())
        if hasattr(self._module, "scripts"):
            return cast("Plan", self._module.scripts())
        return self._by_script(cast("str", self._module.SCRIPT))

    def _by_script(self, script: str) -> Plan:
        [text] = yield [(RUN_SCRIPT.name, {"code": script.strip() + "\n"})]
        text = _REMARK.sub("", text)
        try:
            value: object = json.loads(text)
        except ValueError:
            return text
        return text if self._is_text and not isinstance(value, str) else value


def _reply(*wanted: tuple[str, Mapping[str, object]]) -> ModelReply:
    if not wanted:
        raise TaskFailed("a plan has a turn without calls")
    calls = tuple(
        RequestedCall(id=f"call_{number}", name=name, arguments=json.dumps(given))
        for number, (name, given) in enumerate(wanted, 1)
    )
    return ModelReply(calls=calls, stop="calls")


def _answers(request: ModelRequest) -> list[str]:
    """Return the texts that came back for the calls of the last turn."""
    found: list[str] = []
    for message in reversed(request.messages):
        if not isinstance(message, CallAnswer):
            break
        found.append(message.text)
    return found[::-1]
