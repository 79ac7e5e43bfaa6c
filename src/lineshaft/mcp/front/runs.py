"""Runs that a client starts, waits for, answers and looks at."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

import anyio
import mcp_types as types
from mcp import MCPError
from msgspec.structs import replace

from lineshaft.errors import RunBusy, RunUnknown, ToolError
from lineshaft.mcp.client import failed_results, refusals
from lineshaft.mcp.front.client import Asked, Client, FilledForm, Question, ToolReply
from lineshaft.mcp.front.elicitation import Put, answering, filled_of
from lineshaft.mcp.front.forms import answers_by_id, answers_of, approval_form, shown_of
from lineshaft.mcp.front.replies import of_beside, of_call, of_failure, of_part, of_run, running
from lineshaft.mcp.front.work import Operation, Operations
from lineshaft.session import Session, is_handle
from lineshaft.trace import summarise
from lineshaft.values import (
    Answer,
    Approver,
    Caller,
    CallResult,
    Event,
    Limits,
    Pending,
    RunResult,
    ToolSpec,
)

_APPROVAL = "approval"
_ENDS = frozenset({"run_finished", "run_paused"})


class Runs:
    """The runs and calls of a front.

    Args:
        session: What they go through.
        answers: Whether the caller of `resume` may answer what policy asks.
    """

    def __init__(self, session: Session, *, answers: bool) -> None:
        self._session = session
        self._answers = answers
        self.works = Operations()
        """What is under way."""

    async def run(self, given: Mapping[str, Any], client: Client) -> ToolReply | Asked:
        """Carry out `run`."""
        if client.state:
            return await self._back(client)
        background = bool(given.get("background"))
        work = Operation(alone=background)
        caller = self._caller(work, client, alone=background)
        self.works.start(work, partial(self._script, given, caller))
        if not background:
            return await self._follow(work, client)
        while not (work.run_id or work.ended):
            await work.moved()
        if work.run_id:
            self.works.keep(work)
        return await self._looked_at(work)

    async def resume(self, given: Mapping[str, Any], client: Client) -> ToolReply | Asked:
        """Carry out `resume`."""
        run_id = str(given["run_id"])
        if client.state:
            return await self._back(client)
        if (work := self.works.of_run(run_id)) is not None and not work.ended:
            return await self._follow(work, client, owned=False)
        events = await self._recorded(run_id)
        if events[-1].kind == "run_finished":
            return await self.status(run_id)
        pending = await self._session.pending(run_id)
        if pending and not self._said(given) and client.asks in ("later", "at once"):
            await self._session.check_resume(run_id)
        if shown_of(pending) and not self._said(given) and client.asks == "later":
            return _ask_for(run_id, pending)
        answers = await self._answers_to(pending, given, client)
        if pending and not answers:
            return await self.status(run_id)
        return await self._go_on(run_id, answers, client)

    def _said(self, given: Mapping[str, Any]) -> bool:
        return self._answers and bool(given.get("approve") or given.get("deny"))

    async def _answers_to(
        self, pending: Sequence[Pending], given: Mapping[str, Any], client: Client
    ) -> Mapping[str, Answer]:
        if self._said(given):
            return answers_by_id(
                pending,
                approve=given.get("approve", ()),
                deny=given.get("deny", ()),
                reason=str(given.get("reason", "")),
            )
        if pending and client.asks == "at once":
            return await _approve(client.ask, pending)
        return {}

    async def status(self, run_id: str, *, part: int = 1) -> ToolReply:
        """Carry out `status`: of a run, or of a result that was cut.

        Args:
            run_id: The run's id, or the handle of such a result.
            part: Which part of the result, from 1.
        """
        if is_handle(run_id):
            return await of_part(self._session, run_id, part)
        if (work := self.works.of_run(run_id)) is not None:
            return await self._looked_at(work)
        events = await self._recorded(run_id)
        result = summarise(events)
        if events[-1].kind not in _ENDS:
            return running(run_id, calls=len(result.calls), status=await self._standing(run_id))
        return of_run(self._session, result, answers=self._answers)

    async def call(
        self,
        spec: ToolSpec,
        arguments: object,
        client: Client,
        *,
        whole: bool,
        beside: bool = False,
    ) -> ToolReply | Asked:
        """Make one call of a tool, without a script.

        Args:
            spec: The tool.
            arguments: By name.
            client: The calling client.
            whole: Whether they are to see as it is what the tool's server refuses.
            beside: Whether it is no tool, but what a server has beside its tools: it does not
                wait in the store for an answer to what policy asks, and its value comes whole.

        Raises:
            MCPError: It refused, and they are.
        """
        if client.state:
            return await self._back(client)
        given = cast("Mapping[str, object]", arguments or {})
        work = Operation(spec=spec, said=client.said, whole=whole, beside=beside)
        caller = self._caller(work, client)
        if beside:
            caller = replace(caller, approver=partial(_or_never, caller.approver))

        async def carry(_: Operation) -> CallResult:
            refusals.set(work.refusals)
            failed_results.set(work.failed)
            return await self._session.call(spec.name, given, caller=caller)

        self.works.start(work, carry)
        return await self._follow(work, client)

    def _caller(self, work: Operation, client: Client, *, alone: bool = False) -> Caller:
        caller = Caller(sink=work.hear, origin="mcp", trace=client.trace)
        reach = "never" if alone else client.reach
        if reach == "never":
            return caller
        later = reach == "later"
        put: Put = work.question if later else client.ask
        # Later, a script's run waits in the store; what cannot wait there waits here.
        waits_here = not later or work.spec is not None or self._session.store is None
        approves = waits_here and "elicit" in client.offers
        caller = replace(caller, approver=partial(_approve, put) if approves else None)
        put_all = work.together if later else None
        return answering(caller, client.offers, put=put, put_all=put_all)

    async def _script(self, given: Mapping[str, Any], caller: Caller, work: Operation) -> RunResult:
        run = await self._session.start(
            given["code"],
            inputs={"args": given.get("args", [])},
            limits=self._limits(given.get("timeout_seconds")),
            caller=caller,
        )
        work.begun(run.run_id)
        try:
            return await run.result()
        except anyio.get_cancelled_exc_class():
            run.cancel()
            with anyio.CancelScope(shield=True):
                work.result = await run.result()
            raise

    def _limits(self, seconds: float | None) -> Limits | None:
        if seconds is None:
            return None
        return replace(self._session.limits.of_model, seconds=seconds)

    async def _go_on(
        self, run_id: str, answers: Mapping[str, Answer], client: Client
    ) -> ToolReply | Asked:
        if (live := self.works.of_run(run_id)) is not None and not live.ended:
            return await self._follow(live, client, owned=False)  # another client was faster
        work = Operation(run_id)
        caller = self._caller(work, client)

        async def carry(_: Operation) -> RunResult:
            return await self._session.resume(run_id, answers, caller=caller)

        self.works.start(work, carry)
        try:
            return await self._follow(work, client)
        except RunBusy:  # somebody else was faster: in a terminal, or in another server
            return await self.status(run_id)

    async def _follow(
        self, work: Operation, client: Client, *, owned: bool = True
    ) -> ToolReply | Asked:
        """Wait until something has ended or asks.

        Args:
            work: What is waited for.
            client: Who waits.
            owned: Whether it ends when they no longer do.
        """
        told = work.told
        try:
            while True:
                while (step := work.note(told)) is not None:
                    told, note = step
                    await client.tell(note)
                if work.ended or _for_client(work, client):
                    break
                await work.moved()
        except BaseException:  # cancelled, or nothing can be told to them any more
            if owned:
                work.cancel()
            raise
        if not work.ended:
            state = json.dumps({"work": work.key, "run": work.run_id})
            return Asked(questions=_for_client(work, client), state=state)
        result = work.result
        if isinstance(result, RunResult) and shown_of(result.pending) and client.asks == "later":
            return _ask_for(result.run_id, result.pending)
        return await self._looked_at(work)

    async def _back(self, client: Client) -> ToolReply | Asked:
        """Go on where a client was asked; the state is what this process gave it."""
        state = json.loads(client.state)
        if "work" not in state:
            return await self._answered(state["run"], state["pending"], client)
        work = self.works.by_key(state["work"])
        if work is None:
            if not state["run"]:
                raise ToolError("E_DENIED", "the call is over: the answer came too late")
            return await self.status(state["run"])
        work.answer(client.said)
        return await self._follow(work, client)

    async def _answered(
        self, run_id: str, asked: Sequence[str], client: Client
    ) -> ToolReply | Asked:
        pending = await self._session.pending(run_id)
        if not pending:
            return await self.status(run_id)
        if [each.id for each in pending] != list(asked) and shown_of(pending):
            return _ask_for(run_id, pending)  # another client answered, and it waits again
        filled = filled_of(client.said.get(_APPROVAL, FilledForm("cancel")))
        answers = answers_of(pending, filled)
        return await (self._go_on(run_id, answers, client) if answers else self.status(run_id))

    async def _looked_at(self, work: Operation) -> ToolReply:
        if work.error is not None:
            raise work.error
        match work.result:
            case CallResult() as result if work.spec is not None:
                if result.error is not None and work.refusals:
                    raise self._refused(work.refusals[-1])
                if result.error is not None and work.failed:
                    return of_failure(self._session, result, work.spec, work.failed[-1])
                reply = of_beside if work.beside else of_call
                return reply(self._session, result, work.spec)
            case RunResult() as result:
                return of_run(self._session, result, answers=self._answers)
            case _ if work.ended:
                raise ToolError("E_CANCELLED", "the call was cancelled")
            case _:
                return running(work.run_id, calls=work.calls)

    def _refused(self, error: types.ErrorData) -> MCPError:
        hidden = self._session.without_secrets
        return MCPError(error.code, hidden(error.message), hidden(error.data))

    async def _recorded(self, run_id: str) -> list[Event]:
        """Return the record of a run of this workspace that came in this way.

        Raises:
            RunUnknown: There is none.
        """
        store = self._session.store
        unknown = RunUnknown(f"there is no run {run_id[:100]!r}", hint="run ids come from `run`")
        if store is None:
            raise unknown
        try:
            await self._session.summary(run_id)
            events = await store.events(run_id)
        except RunUnknown:
            raise unknown from None
        if not events or events[0].data.get("origin") != "mcp":
            raise unknown
        return events

    async def _standing(self, run_id: str) -> str:
        return (await self._session.summary(run_id)).status


def _ask_for(run_id: str, pending: Sequence[Pending]) -> Asked:
    state = json.dumps({"run": run_id, "pending": [each.id for each in pending]})
    return Asked(questions={_APPROVAL: approval_form(pending)}, state=state)


def _for_client(work: Operation, client: Client) -> Mapping[str, Question]:
    """Return what waits for an answer that this client can come back with."""
    if client.reach != "later":
        return {}
    return {key: each for key, each in work.questions.items() if each.kind in client.offers}


async def _or_never(
    approver: Approver | None, waiting: tuple[Pending, ...]
) -> Mapping[str, Answer]:
    """Ask about calls; those without an answer are refused."""
    none: Mapping[str, Answer] = {}
    said = none if approver is None else await approver(waiting)
    never = Answer(allow=False, reason="no answer came; a rule of your policy may allow it")
    return {each.id: said.get(each.id, never) for each in waiting}


async def _approve(put: Put, waiting: Sequence[Pending]) -> Mapping[str, Answer]:
    """Ask for all calls, with as many forms as it takes, until one is left open."""
    answers: dict[str, Answer] = {}
    while shown_of(waiting):
        said = answers_of(waiting, filled_of(await put(approval_form(waiting))))
        if not said:
            break
        answers |= said
        waiting = [call for call in waiting if call.id not in answers]
    return answers
