"""What pauses are tested with: a host that asks, keeps what came of calls, and goes on later."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import anyio

from lineshaft.values import (
    Call,
    Done,
    Engine,
    Failure,
    Limits,
    Outcome,
    Program,
    Suspended,
    Tape,
    Value,
)

TOOLS = frozenset({"give", "ask"})
LIMITS = Limits(seconds=20)
SEED = "5a" * 32


@dataclass(slots=True)
class Kept:
    """What a host keeps of a run; all of it is JSON-like."""

    tape: Tape = field(default_factory=lambda: Tape(seed=SEED))
    finished: list[tuple[str, object]] = field(default_factory=list[tuple[str, object]])
    """Calls by their keys, in the order in which they ended, and their values; None: refused."""

    acted: list[str] = field(default_factory=list[str])
    """A counter outside: each time that a tool did something."""

    made: list[str] = field(default_factory=list[str])
    """Keys and ids of calls, in the order in which they were first made."""

    state: str | None = None

    def write(self, path: Path) -> None:
        """Store it."""
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, path: Path) -> "Kept":
        """Read it back."""
        fields = json.loads(path.read_text())
        fields["tape"] = Tape(**fields["tape"])
        fields["finished"] = [(key, value) for key, value in fields["finished"]]
        return cls(**fields)


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
        """In the last part."""

        self.asked = 0
        """How often `waiting` was called in the last part."""

        self._moments = random.Random(seed)  # noqa: S311  no secret
        self._answers: Mapping[str, bool] = {}
        self._open: set[str] = set()
        self._turns: dict[str, anyio.Event] = {}
        self._left: dict[str, object] = {}
        self._over = anyio.Event()
        self._only_recorded = False
        self._seen = Counter[str]()

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
        state = self.kept.state.encode("latin-1") if self.kept.state else None
        self._begin(again=state is None)
        outcome = await self._run(source, limits, state)
        if isinstance(outcome, Suspended):
            self.kept.state = outcome.state.decode("latin-1") if outcome.state else None
        return outcome

    async def whole(self, source: str, parts: Iterable[Mapping[str, bool]]) -> Outcome:
        """Run a script that pauses, and goes on after each of the answers."""
        outcome = await self.part(source)
        for answers in parts:
            assert isinstance(outcome, Suspended), outcome
            outcome = await self.part(source, answers)
        return outcome

    async def replay(self, source: str) -> Outcome:
        """Execute the script again from its beginning, over what its calls came to.

        It must make those calls in the order in which it made them before.
        """
        self.kept.state = None
        self._only_recorded = True
        self._begin(again=True)
        outcome = await self._run(source, LIMITS, None)
        assert not self._left, f"these were not made again: {self._left}"
        finished = {key for key, _ in self.kept.finished}
        ids = [key.rpartition("#")[2] for key in self.kept.made if key in finished]
        assert [call.id for call in self.calls if call.id in ids] == ids
        return outcome

    def _begin(self, *, again: bool) -> None:
        self.pending, self.calls, self.printed, self.asked = {}, [], "", 0
        self._open, self._turns, self._over = set(), {}, anyio.Event()
        if again:
            self._seen.clear()
            self._left = dict(self.kept.finished)

    async def _run(self, source: str, limits: Limits, state: bytes | None) -> Outcome:
        program = Program(source=source, tools=TOOLS, tape=self.kept.tape)
        with anyio.fail_after(30):
            return await self.engine.run(
                program,
                self._dispatch,
                limits=limits,
                output=self._print,
                waiting=self._waiting,
                resume=state,
            )

    def _print(self, stream: str, text: str) -> None:
        self.printed += text

    def _waiting(self, ids: Collection[str]) -> Literal["wait", "suspend"]:
        self.asked += 1
        assert set(ids) <= self._open
        for key in self._left:
            if key in self._turns:
                self._turns[key].set()
                return "wait"
        if self._left:
            assert not self._only_recorded, f"the script makes these no more: {self._left}"
            self._left.clear()
        self._over.set()
        return "suspend" if self.pending and len(self.pending) == len(self._open) else "wait"

    def _key(self, call: Call) -> str:
        exact = f"{call.tool} {json.dumps([*call.positional, dict(call.arguments)])}"
        known = next((m for m in self.kept.made if m.endswith(f"#{call.id}")), None)
        if known is not None and known.startswith(f"{exact} "):
            return known
        self._seen[exact] += 1
        return f"{exact} {self._seen[exact]} #{call.id}"

    async def _dispatch(self, call: Call) -> Done:
        self.calls.append(call)
        self._open.add(call.id)
        try:
            return await self._do(call, self._key(call))
        finally:
            self._open.discard(call.id)

    async def _do(self, call: Call, key: str) -> Done:
        argument = str([*call.positional, *call.arguments.values()][0])
        if self._only_recorded and key not in self._left:
            await anyio.sleep_forever()  # it was given up before, and is to be given up again
        if key not in self.kept.made:
            self.kept.made.append(key)
        if key in self._left:
            turn = self._turns[key] = anyio.Event()
            try:
                await turn.wait()
                return _done(self._left[key])
            finally:  # also if the script gives it up, as it did when the answer was on its way
                del self._turns[key], self._left[key]
                if not self._left:
                    self._over.set()
        if self._left:
            await self._over.wait()  # new work comes after all that is known
        allowed = True
        if call.tool == "ask":
            answer = self._answers.get(argument, self._answers.get("*"))
            if answer is None:
                self.pending[call.id] = argument
                await anyio.sleep_forever()
            allowed = bool(answer)
        else:
            await asyncio.sleep(self._moments.choice((0, 0, 0.001, 0.003)))
        if allowed:
            self.kept.acted.append(key)
        value = [*call.positional, *call.arguments.values()][0] if allowed else None
        self.kept.finished.append((key, value))
        return _done(value)


def _done(value: object) -> Done:
    return Failure("E_DENIED", "not approved") if value is None else Value(value)
