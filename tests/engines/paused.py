"""What pauses are tested with: a host that asks, keeps what came of calls, and goes on later."""

import asyncio
import json
import random
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import anyio

from engines.play import LIMITS, fresh
from lineshaft.values import (
    Call,
    Done,
    Engine,
    Failure,
    Limits,
    Outcome,
    Program,
    ReplayInputs,
    Suspended,
    Value,
)

TOOLS = frozenset({"give", "ask"})


@dataclass(slots=True)
class Kept:
    """What a host keeps of a run."""

    replay: ReplayInputs = field(default_factory=fresh)
    finished: dict[str, object] = field(default_factory=dict[str, object])
    """Values of calls that ended, by their ids; None: refused."""

    acted: list[str] = field(default_factory=list[str])
    """A counter outside: the id of a call each time that its tool did something."""

    made: dict[str, str] = field(default_factory=dict[str, str])
    """Calls by their ids, as text."""

    def write(self, path: Path) -> None:
        """Store it."""
        replay = self.replay
        inputs = [replay.seed, replay.readings.hex(), replay.turns, replay.torn]
        path.write_text(json.dumps([inputs, self.finished, self.acted, self.made]))

    @classmethod
    def read(cls, path: Path) -> "Kept":
        """Read it back."""
        inputs, *fields = json.loads(path.read_text())
        seed, readings, turns, torn = inputs
        replay = ReplayInputs(seed=seed, readings=bytes.fromhex(readings), turns=turns, torn=torn)
        return cls(replay, *fields)


class Keeper:
    """Runs one script on one engine, in as many parts as it takes.

    Tools: `give(value)` returns its argument after a moment, `ask(value)` does so once it was
    allowed, and fails where it was refused.

    Args:
        engine: Executes the script.
        kept: What earlier parts left.
        seed: Of the moments that calls take.
    """

    def __init__(self, engine: Engine, kept: Kept | None = None, *, seed: int = 0) -> None:
        self.engine = engine
        self.kept = kept or Kept()
        self.pending: dict[str, str] = {}
        """Ids of the calls that nobody answered, and the arguments that they were made with."""

        self.printed = ""
        """In the last part."""

        self.calls: list[Call] = []
        """In the last part, without those that were played back."""

        self._moments = random.Random(seed)  # noqa: S311  no secret
        self._answers: Mapping[str, bool] = {}
        self._open: set[str] = set()
        self._changed = anyio.Event()
        self._only_recorded = False

    async def part(
        self, source: str, answers: Mapping[str, bool] | None = None, *, limits: Limits = LIMITS
    ) -> Outcome:
        """Run the script, or what is left of it.

        Args:
            source: The script.
            answers: By argument of `ask`, or `*` for all: whether it is allowed.
            limits: What it may use.
        """
        self._answers = answers or {}
        return await self._run(source, limits)

    async def whole(self, source: str, parts: Iterable[Mapping[str, bool]]) -> Outcome:
        """Run a script that pauses, and goes on after each of the answers."""
        outcome = await self.part(source)
        for answers in parts:
            assert isinstance(outcome, Suspended), outcome
            outcome = await self.part(source, answers)
        return outcome

    async def replay(self, source: str) -> Outcome:
        """Execute the script again from its beginning, over what its calls came to."""
        acted, turns = list(self.kept.acted), list(self.kept.replay.turns)
        self._only_recorded = True
        try:
            return await self._run(source, LIMITS)
        finally:
            self._only_recorded = False
            assert self.kept.acted == acted
            assert self.kept.replay.turns == turns

    async def _run(self, source: str, limits: Limits) -> Outcome:
        self.pending, self.calls, self.printed, self._open = {}, [], "", set()
        program = Program(source=source, tools=TOOLS, replay=self.kept.replay)
        with anyio.fail_after(300):
            return await self.engine.run(
                program, self._dispatch, limits=limits, output=self._print, waiting=self._waiting
            )

    def _print(self, stream: str, text: str) -> None:
        self.printed += text

    async def _waiting(self, ids: Collection[str]) -> Literal["wait", "suspend"]:
        assert set(ids) <= self._open
        while not self.pending or len(self.pending) < len(self._open):
            self._changed = anyio.Event()
            await self._changed.wait()
        return "suspend"

    async def _dispatch(self, call: Call) -> Done:
        text = f"{call.tool} {json.dumps([*call.positional, dict(call.arguments)])}"
        if call.recorded or self._only_recorded:
            assert call.recorded, text
            assert self.kept.made[call.id] == text
            if call.id in self.kept.finished:
                return _done(self.kept.finished[call.id])
            if self._only_recorded:
                await anyio.sleep_forever()  # it was given up before, and is to be given up again
        else:
            assert call.id not in self.kept.made, text
        self.kept.made[call.id] = text
        self.calls.append(call)
        self._open.add(call.id)
        self._changed.set()
        try:
            return await self._do(call)
        finally:
            self._open.discard(call.id)
            self._changed.set()

    async def _do(self, call: Call) -> Done:
        argument = [*call.positional, *call.arguments.values()][0]
        allowed = True
        if call.tool == "ask":
            answer = self._answers.get(str(argument), self._answers.get("*"))
            if answer is None:
                self.pending[call.id] = str(argument)
                self._changed.set()
                await anyio.sleep_forever()
            allowed = bool(answer)
        else:
            await asyncio.sleep(self._moments.choice((0, 0, 0.001, 0.003)))
        if allowed:
            self.kept.acted.append(call.id)
        self.kept.finished[call.id] = argument if allowed else None
        return _done(self.kept.finished[call.id])


def _done(value: object) -> Done:
    return Failure("E_DENIED", "not approved") if value is None else Value(value)
