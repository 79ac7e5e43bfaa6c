"""What the contract of engines is tested with: a host that counts, holds and fails calls."""

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
    Returned,
    Stream,
    Suspended,
    Value,
)

TOOLS = frozenset({"give", "fail", "hold", "meet", "nest"})
NAMESPACES = {"github": frozenset({"give", "list_issues"})}

LIMITS = Limits(seconds=20)

Says = Literal["wait", "suspend"]


class Play:
    """Runs scripts on one engine and keeps what a host sees of them.

    Tools: `give(value)` returns its argument, `fail(code, message)` fails, `hold()` does not end
    before `release`, `meet(n)` ends when n of its calls are under way, `nest(script)` runs a
    script on the same engine.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.calls: list[Call] = []
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

        self.lingers = 0.0
        """Seconds that a call takes to end after it was cancelled."""

        self.freed: set[str] = set()
        """Ids of calls that `hold` does not hold."""

        self.gives: object = None
        """What `give` returns instead of its argument."""

        self.stubborn: set[str] = set()
        """Ids of calls that end well although they are cancelled."""

        self.stubborn_says: Done = Value("late")

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
        resume: bytes | None = None,
        name: str = "script.py",
    ) -> Outcome:
        """Run a script."""
        program = Program(
            source=source, name=name, inputs=inputs or {}, tools=TOOLS, namespaces=NAMESPACES
        )
        with anyio.fail_after(30):
            return await self.engine.run(
                program,
                self.dispatch,
                limits=limits,
                output=self._output,
                waiting=self._waiting,
                resume=resume,
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

    async def state(self, source: str, *, resume: bytes | None = None) -> bytes:
        """Run a script that must be suspended with a state."""
        self.says = lambda ids: "suspend"
        outcome = await self(source, resume=resume)
        assert isinstance(outcome, Suspended), outcome
        assert outcome.state is not None
        self.says = lambda ids: "wait"
        return outcome.state

    async def refuses_to_pause(self, source: str) -> bool:
        """Return whether the engine has no pauses; run where it is asked for one, it must say so.

        What the engine declares it has to keep: nothing of the script goes on.
        """
        if self.engine.pauses != "never":
            return False
        self.says = lambda ids: "suspend"
        error = await self.error(source)
        assert (error.kind, error.code) == ("ToolError", "E_NO_PAUSE"), error
        assert len(self.asked) == 1
        assert {*self.ended, *self.cancelled} == {call.id for call in self.calls}
        return True

    def _output(self, stream: Stream, text: str) -> None:
        self.output.append((stream, text))

    def _waiting(self, ids: Collection[str]) -> Says:
        self.asked.append(tuple(ids))
        return self.says(ids)

    async def dispatch(self, call: Call) -> Done:
        """Make a call."""
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
                return self.stubborn_says
            with anyio.CancelScope(shield=True):
                await anyio.sleep(self.lingers)
            self.cancelled.append(call.id)
            raise
        self.ended.append(call.id)
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
