"""Runs and calls under way behind a front, whichever requests of a client wait for them."""

import logging
import re
import secrets
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import cast, get_args

import anyio
import mcp_types as types
from anyio.abc import TaskGroup
from msgspec import field

from lineshaft.errors import LineshaftError, ToolError
from lineshaft.mcp.front.client import FilledForm, Level, Note, Question, Said
from lineshaft.values import CallResult, Event, RunResult, Struct, ToolSpec

ANSWER_SECONDS = 600.0
"""How long what a tool asked waits for a client to come back with the answer."""

_NOTES = 200
"""The most events that are kept to be told; of more, the oldest are left out."""

_MOST = 1_000
"""Runs and calls under way at once."""

_ALONE = 20
"""Runs in the background under way at once."""

_KEPT = 64
"""Ended runs in the background whose whole result is kept; of others the record tells."""


_LOG = logging.getLogger(__name__)
_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")
_CANCELLED = FilledForm("cancel")


class _Asked(Struct, eq=False):
    question: Question
    answered: anyio.Event = field(default_factory=anyio.Event)
    said: Said = _CANCELLED

    def answer(self, said: Said) -> None:
        self.said = said
        self.answered.set()


class Operation:
    """One run or call under way.

    Args:
        run_id: The run's id, where it is known before.
        spec: The tool, of a single call; what it says of progress is passed on as it is.
        said: Answers that the client sent before it was asked, by the keys of a server that asks
            under its own.
        whole: Whether the client is to see as it is what the server refused.
        alone: Whether it goes on in the background, with no request waiting.
        beside: Whether it is a call of what a server has beside its tools.
    """

    def __init__(
        self,
        run_id: str = "",
        *,
        spec: ToolSpec | None = None,
        said: Mapping[str, Said] | None = None,
        whole: bool = False,
        alone: bool = False,
        beside: bool = False,
    ) -> None:
        self.key = secrets.token_urlsafe(24)
        """The handle with which a client comes back; it cannot be guessed."""

        self.run_id = run_id
        self.spec = spec
        self.alone = alone
        self.beside = beside
        self.calls = 0
        """How many were made so far."""

        self.result: RunResult | CallResult | None = None
        self.error: LineshaftError | None = None
        self.ended = False
        self.told = 0
        """How many events the client ahead was told; one that comes later hears the others."""

        self.refusals: list[types.ErrorData] | None = [] if whole else None
        """What the server refused, where the client is to see that as it is."""

        self.failed: list[types.CallToolResult] | None = [] if spec and spec.own_name else None
        """What the server answered, where its tool failed."""

        self._said = dict(said or {})
        self._steps = 0
        self._reached = -1.0
        """Progress of a single call so far."""

        self._tools: dict[str, str] = {}
        self._notes: deque[Note] = deque(maxlen=_NOTES)
        self._heard = 0
        """How many notes there were, those that are left out among them."""

        self._questions: dict[str, _Asked] = {}
        self._moved = anyio.Event()
        self._scope = anyio.CancelScope()

    @property
    def questions(self) -> Mapping[str, Question]:
        """The questions that wait for an answer, by key."""
        return {key: each.question for key, each in self._questions.items()}

    def cancel(self) -> None:
        """End it; it is settled and recorded nevertheless."""
        self._scope.cancel()

    async def question(self, question: Question) -> Said:
        """Put one question to the client; arguments and errors as for `together`."""
        [said] = await self.together([("", question)])
        if isinstance(said, ToolError):
            raise said
        return said

    async def together(self, asked: Sequence[tuple[str, Question]]) -> list[Said | ToolError]:
        """Put questions to the client, all at once, through whichever request comes next.

        Args:
            asked: Each with the asker's name for it, or none.

        Returns:
            The answers, in order; an error for a question without one.
        """
        waiting: list[_Asked] = []
        for name, question in asked:
            each = _Asked(question)
            waiting.append(each)
            if name and name in self._said:
                each.answer(self._said.pop(name))
            else:
                self._questions[self._key(name)] = each
        self._move()
        try:
            with anyio.move_on_after(ANSWER_SECONDS):
                for each in waiting:
                    await each.answered.wait()
        finally:
            left = [key for key, each in self._questions.items() if each in waiting]
            for key in left:
                del self._questions[key]
        late = ToolError("E_DENIED", "the client did not come back with an answer in time")
        return [each.said if each.answered.is_set() else late for each in waiting]

    def _key(self, wanted: str) -> str:
        fits = _KEY.fullmatch(wanted) and wanted not in self._questions
        return wanted if fits else f"q{secrets.token_hex(4)}"

    def answer(self, said: Mapping[str, Said]) -> None:
        """Take what a client said; questions that are not answered go on waiting."""
        for key, each in said.items():
            if (asked := self._questions.pop(key, None)) is not None:
                asked.answer(each)

    def note(self, after: int) -> tuple[int, Note] | None:
        """Return the next event for one of those who follow, and how many they were told with it.

        Args:
            after: How many they were told before.
        """
        left_out = self._heard - len(self._notes)
        at = max(after, left_out)
        if at == self._heard:
            return None
        self.told = max(self.told, at + 1)
        return at + 1, self._notes[at - left_out]

    async def moved(self) -> None:
        """Wait until something has happened."""
        if self._moved.is_set():
            self._moved = anyio.Event()
        await self._moved.wait()

    def begun(self, run_id: str) -> None:
        """Note which run it is."""
        self.run_id = run_id
        self._move()

    def hear(self, event: Event) -> None:
        """Take an event of the run."""
        data, call = event.data, event.call_id or ""
        self.run_id = self.run_id or event.run_id
        match event.kind:
            case "call_asked":
                self._tools[call] = str(data.get("tool", ""))
            case "call_started":
                self.calls += 1
                if self.spec is None:
                    self._say(f"call {self.calls}: {self._tools.get(call, '')}".rstrip())
            case "progress":
                self._progress(call, data)
            case "log":
                level = data.get("level")
                known = level if level in get_args(Level) else "info"
                text = str(data.get("text", ""))
                self._tell(Note(text=text, log=True, level=cast("Level", known)))
            case _:
                pass

    async def carry_out(
        self, carry: Callable[["Operation"], Awaitable[RunResult | CallResult]]
    ) -> None:
        """Do it; called once."""
        try:
            with self._scope:
                self.result = await carry(self)
        except LineshaftError as error:
            self.error = error
        except Exception as error:  # noqa: BLE001  a fault of ours: what others began goes on
            _LOG.exception("a run could not be settled")
            self.error = LineshaftError(f"the run failed: {type(error).__name__}: {error}")
        finally:
            self.ended = True
            for asked in self._questions.values():
                asked.answered.set()
            self._questions.clear()
            self._move()

    def _progress(self, call: str, data: Mapping[str, object]) -> None:
        done, total, text = data.get("done"), data.get("total"), str(data.get("text") or "")
        numbers = [each if isinstance(each, int | float) else None for each in (done, total)]
        if self.spec is not None:
            self._reach(text, *numbers)
            return
        of = f"/{numbers[1]:g}" if numbers[1] is not None else ""
        how = f"{numbers[0]:g}{of}" if numbers[0] is not None else ""
        self._say(" ".join(filter(None, (self._tools.get(call, ""), how, text))))

    def _reach(self, text: str, done: float | None, total: float | None) -> None:
        """Pass on the progress of a single call; MCP has it increase each time."""
        if done is not None and done > self._reached:
            self._reached = done
            self._tell(Note(text=text, done=done, total=total))
        elif text:  # what it says is not lost
            self._tell(Note(text=text, log=True))

    def _say(self, text: str) -> None:
        self._steps += 1
        self._tell(Note(text=text, done=self._steps))

    def _tell(self, note: Note) -> None:
        self._notes.append(note)
        self._heard += 1
        self._move()

    def _move(self) -> None:
        self._moved.set()


class Operations:
    """All that is under way, and what ended in the background."""

    def __init__(self) -> None:
        self._by_key: dict[str, Operation] = {}
        self._kept: OrderedDict[str, Operation] = OrderedDict()
        self._group: TaskGroup | None = None
        self.ended = False

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[None]:
        """Allow work in the background inside the block; at its end it is cancelled and settled."""
        async with anyio.create_task_group() as self._group:
            try:
                yield
            finally:
                self.ended = True
                for work in self._by_key.values():
                    work.cancel()

    def start(
        self, work: Operation, carry: Callable[[Operation], Awaitable[RunResult | CallResult]]
    ) -> None:
        """Begin something.

        Raises:
            ToolError: `E_DENIED`: the server is ending, or too much is under way.
        """
        if self._group is None or self.ended:
            raise ToolError("E_DENIED", "the server is ending")
        if len(self._by_key) >= _MOST:
            raise ToolError("E_DENIED", f"{_MOST:,} runs and calls are under way; try again later")
        if work.alone and sum(each.alone for each in self._by_key.values()) >= _ALONE:
            text = f"{_ALONE} runs are under way in the background; `status` tells how each goes: "
            raise ToolError("E_DENIED", f"{text}wait until one has ended, or run without it")
        self._by_key[work.key] = work
        self._group.start_soon(self._carry, work, carry)

    async def _carry(
        self, work: Operation, carry: Callable[[Operation], Awaitable[RunResult | CallResult]]
    ) -> None:
        try:
            await work.carry_out(carry)
        finally:
            del self._by_key[work.key]

    def keep(self, work: Operation) -> None:
        """Keep what comes of it until it is asked for by its run."""
        self._kept[work.run_id] = work
        while len(self._kept) > _KEPT:
            oldest = next((key for key, each in self._kept.items() if each.ended), None)
            if oldest is None:
                return
            del self._kept[oldest]

    def by_key(self, key: str) -> Operation | None:
        """Return what a client comes back to."""
        return self._by_key.get(key)

    def of_run(self, run_id: str) -> Operation | None:
        """Return what is under way or kept of a run.

        Of one that was paused nothing is kept: it may have gone on elsewhere since.
        """
        live = (each for each in self._by_key.values() if each.run_id == run_id)
        found = next(live, None) or self._kept.get(run_id)
        if found is not None and isinstance(found.result, RunResult):
            return found if found.result.status != "paused" else None
        return found
