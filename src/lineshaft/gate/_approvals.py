"""Approvals of calls: from an earlier answer, from the run's caller, or later."""

from msgspec.structs import replace

from lineshaft.errors import ToolError
from lineshaft.gate._asks import NOBODY, Asks
from lineshaft.gate._call_entry import CallEntry
from lineshaft.gate._pause_point import Files
from lineshaft.gate._prediction import must_be_as_predicted, predicted
from lineshaft.gate._replay_log import ReplayLog
from lineshaft.gate._run_info import RunInfo
from lineshaft.policy import Subject, is_answered
from lineshaft.tools import Tool, origin
from lineshaft.values import Answer, Arguments, Pending, ToolSpec, Verdict

_CHANGED = "the arguments of this tool have changed since the call was shown"
_OTHER_RULE = "no such rule asked when the call was shown"


class Approvals:
    """The answers to one run's asks.

    Args:
        run: The run.
        earlier: The state of an earlier segment of it.
        asks: Its calls that wait.
    """

    def __init__(self, run: RunInfo, earlier: ReplayLog, asks: Asks) -> None:
        self._run = run
        self._earlier = earlier
        self._asks = asks
        self.shown: dict[str, Files] = dict(earlier.shown)
        """The changes of waiting calls, by their keys, as the approver was shown them."""

    async def of_call(
        self, entry: CallEntry, tool: Tool, *, verdict: Verdict, subject: Subject
    ) -> None:
        """Return when a person has approved a call.

        Raises:
            ToolError: `E_DENIED`, where it is refused; `E_NO_PAUSE`, where there is no approver and
                the run cannot wait.
        """
        answer = self._earlier.answers.get(entry.key)
        changed = self._changed(entry, verdict)
        if changed and (answer is None or answer.allow):
            answer, said = None, f"{verdict.reason}; {changed}" if verdict.reason else changed
            verdict = replace(verdict, reason=said)
        scope = entry.call.scope
        within = scope.containers if scope else ()
        if answer is None:
            self._must_be_answerable(entry, tool, verdict)
            self._asks.expect(entry.id)
            would = await predicted(self._run, entry, tool, subject)
            self.shown[entry.key] = would.files
            pending = replace(self.pending(entry, verdict), diff=would.diff)
            # Not every tool that makes a call can be stopped in the middle, and go on elsewhere.
            may_pause = scope is None or scope.replayable
            answer = await self._asks.answer(
                pending, within=within, may_pause=may_pause, schema=entry.schema
            )
        elif answer.scope == "run":
            self._asks.keep(self.pending(entry, verdict), within, answer, schema=entry.schema)
        self._obey(answer, tool.name, verdict, call_id=entry.id, hint=tool.effect_hint)
        entry.approved = True
        if tool.spec.effect == "model" and within:  # one yes is for all turns of an agent
            self._asks.keep(self.pending(entry, verdict), within, answer, schema=entry.schema)

    async def must_be_as_shown(self, entry: CallEntry, tool: Tool, subject: Subject) -> None:
        """Refuse a call that would change other files than its approver was shown.

        Asked when its turn has come: other calls may have gone ahead of it.

        Raises:
            ToolError: `E_STALE`, it names one of them.
        """
        shown = self.shown.pop(entry.key, {})
        await must_be_as_predicted(self._run, entry, tool, subject, shown)

    async def of_run(self, spec: ToolSpec, arguments: Arguments, verdict: Verdict) -> None:
        """Return when a person has approved the run itself; it raises as `of_call`."""
        pending = Pending(
            id="run",
            tool=spec.name,
            arguments=self._run.gate.redactor.whole(spec, arguments),
            reason=verdict.reason,
            rule=verdict.rule,
            run_id=self._run.run_id,
        )
        answer = await self._asks.answer(pending)
        self._obey(answer, spec.name, verdict, call_id="run")

    def pending(self, entry: CallEntry, verdict: Verdict) -> Pending:
        """Return a call as it is shown to the approver."""
        return Pending(
            id=entry.id,
            tool=entry.name,
            arguments=self._run.gate.redactor.whole(entry.spec, entry.arguments),
            reason=verdict.reason,
            rule=verdict.rule,
            run_id=self._run.run_id,
            holds_for=" ".join(_origins(entry)),
        )

    def _changed(self, entry: CallEntry, verdict: Verdict) -> str:
        """Return why what a person was shown of a call is no longer what is asked."""
        shown_as = self._earlier.schemas.get(entry.key, entry.schema)
        if shown_as != entry.schema:
            return _CHANGED
        asked_by = self._earlier.rules.get(entry.key, verdict.rule)
        return "" if is_answered(verdict.rule, asked_by) else _OTHER_RULE

    def _must_be_answerable(self, entry: CallEntry, tool: Tool, verdict: Verdict) -> None:
        if self._run.caller.approver is not None:
            return
        why_not = self._run.call_log.why_not_pause()
        said = why_not if self._run.call_log.replays else ""
        scope = entry.call.scope
        if scope is not None and not scope.replayable and not why_not:
            said = "a tool made the call, and would have to be stopped in the middle"
        if said:
            text = (
                f"{tool.name} needs an approval (rule {verdict.rule!r}), and this run cannot pause"
            )
            raise ToolError("E_NO_PAUSE", f"{text}: {said}", hint=tool.effect_hint)

    def _obey(
        self, answer: Answer, name: str, verdict: Verdict, *, call_id: str, hint: str = ""
    ) -> None:
        self._run.call_log.note(
            "answer", call_id, allow=answer.allow, reason=answer.reason, scope=answer.scope
        )
        if not answer.allow:
            why = f": {answer.reason}" if answer.reason else ""
            text = f"{name} was not approved (rule {verdict.rule!r}){why}"
            raise ToolError("E_DENIED", text, hint=hint if answer is NOBODY else "")


def _origins(entry: CallEntry) -> list[str]:
    """Return the origins of the addresses that a call names; one that is left out has none."""
    names = entry.spec.addresses if entry.spec else ()
    given = (entry.arguments.get(name) for name in names)
    return sorted({origin(each) for each in given if isinstance(each, str)})
