"""What engines are tested with: a host that has a few tools and keeps what it sees."""

from collections.abc import Awaitable, Callable, Collection, Mapping
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
    Raised,
    ReplayInputs,
    Returned,
    Stream,
    Suspended,
    Value,
)

TOOLS = frozenset({"give", "fail", "hold", "meet", "nest"})
NAMESPACES = {"github": frozenset({"give", "list_issues"})}

LIMITS = Limits(seconds=20)

SEED = "5a" * 32

Says = Literal["wait", "suspend"]


def fresh() -> ReplayInputs:
    """Return the replay inputs of a run that has not begun."""
    return ReplayInputs(seed=SEED)


def unseen(_stream: Stream, _text: str) -> None:
    """Let printed text go."""


async def forever(_ids: Collection[str]) -> Says:
    """Be asked, and have nothing to say."""
    await anyio.sleep_forever()
    return "wait"


class Play:
    """Runs scripts on one engine and keeps what a host sees of them.

    Tools: `give(value)` returns its argument, `fail(code, message)` fails, `hold()` does not end
    before `release`, `meet(n)` ends when n of its calls are under way, `nest(script)` runs a
    script on the same engine. Calls that ended are answered from memory when a record is played
    back, as by the gate.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.calls: list[Call] = []
        """Calls that were made, without those that were answered from memory."""

        self.past: dict[str, Done] = {}
        """How calls ended, by their ids."""

        self.ended: list[str] = []
        """Ids of calls that came to an end."""

        self.cancelled: list[str] = []
        self.output: list[tuple[Stream, str]] = []
        self.printed_at_calls: list[str] = []
        """What had been printed when each call came."""

        self.asked: list[tuple[str, ...]] = []
        """What `waiting` was told."""

        self.says: Callable[[Collection[str]], Says] = lambda ids: "wait"
        self.held = anyio.Event()
        """Some `hold` is under way."""

        self.asked_once = anyio.Event()
        """`waiting` was asked."""

        self.lingers = 0.0
        """Seconds that a call takes to end after it was cancelled."""

        self.freed: set[str] = set()
        """Ids of calls that `hold` does not hold."""

        self.gives: object = None
        """What `give` returns instead of its argument."""

        self.stubborn: set[str] = set()
        """Ids of calls that end well although they are cancelled."""

        self._released = anyio.Event()
        self._meeting = 0
        self._met = anyio.Event()

    @property
    def printed(self) -> str:
        """All that was printed to stdout."""
        return "".join(text for stream, text in self.output if stream == "stdout")

    @property
    def tools(self) -> list[str]:
        """Tools called, in order."""
        return [call.tool for call in self.calls]

    def release(self) -> None:
        """Let every `hold` end."""
        self._released.set()

    async def __call__(
        self,
        source: str,
        *,
        limits: Limits = LIMITS,
        inputs: Mapping[str, object] | None = None,
        replay: ReplayInputs | None = None,
        clock: Callable[[], float] | None = None,
        name: str = "script.py",
    ) -> Outcome:
        """Run a script."""
        program = Program(
            source=source,
            name=name,
            inputs=inputs or {},
            tools=TOOLS,
            namespaces=NAMESPACES,
            replay=replay,
            clock=clock,
        )
        with anyio.fail_after(300):
            return await self.engine.run(
                program,
                self.dispatch,
                limits=limits,
                output=self._output,
                waiting=self.waiting,
            )

    async def value(self, source: str, **inputs: object) -> object:
        """Run a script that must return."""
        outcome = await self(source, inputs=inputs)
        assert isinstance(outcome, Returned), outcome
        return outcome.value

    async def error(self, source: str, *, name: str = "script.py") -> Raised:
        """Run a script that must raise."""
        outcome = await self(source, name=name)
        assert isinstance(outcome, Raised), outcome
        return outcome

    async def suspend(self, source: str, replay: ReplayInputs) -> None:
        """Run a script, or what is left of it, that must be suspended."""
        self.says = lambda ids: "suspend"
        outcome = await self(source, replay=replay)
        assert outcome == Suspended()
        self.says = lambda ids: "wait"

    def _output(self, stream: Stream, text: str) -> None:
        self.output.append((stream, text))

    async def waiting(self, ids: Collection[str]) -> Says:
        """Take that nothing in the script can go on."""
        self.asked.append(tuple(ids))
        self.asked_once.set()
        if self.says(ids) == "wait":
            await anyio.sleep_forever()  # a completion gives it up
        return "suspend"

    async def dispatch(self, call: Call) -> Done:
        """Make a call."""
        if call.recorded and call.id in self.past:
            return self.past[call.id]
        self.calls.append(call)
        self.printed_at_calls.append(self.printed)
        acts: dict[str, Callable[[Call], Awaitable[Done]]] = {
            "fail": self._fail,
            "hold": self._hold,
            "meet": self._meet,
            "nest": self._nest,
        }
        try:
            done = await acts.get(call.tool, self._give)(call)
        except BaseException:  # a tool that lingers, or does not end
            if call.id in self.stubborn:
                self.past[call.id] = Value("late")
                return self.past[call.id]
            with anyio.CancelScope(shield=True):
                await anyio.sleep(self.lingers)
            self.cancelled.append(call.id)
            raise
        self.ended.append(call.id)
        self.past[call.id] = done
        return done

    async def _give(self, call: Call) -> Done:
        if self.gives is not None:
            return Value(self.gives)
        return Value([*call.positional, *call.arguments.values(), None][0])

    async def _fail(self, call: Call) -> Done:
        code, message = (*call.positional, *call.arguments.values())
        return Failure(str(code), str(message))

    async def _hold(self, call: Call) -> Done:
        self.held.set()
        if call.id not in self.freed:
            await self._released.wait()
        return Value(call.id)

    async def _meet(self, call: Call) -> Done:
        self._meeting += 1
        if self._meeting == call.positional[0]:
            self._met.set()
        await self._met.wait()
        return Value(None)

    async def _nest(self, call: Call) -> Done:
        inner = Play(self.engine)
        return Value(await inner.value(str(call.positional[0])))
